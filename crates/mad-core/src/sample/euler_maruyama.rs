//! Euler-Maruyama on the reverse variance-exploding SDE: the paper's sampler.

use super::{
    Denoiser, Sampler,
    step::{add_noise, pull},
};
use crate::{Points, rng::Rng};

/// One Euler-Maruyama step of the reverse SDE per pair of levels.
///
/// # Formula
/// From σ = a to σ = b, with score (D(x, a) − x)/a² and ∫ g² dt = a² − b²:
/// x ← x + (a² − b²)(D − x)/a² + √(a² − b²) ε.
///
/// # Reference
/// MAD, Eq. (2) and (3); Song et al. (2021), Algorithm 2 (predictor for VE).
///
/// # Numerics
/// The noise is larger than the posterior variance b²(1 − b²/a²) by the factor a²/b²; what is too much is removed by the next
/// step, and the last denoising removes the rest. Needs many levels; [`Ancestral`](super::Ancestral) does not.
#[derive(Debug, Clone, Copy)]
pub struct EulerMaruyama;

impl Sampler for EulerMaruyama {
    fn walk(&self, denoiser: &dyn Denoiser, levels: &[f64], x: &mut Points, rng: &mut Rng) {
        for pair in levels.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let denoised = denoiser.denoise(x, a);
            pull(x, &denoised, (b / a) * (b / a));
            add_noise(x, ((a - b) * (a + b)).sqrt(), rng);
        }
    }
}
