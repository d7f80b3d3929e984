//! Brownian motion on spheres by geodesic random walks, and the way back.

use super::{Spheres, TangentField};
use crate::{Points, rng::Rng};

/// Speed of the noise over time from 0 to 1: dX = √β(t) dB.
///
/// # Formula
/// β(t) = β₀ + t (β₁ − β₀), B(t) = ∫ β.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeChange {
    /// β at time 0.
    pub start: f64,
    /// β at time 1.
    pub end: f64,
}

impl TimeChange {
    /// β(t).
    pub fn rate(&self, t: f64) -> f64 {
        self.start + t * (self.end - self.start)
    }

    /// B(t).
    pub fn elapsed(&self, t: f64) -> f64 {
        t * (self.start + 0.5 * t * (self.end - self.start))
    }
}

/// Moves `x` by Brownian motion from time `from` to `to` in steps of equal length.
///
/// # Formula
/// Each step goes along a geodesic of random velocity √(β(tᵢ) dt) z with z standard normal in the tangent space, tᵢ evenly
/// spaced from `from` to `to` with both ends.
///
/// # Reference
/// De Bortoli et al. (2022), Algorithm 1, and the step times of its code.
pub fn walk(spheres: &Spheres, x: &mut [f64], time: TimeChange, (from, to): (f64, f64), steps: usize, rng: &mut Rng) {
    let mut v = vec![0.0; x.len()];
    for i in 0..steps {
        let t = from + (to - from) * i as f64 / (steps.max(2) - 1) as f64;
        let size = (time.rate(t) * (to - from).abs() / steps as f64).sqrt();
        spheres.tangent_normal(x, rng, &mut v);
        v.iter_mut().for_each(|v| *v *= size);
        spheres.exp(x, &v);
    }
}

/// Moves all rows of `x` back from time 1 to `end` with the help of a score.
///
/// # Formula
/// x ← exp_x(β s dt + √(β dt) z), at times evenly spaced from 1 to `end` with both ends.
///
/// # Reference
/// De Bortoli et al. (2022), Algorithm 2.
pub fn reverse_walk(
    spheres: &Spheres,
    score: &dyn TangentField,
    x: &mut Points,
    time: TimeChange,
    end: f64,
    steps: usize,
    rng: &mut Rng,
) {
    let dt = (1.0 - end) / steps as f64;
    let mut z = vec![0.0; x.dim()];
    for i in 0..steps {
        let t = 1.0 + (end - 1.0) * i as f64 / (steps.max(2) - 1) as f64;
        let rate = time.rate(t);
        let scores = score.at(x, t);
        for (x, s) in x.rows_mut().zip(scores.rows()) {
            spheres.tangent_normal(x, rng, &mut z);
            z.iter_mut().zip(s).for_each(|(z, s)| *z = rate * dt * s + (rate * dt).sqrt() * *z);
            spheres.exp(x, &z);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{BuildContext, build},
        riemannian::heat_score,
        rng::{Purpose, stream},
        special::dot,
    };

    /// The score of Brownian motion that started at one point; from B = 1/2 on the series is exact to 1e-10.
    struct Heat<'a> {
        spheres: &'a Spheres,
        start: &'a [f64],
        time: TimeChange,
    }

    impl TangentField for Heat<'_> {
        fn at(&self, x: &Points, t: f64) -> Points {
            let mut scores = x.clone();
            for (score, x) in scores.rows_mut().zip(x.rows()) {
                heat_score(self.spheres, self.start, x, self.time.elapsed(t), 10, score);
            }
            scores
        }

        fn with_divergence(&self, _x: &Points, _t: f64) -> (Points, Vec<f64>) {
            unreachable!("walks ask for vectors alone")
        }
    }

    /// Harmonics of degree one decay like exp(−λ B/2) with λ = n on Sⁿ.
    #[test]
    fn walks_spread_as_brownian_motion_does() {
        for (spec, n) in [("sphere:2", 2.0), ("sphere:3", 3.0), ("torus:1", 1.0)] {
            let manifold = build(spec, &BuildContext::without_files()).expect("known");
            let spheres = Spheres::of(manifold.as_ref()).expect("made of spheres");
            let time = TimeChange { start: 0.1, end: 1.9 };
            let mut rng = stream(3, Purpose::Data, 0);
            let (count, mut mean) = (20_000, 0.0);
            for _ in 0..count {
                let mut x = vec![0.0; spheres.ambient_dim()];
                x[0] = 1.0;
                walk(&spheres, &mut x, time, (0.0, 1.0), 50, &mut rng);
                mean += x[0] / count as f64;
            }
            let expected = (-0.5 * n * time.elapsed(1.0)).exp();
            // One step in fifty leaves a bias of about one part in fifty of the exponent.
            assert!((mean - expected).abs() < 0.02, "{spec}: {mean} {expected}");
        }
    }

    /// With the exact score the way back from the uniform distribution ends in the distribution of Brownian motion at that time: on S² the mean
    /// of x·x₀ is exp(−B), whether β is constant or grows.
    #[test]
    fn reverse_walks_end_in_the_law_of_brownian_motion() {
        let manifold = build("sphere:2", &BuildContext::without_files()).expect("known");
        let spheres = Spheres::of(manifold.as_ref()).expect("made of spheres");
        let (count, steps, start) = (2000, 200, [0.36, -0.48, 0.8]);
        for (time, end) in
            [(TimeChange { start: 8.0, end: 8.0 }, 1.0 / 16.0), (TimeChange { start: 2.0, end: 14.0 }, 1.0 / 6.0)]
        {
            // At time 1 the distribution is uniform up to 3 exp(−8).
            assert!((time.elapsed(end) - 0.5).abs() < 1e-12 && time.elapsed(1.0) == 8.0);
            let mut rng = stream(3, Purpose::Data, 0);
            let mut x = Points::zeros(count, 3);
            x.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
            let score = Heat { spheres: &spheres, start: &start, time };
            reverse_walk(&spheres, &score, &mut x, time, end, steps, &mut rng);
            let mean = x.rows().map(|x| dot(x, &start)).sum::<f64>() / count as f64;
            let expected = (-time.elapsed(end)).exp();
            // x·x₀ has variance (1 + 2 exp(−3B))/3 − exp(−2B); steps are as good as an end that is one step of B off.
            let variance = (1.0 + 2.0 * expected.powi(3)) / 3.0 - expected * expected;
            let step = time.rate(end) * (1.0 - end) / steps as f64;
            let tolerance = 4.0 * (variance / count as f64).sqrt() + step * expected;
            assert!((mean - expected).abs() < tolerance, "{time:?}: {mean} {expected}");
        }
    }
}
