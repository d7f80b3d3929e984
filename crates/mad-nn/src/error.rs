//! Everything that can go wrong between data and a model.

use crate::{
    config::ConfigError,
    run::{PrepareError, RunError},
    train::TrainError,
};
use mad_core::{load::LoadError, sample::SampleError, table::DataError};

/// Why there is no model, or no answer of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The data do not hold points of the manifold.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The settings fit neither the data nor each other.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// Training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The run folder cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Samples cannot be drawn.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Settings were given to a fit whose settings are made already.
    #[error("{keys}: contents and runs that continue have their settings; set these before the contents are made")]
    Settled { keys: String },
    /// The model was trained with another condition.
    #[error("the condition is {got}; the model was trained with: {wanted}")]
    Condition { wanted: String, got: String },
    /// The model knows no densities.
    #[error("{model} has no density; its samples and its likelihood bound can be had")]
    NoDensity { model: String },
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Error::Load(error.into())
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Error::Prepare(error.into())
    }
}
