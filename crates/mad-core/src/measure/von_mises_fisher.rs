//! Draws from one von Mises–Fisher density.

use super::uniform_sphere::sample_direction;
use crate::rng::Rng;
use crate::special::{dot, norm};
use rand::RngExt;
use rand_distr::{Beta, Distribution};

/// Fills `x` with a draw from the density proportional to exp(κ μ·x) on the unit sphere; `mean` is the unit vector μ.
///
/// # Reference
/// Ulrich, Computer generation of distributions on the m-sphere, Appl. Statist. 33 (1984); Wood, Simulation of the von
/// Mises–Fisher distribution, Comm. Statist. 23 (1994). On S² the distribution function is inverted instead.
///
/// # Numerics
/// Both work with t = 1 − μ·x, which is of size 1/κ: at κ = 1e8 the cosine itself has lost half its digits.
pub(crate) fn sample_von_mises_fisher(mean: &[f64], concentration: f64, rng: &mut Rng, x: &mut [f64]) {
    if concentration == 0.0 {
        return sample_direction(rng, x);
    }
    let t = if mean.len() == 3 { invert(concentration, rng) } else { reject(mean.len(), concentration, rng) };
    let sine = (t * (2.0 - t)).max(0.0).sqrt();
    // A uniform direction orthogonal to the mean.
    loop {
        sample_direction(rng, x);
        let along = dot(x, mean);
        x.iter_mut().zip(mean).for_each(|(x, m)| *x -= along * m);
        let length = norm(x);
        if length > 1e-6 {
            x.iter_mut().zip(mean).for_each(|(x, m)| *x = (1.0 - t) * m + sine * (*x / length));
            break;
        }
    }
    let length = norm(x);
    x.iter_mut().for_each(|x| *x /= length);
}

/// t = −ln(1 + u (e^{−2κ} − 1))/κ for uniform u: the exact inverse on S².
fn invert(kappa: f64, rng: &mut Rng) -> f64 {
    let u: f64 = rng.random();
    (-(u * (-2.0 * kappa).exp_m1()).ln_1p() / kappa).clamp(0.0, 2.0)
}

/// Ulrich's rejection from a transformed Beta variable, with Wood's correction, written in t = 1 − w.
fn reject(dim: usize, kappa: f64, rng: &mut Rng) -> f64 {
    let m = (dim - 1) as f64;
    let b = m / (2.0 * kappa + (2.0 * kappa).hypot(m));
    let edge = 2.0 * b / (1.0 + b);
    let Ok(beta) = Beta::new(m / 2.0, m / 2.0) else { unreachable!("the shape {m}/2 is positive") };
    loop {
        let z: f64 = beta.sample(rng);
        let u: f64 = rng.random();
        let t = 2.0 * b * z / ((1.0 - z) + b * z);
        let log_ratio = kappa * (edge - t) + m * ((edge + t - edge * t) / (edge * (2.0 - edge))).ln();
        if log_ratio >= u.ln() {
            return t;
        }
    }
}
