//! The score of a model on rows it has not seen: the likelihood bound.

use crate::{LearnedDenoiser, config::Config};
use mad_core::{
    Points,
    base::BaseMeasure,
    likelihood::{BoundConfig, likelihood_bound},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most rows validated when each has a condition of its own, because then each is asked alone.
const MAX_CONDITIONED_ROWS: usize = 256;

/// Score after some step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Steps done.
    pub step: u64,
    /// Upper bound on the mean negative log-likelihood with respect to volume, in nats.
    pub nll: f64,
    /// Lower bound on the mean log-density with respect to the base measure.
    pub log_ratio: f64,
    /// Standard error of both.
    pub standard_error: f64,
    /// Whether no earlier score was better.
    pub best: bool,
}

/// Scores `denoiser` on the first rows of `points`. The noise depends on the seed alone, so that scores of different steps
/// differ by the weights only.
pub(crate) fn validate(
    denoiser: &LearnedDenoiser,
    base: &dyn BaseMeasure,
    config: &Config,
    points: &Points,
    conditions: Option<&Points>,
    step: u64,
) -> Validation {
    let bound =
        BoundConfig { levels: config.bound_levels as usize, repeats: config.bound_repeats as usize, seed: config.seed };
    let points = points.head(config.validation_rows as usize);
    let (points, per_point) = match conditions {
        None => {
            let values = likelihood_bound(denoiser, base, config.noise_range(), &points, &bound).per_point;
            (points, values)
        }
        Some(conditions) => conditioned(denoiser, base, config, &points, conditions, &bound),
    };
    let log_density: Vec<f64> = points.rows().zip(per_point).map(|(x, ratio)| ratio + base.log_weight(x)).collect();
    summary(step, &log_density, &points, base)
}

/// The score that log-densities with respect to volume make.
pub(crate) fn summary(step: u64, log_density: &[f64], points: &Points, base: &dyn BaseMeasure) -> Validation {
    let n = log_density.len() as f64;
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / n;
    let average = mean(&mut log_density.iter().copied());
    let weights: Vec<f64> = points.rows().map(|x| base.log_weight(x)).collect();
    let log_ratio = average - mean(&mut weights.iter().copied());
    let ratios = log_density.iter().zip(&weights).map(|(density, weight)| density - weight - log_ratio);
    let variance = ratios.map(|v| v * v).sum::<f64>() / (n - 1.0).max(1.0);
    Validation { step, nll: -average, log_ratio, standard_error: (variance / n).sqrt(), best: false }
}

/// Rows with equal conditions are asked together.
fn conditioned(
    denoiser: &LearnedDenoiser,
    base: &dyn BaseMeasure,
    config: &Config,
    points: &Points,
    conditions: &Points,
    bound: &BoundConfig,
) -> (Points, Vec<f64>) {
    let mut groups: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for (i, row) in conditions.rows().take(points.len()).enumerate() {
        groups.entry(row.iter().map(|v| v.to_bits()).collect()).or_default().push(i);
    }
    let many = groups.len() > MAX_CONDITIONED_ROWS;
    let (mut seen, mut values) = (Points::new(points.dim()), Vec::new());
    for (i, rows) in groups.values().take(if many { MAX_CONDITIONED_ROWS } else { usize::MAX }).enumerate() {
        let group = points.select(rows);
        let given = denoiser.clone().given(conditions.row(rows[0]).to_vec(), 1.0);
        // A seed per group: errors of groups that shared their noise would not average out.
        let bound = BoundConfig { seed: bound.seed.wrapping_add(i as u64), ..*bound };
        values.extend(likelihood_bound(&given, base, config.noise_range(), &group, &bound).per_point);
        seen.extend(&group);
    }
    (seen, values)
}
