//! DPM-Solver++(2M): multistep exponential integrators of the probability flow and of the reverse SDE.

use super::{
    Denoiser, Sampler,
    step::{add_noise, pull},
};
use crate::{Points, rng::Rng};

/// Solves the linear part exactly and extrapolates D from the last two evaluations.
///
/// # Formula
/// With λ = −log σ, h = log(a/b) from a to b and r = h_previous/h: D̂ = D_a + (D_a − D_previous)/(2r), and D̂ = D_a in the
/// first step.
///
/// - Flow, dx/dλ = D − x: x_b = D̂ + (b/a)(x_a − D̂).
/// - SDE, dx = 2 (D − x) dλ + √2 σ dW: x_b = D̂ + (b/a)²(x_a − D̂) + b √(1 − b²/a²) ε. With D̂ = D_a this is
///   [`Ancestral`](super::Ancestral).
///
/// # Reference
/// Lu et al. (2022), "DPM-Solver++", Algorithm 2 and its SDE form (Section 5 of that paper), with α = 1.
#[derive(Debug, Clone, Copy)]
pub struct DpmSolver {
    /// Whether to follow the reverse SDE, which forgets errors of earlier steps, instead of the flow.
    pub stochastic: bool,
}

impl Sampler for DpmSolver {
    fn walk(&self, denoiser: &dyn Denoiser, levels: &[f64], x: &mut Points, rng: &mut Rng) {
        let mut previous: Option<(Points, f64)> = None;
        for pair in levels.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let h = (a / b).ln();
            let denoised = denoiser.denoise(x, a);
            let mut target = denoised.clone();
            if let Some((last, last_h)) = previous {
                let gain = h / (2.0 * last_h);
                for (t, l) in target.as_mut_slice().iter_mut().zip(last.as_slice()) {
                    *t += gain * (*t - l);
                }
            }
            if self.stochastic {
                pull(x, &target, (b / a) * (b / a));
                add_noise(x, b / a * ((a - b) * (a + b)).sqrt(), rng);
            } else {
                pull(x, &target, b / a);
            }
            previous = Some((denoised, h));
        }
    }
}
