//! Why there is no such manifold.

use crate::{measure::FiniteError, registry::Unknown};
use thiserror::Error;

/// What a reader of point files may answer.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// Why a spec does not name a manifold.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifoldError {
    /// No manifold has this name.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// The text cannot be parsed.
    #[error("manifold `{spec}`: expected {expected} at character {position}")]
    Syntax {
        /// The whole text.
        spec: String,
        /// Where, counted from 1.
        position: usize,
        /// What should stand there.
        expected: String,
    },
    /// The text after the name does not fit the manifold.
    #[error("manifold `{spec}`: expected {expected}")]
    Invalid {
        /// The spec.
        spec: String,
        /// What should stand there.
        expected: String,
    },
    /// A number is out of range.
    #[error("{manifold}: needs {needs}, got {got}")]
    Dimension {
        /// Name of the manifold.
        manifold: String,
        /// The range.
        needs: &'static str,
        /// The number given.
        got: usize,
    },
    /// The file of a finite set cannot be read.
    #[error("points:{file}: {source}")]
    Points {
        /// The file.
        file: String,
        /// What the reader said.
        source: ReadError,
    },
    /// The file of a finite set holds something else.
    #[error("points:{file}: {source}")]
    Finite {
        /// The file.
        file: String,
        /// What is wrong.
        source: FiniteError,
    },
    /// A finite set lists a point twice.
    #[error("points:{file}: points {first} and {second} are equal: list each point once and use a `weight` column")]
    Duplicate {
        /// The file.
        file: String,
        /// First of the two, counted from 1.
        first: usize,
        /// Second of the two.
        second: usize,
    },
}
