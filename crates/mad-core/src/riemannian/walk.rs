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
