//! Ancestral sampling: the exact Gaussian step between two levels if the clean point were D.

use super::{
    Denoiser, Sampler,
    step::{add_noise, pull},
};
use crate::{Points, rng::Rng};

/// Draws x_b from q(x_b | x_a, x₀ = D(x_a, a)).
///
/// # Formula
/// x_b = D + (b²/a²)(x_a − D) + b √(1 − b²/a²) ε.
///
/// # Reference
/// Ho et al. (2020), Eq. (6) and (7), in the variance-exploding form of Song et al. (2021), Appendix F.
#[derive(Debug, Clone, Copy)]
pub struct Ancestral;

impl Sampler for Ancestral {
    fn walk(&self, denoiser: &dyn Denoiser, levels: &[f64], x: &mut Points, rng: &mut Rng) {
        for pair in levels.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let denoised = denoiser.denoise(x, a);
            pull(x, &denoised, (b / a) * (b / a));
            add_noise(x, b / a * ((a - b) * (a + b)).sqrt(), rng);
        }
    }
}
