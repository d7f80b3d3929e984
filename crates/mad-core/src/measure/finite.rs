//! Weighted finite sets of points.
//!
//! `docs/lab/0008-truncated-sums-over-finite-sets.md` has the measurements.

use super::BaseMeasure;
use super::tree::{Query, Sum, Tree};
use crate::special::{distance_squared, log_sum_exp};
use crate::{Points, rng::Rng};
use pulp::Arch;
use rand::RngExt;
use std::f64::consts::PI;
use thiserror::Error;

/// ln 1e-16: the share of the posterior that sums leave out by default.
const LOG_LEFT_OUT: f64 = -36.841361487904734;

/// Probability weights on finitely many points of R^d.
#[derive(Debug, Clone, PartialEq)]
pub struct Finite {
    points: Points,
    log_weights: Vec<f64>,
    tree: Tree,
    cumulative: Vec<f64>,
    log_left_out: f64,
}

/// Why points and weights do not make a measure.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum FiniteError {
    /// There is no point.
    #[error("a finite set needs at least one point")]
    Empty,
    /// Weights and points differ in number.
    #[error("{points} points but {weights} weights: give one weight per point")]
    Length { points: usize, weights: usize },
    /// A weight is not a positive number.
    #[error("weight {value} of point {row} is not a positive number: drop the point or correct the weight")]
    Weight { row: usize, value: f64 },
    /// A coordinate is not finite.
    #[error("point {row} has a coordinate that is not a finite number")]
    Coordinate { row: usize },
}

impl Finite {
    /// Equal weights on `points`.
    pub fn uniform(points: Points) -> Result<Self, FiniteError> {
        let n = points.len();
        Self::weighted(points, &vec![1.0; n])
    }

    /// Weights proportional to `weights`, all positive.
    pub fn weighted(points: Points, weights: &[f64]) -> Result<Self, FiniteError> {
        if let Some(row) = weights.iter().position(|w| !(*w > 0.0 && w.is_finite())) {
            return Err(FiniteError::Weight { row, value: weights[row] });
        }
        Self::with_log_weights(points, weights.iter().map(|w| w.ln()).collect())
    }

    /// Weights proportional to exp(`log_weights`), all finite.
    pub fn with_log_weights(points: Points, mut log_weights: Vec<f64>) -> Result<Self, FiniteError> {
        if points.is_empty() {
            return Err(FiniteError::Empty);
        }
        if points.len() != log_weights.len() {
            return Err(FiniteError::Length { points: points.len(), weights: log_weights.len() });
        }
        if let Some(row) = log_weights.iter().position(|w| !w.is_finite()) {
            return Err(FiniteError::Weight { row, value: log_weights[row].exp() });
        }
        if let Some(row) = points.rows().position(|r| r.iter().any(|x| !x.is_finite())) {
            return Err(FiniteError::Coordinate { row });
        }
        let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = largest + log_weights.iter().map(|w| (w - largest).exp()).sum::<f64>().ln();
        log_weights.iter_mut().for_each(|w| *w -= total);
        let cumulative = log_weights
            .iter()
            .scan(0.0, |sum, w| {
                *sum += w.exp();
                Some(*sum)
            })
            .collect();
        let tree = Tree::new(&points, &log_weights);
        Ok(Self { points, log_weights, tree, cumulative, log_left_out: LOG_LEFT_OUT })
    }

    /// The same measure with quicker sums, which leave out points that have at most this share of the posterior between them.
    pub fn leaving_out(self, share: f64) -> Self {
        Self { log_left_out: share.ln(), ..self }
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Normalised log-weights, one per point.
    pub fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    /// Index of the point nearest to `x`; the first one among equals.
    pub fn nearest(&self, x: &[f64]) -> usize {
        self.tree.nearest(x, 0.0)
    }

    /// Posterior sums at `x`, and the point r from which their offsets are counted.
    ///
    /// # Numerics
    /// Twice the usual length of the noise, 2√d σ, is near enough for r: it costs the logits that count about d · 1e-15.
    fn sum<'a>(&self, x: &[f64], sigma: f64, offset: &'a mut [f64]) -> (&[f64], Sum<'a>) {
        let row = self.tree.nearest(x, 4.0 * x.len() as f64 * sigma * sigma);
        let reference = self.points.row(row);
        let (precision, log_left_out) = (1.0 / sigma / sigma, self.log_left_out);
        let query = Query { x, reference, precision, log_left_out, arch: Arch::new() };
        (reference, self.tree.sum(query, self.log_weights[row], offset))
    }
}

impl BaseMeasure for Finite {
    fn ambient_dim(&self) -> usize {
        self.points.dim()
    }

    /// # Formula
    /// Σ rᵢ uᵢ with r = softmax(ln wᵢ − |x − uᵢ|²/(2σ²)).
    ///
    /// # Reference
    /// MAD, proposition on discrete sets; it prints E\[x₀ | x\] where its proof gives the score (E\[x₀ | x\] − x)/σ².
    ///
    /// # Numerics
    /// Points with less than a share δ of the posterior between them, usually 1e-16, are not looked at, which moves the mean by
    /// less than δ times the diameter of the set. The mean is counted from a point near `x`.
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        let (reference, Sum { total, offset, .. }) = self.sum(x, sigma, mean);
        offset.iter_mut().zip(reference).for_each(|(m, r)| *m = r + *m / total);
    }

    /// # Formula
    /// −(d/2) ln(2πσ²) − |x − r|²/(2σ²) + ln Σ wᵢ exp((|x − r|² − |x − uᵢ|²)/(2σ²)), with r a point near x.
    ///
    /// # Numerics
    /// Points with less than a share δ of the sum between them, usually 1e-16, are not looked at.
    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        let (reference, Sum { scale, total, .. }) = self.sum(x, sigma, &mut []);
        let gaussian = -(x.len() as f64) * (0.5 * (2.0 * PI).ln() + sigma.ln());
        gaussian - 0.5 * distance_squared(x, reference) / sigma / sigma + scale + total.ln()
    }

    fn log_weight(&self, x0: &[f64]) -> f64 {
        self.log_weights[self.nearest(x0)]
    }

    fn sample_posterior(&self, x: &[f64], sigma: f64, rng: &mut Rng, x0: &mut [f64]) -> bool {
        let logit = |(u, w): (&[f64], &f64)| w - 0.5 * distance_squared(x, u) / sigma / sigma;
        let logits: Vec<f64> = self.points.rows().zip(&self.log_weights).map(logit).collect();
        let total = log_sum_exp(&logits);
        let mut left: f64 = rng.random();
        let falls_in = |logit: &f64| {
            left -= (logit - total).exp();
            left < 0.0
        };
        // Rounding may leave a little; then the most likely point has it.
        let i = logits.iter().position(falls_in).unwrap_or_else(|| self.nearest(x));
        x0.copy_from_slice(self.points.row(i));
        true
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        let u: f64 = rng.random::<f64>() * self.cumulative[self.cumulative.len() - 1];
        let i = self.cumulative.partition_point(|&c| c <= u).min(self.cumulative.len() - 1);
        x0.copy_from_slice(self.points.row(i));
    }
}
