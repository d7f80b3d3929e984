//! The posterior over components given a noised point x: how likely each is to have sent it, and where its tilted mean points.

use super::bounds::{EXACT, highest};
use super::packed::{Block, LANES, Lanes, NEGLIGIBLE, Packed, largest, shares};
use crate::special::{bessel_ratio, ln_mean_exp_scaled, norm};
use pulp::{Arch, Simd, WithSimd};

/// On S², Bessel functions above this argument are their leading terms: e^{−2·20} < 1e-17.
const FAR: f64 = 20.0;

/// Exponents lie between −2k and 0: where that is less than this, hardly anything could be left out, and bounds gain nothing.
const WORTH: f64 = 30.0;

/// After this many spheres the product of values becomes part of the logarithm: each lies between 1e-28 and 1e28.
const FOLD: usize = 8;

/// One sphere's part of x.
#[derive(Debug, Clone, Default)]
pub(super) struct Direction {
    /// û = x/|x|, or 0.
    pub unit: Vec<f64>,
    /// k = |x|/σ².
    pub k: f64,
    /// |x|.
    pub size: f64,
}

impl Direction {
    /// Whether x lies so near the sphere that differences from û keep their digits.
    pub(crate) fn is_near(&self) -> bool {
        self.size > 0.5
    }
}

/// What a sum over components needs again and again; kept from row to row.
#[derive(Debug, Default)]
pub(super) struct Posterior {
    pub directions: Vec<Direction>,
    /// Upper bounds of the log-shares in each group.
    bounds: Vec<Lanes>,
    /// Groups that may count, with sharper bounds.
    candidates: Vec<(usize, f64)>,
    /// Groups with a component that counts.
    pub groups: Vec<usize>,
    /// Log-shares but for the factors in `values`, later the shares themselves; one per kept group.
    pub shares: Vec<Lanes>,
    values: Vec<Lanes>,
    /// Per kept group and sphere: the tilted mean is `along` μ + `outward` û.
    pub tilts: Vec<Tilt>,
    /// Scratch memory for sums over groups.
    pub sums: Vec<Lanes>,
    /// Σ of shares.
    pub total: f64,
    /// Log of what one unit of `total` stands for.
    pub scale: f64,
}

/// Tilted means along the mean direction and along û.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tilt {
    pub along: Lanes,
    pub outward: Lanes,
}

/// One sign of the means of a group.
struct Side {
    /// |η| with η = κ μ + k û.
    length: Lanes,
    /// |η| − κ − k.
    exponent: Lanes,
}

/// |η| and |η| − κ − k of one component, given |û−μ|² and |û+μ|².
///
/// # Numerics
/// |η|² = (κ+k)² − κk|û−μ|² = (κ−k)² + κk|û+μ|² and |η| − κ − k = −κk|û−μ|²/(|η|+κ+k), so nothing of the size of
/// k = 1e12 is ever subtracted.
#[inline(always)]
pub(super) fn tilt(kappa: f64, k: f64, apart: f64, opposed: f64) -> (f64, f64) {
    let (sum, difference, product) = (kappa + k, kappa - k, kappa * k);
    let far = difference * difference + product * opposed;
    let near = sum * sum - product * apart;
    let length = (if apart < opposed { near } else { far }).sqrt();
    let whole = length + sum;
    let exponent = -kappa * apart * (k / if whole > 0.0 { whole } else { 1.0 });
    (length, exponent)
}

#[inline(always)]
fn side(kappa: &Lanes, k: f64, apart: &Lanes, opposed: &Lanes) -> Side {
    let mut side = Side { length: *kappa, exponent: *apart };
    let lanes = side.length.iter_mut().zip(&mut side.exponent).zip(opposed);
    lanes.for_each(|((length, exponent), opposed)| (*length, *exponent) = tilt(*length, k, *exponent, *opposed));
    side
}

impl Posterior {
    /// Computes the posterior of all components given `x`. Afterwards `groups`, `shares` and `tilts` describe those that count.
    ///
    /// # Formula
    /// η_b = κ_b μ_b + x_b/σ², share = w ∏_b J(|η_b|)/J(κ_b), tilted mean A(|η_b|) η_b/|η_b|; log-shares are relative to
    /// Σ_b |x_b|/σ².
    ///
    /// # Numerics
    /// Since |η| ≤ κ + k and e^{−|η|}J(|η|) ≤ 1, a share is at most w ∏ exp(−κk(1 − μ·û)/(κ+k))/(e^{−κ}J(κ)), which needs
    /// no Bessel function. Groups whose bounds are 45 nats below a share that is known are left out.
    pub fn update(&mut self, packed: &Packed, x: &[f64], sigma: f64) {
        Arch::new().dispatch(Update { posterior: self, packed, x, sigma });
    }

    #[inline(always)]
    fn update_on(&mut self, packed: &Packed, x: &[f64], sigma: f64) {
        self.set_directions(packed, x, sigma);
        self.clear();
        if 2.0 * self.directions.iter().map(|d| d.k).sum::<f64>() < WORTH {
            (0..packed.groups()).for_each(|group| self.add_group(packed, group));
        } else {
            let directions = self.directions.iter().map(|d| (&d.unit[..], d.k));
            packed.bounds.upper(directions, &mut self.bounds);
            let limit = self.limit(packed, highest(&self.bounds));
            let mut candidates = std::mem::take(&mut self.candidates);
            let near = (0..packed.groups()).filter(|g| self.bounds[g / LANES][g % LANES] > limit);
            candidates.extend(near.map(|g| (g, self.bound(packed, g))));
            // Bounds of components are sharper than those of cones, and so may be the limit.
            let first = candidates.iter().fold((0, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { *b } else { a });
            let limit = self.limit(packed, first.0).max(limit);
            candidates.retain(|(_, bound)| *bound > limit);
            candidates.drain(..).for_each(|(group, _)| self.add_group(packed, group));
            self.candidates = candidates;
        }
        let scale = largest(&self.shares);
        let mut total = [0.0; LANES];
        for (share, value) in self.shares.iter_mut().zip(&self.values) {
            let mut part = shares(share, scale);
            part.iter_mut().zip(value).for_each(|(s, v)| *s *= v);
            total.iter_mut().zip(&part).for_each(|(t, s)| *t += s);
            *share = part;
        }
        self.total = total.iter().sum();
        self.scale = scale - self.growth(packed);
    }

    fn clear(&mut self) {
        self.groups.clear();
        self.shares.clear();
        self.values.clear();
        self.tilts.clear();
    }

    /// What bounds must exceed to count, given that there is `group`.
    #[inline(always)]
    fn limit(&mut self, packed: &Packed, group: usize) -> f64 {
        self.add_group(packed, group);
        let logs = self.shares.iter().zip(&self.values).flat_map(|(s, v)| s.iter().zip(v).map(|(s, v)| s + v.ln()));
        let largest = logs.fold(f64::NEG_INFINITY, f64::max);
        self.clear();
        largest - self.growth(packed) - NEGLIGIBLE
    }

    /// Splits x into directions and lengths.
    fn set_directions(&mut self, packed: &Packed, x: &[f64], sigma: f64) {
        self.directions.resize_with(packed.blocks.len(), Direction::default);
        for (direction, block) in self.directions.iter_mut().zip(&packed.blocks) {
            let x = &x[block.sphere.range.clone()];
            let size = norm(x);
            direction.size = size;
            // At 1e150 every tilted mean is x/|x| to the last digit, and squares do not overflow.
            direction.k = (size / sigma / sigma).min(EXACT);
            direction.unit.clear();
            direction.unit.extend(x.iter().map(|x| if size > 0.0 { x / size } else { 0.0 }));
        }
    }

    /// An upper bound of the log-shares of a group.
    #[inline(always)]
    fn bound(&self, packed: &Packed, group: usize) -> f64 {
        let mut bound = packed.log_factors[group];
        for (block, direction) in packed.blocks.iter().zip(&self.directions) {
            if direction.k == 0.0 {
                continue;
            }
            let mut cosine = block.cosines(group, &direction.unit);
            if block.sphere.antipodal {
                cosine = cosine.map(f64::abs);
                bound.iter_mut().for_each(|b| *b += std::f64::consts::LN_2);
            }
            let mut rate = block.concentrations[group];
            rate.iter_mut().for_each(|r| *r *= direction.k / (*r + direction.k));
            rate.iter_mut().zip(&cosine).for_each(|(r, c)| *r *= 1.0 - c);
            bound.iter_mut().zip(&rate).for_each(|(b, r)| *b -= r);
        }
        largest(&[bound])
    }

    /// Shares are relative to ∏ (1+k)^p over the spheres with a table, which keeps them in range: the log of that.
    fn growth(&self, packed: &Packed) -> f64 {
        let terms = packed.blocks.iter().zip(&self.directions);
        terms.filter_map(|(block, d)| block.table.as_ref().map(|t| t.exponent() * d.k.ln_1p())).sum()
    }

    /// Adds a group with its log-shares and tilted means.
    #[inline(always)]
    fn add_group(&mut self, packed: &Packed, group: usize) {
        let mut logs = packed.log_factors[group];
        let mut values = [1.0; LANES];
        for (place, (block, direction)) in packed.blocks.iter().zip(&self.directions).enumerate() {
            let (near, far) = block.distances(group, &direction.unit);
            let (kappa, k) = (&block.concentrations[group], direction.k);
            let toward = side(kappa, k, &near, &far);
            let here = factors(block, k, &toward.length);
            let mut tilt = Tilt { along: here.slope, outward: here.slope };
            if block.sphere.antipodal {
                let away = side(kappa, k, &far, &near);
                let there = factors(block, k, &away.length);
                // e^{there − here}, the smaller over the larger.
                let lead: [f64; LANES] = std::array::from_fn(|lane| {
                    toward.exponent[lane] + here.log[lane] - away.exponent[lane] - there.log[lane]
                });
                let ratio = shares(&lead.map(|l| -l.abs()), 0.0);
                for lane in 0..LANES {
                    let (first, second) = if lead[lane] > 0.0 { (1.0, ratio[lane]) } else { (ratio[lane], 1.0) };
                    let parts = [first * here.value[lane], second * there.value[lane]];
                    let whole = parts[0] + parts[1];
                    let inverse = 1.0 / whole;
                    let pulls = [parts[0] * inverse * here.slope[lane], parts[1] * inverse * there.slope[lane]];
                    tilt.along[lane] = pulls[0] - pulls[1];
                    tilt.outward[lane] = pulls[0] + pulls[1];
                    let forward = lead[lane] > 0.0;
                    logs[lane] += if forward { toward.exponent[lane] } else { away.exponent[lane] };
                    logs[lane] += if forward { here.log[lane] } else { there.log[lane] };
                    values[lane] *= whole;
                }
            } else {
                logs.iter_mut().zip(&toward.exponent).for_each(|(l, e)| *l += e);
                logs.iter_mut().zip(&here.log).for_each(|(l, e)| *l += e);
                values.iter_mut().zip(&here.value).for_each(|(v, f)| *v *= f);
            }
            tilt.along.iter_mut().zip(kappa).for_each(|(t, kappa)| *t *= kappa);
            tilt.outward.iter_mut().for_each(|t| *t *= k);
            if place % FOLD == FOLD - 1 {
                logs.iter_mut().zip(&values).for_each(|(l, v)| *l += v.ln());
                values = [1.0; LANES];
            }
            self.tilts.push(tilt);
        }
        self.groups.push(group);
        self.shares.push(logs);
        self.values.push(values);
    }
}

/// The update for all components, with the widest instructions that the processor has.
struct Update<'a> {
    posterior: &'a mut Posterior,
    packed: &'a Packed,
    x: &'a [f64],
    sigma: f64,
}

impl WithSimd for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.posterior.update_on(self.packed, self.x, self.sigma);
    }
}

/// e^{−|η|} J(|η|) = exp(`log`) `value` up to (1+k)^p, and A(|η|)/|η| = `slope`.
struct Factors {
    log: Lanes,
    value: Lanes,
    slope: Lanes,
}

#[inline(always)]
fn factors(block: &Block, k: f64, lengths: &Lanes) -> Factors {
    let mut factors = Factors { log: [0.0; LANES], value: [1.0; LANES], slope: [0.0; LANES] };
    let Factors { log, value, slope } = &mut factors;
    let dim = block.dim();
    match &block.table {
        Some(_) if dim == 3 && !lengths.iter().fold(false, |near, l| near | (*l < FAR)) => {
            let mut inverse = *lengths;
            inverse.iter_mut().for_each(|i| *i = 1.0 / *i);
            value.iter_mut().zip(&inverse).for_each(|(v, i)| *v = 0.5 * (1.0 + k) * i);
            slope.iter_mut().zip(&inverse).for_each(|(s, i)| *s = (1.0 - i) * i);
        }
        Some(table) => {
            let mut t = *lengths;
            t.iter_mut().for_each(|t| *t = 1.0 / (1.0 + *t));
            (*value, *slope) = table.at_all(&t);
            value.iter_mut().zip(&t).for_each(|(v, t)| *v *= table.power(t * (1.0 + k)));
            slope.iter_mut().zip(&t).for_each(|(s, t)| *s *= t);
        }
        None => {
            let order = dim as f64 / 2.0 - 1.0;
            for lane in 0..LANES {
                let length = lengths[lane];
                log[lane] = ln_mean_exp_scaled(dim, length);
                slope[lane] = if length == 0.0 { 1.0 / dim as f64 } else { bessel_ratio(order, length) / length };
            }
        }
    }
    factors
}

/// How the sides of one component share its weight, given |η| and |η| − κ − k of each.
pub(super) fn side_shares(dim: usize, tilts: &[(f64, f64)]) -> Vec<f64> {
    if tilts.len() == 1 {
        return vec![1.0];
    }
    let logs: Vec<f64> = tilts.iter().map(|(length, exponent)| exponent + ln_mean_exp_scaled(dim, *length)).collect();
    let best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = logs.iter().map(|l| (l - best).exp()).collect();
    let whole: f64 = parts.iter().sum();
    parts.iter().map(|p| p / whole).collect()
}
