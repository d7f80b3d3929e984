//! The score of a denoiser on rows it has not seen: the likelihood bound.

use crate::{
    LearnedDenoiser,
    config::Config,
    method::{
        Validation,
        validation::{log_weights, of_ratios},
    },
};
use mad_core::{
    Points,
    likelihood::{BoundConfig, BoundPoints, likelihood_bound},
    measure::BaseMeasure,
};
use std::{collections::BTreeMap, sync::OnceLock};

/// Most rows validated when each has a condition of its own, because then each is evaluated alone.
const MAX_CONDITIONED_ROWS: usize = 256;

/// Most numbers kept between scores, 128 MB; where there are more the base is evaluated every time.
const MAX_KEPT: usize = 1 << 24;

/// Rows that a run is validated on. The noise depends on the seed alone, so that scores of different steps differ by the weights only.
pub(crate) struct Validator<'a> {
    config: &'a Config,
    base: &'a dyn BaseMeasure,
    points: Points,
    conditions: Option<Points>,
    /// Where the bound is evaluated, kept from the first score on.
    places: OnceLock<BoundPoints<'a>>,
    /// Log-weights of the points under the base, likewise.
    weights: OnceLock<Vec<f64>>,
}

impl<'a> Validator<'a> {
    /// Scores on the first rows of `points`; `None` if there are none.
    pub fn new(
        config: &'a Config,
        base: &'a dyn BaseMeasure,
        points: &Points,
        conditions: Option<Points>,
    ) -> Option<Self> {
        let points = points.head(config.validation_rows as usize);
        let (places, weights) = (OnceLock::new(), OnceLock::new());
        (!points.is_empty()).then_some(Self { config, base, points, conditions, places, weights })
    }

    /// The score of `denoiser`.
    pub fn score(&self, denoiser: &LearnedDenoiser, step: u64) -> Validation {
        let Self { config, base, points, conditions, places, weights } = self;
        let (levels, repeats) = (config.bound_levels as usize, config.bound_repeats as usize);
        let (range, bound) = (config.noise_range(), BoundConfig { levels, repeats, seed: config.seed });
        if let Some(conditions) = conditions {
            let (points, log_ratios) = conditioned(denoiser, *base, config, points, conditions, &bound);
            return of_ratios(step, &log_ratios, &log_weights(*base, &points));
        }
        let log_ratios = if BoundPoints::size(points.len(), points.dim(), &bound) > MAX_KEPT {
            likelihood_bound(denoiser, *base, range, points, &bound).per_point
        } else {
            places.get_or_init(|| BoundPoints::new(*base, range, points, bound)).bound(denoiser).per_point
        };
        of_ratios(step, &log_ratios, weights.get_or_init(|| log_weights(*base, points)))
    }
}

/// Rows with equal conditions are evaluated together.
fn conditioned(
    denoiser: &LearnedDenoiser,
    base: &dyn BaseMeasure,
    config: &Config,
    points: &Points,
    conditions: &Points,
    bound: &BoundConfig,
) -> (Points, Vec<f64>) {
    let mut groups: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for (i, row) in conditions.rows().take(points.len()).enumerate() {
        groups.entry(row.iter().map(|v| v.to_bits()).collect()).or_default().push(i);
    }
    let many = groups.len() > MAX_CONDITIONED_ROWS;
    let (mut seen, mut values) = (Points::new(points.dim()), Vec::new());
    for (i, rows) in groups.values().take(if many { MAX_CONDITIONED_ROWS } else { usize::MAX }).enumerate() {
        let group = points.select(rows);
        let given = denoiser.clone().given(conditions.row(rows[0]).to_vec(), 1.0);
        // A seed per group: errors of groups that shared their noise would not average out.
        let bound = BoundConfig { seed: bound.seed.wrapping_add(i as u64), ..*bound };
        values.extend(likelihood_bound(&given, base, config.noise_range(), &group, &bound).per_point);
        seen.extend(&group);
    }
    (seen, values)
}
