//! Components as seen from a noised point x: how likely each is to have sent it, and where its tilted mean points.

use super::bank::{Bank, Block, LANES, Lanes, NEGLIGIBLE, all_below, largest, shares};
use crate::special::{bessel_ratio, ln_mean_exp_scaled, norm};

/// Larger |x|/σ² act like this one: at 1e150 every tilted mean is x/|x| to the last digit, and squares do not overflow.
const LARGEST: f64 = 1e150;

/// On S², Bessel functions above this argument are their leading terms: e^{−2·20} < 1e-17.
const FAR: f64 = 20.0;

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
    pub fn is_near(&self) -> bool {
        self.size > 0.5
    }
}

/// What a sum over components needs again and again; kept from row to row.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub directions: Vec<Direction>,
    /// Upper bounds of log-shares, all groups.
    bounds: Vec<Lanes>,
    /// Groups with a component that counts.
    pub groups: Vec<usize>,
    /// Log-shares but for the factors in `values`, later the shares themselves; one per kept group.
    pub shares: Vec<Lanes>,
    values: Vec<Lanes>,
    /// Per kept group and sphere: the tilted mean is `along` μ + `outward` û.
    pub tilts: Vec<Tilt>,
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
pub(super) fn tilt(kappa: f64, k: f64, apart: f64, opposed: f64) -> (f64, f64) {
    let (sum, difference, product) = (kappa + k, kappa - k, kappa * k);
    let far = difference * difference + product * opposed;
    let near = sum * sum - product * apart;
    let length = (if apart < opposed { near } else { far }).sqrt();
    let whole = length + sum;
    let exponent = -kappa * apart * (k / if whole > 0.0 { whole } else { 1.0 });
    (length, exponent)
}

fn side(kappa: &Lanes, k: f64, apart: &Lanes, opposed: &Lanes) -> Side {
    let mut side = Side { length: [0.0; LANES], exponent: [0.0; LANES] };
    for lane in 0..LANES {
        (side.length[lane], side.exponent[lane]) = tilt(kappa[lane], k, apart[lane], opposed[lane]);
    }
    side
}

impl Seen {
    /// Looks at all components from `x`. Afterwards `groups`, `shares` and `tilts` describe those that count.
    ///
    /// # Formula
    /// η_b = κ_b μ_b + x_b/σ², share = w ∏_b J(|η_b|)/J(κ_b), tilted mean A(|η_b|) η_b/|η_b|; log-shares are relative to
    /// Σ_b |x_b|/σ².
    ///
    /// # Numerics
    /// Since |η| ≤ κ + k and e^{−|η|}J(|η|) ≤ 1, a share is at most w ∏ exp(−κk(1 − μ·û)/(κ+k))/(e^{−κ}J(κ)), which needs
    /// neither root nor Bessel function. Groups whose bounds are 45 nats below a share that is known are left out.
    pub fn look(&mut self, bank: &Bank, x: &[f64], sigma: f64) {
        self.place(bank, x, sigma);
        self.bound(bank);
        let highest = largest(&self.bounds);
        let first = self.bounds.iter().position(|group| !all_below(group, highest.next_down())).unwrap_or(0);
        self.clear();
        self.weigh(bank, first);
        let known = self.highest() - NEGLIGIBLE;
        self.clear();
        let limit = known - self.growth(bank);
        for group in 0..bank.groups() {
            if !all_below(&self.bounds[group], limit) {
                self.weigh(bank, group);
            }
        }
        let scale = largest(&self.shares);
        self.total = 0.0;
        for (share, value) in self.shares.iter_mut().zip(&self.values) {
            *share = shares(share, scale);
            share.iter_mut().zip(value).for_each(|(s, v)| *s *= v);
            self.total += share.iter().sum::<f64>();
        }
        self.scale = scale - self.growth(bank);
    }

    fn clear(&mut self) {
        self.groups.clear();
        self.shares.clear();
        self.values.clear();
        self.tilts.clear();
    }

    /// The largest log-share so far.
    fn highest(&self) -> f64 {
        let logs = self.shares.iter().zip(&self.values).flat_map(|(s, v)| s.iter().zip(v).map(|(s, v)| s + v.ln()));
        logs.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Splits x into directions and lengths.
    fn place(&mut self, bank: &Bank, x: &[f64], sigma: f64) {
        self.directions.resize_with(bank.blocks.len(), Direction::default);
        for (direction, block) in self.directions.iter_mut().zip(&bank.blocks) {
            let x = &x[block.sphere.range.clone()];
            let size = norm(x);
            direction.size = size;
            direction.k = (size / sigma / sigma).min(LARGEST);
            direction.unit.clear();
            direction.unit.extend(x.iter().map(|x| if size > 0.0 { x / size } else { 0.0 }));
        }
    }

    /// Upper bounds of all log-shares.
    fn bound(&mut self, bank: &Bank) {
        self.bounds.clear();
        self.bounds.extend_from_slice(&bank.log_factors);
        for (block, Direction { unit, k, .. }) in bank.blocks.iter().zip(&self.directions) {
            if *k == 0.0 {
                continue;
            }
            for (group, bound) in self.bounds.iter_mut().enumerate() {
                let (cosines, kappa) = (block.cosines(group, unit), &block.concentrations[group]);
                for lane in 0..LANES {
                    let cosine = if block.sphere.antipodal { cosines[lane].abs() } else { cosines[lane] };
                    bound[lane] -= (1.0 - cosine) * kappa[lane] * (k / (kappa[lane] + k));
                }
                if block.sphere.antipodal {
                    bound.iter_mut().for_each(|b| *b += std::f64::consts::LN_2);
                }
            }
        }
    }

    /// Shares are relative to ∏ (1+k)^p over the spheres with a table, which keeps them in range: the log of that.
    fn growth(&self, bank: &Bank) -> f64 {
        let terms = bank.blocks.iter().zip(&self.directions);
        terms.filter_map(|(block, d)| block.table.as_ref().map(|t| t.exponent() * d.k.ln_1p())).sum()
    }

    /// Adds a group with its log-shares and tilted means.
    fn weigh(&mut self, bank: &Bank, group: usize) {
        let mut logs = bank.log_factors[group];
        let mut values = [1.0; LANES];
        for (block, direction) in bank.blocks.iter().zip(&self.directions) {
            let (near, far) = block.distances(group, &direction.unit);
            let (kappa, k) = (&block.concentrations[group], direction.k);
            let toward = side(kappa, k, &near, &far);
            let mut tilt = Tilt { along: [0.0; LANES], outward: [0.0; LANES] };
            let Factors { log, value, slope } = factors(block, k, &toward.length);
            if block.sphere.antipodal {
                let away = side(kappa, k, &far, &near);
                let other = factors(block, k, &away.length);
                for lane in 0..LANES {
                    let both = [toward.exponent[lane] + log[lane], away.exponent[lane] + other.log[lane]];
                    let best = both[0].max(both[1]);
                    let parts = [value[lane] * (both[0] - best).exp(), other.value[lane] * (both[1] - best).exp()];
                    let whole = parts[0] + parts[1];
                    let pulls = [parts[0] / whole * slope[lane], parts[1] / whole * other.slope[lane]];
                    tilt.along[lane] = (pulls[0] - pulls[1]) * kappa[lane];
                    tilt.outward[lane] = (pulls[0] + pulls[1]) * k;
                    logs[lane] += best;
                    values[lane] *= whole;
                }
            } else {
                for lane in 0..LANES {
                    tilt.along[lane] = slope[lane] * kappa[lane];
                    tilt.outward[lane] = slope[lane] * k;
                    logs[lane] += toward.exponent[lane] + log[lane];
                    values[lane] *= value[lane];
                }
            }
            if bank.blocks.len() > 1 {
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

/// e^{−|η|} J(|η|) = exp(`log`) `value` up to (1+k)^p, and A(|η|)/|η| = `slope`.
struct Factors {
    log: Lanes,
    value: Lanes,
    slope: Lanes,
}

fn factors(block: &Block, k: f64, lengths: &Lanes) -> Factors {
    let mut factors = Factors { log: [0.0; LANES], value: [1.0; LANES], slope: [0.0; LANES] };
    let Factors { log, value, slope } = &mut factors;
    let dim = block.dim();
    match &block.table {
        Some(_) if dim == 3 && !lengths.iter().any(|l| *l < FAR) => {
            for lane in 0..LANES {
                let inverse = 1.0 / lengths[lane];
                value[lane] = 0.5 * (1.0 + k) * inverse;
                slope[lane] = (1.0 - inverse) * inverse;
            }
        }
        Some(table) => {
            for lane in 0..LANES {
                let t = 1.0 / (1.0 + lengths[lane]);
                let (h, g) = table.at(t);
                value[lane] = h * table.power(t * (1.0 + k));
                slope[lane] = g * t;
            }
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
