//! Heun's method on the probability flow.

use super::{Denoiser, Sampler};
use crate::{Points, rng::Rng};

/// Second-order deterministic sampler: two calls per step.
#[derive(Debug, Clone, Copy)]
pub struct Heun;

/// Moves `x` along the probability flow from level `a` down to level `b`.
///
/// # Formula
/// dx/dσ = (x − D(x, σ))/σ; Euler to b, then the mean of the slopes at both ends.
///
/// # Reference
/// Karras et al. (2022), Algorithm 1.
pub(super) fn step(denoiser: &dyn Denoiser, x: &mut Points, a: f64, b: f64) {
    let slope = |x: &Points, sigma: f64| {
        let mut slope = denoiser.denoise(x, sigma);
        for (s, x) in slope.as_mut_slice().iter_mut().zip(x.as_slice()) {
            *s = (x - *s) / sigma;
        }
        slope
    };
    let first = slope(x, a);
    let mut ahead = x.clone();
    for (x, s) in ahead.as_mut_slice().iter_mut().zip(first.as_slice()) {
        *x += (b - a) * s;
    }
    let second = slope(&ahead, b);
    for ((x, s), t) in x.as_mut_slice().iter_mut().zip(first.as_slice()).zip(second.as_slice()) {
        *x += (b - a) * 0.5 * (s + t);
    }
}

impl Sampler for Heun {
    fn walk(&self, denoiser: &dyn Denoiser, levels: &[f64], x: &mut Points, _rng: &mut Rng) {
        for pair in levels.windows(2) {
            step(denoiser, x, pair[0], pair[1]);
        }
    }

    fn calls_per_step(&self) -> usize {
        2
    }
}
