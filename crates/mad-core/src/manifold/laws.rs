//! The laws every manifold and every base measure obeys, as functions, so that manifolds from elsewhere can be checked too.
//!
//! Each law draws its own test points from a fixed seed and returns the first [`Violation`] it meets. [`check`] runs them all.

use super::Manifold;
use crate::measure::BaseMeasure;
use crate::rng::{Purpose, Rng, stream};
use crate::special::{distance_squared, norm};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;
use thiserror::Error;

/// A law that does not hold.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{law} fails on {spec}: {detail}")]
pub struct Violation {
    /// The law.
    pub law: &'static str,
    /// The manifold.
    pub spec: String,
    /// Where and by how much.
    pub detail: String,
}

/// A manifold together with a measure on it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The set.
    pub manifold: &'a dyn Manifold,
    /// A measure on it.
    pub base: &'a dyn BaseMeasure,
}

/// A law: `Ok` where it holds.
pub type Law = fn(Subject<'_>) -> Result<(), Violation>;

/// All laws by name.
pub const LAWS: &[(&str, Law)] = &[
    ("projection is idempotent", projection_is_idempotent),
    ("projection does not move points of the set", base_samples_lie_on_the_set),
    ("distances are symmetric and vanish on equal points", distances_are_symmetric),
    ("the posterior mean is the weighted mean of base samples", posterior_mean_is_weighted_mean),
    ("the posterior mean tends to the projection", small_noise_limit),
    ("the posterior mean tends to the base mean", large_noise_limit),
    ("everything is finite at edge inputs", edges_are_finite),
    ("odd where declared", odd_where_declared),
    ("canonicalise is constant on classes and lift stays inside", classes_are_respected),
    ("the score is the gradient of the log-density", score_is_gradient),
    ("the grid shares the volume equally", grid_is_equal),
];

/// Runs every law.
pub fn check(subject: Subject<'_>) -> Result<(), Violation> {
    LAWS.iter().try_for_each(|(_, law)| law(subject))
}

impl Subject<'_> {
    fn rng(&self, index: u64) -> Rng {
        stream(20_240_229, Purpose::Evaluate, index)
    }

    fn dim(&self) -> usize {
        self.manifold.ambient_dim()
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let mut x = vec![0.0; self.dim()];
        self.base.sample(rng, &mut x);
        x
    }

    /// A base point with Gaussian noise of size `sigma`.
    fn noised(&self, sigma: f64, rng: &mut Rng) -> Vec<f64> {
        let mut x = self.draw(rng);
        x.iter_mut().for_each(|x| *x += sigma * normal(rng));
        x
    }

    fn mean(&self, x: &[f64], sigma: f64) -> Vec<f64> {
        let mut mean = vec![f64::NAN; x.len()];
        self.base.posterior_mean(x, sigma, &mut mean);
        mean
    }

    /// Whether the base has no finite mass, as flat space: its prior then differs from the noised base.
    fn is_improper(&self) -> bool {
        self.base.log_prior_ratio(&vec![0.0; self.dim()], 1.0) != 0.0
    }

    fn require(&self, law: &'static str, holds: bool, detail: impl FnOnce() -> String) -> Result<(), Violation> {
        if holds { Ok(()) } else { Err(Violation { law, spec: self.manifold.spec(), detail: detail() }) }
    }
}

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn gap(a: &[f64], b: &[f64]) -> f64 {
    distance_squared(a, b).sqrt()
}

/// Projecting a second time changes nothing, and the deviation afterwards is zero.
pub(crate) fn projection_is_idempotent(s: Subject<'_>) -> Result<(), Violation> {
    let mut rng = s.rng(1);
    for scale in [1e-3, 1.0, 1e3] {
        for _ in 0..20 {
            let mut once = s.noised(scale, &mut rng);
            s.manifold.project(&mut once);
            let mut twice = once.clone();
            s.manifold.project(&mut twice);
            let moved = gap(&once, &twice).max(s.manifold.deviation(&once));
            s.require("projection is idempotent", moved <= 1e-15 * (1.0 + norm(&once)), || {
                format!("moved by {moved:.1e}")
            })?;
        }
    }
    Ok(())
}

/// Base samples lie on the set: projection does not move them.
pub(crate) fn base_samples_lie_on_the_set(s: Subject<'_>) -> Result<(), Violation> {
    let mut rng = s.rng(2);
    for _ in 0..200 {
        let x = s.draw(&mut rng);
        let mut projected = x.clone();
        s.manifold.project(&mut projected);
        let moved = gap(&x, &projected).max(s.manifold.deviation(&x));
        s.require("projection does not move points of the set", moved < 1e-14, || format!("moved by {moved:.1e}"))?;
        s.require("the base has a density on the set", s.base.log_weight(&x).is_finite(), || format!("none at {x:?}"))?;
    }
    Ok(())
}

/// Distance and chord are symmetric, non-negative, and vanish between representatives of the same point; no chord is longer
/// than its geodesic.
pub(crate) fn distances_are_symmetric(s: Subject<'_>) -> Result<(), Violation> {
    let law = "distances are symmetric and vanish on equal points";
    let mut rng = s.rng(3);
    for _ in 0..50 {
        let (a, b) = (s.draw(&mut rng), s.draw(&mut rng));
        let mut again = a.clone();
        s.manifold.lift(&mut again, &mut rng);
        let distance = |a: &[f64], b: &[f64]| s.manifold.distance(a, b);
        let chord = |a: &[f64], b: &[f64]| s.manifold.chord(a, b);
        let values = [
            ("distance", distance(&a, &b), distance(&b, &a), distance(&a, &again)),
            ("chord", chord(&a, &b), chord(&b, &a), chord(&a, &again)),
        ];
        for (name, there, back, zero) in values {
            s.require(law, there >= 0.0 && (there - back).abs() < 1e-12, || {
                format!("{name} {there} there, {back} back")
            })?;
            s.require(law, zero < 1e-12, || format!("{name} {zero:.1e} from a point to itself"))?;
        }
        let (short, long) = (s.manifold.chord(&a, &b), s.manifold.distance(&a, &b));
        s.require(law, short <= long * (1.0 + 1e-12), || format!("chord {short} is longer than the geodesic {long}"))?;
    }
    Ok(())
}

/// E\[x₀ | x\] agrees with Σ w x₀/Σ w over base samples, w = exp(−|x−x₀|²/2σ²), within five standard errors.
///
/// An improper base draws from a stand-in whose density relative to the base, `log_prior_ratio` at σ = 0, is divided out.
pub fn posterior_mean_is_weighted_mean(s: Subject<'_>) -> Result<(), Violation> {
    let mut rng = s.rng(4);
    let n = 20_000;
    let samples: Vec<Vec<f64>> = (0..n).map(|_| s.draw(&mut rng)).collect();
    let corrections: Vec<f64> = samples.iter().map(|x0| s.base.log_prior_ratio(x0, 0.0)).collect();
    for sigma in [0.5, 0.9] {
        for _ in 0..3 {
            let mut x = s.noised(sigma, &mut rng);
            if s.is_improper() {
                // The stand-in has few samples far out, and an estimate from few samples has no usable error.
                x.iter_mut().for_each(|x| *x *= 0.4);
            }
            let logs: Vec<f64> = samples
                .iter()
                .zip(&corrections)
                .map(|(x0, c)| -distance_squared(&x, x0) / (2.0 * sigma * sigma) - c)
                .collect();
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = logs.iter().map(|l| (l - largest).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mean = s.mean(&x, sigma);
            for (i, m) in mean.iter().enumerate() {
                let estimate = samples.iter().zip(&weights).map(|(x0, w)| w * x0[i]).sum::<f64>() / total;
                let variance =
                    samples.iter().zip(&weights).map(|(x0, w)| (w * (x0[i] - estimate)).powi(2)).sum::<f64>();
                let error = variance.sqrt() / total;
                s.require(
                    "the posterior mean is the weighted mean of base samples",
                    (m - estimate).abs() <= 5.0 * error + 1e-9,
                    || format!("σ = {sigma}, coordinate {i}: {m} against {estimate} ± {error:.1e}"),
                )?;
            }
        }
    }
    Ok(())
}

/// E\[x₀ | x\] → project(x) as σ → 0, for x near the set, where the nearest point is unique.
pub(crate) fn small_noise_limit(s: Subject<'_>) -> Result<(), Violation> {
    let mut rng = s.rng(5);
    for _ in 0..50 {
        let size = 0.05 / (s.dim() as f64).sqrt();
        let x = s.noised(size, &mut rng);
        let mut nearest = x.clone();
        s.manifold.project(&mut nearest);
        for (sigma, tolerance) in [(1e-4, 1e-5), (1e-6, 1e-9)] {
            let off = gap(&s.mean(&x, sigma), &nearest);
            s.require("the posterior mean tends to the projection", off < tolerance, || {
                format!("{off:.1e} apart at σ = {sigma}")
            })?;
        }
    }
    Ok(())
}

/// E\[x₀ | x\] → the mean of the base as σ → ∞; for an improper base only at x = 0.
pub(crate) fn large_noise_limit(s: Subject<'_>) -> Result<(), Violation> {
    let mut rng = s.rng(6);
    let n = 20_000;
    let (mut mean, mut square) = (vec![0.0; s.dim()], vec![0.0; s.dim()]);
    for _ in 0..n {
        for ((m, q), x) in mean.iter_mut().zip(&mut square).zip(s.draw(&mut rng)) {
            *m += x / n as f64;
            *q += x * x / n as f64;
        }
    }
    for scale in [0.0, 1.0] {
        if scale > 0.0 && s.is_improper() {
            continue;
        }
        let x: Vec<f64> = (0..s.dim()).map(|_| scale * normal(&mut rng)).collect();
        for (i, m) in s.mean(&x, 1e3).iter().enumerate() {
            let error = ((square[i] - mean[i] * mean[i]).max(0.0) / n as f64).sqrt();
            s.require("the posterior mean tends to the base mean", (m - mean[i]).abs() <= 5.0 * error + 1e-5, || {
                format!("coordinate {i} at σ = 1000: {m} against {} ± {error:.1e}", mean[i])
            })?;
        }
    }
    Ok(())
}

/// Posterior mean, score, log-density and projection are finite at x = 0, |x| from 1e-300 to 1e140 and σ from 1e-6 to 1e3.
pub(crate) fn edges_are_finite(s: Subject<'_>) -> Result<(), Violation> {
    let law = "everything is finite at edge inputs";
    let mut rng = s.rng(7);
    for scale in [0.0, 1e-300, 1e-30, 1e-9, 1.0, 1e9, 1e30, 1e140] {
        let mut x = s.draw(&mut rng);
        x.iter_mut().for_each(|x| *x *= scale);
        for sigma in [1e-6, 1e-3, 1.0, 1e3] {
            let mean = s.mean(&x, sigma);
            let mut score = vec![f64::NAN; s.dim()];
            s.base.score(&x, sigma, &mut score);
            let log_density = s.base.log_density(&x, sigma);
            let prior = s.base.log_prior_ratio(&x, sigma);
            let finite =
                mean.iter().chain(&score).all(|v| v.is_finite()) && log_density.is_finite() && prior.is_finite();
            s.require(law, finite, || format!("|x| = {:e}, σ = {sigma}: log-density {log_density}", norm(&x)))?;
        }
        let mut projected = x.clone();
        s.manifold.project(&mut projected);
        s.manifold.canonicalise(&mut projected);
        let good = projected.iter().all(|v| v.is_finite())
            && s.manifold.deviation(&projected) < 1e-14 * (1.0 + norm(&projected));
        s.require(law, good, || format!("projection of |x| = {:e} is {projected:?}", norm(&x)))?;
    }
    Ok(())
}

/// A sign flip of an odd block flips the posterior mean there, leaves it elsewhere, and does not change the point.
pub(crate) fn odd_where_declared(s: Subject<'_>) -> Result<(), Violation> {
    let blocks = s.manifold.odd_blocks();
    let whole = blocks.len() == 1 && blocks[0] == (0..s.dim());
    s.require("odd where declared", !s.manifold.is_odd() || whole, || {
        format!("odd, but its odd blocks are {blocks:?}")
    })?;
    let mut rng = s.rng(8);
    for _ in 0..20 {
        for sigma in [1e-3, 0.3, 3.0] {
            let x = s.noised(sigma, &mut rng);
            for block in &blocks {
                let flip = |x: &[f64]| -> Vec<f64> {
                    x.iter().enumerate().map(|(i, x)| if block.contains(&i) { -x } else { *x }).collect()
                };
                let off = gap(&s.mean(&flip(&x), sigma), &flip(&s.mean(&x, sigma)));
                s.require("odd where declared", off < 1e-13, || format!("off by {off:.1e} at σ = {sigma}"))?;
                let mut point = x.clone();
                s.manifold.project(&mut point);
                let distance = s.manifold.distance(&point, &flip(&point));
                s.require("odd where declared", distance < 1e-12, || {
                    format!("{distance:.1e} from a point to its negative")
                })?;
            }
        }
    }
    Ok(())
}

/// `canonicalise` gives the same representative for every member of a class, and `lift` a member of the same class.
///
/// Points are base samples and also points with many equal or vanishing coordinates, which lie on the seams of fundamental
/// cells, where only a rule decides.
pub(crate) fn classes_are_respected(s: Subject<'_>) -> Result<(), Violation> {
    let law = "canonicalise is constant on classes and lift stays inside";
    let mut rng = s.rng(9);
    for trial in 0..300 {
        let mut point = s.draw(&mut rng);
        if trial % 3 == 1 {
            point.iter_mut().for_each(|x| *x = f64::from(rng.random_range(-1..=1)));
            s.manifold.project(&mut point);
        } else if trial % 3 == 2 {
            // A member of the class of a seam point, with its round-off.
            point.iter_mut().for_each(|x| *x = f64::from(rng.random_range(-2..=2)));
            s.manifold.project(&mut point);
            s.manifold.lift(&mut point, &mut rng);
        }
        let mut fixed = point.clone();
        s.manifold.canonicalise(&mut fixed);
        let apart = s.manifold.distance(&point, &fixed);
        s.require(law, apart < 1e-8, || format!("the representative of {point:?} is {apart:.1e} away"))?;
        for _ in 0..10 {
            let mut member = point.clone();
            s.manifold.lift(&mut member, &mut rng);
            for block in s.manifold.odd_blocks() {
                if rng.random::<bool>() {
                    member[block].iter_mut().for_each(|x| *x = -*x);
                }
            }
            let apart = s.manifold.distance(&point, &member);
            s.require(law, apart < 1e-12, || format!("lift of {point:?} is {apart:.1e} away"))?;
            s.manifold.canonicalise(&mut member);
            let off = gap(&member, &fixed);
            s.require(law, off < 1e-12, || format!("{point:?} has representatives {fixed:?} and {member:?}"))?;
        }
    }
    Ok(())
}

/// The score agrees with central differences of the log-density, and with (mean − x)/σ².
pub fn score_is_gradient(s: Subject<'_>) -> Result<(), Violation> {
    let law = "the score is the gradient of the log-density";
    let mut rng = s.rng(10);
    for sigma in [1e-2, 0.3, 1.0, 30.0] {
        for _ in 0..5 {
            let x = s.noised(sigma, &mut rng);
            let mean = s.mean(&x, sigma);
            let mut score = vec![f64::NAN; s.dim()];
            s.base.score(&x, sigma, &mut score);
            let step = 1e-4 * sigma;
            for i in (0..s.dim()).step_by(s.dim().div_ceil(12)) {
                let at = |shift: f64| {
                    let mut moved = x.clone();
                    moved[i] += shift;
                    s.base.log_density(&moved, sigma)
                };
                let difference = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
                let direct = if s.is_improper() && score[i] == 0.0 { 0.0 } else { (mean[i] - x[i]) / (sigma * sigma) };
                let tolerance = 1e-8 * (1.0 + norm(&score) * sigma) / sigma;
                let off = (score[i] - difference).abs().max((score[i] - direct).abs());
                s.require(law, off <= tolerance, || {
                    format!(
                        "σ = {sigma}, coordinate {i}: score {}, difference {difference}, from the mean {direct}",
                        score[i]
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Grid points lie on the set, and a sum over them reproduces an integral against the uniform measure.
///
/// The integral is that of N_σ(x − x₀), which the uniform base knows as its noised density. Where a sign is free both are
/// summed; where classes are larger a random member stands for its class, and the tolerance is its standard error.
pub(crate) fn grid_is_equal(s: Subject<'_>) -> Result<(), Violation> {
    let law = "the grid shares the volume equally";
    let Some(grid) = s.manifold.grid(4000) else { return Ok(()) };
    let uniform = s.manifold.uniform();
    let mut rng = s.rng(11);
    for point in grid.rows() {
        let deviation = s.manifold.deviation(point);
        s.require(law, deviation < 1e-14, || format!("{point:?} is {deviation:.1e} off the set"))?;
    }
    for sigma in [0.4, 1.0] {
        for _ in 0..5 {
            let x = s.noised(0.3, &mut rng);
            let mut random = false;
            let values: Vec<f64> = grid
                .rows()
                .map(|point| {
                    let mut member = point.to_vec();
                    s.manifold.lift(&mut member, &mut rng);
                    random |= member != point;
                    let value = |sign: f64| {
                        let moved: Vec<f64> = member.iter().map(|m| sign * m).collect();
                        (-distance_squared(&x, &moved) / (2.0 * sigma * sigma)).exp()
                    };
                    if s.manifold.is_odd() { 0.5 * (value(1.0) + value(-1.0)) } else { value(1.0) }
                })
                .collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let error = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n / n).sqrt() / mean;
            let exact = uniform.log_density(&x, sigma) + s.dim() as f64 * (sigma * (2.0 * PI).sqrt()).ln();
            let off = (mean / exact.exp() - 1.0).abs();
            let tolerance = if random { 5.0 * error } else { 2e-3 };
            s.require(law, off < tolerance, || format!("σ = {sigma}: the sum is off by {off:.1e} of {tolerance:.1e}"))?;
        }
    }
    Ok(())
}
