//! A lower bound on the log-likelihood, read off the denoising loss.

use super::blocks;
use crate::{
    Moments, Points,
    measure::{BaseMeasure, posterior_means},
    noise::NoiseRange,
    rng::{Purpose, Rng, stream},
    sample::Denoiser,
};
use rand::RngExt as _;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows that share their noise levels and one call of the denoiser. Fixed, because each block has a stream of its own.
const BLOCK_ROWS: usize = 1024;

/// Pairs of draws with which the prior term is averaged; they cost no call of the denoiser.
const PRIOR_PAIRS: usize = 64;

/// How finely the bound is computed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoundConfig {
    /// Slices of the noise range on a logarithmic scale; two calls of the denoiser in each.
    pub levels: usize,
    /// How often the whole estimate is repeated with fresh noise and averaged.
    pub repeats: usize,
    /// Seed of levels and noise.
    pub seed: u64,
}

impl Default for BoundConfig {
    fn default() -> Self {
        Self { levels: 32, repeats: 1, seed: 0 }
    }
}

/// A lower bound on log dp/dμ, where μ is the base measure.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelihoodBound {
    /// Unbiased estimate of the bound at each point, in nats.
    pub per_point: Vec<f64>,
    /// Mean over the points; NaN if there are none.
    pub mean: f64,
    /// Standard error of `mean`: the spread of the points with their noise, and the levels, which rows of a block share. NaN below
    /// two points.
    pub standard_error: f64,
    /// The part of it that comes from the levels; NaN below five slices.
    pub level_error: f64,
}

impl LikelihoodBound {
    /// Upper bound on the mean negative log-likelihood of `x0` with respect to volume: −(mean + mean of log dμ/dvol).
    pub fn negative_log_likelihood(&self, base: &dyn BaseMeasure, x0: &Points) -> f64 {
        let weight = x0.rows().map(|row| base.log_weight(row)).sum::<f64>() / x0.len() as f64;
        -(self.mean + weight)
    }
}

/// Bounds the log-likelihood of a model at the rows of `x0` from below, with respect to the base measure.
///
/// # Formula
/// With m the posterior mean of `base`, x = x₀ + σ ε and x_max the noised point at σ_max,
///
/// log dp_model/dμ(x₀) ≥ ∫ dlog σ E\[ |(x₀ − m)/σ|² − |(x₀ − D)/σ|² \] + E log_prior_ratio(x_max).
///
/// m belongs to the base, not to the model: the same line holds for a DSM network. Equality holds for the exact D as the
/// range grows.
///
/// # Derivation
/// 1. Let R(σ) = KL(p_σ ‖ base_σ) for data p. By de Bruijn's identity dR/dlog σ = −E|D* − m|²/σ², D* the exact denoiser,
///    so KL(p ‖ μ) = R(σ_max) + ∫ dlog σ E|D* − m|²/σ².
/// 2. By Girsanov KL(p ‖ p_model) ≤ KL(p_σmax ‖ prior) + ∫ dlog σ E|D − D*|²/σ².
/// 3. Subtract. E|D* − m|² − E|D − D*|² = E|x₀ − m|² − E|x₀ − D|² (D* is the posterior mean), and
///    R(σ_max) − KL(p_σmax ‖ prior) = E log prior/base_σmax, which is 0 where the prior is the noised base. Left over is
///    E log dp_model/dμ(x₀) ≥ the right side above.
///
/// Below σ_min the model is taken to be the base (D = m), which adds nothing. A flat base has m = x.
///
/// # Reference
/// Kingma et al. (2021), "Variational diffusion models"; Guo, Shamai, Verdú (2005) for step 1.
///
/// # Numerics
/// With G = (D − m)/σ the integrand is 2 G·(x₀ − m)/σ − |G|²: it vanishes with G and never subtracts two large squares. Levels
/// are stratified: each slice of the log range is evaluated twice, at u with noise ε and at 1 − u with noise −ε, which removes
/// the linear part of the error in both.
pub fn likelihood_bound(
    denoiser: &dyn Denoiser,
    base: &dyn BaseMeasure,
    range: NoiseRange,
    x0: &Points,
    config: &BoundConfig,
) -> LikelihoodBound {
    let bound = |(i, x0): (usize, Points)| {
        let mut sums = Sums::zero(x0.len());
        let prior = ask(base, range, &x0, config, i as u64, |level| sums.add(&level, denoiser, base, &x0));
        sums.finish(range, config, &prior)
    };
    let blocks = blocks(x0, BLOCK_ROWS).into_par_iter().enumerate().with_max_len(1);
    LikelihoodBound::of(blocks.map(bound).collect())
}

/// Where [`likelihood_bound`] evaluates a denoiser, with what the base returns there: for repeated evaluation as the denoiser changes.
#[derive(Debug, Clone)]
pub struct BoundPoints<'a> {
    base: &'a dyn BaseMeasure,
    range: NoiseRange,
    config: BoundConfig,
    blocks: Vec<Asked>,
}

/// A block of rows, noised at all levels, and the prior term of each.
#[derive(Debug, Clone)]
struct Asked {
    x0: Points,
    levels: Vec<Level>,
    prior: Vec<f64>,
}

impl<'a> BoundPoints<'a> {
    /// Noises the rows of `x0` and asks the base.
    pub fn new(base: &'a dyn BaseMeasure, range: NoiseRange, x0: &Points, config: BoundConfig) -> Self {
        let asked = |(i, x0): (usize, Points)| {
            let mut levels = Vec::new();
            let prior = ask(base, range, &x0, &config, i as u64, |level| levels.push(level));
            Asked { x0, levels, prior }
        };
        let blocks = blocks(x0, BLOCK_ROWS).into_par_iter().enumerate().with_max_len(1).map(asked).collect();
        Self { base, range, config, blocks }
    }

    /// How many numbers are kept for `rows` rows of `dim` coordinates.
    pub fn size(rows: usize, dim: usize, config: &BoundConfig) -> usize {
        2 * rows * dim * 2 * config.levels.max(1) * config.repeats.max(1)
    }

    /// The same as [`likelihood_bound`].
    pub fn bound(&self, denoiser: &dyn Denoiser) -> LikelihoodBound {
        let bound = |asked: &Asked| {
            let mut sums = Sums::zero(asked.x0.len());
            asked.levels.iter().for_each(|level| sums.add(level, denoiser, self.base, &asked.x0));
            sums.finish(self.range, &self.config, &asked.prior)
        };
        LikelihoodBound::of(self.blocks.par_iter().with_max_len(1).map(bound).collect())
    }
}

impl LikelihoodBound {
    fn of(blocks: Vec<BlockBound>) -> Self {
        let level_variance = blocks.iter().map(|block| block.level_variance).sum::<f64>();
        let per_point = blocks.into_iter().flat_map(|block| block.per_point).collect::<Vec<_>>();
        let moments = Moments::of(&per_point);
        let level_error = level_variance.sqrt() / per_point.len() as f64;
        let standard_error = match level_error.is_nan() {
            true => moments.standard_error(),
            false => moments.standard_error().hypot(level_error),
        };
        Self { per_point, mean: moments.mean, standard_error, level_error }
    }
}

/// Rows x = x₀ ± σ ε at one noise level.
#[derive(Debug, Clone)]
pub(super) struct Level {
    sigma: f64,
    x: Points,
    /// The posterior mean m of the base at each row.
    mean: Points,
}

impl Level {
    pub(super) fn new(base: &dyn BaseMeasure, x0: &Points, noise: &Points, sign: f64, sigma: f64) -> Self {
        let mut x = x0.clone();
        for (x, z) in x.as_mut_slice().iter_mut().zip(noise.as_slice()) {
            *x += sign * sigma * z;
        }
        let mean = posterior_means(base, &x, &vec![sigma; x.len()]);
        Self { sigma, x, mean }
    }

    /// Adds 2 G·(x₀ − m)/σ − |G|² of every row to `total`.
    pub(super) fn add_integrand(
        &self,
        denoiser: &dyn Denoiser,
        base: &dyn BaseMeasure,
        x0: &Points,
        total: &mut [f64],
    ) {
        let Self { sigma, x, mean } = self;
        let gain = denoiser.remainder_over(base, x, *sigma).unwrap_or_else(|| {
            let mut gain = denoiser.denoise(x, *sigma);
            gain.as_mut_slice().iter_mut().zip(mean.as_slice()).for_each(|(g, m)| *g = (*g - m) / sigma);
            gain
        });
        for (((t, x0), m), g) in total.iter_mut().zip(x0.rows()).zip(mean.rows()).zip(gain.rows()) {
            for ((x0, m), g) in x0.iter().zip(m).zip(g) {
                *t += g * (2.0 * (x0 - m) / sigma - g);
            }
        }
    }
}

/// Hands over every level at which the rows of a block are evaluated, one after the other, and returns their prior terms.
fn ask(
    base: &dyn BaseMeasure,
    range: NoiseRange,
    x0: &Points,
    config: &BoundConfig,
    block: u64,
    mut then: impl FnMut(Level),
) -> Vec<f64> {
    let mut rng = stream(config.seed, Purpose::Evaluate, block);
    let levels = config.levels.max(1);
    for _ in 0..config.repeats.max(1) {
        for slice in 0..levels {
            let u: f64 = rng.random();
            let noise = normal(x0, &mut rng);
            for (place, sign) in [(u, 1.0), (1.0 - u, -1.0)] {
                let sigma = range.at((slice as f64 + place) / levels as f64);
                then(Level::new(base, x0, &noise, sign, sigma));
            }
        }
    }
    let mut prior = vec![0.0; x0.len()];
    add_prior(base, range.max, x0, &mut rng, &mut prior);
    prior
}

/// Sums of the integrand over the levels of a block.
struct Sums {
    /// By row.
    rows: Vec<f64>,
    /// By call of the denoiser, over all rows.
    calls: Vec<f64>,
}

/// The bound at the rows of a block, and the variance of its sum over them that comes from the levels.
struct BlockBound {
    per_point: Vec<f64>,
    level_variance: f64,
}

impl Sums {
    fn zero(rows: usize) -> Self {
        Self { rows: vec![0.0; rows], calls: Vec::new() }
    }

    fn add(&mut self, level: &Level, denoiser: &dyn Denoiser, base: &dyn BaseMeasure, x0: &Points) {
        let before = self.rows.iter().sum::<f64>();
        level.add_integrand(denoiser, base, x0, &mut self.rows);
        self.calls.push(self.rows.iter().sum::<f64>() - before);
    }

    fn finish(mut self, range: NoiseRange, config: &BoundConfig, prior: &[f64]) -> BlockBound {
        let weight = range.log_length() / (2 * config.levels.max(1) * config.repeats.max(1)) as f64;
        self.rows.iter_mut().zip(prior).for_each(|(t, prior)| *t = *t * weight + prior);
        let level_variance = weight * weight * level_variance(&self.calls, config.levels.max(1));
        BlockBound { per_point: self.rows, level_variance }
    }
}

/// Variance of the sum of `calls`, two for each of `levels` slices in every repeat.
///
/// # Formula
/// Slices are independent and their means lie on a smooth curve, so the square of (P₋₂ − 4 P₋₁ + 6 P − 4 P₁ + P₂)/√70 estimates the
/// variance of a slice P from its neighbours, up to fourth derivatives and the noise of the rows: the estimate is too large
/// rather than too small.
fn level_variance(calls: &[f64], levels: usize) -> f64 {
    let slices: Vec<f64> = calls.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
    let of_repeat = |slices: &[f64]| {
        let squares = slices.windows(5).map(|p| (p[0] - 4.0 * p[1] + 6.0 * p[2] - 4.0 * p[3] + p[4]).powi(2) / 70.0);
        levels as f64 * squares.sum::<f64>() / levels.saturating_sub(4) as f64
    };
    slices.chunks_exact(levels).map(of_repeat).sum()
}

/// Adds E log_prior_ratio(x₀ + σ ε) of every row to `total`.
fn add_prior(base: &dyn BaseMeasure, sigma: f64, x0: &Points, rng: &mut Rng, total: &mut [f64]) {
    let mut x = vec![0.0; x0.dim()];
    for pair in 0..PRIOR_PAIRS {
        let noise = normal(x0, rng);
        let mut any = false;
        for ((t, x0), z) in total.iter_mut().zip(x0.rows()).zip(noise.rows()) {
            for sign in [1.0, -1.0] {
                for ((x, x0), z) in x.iter_mut().zip(x0).zip(z) {
                    *x = x0 + sign * sigma * z;
                }
                let ratio = base.log_prior_ratio(&x, sigma);
                any |= ratio != 0.0;
                *t += ratio / (2 * PRIOR_PAIRS) as f64;
            }
        }
        // A proper base has zero everywhere; it need not be evaluated again.
        if pair == 0 && !any {
            return;
        }
    }
}

fn normal(like: &Points, rng: &mut Rng) -> Points {
    let mut noise = Points::zeros(like.len(), like.dim());
    for z in noise.as_mut_slice() {
        *z = StandardNormal.sample(rng);
    }
    noise
}
