//! Clean points to noised points with regression targets.

use crate::{
    Points,
    measure::{BaseMeasure, posterior_means},
    noise::{Anchor, LevelDraw, NoiseRange},
    rng::Rng,
};
use rand_distr::{Distribution, StandardNormal};

/// What one training step sees.
#[derive(Debug, Clone)]
pub struct NoisedBatch {
    /// x = x₀ + σ ε, `n × d`.
    pub x: Points,
    /// σ of each row.
    pub sigma: Vec<f64>,
    /// The regression target, (x₀ − m(x, σ))/σ, `n × d`.
    pub target: Points,
}

impl NoisedBatch {
    /// Noises every row of `x0` at a level of its own and states the target.
    ///
    /// # Formula
    /// x = x₀ + σ ε; target (x₀ − m(x, σ))/σ. With m = x this is −ε; with m = E_μ\[x₀ | x\] it equals the paper's
    /// (x₀ − x)/σ − σ s_base(x, σ).
    ///
    /// # Reference
    /// MAD, the two losses with weight σ² of Section 2 (for DSM and for δ).
    ///
    /// # Numerics
    /// Subtracting means, not scores, keeps full precision: at σ = 1e-6 the two scores are of size 1e6 and nearly cancel.
    pub fn draw(x0: &Points, levels: LevelDraw, range: NoiseRange, anchor: &Anchor, rng: &mut Rng) -> Self {
        let (x, sigma) = Self::noised(x0, levels, range, rng);
        Self::with_clean(x, sigma, x0, anchor)
    }

    /// As [`NoisedBatch::draw`], but with the mean over everything that could have become x in place of x₀ itself; `data` is
    /// the distribution of x₀, such as that of all training points.
    ///
    /// # Formula
    /// target (E\[x₀ | x\] − m(x, σ))/σ. Given x, this is the mean of the target of [`NoisedBatch::draw`], so the loss has the same
    /// minimum and the same expected gradient, without the noise of single targets.
    ///
    /// # Reference
    /// Xu, Tong, Jaakkola (2023), "Stable target field", with the whole training part as reference batch.
    pub fn draw_averaged(
        x0: &Points,
        data: &dyn BaseMeasure,
        levels: LevelDraw,
        range: NoiseRange,
        anchor: &Anchor,
        rng: &mut Rng,
    ) -> Self {
        let (x, sigma) = Self::noised(x0, levels, range, rng);
        let clean = posterior_means(data, &x, &sigma);
        Self::with_clean(x, sigma, &clean, anchor)
    }

    /// Every row with noise of a level of its own.
    fn noised(x0: &Points, levels: LevelDraw, range: NoiseRange, rng: &mut Rng) -> (Points, Vec<f64>) {
        let sigma = levels.draw(range, x0.len(), rng);
        let mut x = x0.clone();
        for (row, s) in x.rows_mut().zip(&sigma) {
            for v in row {
                let z: f64 = StandardNormal.sample(rng);
                *v += s * z;
            }
        }
        (x, sigma)
    }

    fn with_clean(x: Points, sigma: Vec<f64>, clean: &Points, anchor: &Anchor) -> Self {
        let mut target = anchor.means(&x, &sigma);
        for ((t, clean), s) in target.rows_mut().zip(clean.rows()).zip(&sigma) {
            for (t, clean) in t.iter_mut().zip(clean) {
                *t = (clean - *t) / s;
            }
        }
        Self { x, sigma, target }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        measure::{BaseMeasure, Finite},
        rng::{Purpose, stream},
    };
    use std::sync::Arc;

    /// Two equally likely points ±1 on the line, where everything is a hyperbolic tangent.
    #[derive(Debug)]
    struct TwoPoints;

    impl BaseMeasure for TwoPoints {
        fn ambient_dim(&self) -> usize {
            1
        }

        fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
            mean[0] = (x[0] / (sigma * sigma)).tanh();
        }

        fn log_density(&self, _x: &[f64], _sigma: f64) -> f64 {
            f64::NAN
        }

        fn log_weight(&self, _x0: &[f64]) -> f64 {
            -std::f64::consts::LN_2
        }

        fn sample(&self, _rng: &mut Rng, x0: &mut [f64]) {
            x0[0] = 1.0;
        }
    }

    fn draw(anchor: &Anchor) -> (Points, NoisedBatch) {
        let x0 = Points::from_vec((0..200).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect(), 1);
        let range = NoiseRange { min: 0.05, max: 5.0 };
        let batch = NoisedBatch::draw(&x0, LevelDraw::LogUniform, range, anchor, &mut stream(5, Purpose::Train, 0));
        (x0, batch)
    }

    #[test]
    fn the_ambient_target_is_minus_the_noise() {
        let (x0, batch) = draw(&Anchor::Ambient);
        let mut square = 0.0;
        for i in 0..x0.len() {
            let noise = (batch.x.row(i)[0] - x0.row(i)[0]) / batch.sigma[i];
            assert!((batch.target.row(i)[0] + noise).abs() < 1e-12);
            square += noise * noise;
        }
        // χ² with 200 degrees of freedom: standard deviation 20.
        assert!((square - 200.0).abs() < 100.0, "{square}");
    }

    #[test]
    fn the_base_target_is_the_one_of_the_paper() {
        let (x0, batch) = draw(&Anchor::Base(Arc::new(TwoPoints)));
        for i in 0..x0.len() {
            let (x0, x, s) = (x0.row(i)[0], batch.x.row(i)[0], batch.sigma[i]);
            let base_score = ((x / (s * s)).tanh() - x) / (s * s);
            let paper = (x0 - x) / s - s * base_score;
            let target = batch.target.row(i)[0];
            assert!((target - paper).abs() < 1e-9 * (1.0 + 1.0 / s), "{target} {paper} at {s}");
        }
    }

    /// With weights .3 and .7 on ±1 the mean of x₀ given x is tanh(x/σ² + ln(.7/.3)/2).
    #[test]
    fn averaged_targets_are_means_of_single_ones() {
        let data = Finite::weighted(Points::from_vec(vec![-1.0, 1.0], 1), &[0.3, 0.7]).expect("two weights");
        let x0 = Points::from_vec(vec![1.0; 50], 1);
        let range = NoiseRange { min: 0.3, max: 3.0 };
        let rng = || stream(6, Purpose::Train, 0);
        let single = NoisedBatch::draw(&x0, LevelDraw::LogUniform, range, &Anchor::Ambient, &mut rng());
        let averaged =
            NoisedBatch::draw_averaged(&x0, &data, LevelDraw::LogUniform, range, &Anchor::Ambient, &mut rng());
        assert_eq!((&single.x, &single.sigma), (&averaged.x, &averaged.sigma));
        for i in 0..x0.len() {
            let (x, s) = (averaged.x.row(i)[0], averaged.sigma[i]);
            let mean = (x / (s * s) + 0.5 * (0.7f64 / 0.3).ln()).tanh();
            assert!((averaged.target.row(i)[0] - (mean - x) / s).abs() < 1e-12);
        }
    }

    #[test]
    fn all_anchors_see_the_same_noise() {
        let (_, a) = draw(&Anchor::Ambient);
        let (_, b) = draw(&Anchor::Base(Arc::new(TwoPoints)));
        let (x0, c) = draw(&Anchor::Skip { sigma_data: 0.5 });
        assert_eq!((&a.x, &a.sigma), (&b.x, &b.sigma));
        assert_eq!((&a.x, &a.sigma), (&c.x, &c.sigma));
        let (x, s) = (c.x.row(7)[0], c.sigma[7]);
        assert!((c.target.row(7)[0] - (x0.row(7)[0] - x * 0.25 / (0.25 + s * s)) / s).abs() < 1e-12);
    }
}
