//! Mixtures of von Mises–Fisher densities on a sphere, or of their antipodal pairs on the rotations.

use super::uniform_sphere::log_shell;
use super::{BaseMeasure, von_mises_fisher};
use crate::rng::Rng;
use crate::special::{
    bessel_ratio, bessel_ratio_complement, distance_squared, ln_mean_exp_scaled, norm, norm_minus_one,
};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Largest concentration: a spot of angular width 1e-4.
pub const MAX_CONCENTRATION: f64 = 1e8;

/// Components this far below the likeliest one, in nats, cannot change a sum in `f64`.
const NEGLIGIBLE: f64 = 45.0;

/// One von Mises–Fisher density exp(κ μ·x₀)/J(κ) with respect to the uniform measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Share of the mixture; any positive scale.
    pub weight: f64,
    /// Mean direction μ, a unit vector.
    pub mean: Vec<f64>,
    /// Concentration κ from 0 (uniform) to 1e8.
    pub concentration: f64,
}

/// Why components do not make a mixture.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MixtureError {
    /// The manifold is no sphere.
    #[error("von Mises-Fisher mixtures live on spheres and on so3, not on {spec}; use base uniform")]
    Manifold {
        /// The manifold.
        spec: String,
    },
    /// There is no component.
    #[error("a mixture needs at least one component")]
    Empty,
    /// A mean has the wrong number of coordinates.
    #[error(
        "component {index}: mean has {got} coordinates, the first component has {expected} (at least 2 are needed)"
    )]
    Dimension {
        /// Component, counted from 0.
        index: usize,
        /// Its number of coordinates.
        got: usize,
        /// Number of coordinates of the first component.
        expected: usize,
    },
    /// A mean is not a direction.
    #[error("component {index}: mean has length {length}, it must be a unit vector")]
    Mean {
        /// Component, counted from 0.
        index: usize,
        /// Length of the mean.
        length: f64,
    },
    /// A weight is not a positive number.
    #[error("component {index}: weight {weight} is not a positive number")]
    Weight {
        /// Component, counted from 0.
        index: usize,
        /// The weight.
        weight: f64,
    },
    /// A concentration is out of range.
    #[error("component {index}: concentration {concentration} is outside 0 … 1e8")]
    Concentration {
        /// Component, counted from 0.
        index: usize,
        /// The concentration.
        concentration: f64,
    },
}

/// Σ_j w_j vMF(μ_j, κ_j); with `antipodal`, each term is the mean of the densities at μ_j and −μ_j.
#[derive(Debug, Clone, PartialEq)]
pub struct VonMisesFisherMixture {
    dim: usize,
    components: Vec<Component>,
    /// ln w_j − ln(e^{−κ_j} J(κ_j)), with half the weight for each side of an antipodal pair.
    log_factors: Vec<f64>,
    cumulative: Vec<f64>,
    antipodal: bool,
    log_volume: f64,
}

/// One side of a component as seen from x: where its tilted mean points, and how likely it is.
struct Tilt {
    component: usize,
    sign: f64,
    /// |û − μ|² with û = x/|x|.
    apart: f64,
    /// |η| with η = κ μ + x/σ².
    length: f64,
    log_share: f64,
}

impl VonMisesFisherMixture {
    /// A mixture on a set of log-volume `log_volume`: the area of the sphere, or `ln 8π²` for rotations as quaternions.
    pub fn new(components: Vec<Component>, antipodal: bool, log_volume: f64) -> Result<Self, MixtureError> {
        let expected = components.first().ok_or(MixtureError::Empty)?.mean.len();
        let mut components = components;
        for (index, c) in components.iter_mut().enumerate() {
            if c.mean.len() != expected || expected < 2 {
                return Err(MixtureError::Dimension { index, got: c.mean.len(), expected });
            }
            let length = norm(&c.mean);
            if length.is_nan() || (length - 1.0).abs() > 1e-6 {
                return Err(MixtureError::Mean { index, length });
            }
            c.mean.iter_mut().for_each(|m| *m /= length);
            if !(c.weight > 0.0 && c.weight.is_finite()) {
                return Err(MixtureError::Weight { index, weight: c.weight });
            }
            if !(0.0..=MAX_CONCENTRATION).contains(&c.concentration) {
                return Err(MixtureError::Concentration { index, concentration: c.concentration });
            }
        }
        let total: f64 = components.iter().map(|c| c.weight).sum();
        components.iter_mut().for_each(|c| c.weight /= total);
        let sides = if antipodal { 2.0 } else { 1.0 };
        let log_factors = components
            .iter()
            .map(|c| (c.weight / sides).ln() - ln_mean_exp_scaled(expected, c.concentration))
            .collect();
        let cumulative = components
            .iter()
            .scan(0.0, |sum, c| {
                *sum += c.weight;
                Some(*sum)
            })
            .collect();
        Ok(Self { dim: expected, components, log_factors, cumulative, antipodal, log_volume })
    }

    /// The components, weights summing to 1.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    fn signs(&self) -> &'static [f64] {
        if self.antipodal { &[1.0, -1.0] } else { &[1.0] }
    }

    /// The sides that matter at x, with log-shares relative to e^{|x|/σ²}, and the largest of these.
    ///
    /// # Formula
    /// η_j = κ_j μ_j + x/σ², share_j = w_j J(|η_j|)/J(κ_j).
    ///
    /// # Numerics
    /// With k = |x|/σ² and û = x/|x|: |η|² = (κ+k)² − κk|û−μ|² = (κ−k)² + κk|û+μ|², and
    /// |η| − κ − k = −κk|û−μ|²/(|η|+κ+k). So nothing of the size of k = 1e12 is ever subtracted. Since e^{−k}J(k) ≤ 1, the
    /// exponent alone bounds a share, and sides below the best by 45 nats skip their Bessel function.
    fn tilts(&self, x: &[f64], sigma: f64) -> (Vec<Tilt>, f64) {
        let size = norm(x);
        let k = size / sigma / sigma;
        let direction: Vec<f64> = if size > 0.0 { x.iter().map(|x| x / size).collect() } else { vec![0.0; self.dim] };
        let opposite: Vec<f64> = direction.iter().map(|x| -x).collect();
        let mut tilts = Vec::with_capacity(self.components.len() * self.signs().len());
        let mut start = (0, f64::NEG_INFINITY);
        for (component, c) in self.components.iter().enumerate() {
            let (near, far) = (distance_squared(&c.mean, &direction), distance_squared(&c.mean, &opposite));
            for &sign in self.signs() {
                let (apart, opposed) = if sign > 0.0 { (near, far) } else { (far, near) };
                let kappa = c.concentration;
                let length = if size == 0.0 {
                    kappa
                } else if apart < opposed {
                    let sum = kappa + k;
                    sum * (1.0 - (kappa / sum) * (k / sum) * apart).max(0.0).sqrt()
                } else {
                    (kappa - k).hypot((kappa * opposed).sqrt() * k.sqrt())
                };
                let exponent =
                    if size == 0.0 || kappa == 0.0 { 0.0 } else { -kappa * apart * (k / (length + kappa + k)) };
                let log_share = self.log_factors[component] + exponent;
                if log_share > start.1 {
                    start = (tilts.len(), log_share);
                }
                tilts.push(Tilt { component, sign, apart, length, log_share });
            }
        }
        let mut largest = tilts[start.0].log_share + ln_mean_exp_scaled(self.dim, tilts[start.0].length);
        tilts.retain_mut(|tilt| {
            if tilt.log_share < largest - NEGLIGIBLE {
                return false;
            }
            tilt.log_share += ln_mean_exp_scaled(self.dim, tilt.length);
            largest = largest.max(tilt.log_share);
            true
        });
        (tilts, largest)
    }
}

impl BaseMeasure for VonMisesFisherMixture {
    fn ambient_dim(&self) -> usize {
        self.dim
    }

    /// # Formula
    /// Σ_j r_j A(|η_j|) η_j/|η_j|, r_j ∝ w_j J(|η_j|)/J(κ_j), η_j = κ_j μ_j + x/σ²; A is the Bessel ratio of the sphere.
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        let order = self.dim as f64 / 2.0 - 1.0;
        let (tilts, largest) = self.tilts(x, sigma);
        let mut total = 0.0;
        mean.fill(0.0);
        for tilt in &tilts {
            let share = (tilt.log_share - largest).exp();
            total += share;
            if tilt.length == 0.0 {
                continue;
            }
            let factor = share * bessel_ratio(order, tilt.length) / tilt.length;
            let c = &self.components[tilt.component];
            for ((m, mu), x) in mean.iter_mut().zip(&c.mean).zip(x) {
                *m += factor * (tilt.sign * c.concentration * mu + x / sigma / sigma);
            }
        }
        mean.iter_mut().for_each(|m| *m /= total);
    }

    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        let (tilts, largest) = self.tilts(x, sigma);
        log_shell(x, sigma) + largest + tilts.iter().map(|t| (t.log_share - largest).exp()).sum::<f64>().ln()
    }

    /// # Formula
    /// ln Σ_j w_j exp(κ_j (μ_j·x₀ − 1))/(e^{−κ_j} J(κ_j)) − ln vol, with 1 − μ·x₀ = |μ − x₀|²/2.
    fn log_weight(&self, x0: &[f64]) -> f64 {
        let opposite: Vec<f64> = x0.iter().map(|x| -x).collect();
        let (mut largest, mut total) = (f64::NEG_INFINITY, 0.0);
        for (c, factor) in self.components.iter().zip(&self.log_factors) {
            for &sign in self.signs() {
                let apart = distance_squared(&c.mean, if sign > 0.0 { x0 } else { &opposite });
                let term = factor - 0.5 * c.concentration * apart;
                if term > largest {
                    total = total * (largest - term).exp() + 1.0;
                    largest = term;
                } else {
                    total += (term - largest).exp();
                }
            }
        }
        largest + f64::ln(total) - self.log_volume
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        let u: f64 = rng.random::<f64>() * self.cumulative[self.cumulative.len() - 1];
        let j = self.cumulative.partition_point(|&c| c <= u).min(self.components.len() - 1);
        let c = &self.components[j];
        von_mises_fisher::sample_von_mises_fisher(&c.mean, c.concentration, rng, x0);
        if self.antipodal && rng.random::<bool>() {
            x0.iter_mut().for_each(|x| *x = -*x);
        }
    }
    /// # Formula
    /// Σ_j r_j (A(|η_j|) η̂_j − x)/σ², η̂ = η/|η|. With û = x/|x| and k = |x|/σ² each term is
    /// A η̂ − x = (η̂ − û) − (1 − A) η̂ − (|x| − 1) û, where η̂ − û = (κ/|η|) (μ − û + û k|û−μ|²/(|η|+κ+k)).
    ///
    /// # Numerics
    /// Near the sphere A η̂ and x agree to all digits at small σ; the three parts do not, and each is computed without
    /// cancellation. A side with |η| < (κ+k)/2 points away from x, and its A η̂ − û is a plain difference. Inside half the
    /// radius so is the whole score.
    fn score(&self, x: &[f64], sigma: f64, score: &mut [f64]) {
        let size = norm(x);
        if size <= 0.5 {
            self.posterior_mean(x, sigma, score);
            return score.iter_mut().zip(x).for_each(|(s, x)| *s = (*s - x) / sigma / sigma);
        }
        let order = self.dim as f64 / 2.0 - 1.0;
        let k = size / sigma / sigma;
        let direction: Vec<f64> = x.iter().map(|x| x / size).collect();
        let (tilts, largest) = self.tilts(x, sigma);
        let mut total = 0.0;
        score.fill(0.0);
        for tilt in &tilts {
            let share = (tilt.log_share - largest).exp();
            total += share;
            let Component { mean, concentration: kappa, .. } = &self.components[tilt.component];
            let sides = score.iter_mut().zip(&direction).zip(mean.iter().map(|m| tilt.sign * m));
            if tilt.length < 0.5 * (kappa + k) {
                let factor = if tilt.length == 0.0 { 0.0 } else { bessel_ratio(order, tilt.length) / tilt.length };
                sides.for_each(|((s, u), m)| *s += share * (factor * (kappa * m + k * u) - u));
            } else {
                let complement = bessel_ratio_complement(order, tilt.length);
                let (bend, back) = (kappa / tilt.length, tilt.apart * (k / (tilt.length + kappa + k)));
                sides.for_each(|((s, u), m)| {
                    let turn = bend * ((m - u) + back * u);
                    *s += share * (turn - complement * (u + turn));
                });
            }
        }
        let outward = norm_minus_one(x);
        for (s, u) in score.iter_mut().zip(&direction) {
            *s = (*s / total - outward * u) / sigma / sigma;
        }
    }
}
