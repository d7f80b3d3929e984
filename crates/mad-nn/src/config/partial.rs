//! Settings somebody asked for, each checked when it arrives.

use super::{ConfigError, Domain, SETTINGS, Setting, settings::admit};
use crate::condition::Condition;
use mad_core::registry;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Most bytes of a config file.
const MAX_BYTES: usize = 1 << 20;

/// Some keys with values, and where each came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partial {
    values: BTreeMap<&'static str, (Value, String)>,
}

impl Partial {
    /// No settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Settings from the text of a config file called `origin`.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ConfigError> {
        if text.len() > MAX_BYTES {
            return Err(ConfigError::TooLarge { origin: origin.into(), size: text.len(), limit: MAX_BYTES });
        }
        let table: Table = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            let place = line.map_or(origin.to_string(), |line| format!("{origin}, line {line}"));
            ConfigError::Syntax { origin: place, problem: e.message().to_string() }
        })?;
        let mut partial = Self::new();
        for (key, value) in table {
            partial.put(&key, value, origin)?;
        }
        Ok(partial)
    }

    /// Adds `key=value` that came from `origin`; a later setting replaces an earlier one.
    ///
    /// ```
    /// use mad_nn::config::Partial;
    /// let mut partial = Partial::new();
    /// partial.assign("learning_rate=1e-3", "example").unwrap();
    /// let error = partial.assign("learning_rat=1e-3", "example").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `learning_rate`?"));
    /// ```
    pub fn assign(&mut self, assignment: &str, origin: &str) -> Result<(), ConfigError> {
        let (key, text) =
            assignment.split_once('=').ok_or_else(|| ConfigError::Assignment { text: assignment.into() })?;
        let (key, text) = (key.trim(), text.trim());
        if text.contains(['\n', '\r']) {
            return Err(ConfigError::LineBreak { key: key.into() });
        }
        let parsed = toml::from_str::<Table>(&format!("v = {text}")).ok().and_then(|mut t| t.remove("v"));
        let text_wanted = registry::find(SETTINGS, key)
            .is_ok_and(|setting| !matches!(setting.domain, Domain::Count(..) | Domain::Number(..) | Domain::Flag));
        let value = match parsed {
            Some(Value::String(v)) => Value::String(v),
            Some(v @ (Value::Integer(_) | Value::Float(_) | Value::Boolean(_))) if !text_wanted => v,
            _ => Value::String(text.into()),
        };
        self.put(key, value, origin)
    }

    /// Settings of both; those of `other` win.
    pub fn merge(mut self, other: Partial) -> Self {
        self.values.extend(other.values);
        self
    }

    /// The keys that are given.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.values.keys().copied()
    }

    /// The value of a key, if given.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key).map(|(value, _)| value)
    }

    /// Removes a setting of text and gives it back.
    pub fn take(&mut self, key: &str) -> Option<String> {
        self.values.remove(key).and_then(|(value, _)| value.as_str().map(str::to_owned))
    }

    /// A setting that is a whole number.
    pub fn integer(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(Value::as_integer).and_then(|value| u64::try_from(value).ok())
    }

    /// What the model is to be conditioned on.
    pub fn condition(&self) -> Condition {
        let text = self.get("condition").and_then(Value::as_str).unwrap_or_default();
        text.parse().expect("checked when it was set")
    }

    /// Refuses a setting that means nothing to runs on points, or on pictures.
    pub(super) fn require_meaning(&self, setting: &Setting, pictures: bool) -> Result<(), ConfigError> {
        if setting.applies(pictures) {
            return Ok(());
        }
        let on = if pictures { "pictures" } else { "points" };
        Err(ConfigError::Meaningless { origin: self.origin(setting.name), key: setting.name, on })
    }

    /// Where the value of a key came from.
    pub(crate) fn origin(&self, key: &str) -> String {
        self.values.get(key).map_or_else(|| "config".into(), |(_, origin)| origin.clone())
    }

    /// Adds a value that is known to be good.
    pub(super) fn insert(&mut self, key: &'static str, value: impl Into<Value>, origin: &str) {
        self.values.insert(key, (value.into(), origin.into()));
    }

    pub(super) fn into_table(self) -> Table {
        self.values.into_iter().map(|(key, (value, _))| (key.to_string(), value)).collect()
    }

    /// Adds a setting that came from `origin`.
    pub fn put(&mut self, key: &str, value: impl Into<Value>, origin: &str) -> Result<(), ConfigError> {
        let (key, checked) = admit(key, &value.into(), origin)?;
        self.values.insert(key, (checked, origin.into()));
        Ok(())
    }
}
