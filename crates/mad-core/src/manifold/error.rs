//! Why there is no such manifold.

use crate::{measure::FiniteError, registry::Unknown};
use thiserror::Error;

/// Errors of a reader of point files.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// Why a spec does not name a manifold.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum ManifoldError {
    /// No manifold has this name.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// The text cannot be parsed.
    #[error("manifold `{spec}`: expected {expected} at character {position}")]
    Syntax { spec: String, position: usize, expected: String },
    /// The text after the name does not fit the manifold.
    #[error("manifold `{spec}`: expected {expected}")]
    Invalid { spec: String, expected: String },
    /// A number is out of range.
    #[error("{manifold}: needs {needs}, got {got}")]
    Dimension { manifold: String, needs: &'static str, got: usize },
    /// The file of a finite set cannot be read.
    #[error("points:{file}: {source}")]
    Points { file: String, source: ReadError },
    /// The file of a finite set holds something else.
    #[error("points:{file}: {source}")]
    Finite { file: String, source: FiniteError },
    /// A finite set lists a point twice.
    #[error("points:{file}: points {first} and {second} are equal: list each point once and use a `weight` column")]
    Duplicate { file: String, first: usize, second: usize },
}

impl ManifoldError {
    pub(crate) fn dimension(manifold: &str, needs: &'static str, got: usize) -> Self {
        Self::Dimension { manifold: manifold.into(), needs, got }
    }
}
