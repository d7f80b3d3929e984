//! What can go wrong with poses from images.

use crate::{run::RunError, train::TrainError, vision::weights::WeightsError};
use mad_core::sample::SampleError;
use std::path::PathBuf;

/// A pose run that cannot be made, trained or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// A setting is unknown or out of range.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// A setting does not fit the others.
    #[error("{problem}")]
    Setting {
        /// Key, value and what is allowed.
        problem: String,
    },
    /// The folder holds no pose run.
    #[error("{}: not a pose run (no pose.json); make one with `mad fit symsol:cube`", path.display())]
    NotAPoseRun {
        /// The folder.
        path: PathBuf,
    },
    /// An archive of images cannot be used.
    #[error(transparent)]
    Archive(#[from] mad_core::pose::PoseError),
    /// An archive has no images to learn from.
    #[error("{}: no training images of {solid}", path.display())]
    NoImages {
        /// The archive.
        path: PathBuf,
        /// Name of the solid.
        solid: &'static str,
    },
    /// An image does not fit the run.
    #[error("{}: {problem}", path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Weights to begin with cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The run folder cannot be made or read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Training stopped.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Sampling failed.
    #[error(transparent)]
    Sample(#[from] SampleError),
}
