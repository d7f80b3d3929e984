//! The components of a mixture, packed for sums over all of them.

use super::Component;
use super::bounds::{EXACT, GroupBounds, highest};
use crate::measure::SphereBlock;
use crate::special::{TiltTable, exp_all, ln_mean_exp_scaled};

/// Components that are worked on together.
pub(crate) const LANES: usize = 8;

/// One number of each of [`LANES`] components.
pub(crate) type Lanes = [f64; LANES];

/// Components this far below the likeliest one, in nats, cannot change a sum in `f64`.
pub(crate) const NEGLIGIBLE: f64 = 45.0;

/// Components in groups of [`LANES`]; the last group is filled up with components of weight 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packed {
    /// The component in each place: neighbours of similar width share a group, so that whole groups can be left out.
    pub order: Vec<usize>,
    pub blocks: Vec<Block>,
    /// ln w − Σ_b ln(e^{−κ_b} J(κ_b)), with half the weight for each side of an antipodal block.
    pub log_factors: Vec<Lanes>,
    pub bounds: GroupBounds,
}

/// Scratch memory for sums over groups, kept from row to row.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bounds: Vec<Lanes>,
    /// Groups with a component that counts.
    pub groups: Vec<usize>,
    /// Logs of their components' shares.
    pub terms: Vec<Lanes>,
}

/// What components are on one sphere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub sphere: SphereBlock,
    /// Coordinates of the means: group by group, coordinate by coordinate.
    pub means: Vec<Lanes>,
    /// Concentrations, group by group.
    pub concentrations: Vec<Lanes>,
    pub table: Option<&'static TiltTable>,
}

impl Block {
    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.sphere.range.len()
    }

    /// The coordinates of the means of `group`.
    pub(crate) fn means_of(&self, group: usize) -> &[Lanes] {
        &self.means[group * self.dim()..(group + 1) * self.dim()]
    }

    /// μ·u for every mean of `group`.
    #[inline(always)]
    pub fn cosines(&self, group: usize, u: &[f64]) -> Lanes {
        cosines(self.means_of(group), u)
    }

    /// |u − μ|² and |u + μ|² for every mean of `group`.
    #[inline(always)]
    pub fn distances(&self, group: usize, u: &[f64]) -> (Lanes, Lanes) {
        let (mut near, mut far) = ([0.0; LANES], [0.0; LANES]);
        for (mean, u) in self.means_of(group).iter().zip(u) {
            near.iter_mut().zip(mean).for_each(|(s, m)| *s += (m - u) * (m - u));
            far.iter_mut().zip(mean).for_each(|(s, m)| *s += (m + u) * (m + u));
        }
        (near, far)
    }
}

impl Packed {
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
                table: TiltTable::of(sphere.range.len()),
            })
            .collect();
        let order = arrange(components, &blocks);
        for (place, &j) in order.iter().enumerate() {
            let (group, lane, component) = (place / LANES, place % LANES, &components[j]);
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
        let mut packed = Self { order, blocks, log_factors, bounds: GroupBounds::default() };
        packed.bounds = GroupBounds::new(&packed);
        packed
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.log_factors.len()
    }

    /// Writes the logs of the components' shares of the density at a point of the set, group by group but for groups that
    /// cannot count, and returns the largest.
    ///
    /// # Formula
    /// ln w − Σ_b ln(e^{−κ_b} J(κ_b)) − Σ_b κ_b |μ_b − x_b|²/2; on an antipodal block the log of the sum over both signs.
    pub(crate) fn log_terms(&self, x0: &[f64], scratch: &mut Scratch) -> f64 {
        scratch.groups.clear();
        scratch.terms.clear();
        let directions = self.blocks.iter().map(|block| (&x0[block.sphere.range.clone()], EXACT));
        self.bounds.upper(directions, &mut scratch.bounds);
        let first = highest(&scratch.bounds);
        let limit = largest(&[self.terms_of(first, x0)]) - NEGLIGIBLE;
        for group in 0..self.groups() {
            if scratch.bounds[group / LANES][group % LANES] > limit {
                scratch.groups.push(group);
                scratch.terms.push(self.terms_of(group, x0));
            }
        }
        largest(&scratch.terms)
    }

    #[inline(always)]
    fn terms_of(&self, group: usize, x0: &[f64]) -> Lanes {
        let mut term = self.log_factors[group];
        for block in &self.blocks {
            let u = &x0[block.sphere.range.clone()];
            let kappa = &block.concentrations[group];
            if block.sphere.antipodal {
                let (near, far) = block.distances(group, u);
                let (mut nearest, mut other) = (near, near);
                nearest.iter_mut().zip(&far).for_each(|(n, f)| *n = if *n < *f { *n } else { *f });
                other.iter_mut().zip(&far).for_each(|(o, f)| *o = (*o - f).abs());
                nearest.iter_mut().zip(kappa).for_each(|(n, k)| *n *= 0.5 * k);
                other.iter_mut().zip(kappa).for_each(|(o, k)| *o *= -0.5 * k);
                term.iter_mut().zip(&nearest).for_each(|(t, n)| *t -= n);
                add_other_side(&mut term, &other);
            } else {
                let mut near = [0.0; LANES];
                for (mean, u) in block.means_of(group).iter().zip(u) {
                    near.iter_mut().zip(mean).for_each(|(s, m)| *s += (m - u) * (m - u));
                }
                near.iter_mut().zip(kappa).for_each(|(n, k)| *n *= 0.5 * k);
                term.iter_mut().zip(&near).for_each(|(t, n)| *t -= n);
            }
        }
        term
    }
}

/// An order of the components in which groups hold neighbours of similar width.
///
/// Cuts at the middle of the widest coordinate again and again; the logs of concentrations, a fifth of each, are
/// coordinates too. The sign of an antipodal mean is made that of its first coordinate.
fn arrange(components: &[Component], blocks: &[Block]) -> Vec<usize> {
    let features: Vec<Vec<f64>> = components
        .iter()
        .map(|component| {
            let mut features = component.mean.clone();
            for block in blocks.iter().filter(|b| b.sphere.antipodal) {
                let mean = &mut features[block.sphere.range.clone()];
                let sign = if mean[0] < 0.0 { -1.0 } else { 1.0 };
                mean.iter_mut().for_each(|m| *m *= sign);
            }
            features.extend(component.concentrations.iter().map(|k| 0.2 * k.ln_1p()));
            features
        })
        .collect();
    let mut order: Vec<usize> = (0..components.len()).collect();
    cut(&features, &mut order);
    order
}

/// Orders places so that the groups of the first half are apart from those of the second, and so on.
fn cut(features: &[Vec<f64>], order: &mut [usize]) {
    if order.len() <= LANES {
        return;
    }
    let width = |k: usize| {
        let values = order.iter().map(|&j| features[j][k]);
        values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
    };
    let widths = (0..features[order[0]].len()).map(|k| (k, width(k)));
    let (axis, _) = widths.fold((0, -1.0), |a, b| if b.1 > a.1 { b } else { a });
    let middle = order.len().div_ceil(2 * LANES) * LANES;
    order.select_nth_unstable_by(middle, |&a, &b| features[a][axis].total_cmp(&features[b][axis]).then(a.cmp(&b)));
    let (below, above) = order.split_at_mut(middle);
    cut(features, below);
    cut(features, above);
}

/// μ·u for every mean of a group.
#[inline(always)]
pub(crate) fn cosines(means: &[Lanes], u: &[f64]) -> Lanes {
    let mut sum = [0.0; LANES];
    for (mean, u) in means.iter().zip(u) {
        sum.iter_mut().zip(mean).for_each(|(s, m)| *s += m * u);
    }
    sum
}

/// Adds ln(1 + e^`other`), where it is not negligible.
fn add_other_side(term: &mut Lanes, other: &Lanes) {
    if other.iter().fold(false, |counts, o| counts | (*o > -NEGLIGIBLE)) {
        term.iter_mut().zip(other).for_each(|(t, o)| *t += o.exp().ln_1p());
    }
}

/// The largest number of all groups.
#[inline(always)]
pub(crate) fn largest(groups: &[Lanes]) -> f64 {
    let mut best = [f64::NEG_INFINITY; LANES];
    for group in groups {
        best.iter_mut().zip(group).for_each(|(b, g)| *b = if *g > *b { *g } else { *b });
    }
    best.iter().fold(f64::NEG_INFINITY, |b, g| b.max(*g))
}

/// Replaces logs by exp(log − `scale`).
#[inline(always)]
pub(crate) fn shares(group: &Lanes, scale: f64) -> Lanes {
    let mut shares = group.map(|g| g - scale);
    exp_all(&mut shares);
    shares
}
