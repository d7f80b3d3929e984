//! Kernels on the training points, of many widths and shapes.
//!
//! A mixture has nothing narrower than what its components share. New places may lie closer to a known one than that: events
//! cluster, follow lines such as faults and coasts, or stand on a grid.

use super::shape::{Shape, frame, merge};
use crate::Points;
use crate::estimate::constants::{ALIGNED, ISOLATION, NEIGHBOURS, SHARES, WIDTH_RATIO};
use crate::estimate::initial_means::chord_squared;
use crate::measure::{Component, MAX_CONCENTRATION, SphereBlock};
use rayon::prelude::*;

/// What the width of a kernel follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Width {
    /// The largest concentration, divided by a power of [`WIDTH_RATIO`].
    Equal { divided: i32 },
    /// The mean squared distance to `count` neighbours, times one of the [`SHARES`].
    Neighbours { count: usize, share: usize },
    /// The covariance of `count` neighbours around the point, times one of the [`SHARES`]; on the two-dimensional sphere.
    Aligned { count: usize, share: usize },
}

/// Distinct points of one sphere, and how far the nearest neighbours of each are.
pub(super) struct Cloud {
    points: Points,
    counts: Vec<f64>,
    /// Number of bounds of [`ISOLATION`] that the distance to the nearest other row reaches, point by point.
    classes: Vec<usize>,
    /// Squared distance and place of the nearest neighbours in ascending order, point by point.
    neighbours: Vec<Vec<(f64, usize)>>,
}

impl Cloud {
    /// Finds the neighbours of distinct points, of which each occurs `counts` times; `None` for fewer than two points.
    pub fn new(sphere: &SphereBlock, points: &Points, counts: &[f64]) -> Option<Self> {
        if points.len() < 2 {
            return None;
        }
        let most = ALIGNED[ALIGNED.len() - 1].min(points.len() - 1);
        let sphere = std::slice::from_ref(sphere);
        let nearest = |row: usize| {
            let others = (0..points.len()).filter(|other| *other != row);
            let mut nearest: Vec<(f64, usize)> =
                others.map(|other| (chord_squared(sphere, points.row(row), points.row(other)), other)).collect();
            let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            nearest.select_nth_unstable_by(most - 1, order);
            nearest.truncate(most);
            nearest.sort_unstable_by(order);
            nearest.shrink_to_fit();
            nearest
        };
        let neighbours: Vec<Vec<(f64, usize)>> = (0..points.len()).into_par_iter().map(nearest).collect();
        let even = (points.len() as f64).powf(-1.0 / (points.dim() - 1) as f64);
        let class = |(count, nearest): (&f64, &Vec<(f64, usize)>)| {
            let distance = if *count > 1.0 { 0.0 } else { nearest[0].0.sqrt() / even };
            ISOLATION.iter().filter(|least| distance >= **least).count()
        };
        let classes = counts.iter().zip(&neighbours).map(class).collect();
        Some(Self { points: points.clone(), counts: counts.to_vec(), classes, neighbours })
    }

    /// Classes that occur, with their share of the rows and their number of points.
    pub(crate) fn classes(&self) -> Vec<(usize, f64, usize)> {
        let all: f64 = self.counts.iter().sum();
        let of = |class: usize| {
            let rows = self.rows(class);
            (class, rows.iter().map(|row| self.counts[*row]).sum::<f64>() / all, rows.len())
        };
        (0..=ISOLATION.len()).map(of).filter(|(_, _, points)| *points > 0).collect()
    }

    /// Equal widths from the narrowest to that at which kernels on all points would cover the sphere, then those that follow
    /// neighbours.
    pub fn widths(&self) -> Vec<Width> {
        let widest = (self.points.len() as f64).powf(2.0 / (self.points.dim() - 1) as f64);
        let steps = ((MAX_CONCENTRATION / widest).ln() / WIDTH_RATIO.ln()).floor().max(0.0) as i32;
        let mut widths: Vec<Width> = (0..=steps).map(|divided| Width::Equal { divided }).collect();
        let aligned = if self.points.dim() == 3 { &ALIGNED[..] } else { &[] };
        for share in 0..SHARES.len() {
            let known = |count: &&usize| **count < self.points.len();
            widths.extend(NEIGHBOURS.iter().filter(known).map(|&count| Width::Neighbours { count, share }));
            widths.extend(aligned.iter().filter(known).map(|&count| Width::Aligned { count, share }));
        }
        widths
    }

    /// Kernels of one width on the points of one class, each as heavy as its point.
    pub fn kernels(&self, class: usize, width: Width) -> Vec<Component> {
        let kernel = |row: &usize| self.shape(*row, width).components(self.counts[*row], self.points.row(*row));
        self.rows(class).iter().flat_map(kernel).collect()
    }

    /// Kernels whose widths have `weights` in total, given class by class, with at most `most` of them on a point.
    pub fn mixed(&self, weights: &[(usize, Width, f64)], most: usize) -> Vec<Component> {
        let mut all = Vec::new();
        for (class, _, _) in self.classes() {
            let own: Vec<(Width, f64)> =
                weights.iter().filter(|(of, _, _)| *of == class).map(|(_, width, weight)| (*width, *weight)).collect();
            let rows = self.rows(class);
            let total: f64 = rows.iter().map(|row| self.counts[*row]).sum();
            let on_point = |row: &usize| -> Vec<Component> {
                let shapes = own.iter().map(|(width, weight)| (*weight, self.shape(*row, *width))).collect();
                let merged = merge(shapes, most).into_iter();
                let share = self.counts[*row] / total;
                merged.flat_map(|(weight, shape)| shape.components(weight * share, self.points.row(*row))).collect()
            };
            all.extend(rows.par_iter().map(on_point).collect::<Vec<_>>().into_iter().flatten());
        }
        all
    }

    /// The points of a class.
    fn rows(&self, class: usize) -> Vec<usize> {
        (0..self.points.len()).filter(|row| self.classes[*row] == class).collect()
    }

    /// # Formula
    /// κ = d/(s m) on the sphere of dimension d, m the mean squared distance to the neighbours: a narrow kernel of this
    /// concentration has a mean squared distance of s m.
    fn shape(&self, row: usize, width: Width) -> Shape {
        match width {
            Width::Equal { divided } => Shape::round(MAX_CONCENTRATION / WIDTH_RATIO.powi(divided)),
            Width::Neighbours { count, share } => {
                let sum: f64 = self.neighbours[row][..count].iter().map(|(square, _)| square).sum();
                Shape::round((self.points.dim() - 1) as f64 * count as f64 / (SHARES[share] * sum))
            }
            Width::Aligned { count, share } => {
                let [u, v] = frame(self.points.row(row));
                let mut covariance = [0.0; 3];
                for (_, neighbour) in &self.neighbours[row][..count] {
                    let other = self.points.row(*neighbour);
                    let [x, y] = [u, v].map(|axis| axis.iter().zip(other).map(|(a, x)| a * x).sum::<f64>());
                    covariance.iter_mut().zip([x * x, x * y, y * y]).for_each(|(c, m)| *c += m);
                }
                Shape::of_covariance(covariance.map(|c| c * SHARES[share] / count as f64))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BuildContext, build};

    fn cloud(spec: &str, rows: Vec<f64>, dim: usize, counts: &[f64]) -> Cloud {
        let manifold = build(spec, &BuildContext::without_files()).expect("known");
        Cloud::new(&manifold.spheres().expect("a sphere")[0], &Points::from_vec(rows, dim), counts).expect("two points")
    }

    #[test]
    fn widths_follow_the_neighbours() {
        let degrees = [0.0f64, 1.0, 3.0, 90.0, 180.0];
        let rows = degrees.iter().flat_map(|a| [a.to_radians().cos(), a.to_radians().sin()]).collect();
        let cloud = cloud("sphere:1", rows, 2, &[1.0, 1.0, 1.0, 1.0, 3.0]);
        let of = |width: Width| -> Vec<Component> {
            cloud.classes().iter().flat_map(|(class, _, _)| cloud.kernels(*class, width)).collect()
        };
        // Every width has a kernel on every point, as heavy as the point; the repeated one is in a class of its own.
        assert!(cloud.widths().iter().all(|width| of(*width).len() == 5));
        assert_eq!(cloud.classes()[0], (0, 3.0 / 7.0, 1));
        assert_eq!(cloud.kernels(0, Width::Equal { divided: 0 })[0].weight, 3.0);
        let chord = |degrees: f64| 2.0 * (0.5 * degrees.to_radians()).sin();
        let two = of(Width::Neighbours { count: 2, share: 2 });
        let first = two.iter().find(|c| c.mean == [1.0, 0.0]).expect("a kernel on the first point");
        let expected = 2.0 / (chord(1.0).powi(2) + chord(3.0).powi(2));
        assert!((first.concentrations[0] / expected - 1.0).abs() < 1e-9, "{first:?}");
        // Four neighbours at most, as there are five points; no direction stands out on a circle.
        assert!(cloud.widths().contains(&Width::Neighbours { count: 4, share: 0 }));
        assert!(!cloud.widths().contains(&Width::Neighbours { count: 8, share: 0 }));
        assert!(!cloud.widths().iter().any(|width| matches!(width, Width::Aligned { .. })));
        assert!(
            of(Width::Equal { divided: 0 })
                .iter()
                .all(|c| (c.concentrations[0] / MAX_CONCENTRATION - 1.0).abs() < 1e-9)
        );
    }

    #[test]
    fn aligned_kernels_lie_along_the_line_of_their_neighbours() {
        // Points on the equator.
        let rows = (0..12).flat_map(|i| [(0.01 * f64::from(i)).cos(), (0.01 * f64::from(i)).sin(), 0.0]).collect();
        let cloud = cloud("sphere:2", rows, 3, &[1.0; 12]);
        let (class, _, points) = cloud.classes()[0];
        assert_eq!(points, 12);
        let kernels = cloud.kernels(class, Width::Aligned { count: 4, share: 1 });
        assert_eq!(kernels.len(), 5 * 12);
        assert!(kernels.iter().all(|c| c.mean[2].abs() < 1e-12), "{kernels:?}");
        // Three times as long as wide: variance along over that across is nine.
        let first = &kernels[..5];
        let square = |c: &Component| {
            chord_squared(
                &build("sphere:2", &BuildContext::without_files()).unwrap().spheres().unwrap(),
                &c.mean,
                &first[2].mean,
            )
        };
        let along = 1.0 / first[0].concentrations[0] + first.iter().map(|c| c.weight * square(c)).sum::<f64>();
        assert!((along * first[0].concentrations[0] / 9.0 - 1.0).abs() < 1e-2, "{along}");
    }

    #[test]
    fn mixed_kernels_have_the_weight_of_their_classes() {
        let rows = (0..40).flat_map(|i| [(0.1 * f64::from(i * i)).cos(), (0.1 * f64::from(i * i)).sin()]).collect();
        let counts: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i % 2)).collect();
        let cloud = cloud("sphere:1", rows, 2, &counts);
        let weights: Vec<(usize, Width, f64)> = cloud
            .classes()
            .iter()
            .flat_map(|(class, mass, _)| {
                let widths = cloud.widths();
                let part = mass / widths.len() as f64;
                widths.into_iter().map(move |width| (*class, width, part))
            })
            .collect();
        let mixed = cloud.mixed(&weights, 3);
        assert_eq!(mixed.len(), 3 * 40);
        let all: f64 = counts.iter().sum();
        for (place, count) in counts.iter().enumerate() {
            let on: f64 = mixed.iter().filter(|c| c.mean == cloud.points.row(place)).map(|c| c.weight).sum();
            assert!((on - count / all).abs() < 1e-12, "point {place}: {on}");
        }
    }
}
