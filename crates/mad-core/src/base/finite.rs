//! Weighted finite sets of points.

use super::BaseMeasure;
use crate::special::{distance_squared, dot};
use crate::{Points, rng::Rng};
use rand::RngExt;
use std::f64::consts::PI;
use thiserror::Error;

/// Probability weights on finitely many points of R^d.
#[derive(Debug, Clone, PartialEq)]
pub struct Finite {
    points: Points,
    /// Points minus their centre: inner products with these do not cancel when the set lies far from the origin.
    centred: Points,
    centre: Vec<f64>,
    /// |uᵢ − centre|²/2.
    half_squares: Vec<f64>,
    log_weights: Vec<f64>,
    cumulative: Vec<f64>,
}

/// Why points and weights do not make a measure.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FiniteError {
    /// There is no point.
    #[error("a finite set needs at least one point")]
    Empty,
    /// Weights and points differ in number.
    #[error("{points} points but {weights} weights: give one weight per point")]
    Length {
        /// Number of points.
        points: usize,
        /// Number of weights.
        weights: usize,
    },
    /// A weight is not a positive number.
    #[error("weight {value} of point {row} is not a positive number: drop the point or correct the weight")]
    Weight {
        /// Row of the point, counted from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// A coordinate is not finite.
    #[error("point {row} has a coordinate that is not a finite number")]
    Coordinate {
        /// Row of the point, counted from 0.
        row: usize,
    },
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

        let mut centre = vec![0.0; points.dim()];
        for row in points.rows() {
            centre.iter_mut().zip(row).for_each(|(c, x)| *c += x / points.len() as f64);
        }
        let mut centred = points.clone();
        for row in centred.rows_mut() {
            row.iter_mut().zip(&centre).for_each(|(x, c)| *x -= c);
        }
        let half_squares = centred.rows().map(|u| 0.5 * dot(u, u)).collect();
        Ok(Self { points, centred, centre, half_squares, log_weights, cumulative })
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
        let mut best = (0, f64::INFINITY);
        for (i, u) in self.points.rows().enumerate() {
            let distance = distance_squared(x, u);
            if distance < best.1 {
                best = (i, distance);
            }
        }
        best.0
    }

    /// Visits the points in order with their log-posterior up to a constant.
    ///
    /// # Formula
    /// ln wᵢ + ((x − c)·(uᵢ − c) − |uᵢ − c|²/2)/σ², which is ln wᵢ − |x − uᵢ|²/(2σ²) without the part common to all points.
    fn logits(&self, x: &[f64], sigma: f64) -> impl Iterator<Item = f64> {
        let shifted: Vec<f64> = x.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        self.centred
            .rows()
            .zip(&self.half_squares)
            .zip(&self.log_weights)
            .map(move |((u, half), w)| w + (dot(&shifted, u) - half) / sigma / sigma)
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
    /// One pass with a running maximum; points whose share underflows cost no exponential and no sum.
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        let (mut largest, mut total) = (f64::NEG_INFINITY, 0.0);
        mean.fill(0.0);
        for (logit, u) in self.logits(x, sigma).zip(self.points.rows()) {
            let weight = if logit > largest {
                let shrink = (largest - logit).exp();
                total *= shrink;
                mean.iter_mut().for_each(|m| *m *= shrink);
                largest = logit;
                1.0
            } else if logit > largest - 746.0 {
                (logit - largest).exp()
            } else {
                continue;
            };
            total += weight;
            mean.iter_mut().zip(u).for_each(|(m, u)| *m += weight * u);
        }
        mean.iter_mut().for_each(|m| *m /= total);
    }

    /// # Formula
    /// −(d/2) ln(2πσ²) + ln w_* − |x − u_*|²/(2σ²) + ln Σ exp(logitᵢ − logit_*), with * the likeliest point.
    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        let (mut best, mut largest, mut total) = (0, f64::NEG_INFINITY, 0.0);
        for (i, logit) in self.logits(x, sigma).enumerate() {
            if logit > largest {
                total = total * (largest - logit).exp() + 1.0;
                (best, largest) = (i, logit);
            } else {
                total += (logit - largest).exp();
            }
        }
        let gaussian = -(x.len() as f64) * (0.5 * (2.0 * PI).ln() + sigma.ln());
        let distance = distance_squared(x, self.points.row(best));
        gaussian + self.log_weights[best] - 0.5 * distance / sigma / sigma + f64::ln(total)
    }

    fn log_weight(&self, x0: &[f64]) -> f64 {
        self.log_weights[self.nearest(x0)]
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        let u: f64 = rng.random::<f64>() * self.cumulative[self.cumulative.len() - 1];
        let i = self.cumulative.partition_point(|&c| c <= u).min(self.cumulative.len() - 1);
        x0.copy_from_slice(self.points.row(i));
    }
}
