//! Kernels on the training points, of many widths.
//!
//! A mixture knows nothing narrower than what its components share. Rows to come may lie nearer to a known one than that: they
//! are another reading of the same place, or stand on the same grid.

use super::seeds::chord_squared;
use crate::Points;
use crate::base::{Component, MAX_CONCENTRATION};
use crate::manifold::SphereBlock;
use rayon::prelude::*;

/// Kernels of equal width have the largest concentration, or one that is so many times smaller, again and again.
const RATIO: f64 = 3.162_277_660_168_379_5;

/// Numbers of neighbours whose distance gives a kernel its width.
const NEIGHBOURS: [usize; 5] = [1, 2, 4, 8, 16];

/// Parts of the mean squared distance to the neighbours that are taken.
const SHARES: [f64; 3] = [0.1, 0.3, 1.0];

/// Points are sorted by the distance to the nearest other row, in parts of the distance at which as many points would be spread
/// evenly: where rows are that near to each other, more will come as near.
const LONELINESS: [f64; 3] = [1e-9, 0.03, 0.3];

/// Most points that kernels stand on: distances between all pairs of more take too long.
pub(super) const MOST_POINTS: usize = 20_000;

/// What the width of a kernel follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Width {
    /// The largest concentration, divided by [`RATIO`] so many times.
    Equal { divided: i32 },
    /// The mean squared distance to so many neighbours, times one of the [`SHARES`].
    Neighbours { count: usize, share: usize },
}

/// Kernels of one width on points of one class.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kernels {
    /// How many of the bounds of [`LONELINESS`] the distance to the nearest other row has reached.
    pub class: usize,
    pub width: Width,
    pub components: Vec<Component>,
}

/// Kernels of every width on distinct points of one sphere, of which each occurs so often.
pub(super) fn kernels(sphere: &SphereBlock, points: &Points, counts: &[f64]) -> Vec<Kernels> {
    if points.len() < 2 {
        return Vec::new();
    }
    let nearest = Nearest::of(sphere, points);
    let classes: Vec<usize> = (0..points.len()).map(|row| nearest.class(row, counts[row])).collect();
    let mut all = Vec::new();
    for class in 0..=LONELINESS.len() {
        let rows: Vec<usize> = (0..points.len()).filter(|row| classes[*row] == class).collect();
        if rows.is_empty() {
            continue;
        }
        for width in widths(nearest.dimension, points.len()) {
            let kernel = |row: &usize| {
                Component::new(counts[*row], points.row(*row).to_vec(), nearest.concentration(*row, width))
            };
            all.push(Kernels { class, width, components: rows.iter().map(kernel).collect() });
        }
    }
    all
}

/// Equal widths from the narrowest to that at which kernels on all points would cover the sphere, then those that follow
/// neighbours.
fn widths(dimension: f64, points: usize) -> impl Iterator<Item = Width> {
    let widest = (points as f64).powf(2.0 / dimension);
    let steps = ((MAX_CONCENTRATION / widest).ln() / RATIO.ln()).floor().max(0.0) as i32;
    let counts = NEIGHBOURS.into_iter().filter(move |count| *count < points);
    let follow = counts.flat_map(|count| (0..SHARES.len()).map(move |share| Width::Neighbours { count, share }));
    (0..=steps).map(|divided| Width::Equal { divided }).chain(follow)
}

/// How far the nearest neighbours of each point are.
struct Nearest {
    /// Dimension of the sphere.
    dimension: f64,
    /// Squared distances from the nearest on, row by row.
    squares: Vec<Vec<f64>>,
}

impl Nearest {
    fn of(sphere: &SphereBlock, points: &Points) -> Self {
        let most = NEIGHBOURS[NEIGHBOURS.len() - 1].min(points.len() - 1);
        let dimension = (sphere.range.len() - 1) as f64;
        let sphere = std::slice::from_ref(sphere);
        let nearest = |row: usize| {
            let others = (0..points.len()).filter(|other| *other != row);
            let mut squares: Vec<f64> =
                others.map(|other| chord_squared(sphere, points.row(row), points.row(other))).collect();
            squares.select_nth_unstable_by(most - 1, f64::total_cmp);
            squares.truncate(most);
            squares.sort_unstable_by(f64::total_cmp);
            squares.shrink_to_fit();
            squares
        };
        Self { dimension, squares: (0..points.len()).into_par_iter().map(nearest).collect() }
    }

    /// How lonely a point is that occurs so often.
    fn class(&self, row: usize, count: f64) -> usize {
        let even = (self.squares.len() as f64).powf(-1.0 / self.dimension);
        let distance = if count > 1.0 { 0.0 } else { self.squares[row][0].sqrt() / even };
        LONELINESS.iter().filter(|least| distance >= **least).count()
    }

    /// # Formula
    /// κ = d/(s m) on the sphere of dimension d, m the mean squared distance to the neighbours: a narrow kernel of this
    /// concentration has a mean squared distance of s m.
    fn concentration(&self, row: usize, width: Width) -> f64 {
        match width {
            Width::Equal { divided } => MAX_CONCENTRATION / RATIO.powi(divided),
            Width::Neighbours { count, share } => {
                let sum: f64 = self.squares[row][..count].iter().sum();
                (self.dimension * count as f64 / (SHARES[share] * sum)).min(MAX_CONCENTRATION)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifold::{BuildContext, build};

    #[test]
    fn widths_follow_the_neighbours() {
        let circle = build("sphere:1", &BuildContext::without_files()).expect("known");
        let degrees = [0.0f64, 1.0, 3.0, 90.0, 180.0];
        let rows = degrees.iter().flat_map(|a| [a.to_radians().cos(), a.to_radians().sin()]).collect();
        let points = Points::from_vec(rows, 2);
        let all = kernels(&circle.spheres().expect("a sphere")[0], &points, &[1.0, 1.0, 1.0, 1.0, 3.0]);
        let of = |width: Width| -> Vec<&Component> {
            all.iter().filter(|kernels| kernels.width == width).flat_map(|kernels| &kernels.components).collect()
        };
        // Every width has a kernel on every point, as heavy as the point; the one that comes again is in a class of its own.
        assert!(all.iter().all(|kernels| of(kernels.width).len() == 5));
        let weights = |kernels: &Kernels| kernels.components.iter().map(|c| c.weight).collect::<Vec<f64>>();
        assert!(all.iter().all(|kernels| (kernels.class == 0) == (weights(kernels) == [3.0])));
        let chord = |degrees: f64| 2.0 * (0.5 * degrees.to_radians()).sin();
        let two = of(Width::Neighbours { count: 2, share: 2 });
        let first = two.iter().find(|c| c.mean == points.row(0)).expect("a kernel on the first point");
        let expected = 2.0 / (chord(1.0).powi(2) + chord(3.0).powi(2));
        assert!((first.concentrations[0] / expected - 1.0).abs() < 1e-9, "{first:?}");
        // Four neighbours at most, as there are five points.
        assert!(!of(Width::Neighbours { count: 4, share: 0 }).is_empty());
        assert!(of(Width::Neighbours { count: 8, share: 0 }).is_empty());
        let narrowest = of(Width::Equal { divided: 0 });
        assert!(narrowest.iter().all(|c| c.concentrations[0] == MAX_CONCENTRATION));
    }
}
