//! Kernel densities: one von Mises–Fisher kernel per training point.

use super::{FitError, FitOptions, Fitted, Tried, distinct, mean_log_weight, spheres};
use crate::Points;
use crate::base::{BaseChoice, Component, MAX_CONCENTRATION, VonMisesFisherMixture};
use crate::manifold::Manifold;

/// Smallest concentration that is tried.
const SMALLEST: f64 = 1e-2;

/// Step between the concentrations tried first, in ln κ.
const STEP: f64 = 1.0;

/// Golden-section steps: they narrow two steps of the first search to 1e-4.
const REFINEMENTS: usize = 21;

/// A kernel on every distinct training point, all of the concentration that suits the validation points best.
///
/// On a product of spheres the kernel is a product; where signs are free it is a pair of kernels.
pub fn fit_kde(
    manifold: &dyn Manifold,
    train: &Points,
    validation: &Points,
    _options: &FitOptions,
) -> Result<Fitted, FitError> {
    let blocks = spheres(manifold, train, validation)?;
    let (points, counts) = distinct(train);
    let kernels = |log_kappa: f64| -> Vec<Component> {
        let concentrations = vec![log_kappa.exp().min(MAX_CONCENTRATION); blocks.len()];
        let rows = points.rows().zip(&counts);
        rows.map(|(x, n)| Component { weight: *n, mean: x.to_vec(), concentrations: concentrations.clone() }).collect()
    };
    let mut tried = Vec::new();
    let mut score = |log_kappa: f64| -> Result<f64, FitError> {
        let value = mean_log_weight(&VonMisesFisherMixture::on(manifold, kernels(log_kappa))?, validation);
        tried.push(Tried { what: format!("kernels of concentration {:.4e}", log_kappa.exp()), validation: value });
        Ok(value)
    };
    let (low, high) = (SMALLEST.ln(), MAX_CONCENTRATION.ln());
    let steps = ((high - low) / STEP).ceil() as usize;
    let grid = |i: usize| low + (high - low) * i as f64 / steps as f64;
    let mut best = (f64::NEG_INFINITY, 0);
    for i in 0..=steps {
        let value = score(grid(i))?;
        if value > best.0 {
            best = (value, i);
        }
    }
    let log_kappa = golden(grid(best.1.saturating_sub(1)), grid((best.1 + 1).min(steps)), score)?;
    let choice = BaseChoice::Mixture { components: kernels(log_kappa) };
    let validation = tried.iter().map(|t| t.validation).fold(f64::NEG_INFINITY, f64::max);
    Ok(Fitted { choice, tried, validation })
}

/// The place between `low` and `high` where `score` is largest.
fn golden<E>(mut low: f64, mut high: f64, mut score: impl FnMut(f64) -> Result<f64, E>) -> Result<f64, E> {
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (score(left)?, score(right)?);
    for _ in 0..REFINEMENTS {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = score(left)?;
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = score(right)?;
        }
    }
    Ok(if at_left > at_right { left } else { right })
}
