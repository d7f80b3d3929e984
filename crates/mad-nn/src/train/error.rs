//! What can go wrong in training.

use crate::{checkpoint::CheckpointError, device::DeviceError, run::RunError};
use std::path::PathBuf;

/// A run that could not continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum TrainError {
    /// Loss or gradient stopped being finite.
    #[error(
        "training diverged at step {step}: loss or gradient is not finite in {skipped} steps running{}, last finite loss {}; \
         {}. A smaller learning_rate or a smaller clip may help",
        levels.map_or(String::new(), |(min, max)| format!(", the last at noise levels or times {min:.3e} to {max:.3e}")),
        last_loss.map_or("none".into(), |l| format!("{l:.4}")),
        checkpoint.as_ref().map_or("no checkpoint was written".into(), |p| format!("last good checkpoint: {}", p.display()))
    )]
    Diverged {
        step: u64,
        skipped: u64,
        levels: Option<(f64, f64)>,
        last_loss: Option<f64>,
        checkpoint: Option<PathBuf>,
    },
    /// The observer gave up.
    #[error(
        "training was given up at step {step} by what watched it; resumed, it continues from the newest checkpoint"
    )]
    GivenUp { step: u64 },
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The run folder cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<CheckpointError> for TrainError {
    fn from(error: CheckpointError) -> Self {
        TrainError::Run(error.into())
    }
}
