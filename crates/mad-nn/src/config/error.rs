//! What can be wrong with a config.

use mad_core::noise::NoiseError;

/// A config that cannot be used; every message names the key and what is allowed. `origin` is where a setting came from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum ConfigError {
    /// The text is not TOML of the expected form.
    #[error("{origin}: {problem}")]
    Syntax { origin: String, problem: String },
    /// The file is far larger than any config.
    #[error("{origin}: {size} bytes; a config file has at most {limit}")]
    TooLarge { origin: String, size: usize, limit: usize },
    /// An assignment without an equals sign.
    #[error("{text}: write key=value")]
    Assignment { text: String },
    /// A setting of several lines.
    #[error("{key}: the value has a line break; give one setting at a time")]
    LineBreak { key: String },
    /// A key that does not exist.
    #[error("{origin}: unknown key `{key}`{}", nearest.map_or(String::new(), |key| format!(" (did you mean `{key}`?)")))]
    UnknownKey { origin: String, key: String, nearest: Option<&'static str> },
    /// A setting that means nothing to the kind of run.
    #[error("{origin}: {key} has no meaning for runs on {on}; leave it out")]
    Meaningless { origin: String, key: &'static str, on: &'static str },
    /// A value outside its domain.
    #[error("{origin}: {key} = {value}; allowed: {allowed}")]
    Value { origin: String, key: &'static str, value: String, allowed: String },
    /// A resolved config without one of its keys.
    #[error("{origin}: key `{key}` is missing")]
    Missing { origin: String, key: &'static str },
    /// A noise range that makes no sense.
    #[error("sigma_min, sigma_max: {problem}")]
    Noise { problem: NoiseError },
    /// The config names another manifold than that of the data.
    #[error("{origin}: manifold = {asked}, but the data are on {given}")]
    Manifold { origin: String, asked: String, given: String },
    /// A setting that does not go with the others, with the manifold or with the method.
    #[error("{origin}: {key} = {value}: {problem}")]
    Conflict { origin: String, key: &'static str, value: String, problem: String },
}
