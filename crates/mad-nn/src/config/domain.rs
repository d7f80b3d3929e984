//! What values settings may have.

use super::{BaseSpec, Levels, METHODS, MethodSpec};
use crate::condition::Condition;
use mad_core::table::SplitRule;
use std::str::FromStr;
use toml::Value;

/// Most bytes of a text.
const LONGEST: usize = 4096;

/// Values a setting may have.
#[derive(Debug, Clone, Copy)]
pub enum Domain {
    /// A whole number in a closed range.
    Count(u64, u64),
    /// A number in a closed range.
    Number(f64, f64),
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// Text of a form of its own.
    Form(Form),
    /// Yes or no.
    Flag,
    /// Any text up to 4096 bytes.
    Text,
}

/// Text that is parsed.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Returns the text in its usual form, or what is allowed.
    read: fn(&str) -> Result<String, String>,
    /// What is allowed, in words.
    allowed: fn() -> String,
}

/// The forms of settings.
impl Form {
    pub(super) const METHOD: Form = Form {
        read: parsed::<MethodSpec>,
        allowed: || {
            let names: Vec<_> = METHODS.iter().map(|m| m.name).collect();
            format!("{}, perhaps with options such as rsgm:loss=dsmv", names.join(", "))
        },
    };
    pub(super) const BASE: Form = Form { read: parsed::<BaseSpec>, allowed: || BaseSpec::KNOWN.into() };
    pub(super) const LEVELS: Form = Form { read: parsed::<Levels>, allowed: || Levels::KNOWN.into() };
    pub(super) const CONDITION: Form = Form {
        read: parsed::<Condition>,
        allowed: || "names of columns, picture=COLUMN, or picture=symsol:SOLID".into(),
    };
    pub(super) const SPLIT: Form = Form {
        read: |text| text.parse().map(|rule: SplitRule| rule.to_string()).map_err(|_| SplitRule::KNOWN.into()),
        allowed: || SplitRule::KNOWN.into(),
    };
}

/// The text itself, if it can be read.
fn parsed<T: FromStr<Err = String>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.into())
}

impl Domain {
    /// The value in its usual form, or what is allowed instead.
    pub(super) fn check(&self, value: &Value) -> Result<Value, String> {
        let checked = match (*self, value) {
            (Domain::Count(min, max), Value::Integer(v)) => {
                u64::try_from(*v).is_ok_and(|v| (min..=max).contains(&v)).then(|| value.clone())
            }
            (Domain::Number(min, max), Value::Integer(v)) => {
                Some(*v as f64).filter(|v| (min..=max).contains(v)).map(Value::Float)
            }
            (Domain::Number(min, max), Value::Float(v)) => (min..=max).contains(v).then(|| value.clone()),
            (Domain::Choice(words), Value::String(v)) => words().contains(&v.as_str()).then(|| value.clone()),
            (Domain::Form(form), Value::String(v)) if v.len() <= LONGEST => return (form.read)(v).map(Value::String),
            (Domain::Flag, Value::Boolean(_)) => Some(value.clone()),
            (Domain::Text, Value::String(v)) => (v.len() <= LONGEST).then(|| value.clone()),
            _ => None,
        };
        checked.ok_or_else(|| self.allowed())
    }

    /// The domain in words.
    pub fn allowed(&self) -> String {
        match *self {
            Domain::Count(min, max) => format!("a whole number from {min} to {max}"),
            Domain::Number(min, max) => format!("a number from {min} to {max}"),
            Domain::Choice(words) => words().join(", "),
            Domain::Form(form) => (form.allowed)(),
            Domain::Flag => "true, false".into(),
            Domain::Text => format!("text of at most {LONGEST} bytes"),
        }
    }
}
