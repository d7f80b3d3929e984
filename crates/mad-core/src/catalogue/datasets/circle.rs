//! Eight points on the unit circle, equally or unequally likely (MAD, appendix on data, "Discrete").

use super::{Arguments, DatasetEntry, Request, draw};
use crate::{Points, table::Table};
use std::f64::consts::TAU;

/// Number of points.
pub const COUNT: usize = 8;

/// Equal probabilities.
pub(crate) const UNIFORM: DatasetEntry = DatasetEntry {
    name: "circle8-uniform",
    summary: "eight points on the circle, equally likely (the paper's first toy)",
    parameters: &[],
    manifold,
    is_distribution: true,
    make: |request| Ok(make(request, "circle8-uniform", &[1.0 / COUNT as f64; COUNT])),
};

/// Unequal probabilities.
pub(crate) const SKEWED: DatasetEntry = DatasetEntry {
    name: "circle8-skewed",
    summary: "eight points on the circle, falling off from one of them (the paper's second toy)",
    parameters: &[],
    manifold,
    is_distribution: true,
    make: |request| Ok(make(request, "circle8-skewed", &skewed_probabilities())),
};

/// The set itself.
pub const SUPPORT: DatasetEntry = DatasetEntry {
    name: "circle8-support",
    summary: "the eight points, once each: the file for `points:FILE`",
    parameters: &[],
    manifold,
    is_distribution: false,
    make: |_| Ok(Table::numbers("circle8-support", Some(header()), 2, support().into_vec())),
};

fn manifold(_: &Arguments) -> String {
    "points:circle8-support".into()
}

fn header() -> Vec<String> {
    vec!["x0".into(), "x1".into()]
}

/// The points (cos 2πi/8, sin 2πi/8).
pub fn support() -> Points {
    let point = |i: usize| {
        let angle = TAU * i as f64 / COUNT as f64;
        [angle.cos(), angle.sin()]
    };
    Points::from_vec((0..COUNT).flat_map(point).collect(), 2)
}

/// Probabilities of the skewed set.
///
/// # Formula
/// p_i ∝ exp(−0.8 d_i), d_i = min(|i − i*|, n − |i − i*|), i* = ⌊n/4⌋.
pub fn skewed_probabilities() -> [f64; COUNT] {
    let peak = COUNT / 4;
    let weight = |i: usize| (-0.8 * i.abs_diff(peak).min(COUNT - i.abs_diff(peak)) as f64).exp();
    let total: f64 = (0..COUNT).map(weight).sum();
    std::array::from_fn(|i| weight(i) / total)
}

fn make(request: &Request, name: &str, probabilities: &[f64]) -> Table {
    let support = support();
    request.numbers(name, &["x0", "x1"], |rng, x| {
        x.copy_from_slice(support.row(draw(probabilities.iter().copied(), rng)));
    })
}
