//! Kernel densities: one von Mises–Fisher kernel per training point.

use super::constants::{MOST_SCORED_KDE, WIDEST_KERNEL};
use super::line_search::maximise;
use super::mixture::Data;
use super::stack::Fold;
use super::{BaseChoice, FitError, FitOptions, Fitted, Tried, frequencies, mean_log_weight, spheres};
use crate::Points;
use crate::manifold::Manifold;
use crate::measure::{Component, MAX_CONCENTRATION, VonMisesFisherMixture};

/// A kernel on every distinct training point, all of the concentration that cross-validation over the training points finds
/// best for new places. Validation points are scored only.
///
/// On a product of spheres the kernel is a product; where signs are free it is a pair of kernels. On finite sets, where no
/// point is near another, it is [`super::fit_mixture`].
pub fn fit_kde(
    manifold: &dyn Manifold,
    train: &Points,
    validation: &Points,
    options: &FitOptions,
) -> Result<Fitted, FitError> {
    if manifold.intrinsic_dim() == 0 {
        return frequencies::fit(manifold, train, validation);
    }
    let blocks = spheres(manifold, train, validation)?;
    let folds = Fold::all(train, &options.units, MOST_SCORED_KDE);
    let folds: Vec<(Data, Points)> = folds.into_iter().map(|f| (Data::new(&blocks, &f.train), f.scored)).collect();
    let scored: usize = folds.iter().map(|(_, scored)| scored.len()).sum();
    // As many kernels as points, each with its share of the volume.
    let start = 2.0 / manifold.intrinsic_dim() as f64 * (train.len() as f64).ln();
    let mut tried = Vec::new();
    // A single point holds no information on new places: then the first guess stays.
    let (low, high) = if folds.is_empty() { (start, start) } else { (WIDEST_KERNEL.ln(), MAX_CONCENTRATION.ln()) };
    let (log_kappa, _) = maximise((low, start, high), |log_kappa| {
        let mut sum = 0.0;
        for (train, scored) in &folds {
            let base = VonMisesFisherMixture::on(manifold, kernels(train, log_kappa))?;
            sum += scored.len() as f64 * mean_log_weight(&base, scored);
        }
        let value = sum / scored.max(1) as f64;
        tried.push(Tried { what: format!("kernels of concentration {:.4e}", log_kappa.exp()), validation: value });
        Ok::<f64, FitError>(value)
    })?;
    let components = kernels(&Data::new(&blocks, train), log_kappa);
    let validation = mean_log_weight(&VonMisesFisherMixture::on(manifold, components.clone())?, validation);
    Ok(Fitted { choice: BaseChoice::Mixture { components }, tried, validation })
}

/// Kernels of one concentration on all points, each with the weight of its points.
fn kernels(data: &Data, log_kappa: f64) -> Vec<Component> {
    let concentrations = vec![log_kappa.exp().min(MAX_CONCENTRATION); data.blocks.len()];
    let rows = data.points.rows().zip(&data.counts);
    rows.map(|(x, n)| Component { weight: *n, mean: x.to_vec(), concentrations: concentrations.clone() }).collect()
}
