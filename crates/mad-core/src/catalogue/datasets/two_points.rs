//! The toy of the paper's first figure: the points (−1, 0) and (1, 0) with probabilities 0.1 and 0.9.

use super::{Arguments, DatasetEntry, draw};
use crate::table::Table;

/// The points.
const POINTS: [[f64; 2]; 2] = [[-1.0, 0.0], [1.0, 0.0]];

/// Their probabilities.
pub const PROBABILITIES: [f64; 2] = [0.1, 0.9];

/// The data set.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "two-points",
    summary: "the points (-1, 0) and (1, 0) with probabilities 0.1 and 0.9 (the paper's first figure)",
    parameters: &[],
    manifold,
    is_distribution: true,
    make: |request| {
        let row = |rng: &mut _, x: &mut [f64]| x.copy_from_slice(&POINTS[draw(PROBABILITIES, rng)]);
        Ok(request.numbers("two-points", &["x0", "x1"], row))
    },
};

/// The set itself.
pub const SUPPORT: DatasetEntry = DatasetEntry {
    name: "two-points-support",
    summary: "the two points, once each: the file for `points:FILE`",
    parameters: &[],
    manifold,
    is_distribution: false,
    make: |_| {
        let header = vec!["x0".into(), "x1".into()];
        Ok(Table::numbers("two-points-support", Some(header), 2, POINTS.concat()))
    },
};

fn manifold(_: &Arguments) -> String {
    "points:two-points-support".into()
}
