//! Cheap upper bounds of the shares of groups of components, from cones around them.

use super::packed::{LANES, Lanes, Packed, cosines};
use crate::special::{dot, norm};

/// Stands for infinite precision: a point that is known exactly.
pub(crate) const EXACT: f64 = 1e150;

/// Upper bounds: one cone per group and sphere, [`LANES`] groups side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct GroupBounds {
    spheres: Vec<Cone>,
    /// The largest log-factor of each group.
    log_factors: Vec<Lanes>,
}

/// The cones on one sphere.
#[derive(Debug, Clone, PartialEq)]
struct Cone {
    dim: usize,
    antipodal: bool,
    /// Axes, as the means in a [`Packed`].
    axes: Vec<Lanes>,
    /// Cosine and sine of the angle between axis and side.
    cosines: Vec<Lanes>,
    sines: Vec<Lanes>,
    /// The smallest concentration of each group.
    concentrations: Vec<Lanes>,
}

impl GroupBounds {
    /// The narrowest cones around the mean directions of each group.
    pub fn new(packed: &Packed) -> Self {
        let sets = packed.groups().div_ceil(LANES);
        let mut log_factors = vec![[f64::NEG_INFINITY; LANES]; sets];
        for (group, factors) in packed.log_factors.iter().enumerate() {
            log_factors[group / LANES][group % LANES] = factors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
        let around = |block: &super::packed::Block| {
            let dim = block.dim();
            let mut cone = Cone {
                dim,
                antipodal: block.sphere.antipodal,
                axes: vec![[0.0; LANES]; sets * dim],
                cosines: vec![[1.0; LANES]; sets],
                sines: vec![[0.0; LANES]; sets],
                concentrations: vec![[0.0; LANES]; sets],
            };
            for group in 0..packed.groups() {
                let (set, lane) = (group / LANES, group % LANES);
                let members = packed.order.len().saturating_sub(group * LANES).min(LANES);
                let mean = |member: usize| -> Vec<f64> { block.means_of(group).iter().map(|m| m[member]).collect() };
                let first = mean(0);
                // Where signs are free all means are brought to the side of the first.
                let means: Vec<Vec<f64>> = (0..members)
                    .map(|member| {
                        let mean = mean(member);
                        let flip = cone.antipodal && dot(&mean, &first) < 0.0;
                        if flip { mean.iter().map(|m| -m).collect() } else { mean }
                    })
                    .collect();
                let sum: Vec<f64> = (0..dim).map(|i| means.iter().map(|m| m[i]).sum()).collect();
                let length = norm(&sum);
                let axis = if length > 1e-6 { sum.iter().map(|s| s / length).collect() } else { first };
                let cosine = means.iter().map(|m| dot(m, &axis)).fold(1.0, f64::min).clamp(-1.0, 1.0);
                axis.iter().enumerate().for_each(|(i, a)| cone.axes[set * dim + i][lane] = *a);
                cone.cosines[set][lane] = cosine;
                cone.sines[set][lane] = (1.0 - cosine * cosine).sqrt();
                let smallest = block.concentrations[group][..members].iter().copied().fold(f64::INFINITY, f64::min);
                cone.concentrations[set][lane] = smallest;
            }
            cone
        };
        Self { spheres: packed.blocks.iter().map(around).collect(), log_factors }
    }

    /// Upper bounds of the log-shares of each group, given the unit vector u_b and precision k_b on each sphere.
    ///
    /// # Formula
    /// max ln f − Σ_b κk(1 − cos(θ − ρ)₊)/(κ+k) with θ the angle from u to the axis, ρ that of the cone and κ the smallest
    /// concentration; ln 2 more for each antipodal sphere.
    #[inline(always)]
    pub fn upper<'a>(&self, directions: impl Iterator<Item = (&'a [f64], f64)>, bounds: &mut Vec<Lanes>) {
        bounds.clear();
        bounds.extend_from_slice(&self.log_factors);
        for (cone, (unit, k)) in self.spheres.iter().zip(directions) {
            if k == 0.0 {
                continue;
            }
            let sides = if cone.antipodal { std::f64::consts::LN_2 } else { 0.0 };
            for (set, bound) in bounds.iter_mut().enumerate() {
                let mut near = cosines(&cone.axes[set * cone.dim..(set + 1) * cone.dim], unit);
                if cone.antipodal {
                    near = near.map(f64::abs);
                }
                let across = near.iter_mut().zip(&cone.cosines[set]).zip(&cone.sines[set]);
                across.for_each(|((c, cosine), sine)| {
                    let outside = *c * cosine + (1.0 - *c * *c).max(0.0).sqrt() * sine;
                    *c = if *c >= *cosine { 1.0 } else { outside };
                });
                let mut rate = cone.concentrations[set];
                rate.iter_mut().for_each(|r| *r *= k / (*r + k));
                rate.iter_mut().zip(&near).for_each(|(r, c)| *r *= 1.0 - c);
                bound.iter_mut().zip(&rate).for_each(|(b, r)| *b += sides - r);
            }
        }
    }
}

/// The group with the largest bound.
#[inline(always)]
pub(crate) fn highest(bounds: &[Lanes]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (group, bound) in bounds.iter().flatten().enumerate() {
        if *bound > best.1 {
            best = (group, *bound);
        }
    }
    best.0
}
