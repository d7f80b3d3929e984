//! Lebesgue measure on R^n: the improper base of flat space.

use super::BaseMeasure;
use crate::{rng::Rng, special::dot};
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;

/// Lebesgue measure on R^n. It knows nothing about x₀, so E\[x₀ | x\] = x and MAD becomes DSM.
///
/// It cannot be drawn from. Standardised data take its place: `sample` draws N(0, I), and a reverse process starts from
/// N(0, (1 + σ²) I), whose density `log_prior_ratio` reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Flat {
    dim: usize,
}

impl Flat {
    /// Lebesgue measure on R^`dim`.
    pub fn new(dim: usize) -> Self {
        assert!(dim > 0, "flat space needs at least one coordinate");
        Self { dim }
    }
}

impl BaseMeasure for Flat {
    fn ambient_dim(&self) -> usize {
        self.dim
    }

    fn posterior_mean(&self, x: &[f64], _sigma: f64, mean: &mut [f64]) {
        mean.copy_from_slice(x);
    }

    fn log_density(&self, _x: &[f64], _sigma: f64) -> f64 {
        0.0
    }

    fn log_weight(&self, _x0: &[f64]) -> f64 {
        0.0
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        x0.iter_mut().for_each(|x| *x = StandardNormal.sample(rng));
    }

    fn is_proper(&self) -> bool {
        false
    }

    fn sample_posterior(&self, x: &[f64], sigma: f64, rng: &mut Rng, x0: &mut [f64]) -> bool {
        for (x0, x) in x0.iter_mut().zip(x) {
            let z: f64 = StandardNormal.sample(rng);
            *x0 = x + sigma * z;
        }
        true
    }

    fn score(&self, _x: &[f64], _sigma: f64, score: &mut [f64]) {
        score.fill(0.0);
    }

    fn sample_prior(&self, sigma: f64, rng: &mut Rng, x: &mut [f64]) {
        let scale = sigma.hypot(1.0);
        for x in x {
            let z: f64 = StandardNormal.sample(rng);
            *x = scale * z;
        }
    }

    /// # Formula
    /// ln N(x; 0, (1 + σ²) I), since the noised Lebesgue measure has density 1.
    fn log_prior_ratio(&self, x: &[f64], sigma: f64) -> f64 {
        let variance = 1.0 + sigma * sigma;
        -0.5 * (x.len() as f64 * (2.0 * PI * variance).ln() + dot(x, x) / variance)
    }
}
