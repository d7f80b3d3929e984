//! The list of keys: name, meaning, domain.

use super::{ConfigError, RECIPES, activation::ACTIVATIONS, levels::parse_levels};
use crate::{
    method::{METHODS, MethodSpec},
    net::NETWORKS,
};
use mad_core::{data::SplitRule, sample::SAMPLERS};
use toml::Value;

/// Values a key may have.
#[derive(Debug, Clone, Copy)]
pub enum Domain {
    /// A whole number in a closed range.
    Count(u64, u64),
    /// A number in a closed range.
    Number(f64, f64),
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// A way of drawing noise levels.
    Levels,
    /// A method, perhaps with options.
    Method,
    /// A way to divide rows.
    Split,
    /// Yes or no.
    Flag,
    /// Any text up to 4096 bytes.
    Text,
}

/// One line of [`KEYS`] or of [`POSE_KEYS`](crate::pose::POSE_KEYS).
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Name in config files and `--set`.
    pub name: &'static str,
    /// What it decides.
    pub summary: &'static str,
    /// Values it may have.
    pub domain: Domain,
    /// Whether it leaves the weights alone, so that a resumed run may change it.
    pub neutral: bool,
}

pub(crate) const fn key(name: &'static str, domain: Domain, summary: &'static str) -> Key {
    Key { name, summary, domain, neutral: false }
}

pub(crate) const fn neutral(name: &'static str, domain: Domain, summary: &'static str) -> Key {
    Key { name, summary, domain, neutral: true }
}

/// All keys, in the order in which they are written.
pub const KEYS: &[Key] = &[
    key("manifold", Domain::Text, "the set the data lie on, such as sphere:2"),
    key("method", Domain::Method, "what is learned and how"),
    key(
        "base",
        Domain::Text,
        "base measure: default (the manifold's own), uniform, mixture or kde (fitted to the data), mixture:FILE",
    ),
    key("recipe", Domain::Choice(|| RECIPES.iter().map(|r| r.name).collect()), "where settings not given come from"),
    key("steps", Domain::Count(0, 100_000_000), "training steps"),
    key("batch", Domain::Count(1, 1 << 20), "points in a step, drawn with replacement"),
    key("seed", Domain::Count(0, i64::MAX as u64), "seed of weights, batches and noise"),
    key("learning_rate", Domain::Number(0.0, 10.0), "largest learning rate"),
    key("schedule", Domain::Choice(|| vec!["cosine", "constant"]), "learning rate after the warm-up"),
    key("warmup", Domain::Count(0, 100_000_000), "steps in which the learning rate grows"),
    key("optimizer", Domain::Choice(|| vec!["adam", "adamw"]), "how weights follow gradients"),
    key("weight_decay", Domain::Number(0.0, 10.0), "share of the rate by which weights shrink"),
    key("beta1", Domain::Number(0.0, 0.999_999), "memory of the mean gradient"),
    key("beta2", Domain::Number(0.0, 0.999_999_9), "memory of the mean squared gradient"),
    key("clip", Domain::Number(0.0, 1e9), "largest norm of a gradient; 0 for no limit"),
    key("ema", Domain::Number(0.0, 0.999_999_9), "memory of the averaged weights; 0 for none"),
    key("ema_start", Domain::Choice(|| vec!["warm", "cold"]), "warm soon forgets the initial weights, cold does not"),
    key("sigma_min", Domain::Number(1e-8, 1e6), "smallest noise level"),
    key("sigma_max", Domain::Number(1e-8, 1e6), "largest noise level"),
    key("levels", Domain::Levels, "how training draws noise levels"),
    key(
        "targets",
        Domain::Choice(|| vec!["single", "averaged", "auto"]),
        "single, or averaged over all training points that fit the noised one; auto takes blocks of rows where there are very many",
    ),
    key("network", Domain::Choice(|| NETWORKS.iter().map(|n| n.name).collect()), "kind of network"),
    key("width", Domain::Count(1, 16_384), "numbers in a hidden layer"),
    key("depth", Domain::Count(1, 64), "hidden layers"),
    key(
        "activation",
        Domain::Choice(|| ACTIVATIONS.iter().map(|a| a.0).collect()),
        "activation function of the hidden layers",
    ),
    key("input_gain", Domain::Number(1e-3, 1e3), "factor on the scaled point before the first layer"),
    key("condition", Domain::Text, "columns the model is conditioned on, separated by commas"),
    key("condition_dropout", Domain::Number(0.0, 1.0), "share of training rows that do not see their condition"),
    neutral("checkpoint_every", Domain::Count(1, 100_000_000), "steps between checkpoints"),
    neutral("keep_checkpoints", Domain::Count(1, 10_000), "checkpoints kept besides the selected one"),
    key("log_every", Domain::Count(1, 100_000_000), "steps over which a logged loss is averaged"),
    key("evaluate_every", Domain::Count(0, 100_000_000), "steps between validations; 0 for none"),
    key("validation_rows", Domain::Count(1, 1 << 24), "most rows used in a validation"),
    key("bound_levels", Domain::Count(1, 10_000), "noise levels in a validation"),
    key("bound_repeats", Domain::Count(1, 1000), "repeats of a validation with fresh noise"),
    key("select", Domain::Choice(|| vec!["best", "last"]), "weights a finished run answers with"),
    key("patience", Domain::Count(0, 1_000_000), "validations without progress before stopping; 0 for never"),
    key("split", Domain::Split, "how rows are divided into training, validation and test part"),
    key("fresh", Domain::Text, "named data set that makes new rows for every step; empty for the rows of the file"),
    neutral("sampler", Domain::Choice(|| SAMPLERS.iter().map(|s| s.name).collect()), "sampler if none is asked for"),
    neutral("nfe", Domain::Count(1, 1_000_000), "network calls per sample if not asked for"),
];

impl Key {
    /// The key called `name`.
    pub fn lookup(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The value in its usual form, or `None` if it is not in the domain.
    pub(crate) fn check(&self, value: &Value) -> Option<Value> {
        match (self.domain, value) {
            (Domain::Count(min, max), Value::Integer(v)) => {
                u64::try_from(*v).ok().filter(|v| (min..=max).contains(v)).map(|_| value.clone())
            }
            (Domain::Number(min, max), Value::Integer(v)) => {
                Some(*v as f64).filter(|v| (min..=max).contains(v)).map(Value::Float)
            }
            (Domain::Number(min, max), Value::Float(v)) => (min..=max).contains(v).then(|| value.clone()),
            (Domain::Choice(words), Value::String(v)) => words().contains(&v.as_str()).then(|| value.clone()),
            (Domain::Levels, Value::String(v)) => parse_levels(v).map(|_| value.clone()),
            (Domain::Method, Value::String(v)) => MethodSpec::parse(v).is_ok().then(|| value.clone()),
            (Domain::Split, Value::String(v)) => v.parse().ok().map(|rule: SplitRule| Value::String(rule.to_string())),
            (Domain::Flag, Value::Boolean(_)) => Some(value.clone()),
            (Domain::Text, Value::String(v)) => (v.len() <= 4096).then(|| value.clone()),
            _ => None,
        }
    }

    /// The domain in words.
    pub fn allowed(&self) -> String {
        match self.domain {
            Domain::Count(min, max) => format!("a whole number from {min} to {max}"),
            Domain::Number(min, max) => format!("a number from {min} to {max}"),
            Domain::Choice(words) => words().join(", "),
            Domain::Levels => "log-uniform, scales:N (N from 2 to 100000), log-normal:MEAN,STD (STD > 0)".into(),
            Domain::Method => {
                let names: Vec<_> = METHODS.iter().map(|m| m.name).collect();
                format!("{}, perhaps with options such as rsgm:loss=dsmv (`mad list methods`)", names.join(", "))
            }
            Domain::Split => SplitRule::KNOWN.into(),
            Domain::Flag => "true, false".into(),
            Domain::Text => "text of at most 4096 bytes".into(),
        }
    }
}

/// The key of `keys` called `name` and the value in its usual form; `list` names the list that `mad list` shows them in.
pub(crate) fn admit(
    keys: &'static [Key],
    list: &str,
    name: &str,
    value: &Value,
    origin: &str,
) -> Result<(&'static str, Value), ConfigError> {
    let Some(key) = keys.iter().find(|key| key.name == name) else {
        let hint = nearest(keys, name)
            .map_or_else(|| format!("; `mad list {list}` shows all"), |key| format!(" (did you mean `{key}`?)"));
        return Err(ConfigError::UnknownKey { origin: origin.into(), key: name.into(), hint });
    };
    let checked = key.check(value).ok_or_else(|| {
        let shown = value.to_string();
        let value = if shown.len() > 80 { format!("{}…", shown.chars().take(80).collect::<String>()) } else { shown };
        ConfigError::Value { origin: origin.into(), key: key.name, value, allowed: key.allowed() }
    })?;
    Ok((key.name, checked))
}

/// The key that is nearly called `name`.
fn nearest(keys: &'static [Key], name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace('-', "_");
    keys.iter()
        .map(|key| (strsim::jaro_winkler(key.name, &name), key.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::POSE_KEYS;

    #[test]
    fn names_are_unique() {
        for keys in [KEYS, POSE_KEYS] {
            let mut names: Vec<_> = keys.iter().map(|k| k.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), keys.len());
        }
    }
}
