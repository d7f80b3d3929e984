//! The score of a model on rows it has not seen.

use mad_core::{Moments, Points, measure::BaseMeasure};
use rayon::prelude::*;
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

/// The score that log-densities with respect to volume make.
pub(crate) fn summary(step: u64, log_density: &[f64], points: &Points, base: &dyn BaseMeasure) -> Validation {
    let weights = log_weights(base, points);
    let ratios: Vec<f64> = log_density.iter().zip(&weights).map(|(density, weight)| density - weight).collect();
    Validation { is_bound: false, ..of_ratios(step, &ratios, &weights) }
}

/// Log-weights of points under the base.
pub(super) fn log_weights(base: &dyn BaseMeasure, points: &Points) -> Vec<f64> {
    points.par_rows().with_min_len(64).map(|x| base.log_weight(x)).collect()
}

/// The score that bounds on log-densities with respect to the base make, given those of the base.
pub(super) fn of_ratios(step: u64, ratios: &[f64], weights: &[f64]) -> Validation {
    let moments = Moments::of(ratios);
    let nll = -(moments.mean + Moments::of(weights).mean);
    let (log_ratio, standard_error) = (moments.mean, moments.standard_error());
    Validation { step, nll, log_ratio, is_bound: true, standard_error, best: false }
}
