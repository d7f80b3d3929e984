//! From the last noise level to points of the manifold.

use super::Denoiser;
use crate::{Points, manifold::Manifold, measure::BaseMeasure, metrics::Drift, rng::Rng};

/// The end of every walk: one last denoising, then, if asked for, the way back to the manifold.
#[derive(Debug, Clone, Copy)]
pub struct Finish<'a> {
    /// Where the samples belong.
    pub manifold: &'a dyn Manifold,
    /// Whether to put samples onto the manifold; without it they stay as the denoiser left them.
    pub projected: bool,
    /// A base measure that knows structure finer than the last level, and draws the point at the end.
    pub drawn_from: Option<&'a dyn BaseMeasure>,
}

impl Finish<'_> {
    /// Replaces `x` at level `sigma` by D(x, σ) (Tweedie), measures the drift, then projects, takes the fixed
    /// representative and lifts it to a random one where the manifold is a quotient.
    ///
    /// With `drawn_from` points on the manifold are drawn from that measure given x instead: below the last level it is all the
    /// model knows, and a mean would wipe out what is finer.
    pub fn apply(&self, denoiser: &dyn Denoiser, sigma: f64, x: &mut Points, rng: &mut Rng) -> Drift {
        let noised = std::mem::replace(x, denoiser.denoise(x, sigma));
        let drift = Drift::of(self.manifold, x);
        if self.projected {
            for (row, noised) in x.rows_mut().zip(noised.rows()) {
                if let Some(base) = self.drawn_from.filter(|base| base.is_finer_than_noise()) {
                    base.sample_posterior(noised, sigma, rng, row);
                }
                self.manifold.project(row);
                self.manifold.canonicalise(row);
                self.manifold.lift(row, rng);
            }
        }
        drift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        measure::UniformSphere,
        rng::{Purpose, stream},
    };
    use rand::RngExt as _;
    use std::sync::Arc;

    /// Lines through the origin of the plane: ±x on the unit circle, the representative has y ≥ 0.
    #[derive(Debug)]
    struct Lines;

    impl Manifold for Lines {
        fn spec(&self) -> String {
            "lines".into()
        }

        fn ambient_dim(&self) -> usize {
            2
        }

        fn intrinsic_dim(&self) -> usize {
            1
        }

        fn log_volume(&self) -> f64 {
            std::f64::consts::PI.ln()
        }

        fn project(&self, x: &mut [f64]) {
            let r = x[0].hypot(x[1]);
            x.iter_mut().for_each(|v| *v /= r);
        }

        fn uniform(&self) -> Arc<dyn BaseMeasure> {
            Arc::new(UniformSphere::new(2))
        }

        fn canonicalise(&self, x: &mut [f64]) {
            if x[1] < 0.0 {
                x.iter_mut().for_each(|v| *v = -*v);
            }
        }

        fn lift(&self, x: &mut [f64], rng: &mut Rng) {
            if rng.random::<bool>() {
                x.iter_mut().for_each(|v| *v = -*v);
            }
        }
    }

    /// Denoises by halving.
    struct Half;

    impl Denoiser for Half {
        fn ambient_dim(&self) -> usize {
            2
        }

        fn denoise(&self, x: &Points, _sigma: f64) -> Points {
            Points::from_vec(x.as_slice().iter().map(|v| v / 2.0).collect(), 2)
        }
    }

    #[test]
    fn the_drift_is_measured_before_projection_and_unprojected_points_stay() {
        let start = Points::from_vec(vec![0.0, -2.0, 3.0, 4.0, 0.0, 2.08], 2);
        let drift = Drift { points: 3, mean: (0.0 + 1.5 + 0.04) / 3.0, max: 1.5, far: 1.0 / 3.0 };
        let mut rng = stream(1, Purpose::Sample, 0);
        for projected in [false, true] {
            let mut x = start.clone();
            let found = Finish { manifold: &Lines, projected, drawn_from: None }.apply(&Half, 0.1, &mut x, &mut rng);
            assert!((found.mean - drift.mean).abs() < 1e-12);
            assert_eq!(Drift { mean: drift.mean, ..found }, drift);
            if projected {
                assert!(x.rows().all(|x| (x[0].hypot(x[1]) - 1.0).abs() < 1e-12));
            } else {
                assert_eq!(x.as_slice(), [0.0, -1.0, 1.5, 2.0, 0.0, 1.04]);
            }
        }
    }

    #[test]
    fn samples_of_a_quotient_are_lifted_at_random() {
        let n = 1000;
        let mut x = Points::from_vec([1.2, -1.6].repeat(n), 2);
        let finish = Finish { manifold: &Lines, projected: true, drawn_from: None };
        finish.apply(&Half, 0.1, &mut x, &mut stream(2, Purpose::Sample, 0));
        let up = x.rows().filter(|x| x[1] > 0.0).count();
        // Binomial with standard deviation 16.
        assert!((420..580).contains(&up), "{up}");
        assert!(x.rows().all(|x| (x[0] * x[1] + 0.48).abs() < 1e-12));
    }
}
