//! Integrals over the manifold by importance sampling.

use super::proposal::Proposal;
use crate::{Moments, Points, manifold::Manifold, measure::BaseMeasure, special::log_sum_exp};

/// Draws between two looks at the standard error.
const BLOCK_DRAWS: usize = 512;

/// Relative spread of the density with respect to the base up to which the base itself is drawn from.
const NEAR_BASE: f64 = 0.5;

/// Samples of the model that kernels are placed on.
const CENTRES: usize = 2048;

/// Block of the draws that improve the proposal, beyond those of the estimate.
const PILOT: u64 = 1 << 16;

/// Centres whose weight is smaller than the largest by this factor, on a log scale, are dropped.
const NEGLIGIBLE: f64 = 15.0;

/// The integral of a density over the manifold, or the sum over a finite set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normaliser {
    /// Log of the integral.
    pub log_value: f64,
    /// Relative standard error of the integral; 0 for sums over all points of a finite set.
    pub relative_error: f64,
    /// Points at which the density was evaluated.
    pub draws: usize,
}

/// When to stop drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Relative standard error that is small enough.
    pub relative_error: f64,
    /// Most points to evaluate.
    pub draws: usize,
    /// Seed of the points.
    pub seed: u64,
}

impl Normaliser {
    /// A density that is normalised already.
    pub const ONE: Self = Self { log_value: 0.0, relative_error: 0.0, draws: 0 };

    /// The integral.
    pub fn value(&self) -> f64 {
        self.log_value.exp()
    }

    /// Its standard error.
    pub fn standard_error(&self) -> f64 {
        self.relative_error * self.value()
    }

    /// The sum or integral of a density whose logarithm with respect to `base` is `log_ratio`.
    ///
    /// Finite sets that can be listed are summed. Elsewhere points are drawn from the base if the density is close to it, or else from
    /// kernels around samples of the model, which `samples` draws, or around weighted draws
    /// from these. `None` if neither is possible.
    pub fn estimate(
        manifold: &dyn Manifold,
        base: &dyn BaseMeasure,
        log_ratio: &dyn Fn(&Points) -> Vec<f64>,
        samples: &dyn Fn(usize) -> Option<Points>,
        effort: Effort,
    ) -> Option<Self> {
        if let Some(all) = (manifold.intrinsic_dim() == 0).then(|| manifold.grid(1)).flatten() {
            let terms = log_ratio(&all).into_iter().zip(all.rows()).map(|(r, x)| r + base.log_weight(x));
            let log_value = log_sum_exp(&terms.collect::<Vec<_>>());
            return Some(Self { log_value, relative_error: 0.0, draws: all.len() });
        }
        let near = Proposal::base(manifold, base);
        if let Some(near) = &near {
            let first = Effort { draws: BLOCK_DRAWS.min(effort.draws), relative_error: 0.0, ..effort };
            let first = Self::draw(near, log_ratio, first);
            if first.relative_error * (first.draws as f64).sqrt() < NEAR_BASE {
                return Some(match first.relative_error <= effort.relative_error {
                    true => first,
                    false => Self::draw(near, log_ratio, effort),
                });
            }
        }
        let around = |centres: Points, log_weights: &[f64]| Proposal::around(manifold, base, centres, log_weights);
        let kernels = samples(CENTRES).and_then(|samples| {
            let equal = vec![0.0; samples.len()];
            around(samples, &equal)
        });
        let Some(mut proposal) = kernels else { return near.map(|near| Self::draw(&near, log_ratio, effort)) };
        // Samples of a weakly trained model may be spread wider than its density: kernels around their weighted draws are not.
        let (points, log_weights) = weigh(&proposal, log_ratio, CENTRES.min(effort.draws), effort.seed, PILOT);
        let pilot = Self::of(&log_weights);
        if pilot.relative_error * (pilot.draws as f64).sqrt() > NEAR_BASE {
            let top = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let kept: Vec<usize> = (0..points.len()).filter(|&i| log_weights[i] > top - NEGLIGIBLE).collect();
            let log_weights: Vec<f64> = kept.iter().map(|&i| log_weights[i]).collect();
            proposal = around(points.select(&kept), &log_weights).unwrap_or(proposal);
        }
        Some(Self::draw(&proposal, log_ratio, effort))
    }

    fn draw(proposal: &Proposal<'_>, log_ratio: &dyn Fn(&Points) -> Vec<f64>, effort: Effort) -> Self {
        let mut all: Vec<f64> = Vec::new();
        loop {
            let rows = BLOCK_DRAWS.min(effort.draws.max(2) - all.len());
            let block = (all.len() / BLOCK_DRAWS) as u64;
            all.extend(weigh(proposal, log_ratio, rows, effort.seed, block).1);
            let found = Self::of(&all);
            // NaN is not larger than the error either: a density that is not a number ends the loop.
            let coarse = found.relative_error > effort.relative_error;
            if found.draws >= effort.draws || !coarse {
                return found;
            }
        }
    }

    /// Mean of exp(`log_weights`).
    fn of(log_weights: &[f64]) -> Self {
        let top = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = log_weights.iter().map(|w| (w - top).exp()).collect();
        let moments = Moments::of(&weights);
        Self {
            log_value: top + moments.mean.ln(),
            relative_error: moments.standard_error() / moments.mean,
            draws: weights.len(),
        }
    }
}

/// Draws points from `proposal` and returns them with the logarithm of their importance weights.
fn weigh(
    proposal: &Proposal<'_>,
    log_ratio: &dyn Fn(&Points) -> Vec<f64>,
    n: usize,
    seed: u64,
    block: u64,
) -> (Points, Vec<f64>) {
    let points = proposal.draw(n, seed, block);
    let weights = log_ratio(&points).into_iter().zip(proposal.log_ratio(&points)).map(|(p, q)| p - q).collect();
    (points, weights)
}
