//! Options of a method: `rsgm:generator=ambient,loss=ism`.

use super::{MethodEntry, lookup};
use crate::config::{Domain, Setting};
use std::collections::BTreeMap;
use toml::Value;

/// A choice that only one method has.
#[derive(Debug, Clone, Copy)]
pub struct MethodOption {
    /// Name, meaning and domain.
    pub key: Setting,
    /// Value if not given, as written.
    pub default: &'static str,
}

impl MethodOption {
    /// An option.
    pub const fn new(name: &'static str, domain: Domain, default: &'static str, summary: &'static str) -> Self {
        Self { key: Setting::new(name, domain, summary), default }
    }
}

/// A method with the values of all its options.
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// The method.
    pub entry: &'static MethodEntry,
    values: BTreeMap<&'static str, Value>,
}

impl MethodSpec {
    /// Reads `name` or `name:option=value,…`; the error says what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = lookup(name).ok_or_else(|| {
            let known: Vec<_> = super::METHODS.iter().map(|m| m.name).collect();
            format!("one of {}, perhaps with options", known.join(", "))
        })?;
        let options = entry.method.options();
        let check = |option: &MethodOption, text: &str| {
            let value = text.parse::<i64>().map(Value::Integer).or_else(|_| text.parse::<f64>().map(Value::Float));
            let value = value.unwrap_or_else(|_| Value::String(text.into()));
            option.key.check(&value).ok_or_else(|| format!("{} = {}", option.key.name, option.key.allowed()))
        };
        let mut values = BTreeMap::new();
        for option in options {
            values.insert(option.key.name, check(option, option.default)?);
        }
        for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let option = options.iter().find(|option| option.key.name == key.trim()).ok_or_else(|| {
                let known: Vec<_> = options.iter().map(|option| option.key.name).collect();
                match known[..] {
                    [] => format!("{name} without options"),
                    _ => format!("{name} with options {}", known.join(", ")),
                }
            })?;
            values.insert(option.key.name, check(option, value.trim())?);
        }
        Ok(Self { entry, values })
    }

    /// A number among the options. Panics if the method has no such option.
    pub fn number(&self, name: &str) -> f64 {
        match &self.values[name] {
            Value::Integer(v) => *v as f64,
            Value::Float(v) => *v,
            other => panic!("option {name} is {other}, not a number"),
        }
    }

    /// A word among the options. Panics if the method has no such option.
    pub fn word(&self, name: &str) -> &str {
        self.values[name].as_str().unwrap_or_else(|| panic!("option {name} is not a word"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_allowed_and_every_name_once() {
        let mut names: Vec<_> = super::super::METHODS.iter().map(|m| m.name).collect();
        for name in &names {
            let spec = MethodSpec::parse(name).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            assert_eq!(spec.entry.name, *name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), super::super::METHODS.len());
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let spec = MethodSpec::parse("rsgm:loss=dsmv, beta_max=6").expect("both exist");
        assert_eq!((spec.word("loss"), spec.number("beta_max")), ("dsmv", 6.0));
        assert!(MethodSpec::parse("rsgm:los=ism").unwrap_err().contains("generator"));
        assert!(MethodSpec::parse("rsgm:loss=isn").unwrap_err().contains("dsmv"));
        assert!(MethodSpec::parse("mad:x=1").unwrap_err().contains("without options"));
        assert!(MethodSpec::parse("nonsense").unwrap_err().contains("rfm"));
    }
}
