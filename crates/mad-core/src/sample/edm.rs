//! The stochastic sampler of EDM.

use super::{Denoiser, Sampler, heun, step::add_noise};
use crate::{Points, rng::Rng};

/// Heun steps, each preceded by a little fresh noise that corrects errors of earlier steps.
///
/// # Formula
/// With n steps and γ = min(churn/n, √2 − 1): x ← x + √(â² − a²) ε, â = (1 + γ) a, then a Heun step from â to b.
///
/// # Reference
/// Karras et al. (2022), Algorithm 2, with S_noise = 1 and S_tmin = 0. Noise is never raised above the first level, so
/// that the denoiser is only asked about levels it was trained on.
#[derive(Debug, Clone, Copy)]
pub struct Edm {
    /// Amount of fresh noise over the whole walk, S_churn; 0 gives [`Heun`](super::Heun).
    pub churn: f64,
}

impl Default for Edm {
    fn default() -> Self {
        Self { churn: 5.0 }
    }
}

impl Sampler for Edm {
    fn walk(&self, denoiser: &dyn Denoiser, levels: &[f64], x: &mut Points, rng: &mut Rng) {
        let steps = levels.len().saturating_sub(1).max(1);
        let gamma = (self.churn / steps as f64).min(std::f64::consts::SQRT_2 - 1.0);
        for pair in levels.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let raised = ((1.0 + gamma) * a).min(levels[0]);
            if raised > a {
                add_noise(x, ((raised - a) * (raised + a)).sqrt(), rng);
            }
            heun::step(denoiser, x, raised, b);
        }
    }

    fn calls_per_step(&self) -> usize {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    /// Exact denoiser of N(0, 1) data.
    struct Gaussian;

    impl Denoiser for Gaussian {
        fn ambient_dim(&self) -> usize {
            1
        }

        fn denoise(&self, x: &Points, sigma: f64) -> Points {
            Points::from_vec(x.as_slice().iter().map(|x| x / (1.0 + sigma * sigma)).collect(), 1)
        }
    }

    #[test]
    fn no_churn_is_heun() {
        let levels = [4.0, 1.0, 0.3, 0.1];
        let mut a = Points::from_vec(vec![-3.0, 0.5, 7.0], 1);
        let mut b = a.clone();
        Edm { churn: 0.0 }.walk(&Gaussian, &levels, &mut a, &mut stream(1, Purpose::Sample, 0));
        heun::Heun.walk(&Gaussian, &levels, &mut b, &mut stream(2, Purpose::Sample, 0));
        assert_eq!(a, b);
    }
}
