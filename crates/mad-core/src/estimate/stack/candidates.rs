//! Candidates of a stack: the uniform density, mixtures of several sizes, kernels of several widths.

use super::kernels::{Cloud, Width};
use crate::Points;
use crate::estimate::constants::{MOST_KERNEL_POINTS, MOST_STARTS, OCCUPANCIES, STARTED, TAIL};
use crate::estimate::mixture::Data;
use crate::estimate::{FitOptions, distinct};
use crate::measure::Component;
use std::collections::BTreeMap;

/// What a candidate is made of, whatever points it is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The uniform density.
    Uniform,
    /// Components of a fit of this size that stand for about equally many points, or the same with wider ones.
    Fit { size: usize, occupancy: usize, wide: bool },
    /// Kernels of this width on the points of one class.
    Kernels { class: usize, width: Width },
}

impl Kind {
    /// The class of the points that kernels stand on.
    pub fn class(self) -> Option<usize> {
        match self {
            Kind::Kernels { class, .. } => Some(class),
            Kind::Uniform | Kind::Fit { .. } => None,
        }
    }
}

/// Components of every candidate.
pub(super) type Candidates = BTreeMap<Kind, Vec<Component>>;

/// The uniform density and mixtures of all sizes fitted to these points.
pub(super) fn mixtures(data: &Data, with_kernels: bool, options: &FitOptions) -> Candidates {
    let everywhere =
        Component { weight: 1.0, mean: data.points.row(0).to_vec(), concentrations: vec![0.0; data.blocks.len()] };
    let mut candidates = Candidates::from([(Kind::Uniform, vec![everywhere])]);
    for size in data.sizes(options) {
        for sharp in best_fit(data, size, options) {
            let points = sharp.weight * data.counts.iter().sum::<f64>();
            let occupancy = if with_kernels { 0 } else { OCCUPANCIES.iter().filter(|least| points >= **least).count() };
            let mut wider = sharp.clone();
            wider.concentrations.iter_mut().for_each(|kappa| *kappa /= TAIL);
            for (component, wide) in [(sharp, false), (wider, true)] {
                candidates.entry(Kind::Fit { size, occupancy, wide }).or_default().push(component);
            }
        }
    }
    candidates
}

/// The likeliest of several fits. With few components a start may miss a whole cluster, and it must not happen in one part and not
/// in another.
fn best_fit(data: &Data<'_>, size: usize, options: &FitOptions) -> Vec<Component> {
    let starts = (STARTED / size).clamp(1, MOST_STARTS) as u64;
    let fits = (0..starts).map(|start| data.fit(size, start, options));
    fits.reduce(|best, fit| if fit.value > best.value { fit } else { best }).map_or(Vec::new(), |best| best.components)
}

/// The points that kernels stand on, which are those of `rows`: of many the first, which stand for all.
pub(super) fn cloud(data: &Data, rows: &Points) -> Option<Cloud> {
    match data.points.len() > MOST_KERNEL_POINTS {
        true => {
            let (points, counts) = distinct(&rows.head(MOST_KERNEL_POINTS));
            Cloud::new(&data.blocks[0], &points, &counts)
        }
        false => Cloud::new(&data.blocks[0], &data.points, &data.counts),
    }
}

/// Every class and width of kernels on these points, with the share of rows in the class and its number of points.
pub(super) fn kernel_kinds(cloud: &Cloud) -> BTreeMap<Kind, (f64, usize)> {
    let widths = cloud.widths();
    let of = |(class, mass, points): (usize, f64, usize)| {
        widths.iter().map(move |width| (Kind::Kernels { class, width: *width }, (mass, points)))
    };
    cloud.classes().into_iter().flat_map(of).collect()
}

/// The candidates and those of kernels.
pub(super) fn with_kernels(mut candidates: Candidates, cloud: Option<&Cloud>) -> Candidates {
    for kind in cloud.iter().flat_map(|cloud| kernel_kinds(cloud).into_keys()) {
        if let (Kind::Kernels { class, width }, Some(cloud)) = (kind, cloud) {
            candidates.insert(kind, cloud.kernels(class, width));
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BuildContext, build};

    #[test]
    fn some_kernels_stand_for_all_of_many_points() {
        let circle = build("sphere:1", &BuildContext::without_files()).unwrap();
        let blocks = circle.spheres().unwrap();
        for (rows, kernels) in [(300, 300), (MOST_KERNEL_POINTS + 500, MOST_KERNEL_POINTS)] {
            let angle = |i: usize| 2.4 * i as f64 + 1e-7 * (i % 7) as f64;
            let points = (0..rows).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect();
            let points = Points::from_vec(points, 2);
            let classes = cloud(&Data::new(&blocks, &points), &points).unwrap().classes();
            assert_eq!(classes.iter().map(|(_, _, points)| points).sum::<usize>(), kernels);
            assert!((classes.iter().map(|(_, mass, _)| mass).sum::<f64>() - 1.0).abs() < 1e-9, "{classes:?}");
        }
    }
}
