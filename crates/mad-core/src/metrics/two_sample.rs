//! Can a nearest neighbour distinguish samples from the reference?

use super::{
    MetricError,
    chord::Chord,
    mmd::{check, subset},
};
use crate::{Points, groups::Groups, manifold::Manifold};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Result of the nearest-neighbour two-sample test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoSample {
    /// Share of points whose nearest other point comes from the same sample: 0.5 if the two are alike, 1 if they are apart,
    /// below 0.5 if samples sit on top of the reference's points.
    pub accuracy: f64,
    /// Standard error of the accuracy, as if all points were independent.
    pub standard_error: f64,
    /// Points used of each sample.
    pub points: usize,
    /// Rows of both samples that repeat an earlier row and were left out; none on finite sets, where equal rows are the data.
    pub repeated: usize,
}

/// Leave-one-out accuracy of a nearest-neighbour classifier on equally many distinct points of both samples, at most `limit` each.
///
/// A row that occurs twice in the reference is its own nearest neighbour and would count as distinguished, however good the
/// samples are. Each sample is therefore reduced to distinct points first, except on finite sets. Ties count by the share of the tied neighbours that have the point's own label.
///
/// # Reference
/// Lopez-Paz and Oquab, Revisiting classifier two-sample tests, 2017.
pub fn nearest_neighbour(
    manifold: &dyn Manifold,
    samples: &Points,
    reference: &Points,
    limit: usize,
    seed: u64,
) -> Result<TwoSample, MetricError> {
    check("two-sample", manifold, samples, "given", 2)?;
    check("two-sample", manifold, reference, "reference", 2)?;
    let rows = samples.len() + reference.len();
    let (samples, reference) = (distinct(manifold, samples), distinct(manifold, reference));
    let repeated = rows - samples.len() - reference.len();
    let count = samples.len().min(reference.len()).min(limit.max(2));
    let mut pool = samples.select(&subset(samples.len(), count, seed, 0));
    pool.extend(&reference.select(&subset(reference.len(), count, seed, 1)));
    let chord = Chord::of(manifold, &pool);
    let same: Vec<f64> = (0..2 * count)
        .into_par_iter()
        .with_min_len(16)
        .map_init(
            || vec![0.0; 2 * count],
            |squared, i| {
                chord.squared_rows(manifold, pool.row(i), pool.as_slice(), squared);
                squared[i] = f64::INFINITY;
                let nearest = squared.iter().copied().fold(f64::INFINITY, f64::min);
                let tied = |half: &[f64]| half.iter().filter(|s| **s == nearest).count() as f64;
                let (first, second) = (tied(&squared[..count]), tied(&squared[count..]));
                (if i < count { first } else { second }) / (first + second)
            },
        )
        .collect();
    let n = same.len() as f64;
    let accuracy = same.iter().sum::<f64>() / n;
    Ok(TwoSample { accuracy, standard_error: (accuracy * (1.0 - accuracy) / n).sqrt(), points: count, repeated })
}

/// Each point once. On finite sets, where equal rows are the data, and where all rows are one point, all of them.
pub(crate) fn distinct<'a>(manifold: &dyn Manifold, points: &'a Points) -> Cow<'a, Points> {
    if manifold.intrinsic_dim() == 0 {
        return Cow::Borrowed(points);
    }
    match Groups::of(points).firsts() {
        firsts if firsts.len() == points.len() || firsts.len() < 2 => Cow::Borrowed(points),
        firsts => Cow::Owned(points.select(&firsts)),
    }
}
