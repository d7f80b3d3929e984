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
