//! The components of a mixture laid out for sums over all of them.

use super::Component;
use crate::manifold::SphereBlock;
use crate::special::{TiltTable, exp_all, ln_mean_exp_scaled};

/// Components that are worked on together.
pub(crate) const LANES: usize = 8;

/// One number of each of [`LANES`] components.
pub(crate) type Lanes = [f64; LANES];

/// Components this far below the likeliest one, in nats, cannot change a sum in `f64`.
pub(crate) const NEGLIGIBLE: f64 = 45.0;

/// Components in groups of [`LANES`]; the last group is filled up with components of weight 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bank {
    pub blocks: Vec<Block>,
    /// ln w − Σ_b ln(e^{−κ_b} J(κ_b)), with half the weight for each side of an antipodal block.
    pub log_factors: Vec<Lanes>,
}

/// What components are on one sphere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub sphere: SphereBlock,
    /// Coordinates of the means: group by group, coordinate by coordinate.
    pub means: Vec<Lanes>,
    /// Concentrations, group by group.
    pub concentrations: Vec<Lanes>,
    pub table: Option<TiltTable>,
}

impl Block {
    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.sphere.range.len()
    }

    /// The coordinates of the means of `group`.
    pub fn means_of(&self, group: usize) -> &[Lanes] {
        &self.means[group * self.dim()..(group + 1) * self.dim()]
    }

    /// μ·u for every mean of `group`.
    pub fn cosines(&self, group: usize, u: &[f64]) -> Lanes {
        let mut sum = [0.0; LANES];
        for (mean, u) in self.means_of(group).iter().zip(u) {
            sum.iter_mut().zip(mean).for_each(|(s, m)| *s += m * u);
        }
        sum
    }

    /// |u − μ|² and |u + μ|² for every mean of `group`.
    pub fn distances(&self, group: usize, u: &[f64]) -> (Lanes, Lanes) {
        let (mut near, mut far) = ([0.0; LANES], [0.0; LANES]);
        for (mean, u) in self.means_of(group).iter().zip(u) {
            near.iter_mut().zip(mean).for_each(|(s, m)| *s += (m - u) * (m - u));
            far.iter_mut().zip(mean).for_each(|(s, m)| *s += (m + u) * (m + u));
        }
        (near, far)
    }
}

impl Bank {
    /// Lays out components that were checked against `blocks`.
    pub fn new(components: &[Component], blocks: &[SphereBlock]) -> Self {
        let groups = components.len().div_ceil(LANES);
        let mut log_factors = vec![[f64::NEG_INFINITY; LANES]; groups];
        let mut blocks: Vec<Block> = blocks
            .iter()
            .map(|sphere| Block {
                sphere: sphere.clone(),
                means: vec![[0.0; LANES]; groups * sphere.range.len()],
                concentrations: vec![[0.0; LANES]; groups],
                table: TiltTable::new(sphere.range.len()),
            })
            .collect();
        for (j, component) in components.iter().enumerate() {
            let (group, lane) = (j / LANES, j % LANES);
            let mut log_factor = component.weight.ln();
            for (block, &kappa) in blocks.iter_mut().zip(&component.concentrations) {
                let dim = block.dim();
                block.concentrations[group][lane] = kappa;
                for (i, m) in component.mean[block.sphere.range.clone()].iter().enumerate() {
                    block.means[group * dim + i][lane] = *m;
                }
                let sides = if block.sphere.antipodal { 2.0_f64.ln() } else { 0.0 };
                log_factor -= ln_mean_exp_scaled(dim, kappa) + sides;
            }
            log_factors[group][lane] = log_factor;
        }
        Self { blocks, log_factors }
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.log_factors.len()
    }

    /// Writes the log of each component's share of the density at a point of the set, and answers with the largest.
    ///
    /// # Formula
    /// ln w − Σ_b ln(e^{−κ_b} J(κ_b)) − Σ_b κ_b |μ_b − x_b|²/2; on an antipodal block the log of the sum over both signs.
    pub fn log_terms(&self, x0: &[f64], terms: &mut Vec<Lanes>) -> f64 {
        terms.clear();
        terms.extend_from_slice(&self.log_factors);
        for block in &self.blocks {
            let u = &x0[block.sphere.range.clone()];
            for (group, term) in terms.iter_mut().enumerate() {
                let kappa = &block.concentrations[group];
                if block.sphere.antipodal {
                    let (near, far) = block.distances(group, u);
                    let mut other = [0.0; LANES];
                    for lane in 0..LANES {
                        let nearest = if near[lane] < far[lane] { near[lane] } else { far[lane] };
                        term[lane] -= 0.5 * kappa[lane] * nearest;
                        other[lane] = -0.5 * kappa[lane] * (near[lane] - far[lane]).abs();
                    }
                    add_other_side(term, &other);
                } else {
                    let mut near = [0.0; LANES];
                    for (mean, u) in block.means_of(group).iter().zip(u) {
                        near.iter_mut().zip(mean).for_each(|(s, m)| *s += (m - u) * (m - u));
                    }
                    for lane in 0..LANES {
                        term[lane] -= 0.5 * kappa[lane] * near[lane];
                    }
                }
            }
        }
        largest(terms)
    }
}

/// Adds ln(1 + e^`other`), where it is not nothing.
fn add_other_side(term: &mut Lanes, other: &Lanes) {
    if other.iter().any(|o| *o > -NEGLIGIBLE) {
        term.iter_mut().zip(other).for_each(|(t, o)| *t += o.exp().ln_1p());
    }
}

/// The largest number of all groups.
pub(crate) fn largest(groups: &[Lanes]) -> f64 {
    let mut best = [f64::NEG_INFINITY; LANES];
    for group in groups {
        best.iter_mut().zip(group).for_each(|(b, g)| *b = if *g > *b { *g } else { *b });
    }
    best.iter().fold(f64::NEG_INFINITY, |b, g| b.max(*g))
}

/// Whether no number of the group exceeds `limit`.
pub(crate) fn all_below(group: &Lanes, limit: f64) -> bool {
    let mut above = false;
    group.iter().for_each(|g| above |= *g > limit);
    !above
}

/// Replaces logs by exp(log − `scale`).
pub(crate) fn shares(group: &Lanes, scale: f64) -> Lanes {
    let mut shares = group.map(|g| g - scale);
    exp_all(&mut shares);
    shares
}
