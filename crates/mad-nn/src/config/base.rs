//! The key `base`: which base measure a run rests on.

use std::str::FromStr;

/// A base measure as settings name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseSpec {
    /// The manifold's own.
    Default,
    /// Uniform.
    Uniform,
    /// A mixture fitted to the data.
    Mixture,
    /// A kernel density estimate fitted to the data.
    Kde,
    /// A mixture read from a file, which the text of the setting names.
    File,
    /// Given by the program.
    Own,
}

impl BaseSpec {
    /// What is allowed, in words.
    pub const KNOWN: &str = "default, uniform, mixture, kde, mixture:FILE";

    /// Whether it is fitted to the data.
    pub fn is_fitted(self) -> bool {
        matches!(self, BaseSpec::Mixture | BaseSpec::Kde)
    }

    /// Whether it is there without a choice, so that methods which build on no base measure bear it.
    pub(super) fn is_plain(self) -> bool {
        matches!(self, BaseSpec::Default | BaseSpec::Uniform)
    }
}

impl FromStr for BaseSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("mixture:")) {
            ("default", _) => Ok(BaseSpec::Default),
            ("uniform", _) => Ok(BaseSpec::Uniform),
            ("mixture", _) => Ok(BaseSpec::Mixture),
            ("kde", _) => Ok(BaseSpec::Kde),
            ("own", _) => Ok(BaseSpec::Own),
            (_, Some(_)) => Ok(BaseSpec::File),
            _ => Err(Self::KNOWN.into()),
        }
    }
}
