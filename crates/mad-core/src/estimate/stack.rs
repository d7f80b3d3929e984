//! Mixtures of several sizes and kernels of several widths, combined with weights that predict new places best.
//!
//! A fit of few components is smooth, one of many is sharp, and kernels memorise every point. The fitted points cannot tell which
//! of them predicts best. So all of them are candidates, and their weights come from points that none of them has seen and that
//! equal no point it has seen: from cross-validation over the training points, or from spare validation rows if there are enough.
//! Rows by whose score training is stopped have no part in it.
//!
//! # Reference
//! Smyth, Wolpert, Linearly combining density estimators via stacking, Machine Learning 36, 1999.

use super::folds::Fold;
use super::kernels::{Cloud, MOST_POINTS, Width};
use super::mixture::Data;
use super::weights::{Candidate, weigh};
use super::{FitError, FitOptions, Fitted, Tried, distinct, mean_log_weight};
use crate::Points;
use crate::estimate::BaseChoice;
use crate::manifold::Manifold;
use crate::measure::{BaseMeasure, Component, SphereBlock, VonMisesFisherMixture};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Where there are no kernels, components of one fit are sorted by the number of points they stand for: how sharp ones are to be
/// believed differs.
const OCCUPANCIES: [f64; 4] = [1.5, 3.0, 6.0, 12.0];

/// A layer is offered a second time with concentrations divided by this: the tails that a sharp component lacks.
const TAIL: f64 = 4.0;

/// Fits of so many components altogether are started for each size, but at most [`MOST_STARTS`].
const STARTED: usize = 200;

/// See [`STARTED`].
const MOST_STARTS: usize = 4;

/// The largest fits, but for spheres with more points than kernels stand on: what larger ones know kernels know as well, and on
/// rotations and products they would take longer than the training.
const LARGEST: usize = 400;

/// The largest fits where kernels stand on all points, which know what larger ones know.
const LARGEST_WITH_KERNELS: usize = 100;

/// Most points of a fold that are scored.
const MOST_JUDGED: usize = 1000;

/// From this many distinct spare points on they set the weights, and no fold is fitted.
const ENOUGH_SPARE: usize = 2500;

/// What a layer is made of, whatever points it is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The uniform density.
    Uniform,
    /// Components of a fit of this size that stand for about equally many points, or the same with wider ones.
    Fit { size: usize, occupancy: usize, wide: bool },
    /// Kernels of this width on the points of one class.
    Kernels { class: usize, width: Width },
}

impl Kind {
    /// The class of the points that kernels stand on.
    fn class(self) -> Option<usize> {
        match self {
            Kind::Kernels { class, .. } => Some(class),
            Kind::Uniform | Kind::Fit { .. } => None,
        }
    }
}

/// Components by the kind of their layer.
type Layers = BTreeMap<Kind, Vec<Component>>;

/// All layers of the training points, with weights from `spare` rows, which equal no training row, if there are enough of them, else
/// from cross-validation over the training points.
pub(super) fn fit(
    manifold: &dyn Manifold,
    blocks: &[SphereBlock],
    train: &Points,
    spare: &Points,
    options: &FitOptions,
) -> Result<Fitted, FitError> {
    // On rotations kernels knew nothing that fits did not; on products they were not measured, and sums over them are slow.
    let single = matches!(blocks, [sphere] if !sphere.antipodal);
    let with_kernels = single && options.kernels > 0;
    let points = distinct(train).0.len();
    let largest = match (single, with_kernels && points <= MOST_POINTS) {
        (true, true) => LARGEST_WITH_KERNELS,
        (true, false) => usize::MAX,
        (false, _) => LARGEST,
    };
    let sizes = options.sizes.iter().copied().filter(|size| *size <= largest).collect();
    let options = &FitOptions { sizes, ..options.clone() };
    let (own, cloud) = (fits(blocks, train, with_kernels, options), cloud(blocks, train, with_kernels));
    let mut logs = match distinct(spare).0.len() >= ENOUGH_SPARE {
        true => left_out(manifold, std::iter::once((with_kernel_layers(own.clone(), cloud.as_ref()), spare.clone())))?,
        false => {
            let refit = |Fold { seen, judged }| {
                let fits = fits(blocks, &seen, with_kernels, options);
                (with_kernel_layers(fits, self::cloud(blocks, &seen, with_kernels).as_ref()), judged)
            };
            left_out(manifold, Fold::all(train, &options.units, MOST_JUDGED).into_iter().map(refit))?
        }
    };
    // Drop candidates that exist in a fold but not in the full fit. Without folds nothing is known about new places.
    let kernel_kinds: BTreeMap<Kind, (f64, usize)> = cloud.as_ref().map(kernel_kinds).unwrap_or_default();
    logs.retain(|kind, _| own.contains_key(kind) || kernel_kinds.contains_key(kind));
    if logs.is_empty() {
        logs.insert(Kind::Uniform, vec![-manifold.log_volume()]);
    }
    let candidate = |(kind, logs): (&Kind, Vec<f64>)| match (kind.class(), kernel_kinds.get(kind)) {
        // All widths together become a few kernels a point.
        (Some(class), Some((mass, points))) => {
            let widths = kernel_kinds.keys().filter(|other| other.class() == Some(class)).count();
            let size = (points * options.kernels).div_ceil(widths);
            Candidate { logs, size, class: Some((class, *mass)) }
        }
        _ => Candidate { logs, size: own[kind].len(), class: None },
    };
    let kinds: Vec<Kind> = logs.keys().copied().collect();
    let weighed = weigh(kinds.iter().zip(logs.into_values()).map(candidate).collect());
    let (mut components, mut kernels) = (Vec::new(), Vec::new());
    for (place, weight) in &weighed.kept {
        if let Kind::Kernels { class, width } = kinds[*place] {
            kernels.push((class, width, *weight));
            continue;
        }
        let layer = &own[&kinds[*place]];
        let total: f64 = layer.iter().map(|c| c.weight).sum();
        components.extend(layer.iter().map(|c| Component { weight: weight * c.weight / total, ..c.clone() }));
    }
    components.extend(cloud.iter().flat_map(|cloud| cloud.mixed(&kernels, options.kernels)));
    let what = format!("{} components from {} candidates", components.len(), weighed.kept.len());
    let tried = vec![Tried { what, validation: weighed.value }];
    let mixture = VonMisesFisherMixture::on(manifold, components)?;
    let value = if spare.is_empty() { weighed.value } else { mean_log_weight(&mixture, spare) };
    Ok(Fitted { choice: BaseChoice::Mixture { components: mixture.components().to_vec() }, tried, validation: value })
}

/// The layers of mixtures fitted to these rows, which are in random order.
fn fits(blocks: &[SphereBlock], rows: &Points, with_kernels: bool, options: &FitOptions) -> Layers {
    let data = &Data::new(blocks, rows);
    let everywhere =
        Component { weight: 1.0, mean: data.points.row(0).to_vec(), concentrations: vec![0.0; data.blocks.len()] };
    let mut layers = Layers::from([(Kind::Uniform, vec![everywhere])]);
    for size in data.sizes(options) {
        for sharp in best_fit(data, size, options) {
            let points = sharp.weight * data.counts.iter().sum::<f64>();
            let occupancy = if with_kernels { 0 } else { OCCUPANCIES.iter().filter(|least| points >= **least).count() };
            let mut wider = sharp.clone();
            wider.concentrations.iter_mut().for_each(|kappa| *kappa /= TAIL);
            for (component, wide) in [(sharp, false), (wider, true)] {
                layers.entry(Kind::Fit { size, occupancy, wide }).or_default().push(component);
            }
        }
    }
    layers
}

/// The points that kernels stand on: of many the first, which stand for all.
fn cloud(blocks: &[SphereBlock], rows: &Points, with_kernels: bool) -> Option<Cloud> {
    if !with_kernels {
        return None;
    }
    let (mut points, mut counts) = distinct(rows);
    if points.len() > MOST_POINTS {
        (points, counts) = distinct(&rows.head(MOST_POINTS));
    }
    Cloud::new(&blocks[0], &points, &counts)
}

/// Every class and width of kernels on these points, with the share of rows in the class and its number of points.
fn kernel_kinds(cloud: &Cloud) -> BTreeMap<Kind, (f64, usize)> {
    let widths = cloud.widths();
    let of = |(class, mass, points): (usize, f64, usize)| {
        widths.iter().map(move |width| (Kind::Kernels { class, width: *width }, (mass, points)))
    };
    cloud.classes().into_iter().flat_map(of).collect()
}

/// The layers and those of kernels.
fn with_kernel_layers(mut layers: Layers, cloud: Option<&Cloud>) -> Layers {
    let Some(cloud) = cloud else { return layers };
    for (class, _, _) in cloud.classes() {
        layers.extend(
            cloud.widths().into_iter().map(|width| (Kind::Kernels { class, width }, cloud.kernels(class, width))),
        );
    }
    layers
}

/// The likeliest of several fits. With few components a start may miss a whole cluster, and it must not happen in one part and not
/// in another.
fn best_fit(data: &Data<'_>, size: usize, options: &FitOptions) -> Vec<Component> {
    let starts = (STARTED / size).clamp(1, MOST_STARTS) as u64;
    let fits = (0..starts).map(|start| data.fit(size, start, options));
    fits.reduce(|best, fit| if fit.value > best.value { fit } else { best }).map_or(Vec::new(), |best| best.components)
}

/// Log-densities of the judged points of all parts, each under layers that were fitted without these rows.
fn left_out(
    manifold: &dyn Manifold,
    parts: impl Iterator<Item = (Layers, Points)>,
) -> Result<BTreeMap<Kind, Vec<f64>>, FitError> {
    let mut logs: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
    let mut rows = 0;
    for (layers, judged) in parts {
        for (kind, components) in layers {
            let mixture = VonMisesFisherMixture::on(manifold, components)?;
            let all = logs.entry(kind).or_default();
            // Parts that do not have this layer do not know their points.
            all.resize(rows, f64::NEG_INFINITY);
            all.par_extend(judged.par_rows().with_min_len(64).map(|x| mixture.log_weight(x)));
        }
        rows += judged.len();
    }
    logs.values_mut().for_each(|logs| logs.resize(rows, f64::NEG_INFINITY));
    Ok(logs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BuildContext, build};

    #[test]
    fn some_kernels_stand_for_all_of_many_points() {
        let circle = build("sphere:1", &BuildContext::without_files()).unwrap();
        let blocks = circle.spheres().unwrap();
        for (rows, kernels) in [(300, 300), (MOST_POINTS + 500, MOST_POINTS)] {
            let angle = |i: usize| 2.4 * i as f64 + 1e-7 * (i % 7) as f64;
            let points = (0..rows).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect();
            let cloud = cloud(&blocks, &Points::from_vec(points, 2), true).unwrap();
            let classes = cloud.classes();
            assert_eq!(classes.iter().map(|(_, _, points)| points).sum::<usize>(), kernels);
            assert!((classes.iter().map(|(_, mass, _)| mass).sum::<f64>() - 1.0).abs() < 1e-9, "{classes:?}");
        }
    }

    #[test]
    fn parts_without_a_layer_do_not_know_their_points() {
        let circle = build("sphere:1", &BuildContext::without_files()).unwrap();
        let component = |kappa: f64| vec![Component { weight: 1.0, mean: vec![1.0, 0.0], concentrations: vec![kappa] }];
        let fit = Kind::Fit { size: 1, occupancy: 0, wide: false };
        let point = || Points::from_vec(vec![1.0, 0.0], 2);
        let part = |has_fit: bool| {
            let mut layers = Layers::from([(Kind::Uniform, component(0.0))]);
            layers.extend(has_fit.then(|| (fit, component(5.0))));
            (layers, point())
        };
        let known = |has_fit: [bool; 3]| {
            let logs = left_out(circle.as_ref(), has_fit.map(part).into_iter()).unwrap();
            assert_eq!(logs[&Kind::Uniform], [-std::f64::consts::TAU.ln(); 3]);
            logs[&fit].iter().map(|log| log.is_finite()).collect::<Vec<_>>()
        };
        for has_fit in [[true, false, false], [false, true, false], [true, false, true], [true, true, true]] {
            assert_eq!(known(has_fit), has_fit);
        }
    }
}
