//! Mixtures of several sizes and kernels of several widths laid over each other, with weights from points that were left out.
//!
//! A fit of few components is smooth, one of many is sharp, and kernels know every point by heart. Which to believe the points
//! that were fitted cannot tell. So all of them are layers of the answer, and the few numbers that weigh the layers against each
//! other come from points that were left out: from a validation part that is large enough, else from cross-validation.
//!
//! # Reference
//! Smyth, Wolpert, Linearly combining density estimators via stacking, Machine Learning 36, 1999.

use super::folds::{FOLDS, Fold};
use super::kernels::{Kernels, MOST_POINTS, Width, kernels};
use super::mixture::Data;
use super::weights::{Candidate, weigh};
use super::{FitError, FitOptions, Fitted, Tried, distinct, mean_log_weight};
use crate::Points;
use crate::base::{BaseChoice, BaseMeasure, Component, VonMisesFisherMixture};
use crate::manifold::{Manifold, SphereBlock};
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

/// Most points of a part that are judged.
const MOST_JUDGED: usize = 1000;

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

/// All layers with weights from cross-validation over training and validation points, or from the validation points alone if as
/// many of them differ as all folds together would judge. The layers themselves are of the training points alone.
pub(super) fn fit(
    manifold: &dyn Manifold,
    blocks: &[SphereBlock],
    train: &Points,
    validation: &Points,
    options: &FitOptions,
) -> Result<Fitted, FitError> {
    // On rotations kernels knew nothing that fits did not; on products they were not measured, and sums over them are slow.
    let single = matches!(blocks, [sphere] if !sphere.antipodal);
    let with_kernels = single && options.kernels > 0;
    let larger = single && !(with_kernels && distinct(train).0.len() <= MOST_POINTS);
    let largest = if larger { usize::MAX } else { LARGEST };
    let sizes = options.sizes.iter().copied().filter(|size| *size <= largest).collect();
    let options = &FitOptions { sizes, ..options.clone() };
    let own = layers(blocks, train, with_kernels, options);
    let mut logs = match distinct(validation).0.len() >= FOLDS * MOST_JUDGED {
        true => left_out(manifold, std::iter::once((own.clone(), validation.clone())))?,
        false => {
            let refit = |Fold { seen, judged }| (layers(blocks, &seen, with_kernels, options), judged);
            left_out(manifold, Fold::all(train, validation, MOST_JUDGED).into_iter().map(refit))?
        }
    };
    // What some parts have and the whole has not cannot be weighed.
    logs.retain(|kind, _| own.contains_key(kind));
    let candidate = |(kind, logs): (&Kind, Vec<f64>)| {
        let layer = &own[kind];
        let mass = layer.iter().map(|c| c.weight).sum::<f64>() / train.len() as f64;
        Candidate { logs, size: layer.len(), class: kind.class().map(|class| (class, mass)) }
    };
    let kinds: Vec<Kind> = logs.keys().copied().collect();
    let weighed = weigh(kinds.iter().zip(logs.into_values()).map(candidate).collect(), options.kernels);
    let mut components = Vec::new();
    for (place, weight) in &weighed.kept {
        let layer = &own[&kinds[*place]];
        let total: f64 = layer.iter().map(|c| c.weight).sum();
        components.extend(layer.iter().map(|c| Component { weight: weight * c.weight / total, ..c.clone() }));
    }
    let what = format!("{} components in {} layers", components.len(), weighed.kept.len());
    let tried = vec![Tried { what, validation: weighed.value }];
    let mixture = VonMisesFisherMixture::on(manifold, components)?;
    let value = mean_log_weight(&mixture, validation);
    Ok(Fitted { choice: BaseChoice::Mixture { components: mixture.components().to_vec() }, tried, validation: value })
}

/// The layers of fits to these rows, which are in random order.
fn layers(blocks: &[SphereBlock], rows: &Points, with_kernels: bool, options: &FitOptions) -> Layers {
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
    if with_kernels {
        // Of many points some stand for all.
        let (Data { points, counts, .. }, share) = match data.points.len() <= MOST_POINTS {
            true => (data, 1.0),
            false => (&Data::new(blocks, &rows.head(MOST_POINTS)), MOST_POINTS as f64 / rows.len() as f64),
        };
        for Kernels { class, width, mut components } in kernels(&blocks[0], points, counts) {
            components.iter_mut().for_each(|kernel| kernel.weight /= share);
            layers.insert(Kind::Kernels { class, width }, components);
        }
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
    use crate::manifold::{BuildContext, build};

    #[test]
    fn some_kernels_stand_for_all_of_many_points() {
        let circle = build("sphere:1", &BuildContext::without_files()).unwrap();
        let blocks = circle.spheres().unwrap();
        let options = FitOptions { sizes: vec![1], ..FitOptions::default() };
        let standing = |rows: usize| -> Vec<(usize, f64)> {
            let angle = |i: usize| 2.4 * i as f64 + 1e-7 * (i % 7) as f64;
            let points = (0..rows).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect();
            let layers = layers(&blocks, &Points::from_vec(points, 2), true, &options);
            let mut by_width = BTreeMap::new();
            for (kind, components) in layers {
                let Kind::Kernels { width, .. } = kind else { continue };
                let (count, weight) = by_width.entry(width).or_insert((0, 0.0));
                *count += components.len();
                *weight += components.iter().map(|c| c.weight).sum::<f64>();
            }
            by_width.into_values().collect()
        };
        for (rows, kernels) in [(300, 300), (MOST_POINTS + 500, MOST_POINTS)] {
            let found = standing(rows);
            assert!(!found.is_empty());
            for (count, weight) in found {
                assert_eq!(count, kernels);
                assert!((weight / rows as f64 - 1.0).abs() < 1e-9, "{weight} of {rows}");
            }
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
