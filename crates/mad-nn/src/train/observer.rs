//! Who watches a run.

use super::Validation;
use std::path::Path;

/// One training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Steps done.
    pub step: u64,
    /// Steps of the whole run.
    pub steps: u64,
    /// Mean over the batch of |F − target|², summed over coordinates; NaN if the step was skipped.
    pub loss: f64,
    /// Learning rate.
    pub learning_rate: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Seconds this step took: batch, loss, gradient and update, without validation, log and checkpoint.
    pub seconds: f64,
}

/// Told about everything that happens in a run; prints, draws or does nothing.
pub trait Observer {
    /// Training begins after `step` steps, 0 unless resumed.
    fn started(&mut self, _step: u64, _steps: u64) {}
    /// A step was done.
    fn stepped(&mut self, _report: &StepReport) {}
    /// A validation was done.
    fn validated(&mut self, _validation: &Validation) {}
    /// A checkpoint is about to be written.
    fn saving(&mut self, _step: u64) {}
    /// A checkpoint was written.
    fn saved(&mut self, _step: u64, _path: &Path) {}
    /// Whether something that the observer cannot do without has failed. Asked when training begins and around every checkpoint:
    /// the run then ends as if it were killed, with no further checkpoint.
    fn gives_up(&self) -> bool {
        false
    }
}

/// An observer that keeps quiet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
