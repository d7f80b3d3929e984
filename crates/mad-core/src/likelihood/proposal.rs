//! Distributions from which integrals over the manifold are estimated: kernels around samples of a model.

use crate::{
    Points,
    manifold::Manifold,
    measure::BaseMeasure,
    rng::{Purpose, Rng, stream},
    special::{dot, log_sum_exp},
};
use rand::RngExt as _;
use rayon::prelude::*;
use std::{f64::consts::PI, ops::Range};

/// Share of draws from the base measure itself, where it is a probability measure, so that no region is left out.
const BASE_SHARE: f64 = 0.1;

/// Shares and widths of the kernels, relative to the width that predicts samples best.
const SCALES: [(f64, f64); 2] = [(0.7, 1.0), (0.3, 2.5)];

/// Widths tried, from the largest to the smallest, and their ratio.
const WIDEST: f64 = 0.7;
const WIDTHS: usize = 16;
const RATIO: f64 = 0.7;

/// Samples that the width is chosen on.
const PREDICTED: usize = 256;

/// Draws that share a random stream.
const BLOCK_ROWS: usize = 256;

/// A distribution that can be drawn from and whose density with respect to the base measure μ is known.
///
/// # Formula
/// A sample s has the kernel K(y) = N_h(s − y)/μ_h(s) with respect to μ: the posterior of x₀ ~ μ given x₀ + h ε = s. So kernels have the
/// fine structure of μ, whatever it is, and integrate to 1 on every set. Where ±y are the same point, K is averaged over the sign.
#[derive(Debug)]
pub struct Proposal<'a> {
    manifold: &'a dyn Manifold,
    base: &'a dyn BaseMeasure,
    kernels: Option<Kernels>,
}

#[derive(Debug)]
struct Kernels {
    base_share: f64,
    centres: Points,
    /// Log of the share of each centre; the shares add up to 1.
    log_shares: Vec<f64>,
    odd: Vec<Range<usize>>,
    scales: Vec<Scale>,
}

/// Kernels of one width.
#[derive(Debug)]
struct Scale {
    share: f64,
    width: f64,
    /// ln μ_h at each centre.
    log_noised: Vec<f64>,
}

impl<'a> Proposal<'a> {
    /// The base measure itself; `None` if it is not a probability measure.
    pub fn base(manifold: &'a dyn Manifold, base: &'a dyn BaseMeasure) -> Option<Self> {
        base.is_proper().then_some(Self { manifold, base, kernels: None })
    }

    /// Kernels around `centres`, with shares proportional to exp(`log_weights`), of a width that predicts each centre well from the
    /// others; `None` if the base cannot draw from its posterior or there are fewer than two centres.
    pub fn around(
        manifold: &'a dyn Manifold,
        base: &'a dyn BaseMeasure,
        centres: Points,
        log_weights: &[f64],
    ) -> Option<Self> {
        let mut rng = stream(0, Purpose::Evaluate, 0);
        let drawable =
            centres.len() > 1 && base.sample_posterior(centres.row(0), WIDEST, &mut rng, &mut vec![0.0; centres.dim()]);
        if !drawable {
            return None;
        }
        let total = log_sum_exp(log_weights);
        let log_shares = log_weights.iter().map(|w| w - total).collect();
        let base_share = if base.is_proper() { BASE_SHARE } else { 0.0 };
        let mut kernels = Kernels { base_share, centres, log_shares, odd: manifold.odd_blocks(), scales: Vec::new() };
        let scale = |width: f64, share: f64, centres: &Points| {
            let log_noised = centres.par_rows().map(|s| base.log_density(s, width)).collect();
            Scale { share, width, log_noised }
        };
        let widths = (0..WIDTHS).map(|i| WIDEST * RATIO.powi(i as i32));
        let scored = widths.map(|width| (width, kernels.prediction(&scale(width, 1.0, &kernels.centres))));
        let best = scored.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(WIDEST, |(width, _)| width);
        kernels.scales = SCALES.iter().map(|(share, ratio)| scale(best * ratio, *share, &kernels.centres)).collect();
        Some(Self { manifold, base, kernels: Some(kernels) })
    }

    /// Draws block number `block` of `n` points.
    pub fn draw(&self, n: usize, seed: u64, block: u64) -> Points {
        let mut points = Points::zeros(n, self.base.ambient_dim());
        let dim = points.dim();
        points.as_mut_slice().par_chunks_mut(BLOCK_ROWS * dim).enumerate().for_each(|(i, rows)| {
            let mut rng = stream(seed, Purpose::Evaluate, (1 << 41) | (block << 20) | i as u64);
            for row in rows.chunks_exact_mut(dim) {
                self.draw_row(&mut rng, row);
                self.manifold.canonicalise(row);
            }
        });
        points
    }

    fn draw_row(&self, rng: &mut Rng, row: &mut [f64]) {
        let Some(kernels) = &self.kernels else { return self.base.sample(rng, row) };
        if rng.random::<f64>() < kernels.base_share {
            return self.base.sample(rng, row);
        }
        let mut left: f64 = rng.random();
        let falls_in = |scale: &&Scale| {
            left -= scale.share;
            left < 0.0
        };
        let scale = kernels.scales.iter().find(falls_in).unwrap_or(&kernels.scales[0]);
        self.base.sample_posterior(kernels.draw_centre(rng), scale.width, rng, row);
    }

    /// Log-density with respect to the base measure at each row of `x`.
    pub fn log_ratio(&self, x: &Points) -> Vec<f64> {
        match &self.kernels {
            None => vec![0.0; x.len()],
            Some(kernels) => x.par_rows().map(|x| kernels.log_ratio(x)).collect(),
        }
    }
}

impl Kernels {
    fn draw_centre(&self, rng: &mut Rng) -> &[f64] {
        let mut left: f64 = rng.random();
        let falls_in = |log_share: &f64| {
            left -= log_share.exp();
            left < 0.0
        };
        // Rounding may leave a little; then the first centre has it.
        self.centres.row(self.log_shares.iter().position(falls_in).unwrap_or(0))
    }

    fn log_ratio(&self, x: &[f64]) -> f64 {
        let mut terms = vec![self.base_share.ln()];
        for scale in &self.scales {
            let share = ((1.0 - self.base_share) * scale.share).ln();
            let kernels = self.log_shares.iter().enumerate();
            terms.extend(kernels.map(|(i, log_share)| share + log_share + self.log_kernel(scale, i, x)));
        }
        log_sum_exp(&terms)
    }

    /// ln K of centre `i`.
    fn log_kernel(&self, scale: &Scale, i: usize, x: &[f64]) -> f64 {
        let (centre, precision) = (self.centres.row(i), 1.0 / (scale.width * scale.width));
        let square: f64 = centre.iter().zip(x).map(|(s, x)| (s - x) * (s - x)).sum();
        // ½ (1 + exp(−2 s·x/h²)) for the two signs of a block.
        let sign = |block: &Range<usize>| {
            let opposite = -2.0 * precision * dot(&centre[block.clone()], &x[block.clone()]);
            opposite.max(0.0) + (-opposite.abs()).exp().ln_1p() - std::f64::consts::LN_2
        };
        let signs: f64 = self.odd.iter().map(sign).sum();
        let gaussian = -(x.len() as f64) * (0.5 * (2.0 * PI).ln() + scale.width.ln()) - 0.5 * precision * square;
        gaussian + signs - scale.log_noised[i]
    }

    /// Mean log-density of the first centres under the kernels of the others.
    fn prediction(&self, scale: &Scale) -> f64 {
        let predicted = |j: usize| {
            let share = self.log_shares[j].exp();
            let others = self.log_shares.iter().enumerate().filter(|&(i, _)| i != j);
            let kernels = others.map(|(i, log_share)| log_share + self.log_kernel(scale, i, self.centres.row(j)));
            let rest = ((1.0 - self.base_share) / (1.0 - share).max(f64::EPSILON)).ln();
            let terms: Vec<f64> = kernels.map(|k| k + rest).chain([self.base_share.max(1e-12).ln()]).collect();
            (share, share * log_sum_exp(&terms))
        };
        let chosen = self.centres.len().min(PREDICTED);
        let all: Vec<(f64, f64)> = (0..chosen).into_par_iter().map(predicted).collect();
        all.iter().map(|p| p.1).sum::<f64>() / all.iter().map(|p| p.0).sum::<f64>()
    }
}
