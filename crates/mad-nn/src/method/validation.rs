//! Validation scores out of log-densities.

use crate::train::Validation;
use mad_core::{Moments, Points, measure::BaseMeasure};
use rayon::prelude::*;

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
