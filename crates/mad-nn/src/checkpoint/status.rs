//! How far a run folder is trained.

use super::CheckpointError;
use serde::Serialize;
use std::path::Path;

/// How far a run is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TrainingStatus {
    /// Steps done, as far as they are saved.
    pub step: u64,
    /// Steps of the whole run.
    pub steps: u64,
    /// Whether training has come to its end: all steps are done, or it stopped early.
    pub finished: bool,
}

impl TrainingStatus {
    /// The status that the newest checkpoint in `folder` shows for a run of `steps` steps.
    pub(crate) fn of(folder: &Path, steps: u64) -> Result<Self, CheckpointError> {
        let Some(step) = super::steps(folder)?.last().copied() else {
            return Ok(Self { step: 0, steps, finished: false });
        };
        let progress = super::read_manifest(&super::path_of(folder, step))?.progress;
        Ok(Self { step, steps, finished: step >= steps || progress.stopped_early })
    }
}
