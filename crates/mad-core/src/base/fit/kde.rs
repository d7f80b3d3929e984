//! Kernel densities: one von Mises–Fisher kernel per training point.

use super::golden::maximise;
use super::{FitError, FitOptions, Fitted, Tried, distinct, frequencies, mean_log_weight, spheres};
use crate::Points;
use crate::base::{BaseChoice, Component, MAX_CONCENTRATION, VonMisesFisherMixture};
use crate::manifold::Manifold;

/// Smallest concentration that is tried.
const SMALLEST: f64 = 1e-2;

/// A kernel on every distinct training point, all of the concentration that suits the validation points best.
///
/// On a product of spheres the kernel is a product; where signs are free it is a pair of kernels. On finite sets, where no
/// point is near another, it is [`super::fit_mixture`].
pub fn fit_kde(
    manifold: &dyn Manifold,
    train: &Points,
    validation: &Points,
    _options: &FitOptions,
) -> Result<Fitted, FitError> {
    if manifold.intrinsic_dim() == 0 {
        return frequencies::fit(manifold, train, validation);
    }
    let blocks = spheres(manifold, train, validation)?;
    let (points, counts) = distinct(train);
    let kernels = |log_kappa: f64| -> Vec<Component> {
        let concentrations = vec![log_kappa.exp().min(MAX_CONCENTRATION); blocks.len()];
        let rows = points.rows().zip(&counts);
        rows.map(|(x, n)| Component { weight: *n, mean: x.to_vec(), concentrations: concentrations.clone() }).collect()
    };
    // As many kernels as points, each with its share of the volume.
    let start = 2.0 / manifold.intrinsic_dim() as f64 * (points.len() as f64).ln();
    let mut tried = Vec::new();
    let (log_kappa, validation) = maximise((SMALLEST.ln(), start, MAX_CONCENTRATION.ln()), |log_kappa| {
        let value = mean_log_weight(&VonMisesFisherMixture::on(manifold, kernels(log_kappa))?, validation);
        tried.push(Tried { what: format!("kernels of concentration {:.4e}", log_kappa.exp()), validation: value });
        Ok::<f64, FitError>(value)
    })?;
    Ok(Fitted { choice: BaseChoice::Mixture { components: kernels(log_kappa) }, tried, validation })
}
