//! Mixtures of von Mises–Fisher densities on spheres, on the rotations, and on products of these.

mod bounds;
mod component;
mod packed;
mod posterior;

pub use component::{Component, MAX_CONCENTRATION, MixtureError};
pub(crate) use packed::{LANES, Lanes, Packed, Scratch, shares};

use super::uniform_sphere::log_shell;
use super::{BaseMeasure, von_mises_fisher};
use crate::measure::SphereBlock;
use crate::rng::Rng;
use crate::special::{bessel_ratio, bessel_ratio_complement, distance_squared, norm, norm_minus_one};
use posterior::{Direction, Posterior, side_shares, tilt};
use rand::RngExt;
use std::cell::RefCell;

/// Σ_j w_j ∏_b vMF(μ_jb, κ_jb) over spheres b; on an antipodal sphere each factor is the mean of the densities at ±μ_jb.
#[derive(Debug, Clone, PartialEq)]
pub struct VonMisesFisherMixture {
    components: Vec<Component>,
    blocks: Vec<SphereBlock>,
    packed: Packed,
    cumulative: Vec<f64>,
    log_volume: f64,
}

thread_local! {
    /// Scratch memory for one row, kept from row to row.
    static POSTERIOR: RefCell<Posterior> = RefCell::default();
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl VonMisesFisherMixture {
    /// A mixture on the spheres `blocks`, neighbouring blocks of coordinates whose product has log-volume `log_volume`.
    pub fn new(components: Vec<Component>, blocks: Vec<SphereBlock>, log_volume: f64) -> Result<Self, MixtureError> {
        let mut components = components;
        if components.is_empty() || blocks.is_empty() {
            return Err(MixtureError::Empty);
        }
        if let Some(block) = blocks.iter().find(|b| b.range.len() < 2) {
            return Err(MixtureError::Dimension { index: 0, got: block.range.len(), expected: 2 });
        }
        for (index, component) in components.iter_mut().enumerate() {
            component.normalise(index, &blocks)?;
        }
        let total: f64 = components.iter().map(|c| c.weight).sum();
        components.iter_mut().for_each(|c| c.weight /= total);
        let packed = Packed::new(&components, &blocks);
        let cumulative = components
            .iter()
            .scan(0.0, |sum, c| {
                *sum += c.weight;
                Some(*sum)
            })
            .collect();
        Ok(Self { components, blocks, packed, cumulative, log_volume })
    }

    /// A mixture on one sphere of log-volume `log_volume`: its area, or `ln 8π²` with `antipodal` for rotations.
    pub fn on_sphere(components: Vec<Component>, antipodal: bool, log_volume: f64) -> Result<Self, MixtureError> {
        let dim = components.first().ok_or(MixtureError::Empty)?.mean.len();
        Self::new(components, vec![SphereBlock { range: 0..dim, antipodal }], log_volume)
    }

    /// The components, weights summing to 1.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Hands over the posterior of the components given `x`.
    fn with_posterior<T>(&self, x: &[f64], sigma: f64, then: impl FnOnce(&mut Posterior) -> T) -> T {
        POSTERIOR.with_borrow_mut(|posterior| {
            posterior.update(&self.packed, x, sigma);
            then(posterior)
        })
    }
}

impl BaseMeasure for VonMisesFisherMixture {
    fn ambient_dim(&self) -> usize {
        self.blocks.last().map_or(0, |b| b.range.end)
    }

    /// # Formula
    /// Σ_j r_j A(|η_jb|) η_jb/|η_jb| on sphere b, r_j ∝ w_j ∏_b J(|η_jb|)/J(κ_jb), η_jb = κ_jb μ_jb + x_b/σ²; A is the
    /// Bessel ratio of the sphere.
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        self.with_posterior(x, sigma, |posterior| {
            let count = self.packed.blocks.len();
            for (b, (block, direction)) in self.packed.blocks.iter().zip(&posterior.directions).enumerate() {
                posterior.sums.clear();
                posterior.sums.resize(block.dim(), [0.0; LANES]);
                let mut outward = [0.0; LANES];
                for (place, (&group, share)) in posterior.groups.iter().zip(&posterior.shares).enumerate() {
                    let tilt = &posterior.tilts[place * count + b];
                    let (mut pull, mut push) = (*share, *share);
                    pull.iter_mut().zip(&tilt.along).for_each(|(p, t)| *p *= t);
                    push.iter_mut().zip(&tilt.outward).for_each(|(p, t)| *p *= t);
                    outward.iter_mut().zip(&push).for_each(|(o, p)| *o += p);
                    for (sum, means) in posterior.sums.iter_mut().zip(block.means_of(group)) {
                        let mut product = pull;
                        product.iter_mut().zip(means).for_each(|(p, m)| *p *= m);
                        sum.iter_mut().zip(&product).for_each(|(s, p)| *s += p);
                    }
                }
                let outward: f64 = outward.iter().sum();
                let coordinates = mean[block.sphere.range.clone()].iter_mut().zip(&posterior.sums).zip(&direction.unit);
                for ((mean, sum), unit) in coordinates {
                    *mean = (sum.iter().sum::<f64>() + outward * unit) / posterior.total;
                }
            }
        });
    }

    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        let shells: f64 = self.blocks.iter().map(|b| log_shell(&x[b.range.clone()], sigma)).sum();
        self.with_posterior(x, sigma, |posterior| shells + posterior.scale + posterior.total.ln())
    }

    /// # Formula
    /// ln Σ_j w_j ∏_b exp(κ_jb (μ_jb·x_b − 1))/(e^{−κ_jb} J(κ_jb)) − ln vol, with 1 − μ·x = |μ − x|²/2.
    fn log_weight(&self, x0: &[f64]) -> f64 {
        SCRATCH.with_borrow_mut(|scratch| {
            let scale = self.packed.log_terms(x0, scratch);
            let mut total = [0.0; LANES];
            for group in &scratch.terms {
                total.iter_mut().zip(&shares(group, scale)).for_each(|(t, s)| *t += s);
            }
            scale + total.iter().sum::<f64>().ln() - self.log_volume
        })
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        let u: f64 = rng.random::<f64>() * self.cumulative[self.cumulative.len() - 1];
        let j = self.cumulative.partition_point(|&c| c <= u).min(self.components.len() - 1);
        let c = &self.components[j];
        for (block, &concentration) in self.blocks.iter().zip(&c.concentrations) {
            let (mean, x0) = (&c.mean[block.range.clone()], &mut x0[block.range.clone()]);
            von_mises_fisher::sample_von_mises_fisher(mean, concentration, rng, x0);
            if block.antipodal && rng.random::<bool>() {
                x0.iter_mut().for_each(|x| *x = -*x);
            }
        }
    }

    /// # Formula
    /// Component j with probability r_j, on each of its spheres one of the sides ±μ_jb, then vMF(η_jb/|η_jb|, |η_jb|).
    fn is_finer_than_noise(&self) -> bool {
        true
    }

    fn sample_posterior(&self, x: &[f64], sigma: f64, rng: &mut Rng, x0: &mut [f64]) -> bool {
        self.with_posterior(x, sigma, |posterior| {
            let groups = posterior.groups.iter().zip(&posterior.shares);
            let mut shares = groups.flat_map(|(&group, shares)| self.packed.order[group * LANES..].iter().zip(shares));
            let mut left = rng.random::<f64>() * posterior.total;
            // Rounding may leave a little; then the first one that counts has it.
            let fallback = shares.clone().next();
            let falls_in = |(_, share): &(&usize, &f64)| {
                left -= **share;
                left < 0.0
            };
            let Some((&j, _)) = shares.find(falls_in).or(fallback) else { return false };
            let component = &self.components[j];
            for ((block, direction), &kappa) in
                self.blocks.iter().zip(&posterior.directions).zip(&component.concentrations)
            {
                let part = Part { mean: &component.mean[block.range.clone()], kappa, antipodal: block.antipodal };
                part.sample_tilted(direction, rng, &mut x0[block.range.clone()]);
            }
            true
        })
    }

    /// # Formula
    /// On each sphere Σ_j r_j (A(|η_j|) η̂_j − x)/σ², η̂ = η/|η|. With û = x/|x| and k = |x|/σ² each term is
    /// A η̂ − x = (η̂ − û) − (1 − A) η̂ − (|x| − 1) û, where η̂ − û = (κ/|η|) (μ − û + û k|û−μ|²/(|η|+κ+k)).
    ///
    /// # Numerics
    /// Near the sphere A η̂ and x agree to all digits at small σ; the three parts do not, and each is computed without
    /// cancellation. A side with |η| < (κ+k)/2 points away from x, and its A η̂ − û is a plain difference. Inside half the
    /// radius so is the whole score.
    fn score(&self, x: &[f64], sigma: f64, score: &mut [f64]) {
        self.with_posterior(x, sigma, |posterior| {
            score.fill(0.0);
            for (&group, share) in posterior.groups.iter().zip(&posterior.shares) {
                for (&j, share) in self.packed.order[group * LANES..].iter().zip(share) {
                    let component = &self.components[j];
                    for (b, block) in self.blocks.iter().enumerate() {
                        let part = Part {
                            mean: &component.mean[block.range.clone()],
                            kappa: component.concentrations[b],
                            antipodal: block.antipodal,
                        };
                        part.add_offset(
                            share / posterior.total,
                            &posterior.directions[b],
                            &mut score[block.range.clone()],
                        );
                    }
                }
            }
            for (block, direction) in self.blocks.iter().zip(&posterior.directions) {
                let x = &x[block.range.clone()];
                let outward = if direction.is_near() { norm_minus_one(x) } else { direction.size };
                for (s, u) in score[block.range.clone()].iter_mut().zip(&direction.unit) {
                    *s = (*s - outward * u) / sigma / sigma;
                }
            }
        });
    }
}

/// One component on one sphere.
struct Part<'a> {
    mean: &'a [f64],
    kappa: f64,
    antipodal: bool,
}

/// One sign of a component's mean relative to û.
#[derive(Clone, Copy)]
struct Facing {
    sign: f64,
    /// |û − μ|² with that sign.
    apart: f64,
    /// |η|.
    length: f64,
    /// Its part of the component's weight.
    share: f64,
}

impl Part<'_> {
    /// Both signs of μ where the sign is free, else the one.
    fn sides(&self, direction: &Direction) -> Vec<Facing> {
        let near = distance_squared(self.mean, &direction.unit);
        let far = self.mean.iter().zip(&direction.unit).map(|(m, u)| (m + u) * (m + u)).sum::<f64>();
        let sides = [(1.0, near, far), (-1.0, far, near)];
        let sides = if self.antipodal { &sides[..] } else { &sides[..1] };
        let tilts: Vec<(f64, f64)> = sides.iter().map(|s| tilt(self.kappa, direction.k, s.1, s.2)).collect();
        let shares = side_shares(self.mean.len(), &tilts);
        let all = sides.iter().zip(&tilts).zip(shares);
        all.map(|((&(sign, apart, _), &(length, _)), share)| Facing { sign, apart, length, share }).collect()
    }

    /// Draws from the component given x.
    fn sample_tilted(&self, direction: &Direction, rng: &mut Rng, x0: &mut [f64]) {
        let sides = self.sides(direction);
        let first = rng.random::<f64>() < sides[0].share;
        let Facing { sign, length, .. } = sides[if first { 0 } else { sides.len() - 1 }];
        let towards = self.mean.iter().zip(&direction.unit).map(|(m, u)| sign * self.kappa * m + direction.k * u);
        let mut axis: Vec<f64> = towards.collect();
        let size = norm(&axis);
        axis.iter_mut().for_each(|a| *a /= if size > 0.0 { size } else { 1.0 });
        von_mises_fisher::sample_von_mises_fisher(&axis, if size > 0.0 { length } else { 0.0 }, rng, x0);
    }

    /// Adds `share` times the tilted mean, less û where x is near the sphere.
    fn add_offset(&self, share: f64, direction: &Direction, score: &mut [f64]) {
        let (dim, kappa, k) = (self.mean.len(), self.kappa, direction.k);
        let order = dim as f64 / 2.0 - 1.0;
        for Facing { sign, apart, length, share: part } in self.sides(direction) {
            let share = share * part;
            let coordinates = score.iter_mut().zip(&direction.unit).zip(self.mean.iter().map(|m| sign * m));
            if !direction.is_near() || length < 0.5 * (kappa + k) {
                let slope = if length == 0.0 { 1.0 / dim as f64 } else { bessel_ratio(order, length) / length };
                let less = if direction.is_near() { 1.0 } else { 0.0 };
                coordinates.for_each(|((s, u), m)| *s += share * (slope * (kappa * m + k * u) - less * u));
            } else {
                let complement = bessel_ratio_complement(order, length);
                let (slope, back) = (kappa / length, apart * (k / (length + kappa + k)));
                coordinates.for_each(|((s, u), m)| {
                    let turn = slope * ((m - u) + back * u);
                    *s += share * (turn - complement * (u + turn));
                });
            }
        }
    }
}
