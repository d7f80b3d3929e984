//! What can be wrong with a config.

use mad_core::noise::NoiseError;

/// A config that cannot be used; every message names the key and what is allowed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML of the expected form.
    #[error("{origin}: {problem}")]
    Syntax {
        /// File or flag.
        origin: String,
        /// What the parser says.
        problem: String,
    },
    /// The file is far larger than any config.
    #[error("{origin}: {size} bytes; a config file has at most {limit}")]
    TooLarge {
        /// File.
        origin: String,
        /// Its size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// An assignment without an equals sign.
    #[error("{text}: write key=value")]
    Assignment {
        /// What was given.
        text: String,
    },
    /// A setting of several lines.
    #[error("{key}: the value has a line break; give one setting at a time")]
    LineBreak {
        /// The key.
        key: String,
    },
    /// A key that does not exist.
    #[error("{origin}: unknown key `{key}`{}", nearest.map_or(String::new(), |key| format!(" (did you mean `{key}`?)")))]
    UnknownKey {
        /// File or flag.
        origin: String,
        /// The key.
        key: String,
        /// The nearest known key, if one is near.
        nearest: Option<&'static str>,
    },
    /// A setting that means nothing to the kind of run.
    #[error("{origin}: {key} has no meaning for runs on {on}; leave it out")]
    Meaningless {
        /// File or flag.
        origin: String,
        /// The key.
        key: &'static str,
        /// Points or pictures.
        on: &'static str,
    },
    /// A setting of pictures that does not fit the others.
    #[error("{origin}: {key}: {problem}")]
    Picture {
        /// File or flag.
        origin: String,
        /// The key.
        key: &'static str,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A method that learns from pictures alone, or not from pictures.
    #[error("{origin}: method = {method} {problem}")]
    Kind {
        /// File or flag.
        origin: String,
        /// The method.
        method: String,
        /// What it takes, and what to do.
        problem: String,
    },
    /// A value outside its domain.
    #[error("{origin}: {key} = {value}; allowed: {allowed}")]
    Value {
        /// File or flag.
        origin: String,
        /// The key.
        key: &'static str,
        /// The value given.
        value: String,
        /// The domain in words.
        allowed: String,
    },
    /// A resolved config without one of its keys.
    #[error("{origin}: key `{key}` is missing")]
    Missing {
        /// File.
        origin: String,
        /// The key.
        key: &'static str,
    },
    /// A noise range that makes no sense.
    #[error("sigma_min, sigma_max: {problem}")]
    Noise {
        /// What is wrong.
        problem: NoiseError,
    },
    /// The config names another manifold than the command.
    #[error("{origin}: manifold = {asked}, but the data are on {given}")]
    Manifold {
        /// File or flag.
        origin: String,
        /// Manifold of the config.
        asked: String,
        /// Manifold of the command.
        given: String,
    },
    /// A method that does not suit the manifold.
    #[error("{origin}: method = {method} cannot be used on {manifold}: {problem}")]
    Method {
        /// File or flag.
        origin: String,
        /// The method.
        method: String,
        /// The manifold.
        manifold: String,
        /// Why.
        problem: String,
    },
    /// New rows from something that is no law.
    #[error("{origin}: fresh = {fresh}: {problem}")]
    Fresh {
        /// File or flag.
        origin: String,
        /// The data set.
        fresh: String,
        /// Why no rows can be drawn from it.
        problem: String,
    },
    /// New rows and a condition, which they do not have.
    #[error("{origin}: fresh = {fresh} makes points without a condition = {condition}; leave one of the two out")]
    FreshCondition {
        /// File or flag.
        origin: String,
        /// The data set.
        fresh: String,
        /// The columns.
        condition: String,
    },
    /// A condition for a method that would ignore it.
    #[error("{origin}: condition = {condition}, but method = {method} learns no denoiser and knows none; use {able}")]
    Condition {
        /// File or flag.
        origin: String,
        /// The columns.
        condition: String,
        /// The method.
        method: String,
        /// Methods that know conditions.
        able: String,
    },
    /// A base measure that the method has no use for, or that makes it another method.
    #[error("{origin}: base = {base} does not go with method = {method}: {advice}")]
    Base {
        /// File or flag.
        origin: String,
        /// The method.
        method: String,
        /// The base measure.
        base: String,
        /// What to do.
        advice: String,
    },
    /// An odd network where x and −x are different points.
    #[error("{origin}: network = {network} is odd, but x and -x are different points of {manifold}; use mlp")]
    OddNetwork {
        /// File or flag.
        origin: String,
        /// The network.
        network: String,
        /// The manifold.
        manifold: String,
    },
}
