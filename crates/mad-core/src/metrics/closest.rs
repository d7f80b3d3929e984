//! How close samples come to training points, compared with points that were held out.

use super::{
    MetricError,
    mmd::{check, subset},
};
use crate::{
    Points, Unit, groups::Groups, groups::copies, manifold::Manifold, moments::quantile, neighbours::Neighbours,
};
use rayon::prelude::*;
use serde::Serialize;

/// Most points of each kind whose closest training point is looked for.
const MOST_POINTS: usize = 5000;

/// Where a search cannot skip anything, as in many dimensions, it looks at all training points. This many coordinates are compared
/// at most, some ten seconds on one core.
const MOST_WORK: usize = 20_000_000_000;

/// Never fewer points than this, for the sake of small shares.
const FEWEST_POINTS: usize = 1000;

/// Quantiles that are reported.
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Distances to the closest training point, of samples and of held-out points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Closest {
    /// The unit of all distances.
    pub unit: Unit,
    /// Distances at which shares are counted.
    pub radii: [f64; 3],
    /// Of the samples.
    pub samples: Distances,
    /// Of the held-out points.
    pub reference: Distances,
}

/// Distances of some points to their closest training point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distances {
    /// How many points.
    pub n: usize,
    /// The [`QUANTILES`].
    pub quantiles: [f64; 5],
    /// Share of points that are equal to a training point.
    pub equal: f64,
    /// Shares of points within each of the radii.
    pub within: [f64; 3],
    /// All distances, rising.
    #[serde(skip)]
    pub sorted: Vec<f64>,
}

/// Compares the distances of `samples` and of `reference` to their closest training points, in `unit`.
///
/// A model that has memorised its training points puts samples closer to them than held-out points are. Samples that are
/// farther away than held-out points blur the distribution. Larger sets are thinned at random.
///
/// # Reference
/// Meehan, Chaudhuri and Dasgupta, A non-parametric test to detect data-copying in generative models, 2020.
pub fn closest(
    manifold: &dyn Manifold,
    unit: Unit,
    samples: &Points,
    reference: &Points,
    training: &Points,
    seed: u64,
) -> Result<Closest, MetricError> {
    for (points, which) in [(samples, "given"), (reference, "reference"), (training, "training")] {
        check("closest", manifold, points, which, 1)?;
    }
    let training = training.select(&Groups::of(training).firsts());
    let tree = Neighbours::new(manifold, &training);
    let most = (MOST_WORK / (training.len() * training.dim())).clamp(FEWEST_POINTS, MOST_POINTS);
    let measured = |points: &Points, draw: usize| {
        let points = points.select(&subset(points.len(), points.len().min(most), seed, draw));
        let equal = copies(&points, &training);
        // A distance between equal points may differ from zero by rounding.
        let distance = |(x, equal): (&[f64], &bool)| if *equal { 0.0 } else { tree.nearest(x) / unit.size() };
        let mut sorted: Vec<f64> = points.par_rows().zip(&equal).map(distance).collect();
        sorted.par_sort_unstable_by(f64::total_cmp);
        (sorted, equal.iter().filter(|equal| **equal).count())
    };
    let (samples, reference) = (measured(samples, 0), measured(reference, 1));
    let radii = radii(unit, &reference.0);
    let [samples, reference] = [samples, reference].map(|(sorted, equal)| {
        let share = |count: usize| count as f64 / sorted.len() as f64;
        Distances {
            n: sorted.len(),
            quantiles: QUANTILES.map(|q| quantile(&sorted, q)),
            equal: share(equal),
            within: radii.map(|radius| share(sorted.partition_point(|d| *d <= radius))),
            sorted,
        }
    });
    Ok(Closest { unit, radii, samples, reference })
}

/// The distances at which shares are counted: fixed ones where the unit has a meaning of its own, else numbers near the lower
/// quantiles of the held-out points.
fn radii(unit: Unit, reference: &[f64]) -> [f64; 3] {
    match unit {
        Unit::Kilometre => [1.0, 5.0, 25.0],
        Unit::Degree => [1.0, 5.0, 15.0],
        Unit::Plain => [0.05, 0.25, 0.5].map(|q| round(quantile(reference, q))),
    }
}

/// The largest of …, 0.1, 0.2, 0.5, 1, 2, 5, … that is not above `x`.
fn round(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 0.0;
    }
    let power = 10f64.powi(x.log10().floor() as i32);
    let digit = [5.0, 2.0, 1.0].into_iter().find(|digit| digit * power <= x).unwrap_or(1.0);
    digit * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_of_unitless_distances_are_round_numbers() {
        let numbers: Vec<f64> = (0..=100).map(|i| 0.013 * f64::from(i)).collect();
        assert_eq!(radii(Unit::Plain, &numbers), [0.05, 0.2, 0.5]);
        assert_eq!(round(0.0), 0.0);
        assert_eq!([round(1.0), round(4.99), round(70.0)], [1.0, 2.0, 50.0]);
    }
}
