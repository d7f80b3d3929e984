//! The uniform measure on the unit sphere of R^d.

use super::{BaseMeasure, sample_von_mises_fisher};
use crate::rng::Rng;
use crate::special::{bessel_ratio, bessel_ratio_complement, ln_mean_exp_scaled, norm, norm_minus_one};
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::{LN_2, PI};

/// Uniform probability on the unit sphere S^{d−1} of R^d, d ≥ 2.
#[derive(Debug, Clone, PartialEq)]
pub struct UniformSphere {
    dim: usize,
    order: f64,
    log_weight: f64,
}

impl UniformSphere {
    /// The uniform measure on the unit sphere of R^`dim`, with density with respect to the sphere's area. Panics below 2.
    pub fn new(dim: usize) -> Self {
        Self::with_log_volume(dim, log_area(dim))
    }

    /// The same measure where the points stand for a set of another volume: `ln 8π²` when unit quaternions are rotations.
    pub(crate) fn with_log_volume(dim: usize, log_volume: f64) -> Self {
        assert!(dim >= 2, "a sphere needs at least two ambient coordinates, got {dim}");
        Self { dim, order: dim as f64 / 2.0 - 1.0, log_weight: -log_volume }
    }
}

/// Log of the area of the unit sphere of R^`dim`: ln(2 π^{d/2}/Γ(d/2)).
pub fn log_area(dim: usize) -> f64 {
    let half = dim as f64 / 2.0;
    LN_2 + half * PI.ln() - libm::lgamma(half)
}

/// −(d/2) ln(2πσ²) − (|x| − 1)²/(2σ²): what every measure on the unit sphere shares.
pub(super) fn log_shell(x: &[f64], sigma: f64) -> f64 {
    let offset = norm_minus_one(x) / sigma;
    -(x.len() as f64) * (0.5 * (2.0 * PI).ln() + sigma.ln()) - 0.5 * offset * offset
}

/// Fills `x` with a uniform point of the unit sphere.
pub(crate) fn sample_direction(rng: &mut Rng, x: &mut [f64]) {
    loop {
        x.iter_mut().for_each(|x| *x = StandardNormal.sample(rng));
        let length = norm(x);
        if length > 1e-100 {
            x.iter_mut().for_each(|x| *x /= length);
            return;
        }
    }
}

impl BaseMeasure for UniformSphere {
    fn ambient_dim(&self) -> usize {
        self.dim
    }

    /// # Formula
    /// E\[x₀ | x\] = A(k) x/|x|, k = |x|/σ², A = I_{d/2}/I_{d/2−1}; 0 at x = 0.
    ///
    /// # Reference
    /// MAD, proposition on spheres. The paper's three-term sum is the same number but cancels for small k.
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        let length = norm(x);
        if length == 0.0 {
            return mean.fill(0.0);
        }
        let ratio = bessel_ratio(self.order, length / sigma / sigma);
        for (m, x) in mean.iter_mut().zip(x) {
            *m = ratio * (x / length);
        }
    }

    /// # Formula
    /// −(d/2) ln(2πσ²) − (|x|−1)²/(2σ²) + ln(e^{−k} J(k)), k = |x|/σ².
    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        log_shell(x, sigma) + ln_mean_exp_scaled(self.dim, norm(x) / sigma / sigma)
    }

    fn log_weight(&self, _x0: &[f64]) -> f64 {
        self.log_weight
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        sample_direction(rng, x0);
    }

    /// # Formula
    /// Von Mises-Fisher about x/|x| with concentration |x|/σ².
    fn sample_posterior(&self, x: &[f64], sigma: f64, rng: &mut Rng, x0: &mut [f64]) -> bool {
        let length = norm(x);
        if length == 0.0 {
            sample_direction(rng, x0);
        } else {
            let mean: Vec<f64> = x.iter().map(|x| x / length).collect();
            sample_von_mises_fisher(&mean, length / sigma / sigma, rng, x0);
        }
        true
    }

    /// # Numerics
    /// (A(k) − |x|)/σ² along x/|x|. Near the sphere both are nearly 1: there −((|x| − 1) + (1 − A(k)))/σ², each part computed
    /// without cancellation.
    fn score(&self, x: &[f64], sigma: f64, score: &mut [f64]) {
        let length = norm(x);
        if length == 0.0 {
            return score.fill(0.0);
        }
        let k = length / sigma / sigma;
        let gap = if length > 0.5 {
            -(norm_minus_one(x) + bessel_ratio_complement(self.order, k))
        } else {
            bessel_ratio(self.order, k) - length
        };
        let factor = gap / sigma / sigma;
        for (s, x) in score.iter_mut().zip(x) {
            *s = factor * (x / length);
        }
    }
}
