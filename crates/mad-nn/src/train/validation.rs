//! The score of a model on rows it has not seen.

use serde::{Deserialize, Serialize};

/// Score after some step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Steps done.
    pub step: u64,
    /// Mean negative log-likelihood with respect to volume, in nats, or an upper bound on it; per unit of the file once it is
    /// logged.
    pub nll: f64,
    /// Mean log-density with respect to the base measure, or a lower bound on it.
    pub log_ratio: f64,
    /// Whether both are bounds.
    pub is_bound: bool,
    /// Standard error of both.
    pub standard_error: f64,
    /// Whether no earlier score was better.
    pub best: bool,
}
