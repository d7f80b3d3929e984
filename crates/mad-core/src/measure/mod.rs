//! Base measures: tractable probability measures μ on a manifold, with closed forms under Gaussian noise.
//!
//! With x = x₀ + σ ε and x₀ ~ μ, a base measure knows E_μ\[x₀ | x\], the density of x, and how to draw x₀. The uniform
//! measure is the paper's choice; any other measure with the same three functions may stand in its place.

mod finite;
mod flat;
mod mixture;
pub mod orbit;
mod product;
mod tree;
mod uniform_sphere;
mod von_mises_fisher;

pub use finite::{Finite, FiniteError};
pub use flat::Flat;
pub use mixture::{Component, MAX_CONCENTRATION, MixtureError, VonMisesFisherMixture};
pub(crate) use mixture::{LANES, Lanes, Packed, Scratch, shares};
pub use product::ProductMeasure;
pub use uniform_sphere::{UniformSphere, log_area};
pub(crate) use von_mises_fisher::sample_von_mises_fisher;

use crate::{Points, rng::Rng};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::ops::Range;

/// A measure μ on a known set, seen through Gaussian noise of standard deviation σ in ambient space.
pub trait BaseMeasure: std::fmt::Debug + Send + Sync {
    /// Number of ambient coordinates d.
    fn ambient_dim(&self) -> usize;

    /// Writes E_μ\[x₀ | x₀ + σ ε = x\] into `mean`; finite for every finite `x` and every σ from 1e-6 to 1e3.
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]);

    /// log ∫ N_σ(x − x₀) μ(dx₀): the log-density of the noised measure with respect to Lebesgue measure on ambient space.
    fn log_density(&self, x: &[f64], sigma: f64) -> f64;

    /// log dμ/dvol at a point of the manifold; vol is Riemannian volume, or the counting measure on finite sets.
    fn log_weight(&self, x0: &[f64]) -> f64;

    /// Draws x₀ ~ μ.
    fn sample(&self, rng: &mut Rng, x0: &mut [f64]);

    /// Draws x₀ ~ μ given x₀ + σ ε = x, where that distribution is known in closed form; `false` if nothing was drawn.
    fn sample_posterior(&self, _x: &[f64], _sigma: f64, _rng: &mut Rng, _x0: &mut [f64]) -> bool {
        false
    }

    /// Whether the measure is a probability measure, as all are but Lebesgue measure.
    fn is_proper(&self) -> bool {
        true
    }

    /// Whether the measure may have structure finer than the smallest noise level, so that samplers should end with a draw from
    /// its posterior: a mean would smooth that structure away.
    fn is_finer_than_noise(&self) -> bool {
        false
    }

    /// Writes the base score (E_μ\[x₀ | x\] − x)/σ² into `score` (MAD, Eq. (4)).
    fn score(&self, x: &[f64], sigma: f64, score: &mut [f64]) {
        self.posterior_mean(x, sigma, score);
        for (s, x) in score.iter_mut().zip(x) {
            *s = (*s - x) / (sigma * sigma);
        }
    }

    /// Draws the start of a reverse process at noise level `sigma`: x₀ + σ ε, which is exact for the base itself.
    fn sample_prior(&self, sigma: f64, rng: &mut Rng, x: &mut [f64]) {
        self.sample(rng, x);
        for x in x {
            let z: f64 = StandardNormal.sample(rng);
            *x += sigma * z;
        }
    }

    /// Log-density of the prior at `sigma` relative to the noised base: zero unless the base is improper.
    fn log_prior_ratio(&self, _x: &[f64], _sigma: f64) -> f64 {
        0.0
    }
}

/// A block of coordinates that is a whole unit sphere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SphereBlock {
    /// Its coordinates.
    pub range: Range<usize>,
    /// Whether x and −x of this block stand for the same point, as with quaternions.
    pub antipodal: bool,
}

/// Posterior means of all rows, row i at noise level `sigma[i]`; parallel over rows.
pub fn posterior_means(base: &dyn BaseMeasure, x: &Points, sigma: &[f64]) -> Points {
    assert_eq!(x.len(), sigma.len(), "one noise level per row");
    let mut mean = Points::zeros(x.len(), x.dim());
    mean.par_rows_mut()
        .zip(x.par_rows())
        .zip(sigma)
        .with_min_len(64)
        .for_each(|((m, x), &s)| base.posterior_mean(x, s, m));
    mean
}
