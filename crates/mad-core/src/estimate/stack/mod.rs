//! Mixtures of several sizes and kernels of several widths, combined with weights that predict new places best.
//!
//! A fit of few components is smooth, one of many is sharp, and kernels memorise every point. The fitted points cannot show which
//! of them predicts best. So all of them are candidates, and their weights come from points that none of them was fitted to and
//! that equal none of those: from cross-validation over the training points, or from spare validation rows if there are enough.
//! Rows by whose score training is stopped have no part in it.
//!
//! # Reference
//! Smyth, Wolpert, Linearly combining density estimators via stacking, Machine Learning 36, 1999.

mod candidates;
mod cross_validation;
mod kernels;
mod shape;
mod weights;

pub(super) use cross_validation::Fold;

use super::constants::{ENOUGH_SPARE, LARGEST, LARGEST_WITH_KERNELS, MOST_KERNEL_POINTS, MOST_SCORED};
use super::mixture::Data;
use super::{BaseChoice, FitError, FitOptions, Fitted, Tried, distinct, mean_log_weight};
use crate::Points;
use crate::manifold::Manifold;
use crate::measure::{BaseMeasure, Component, SphereBlock, VonMisesFisherMixture};
use candidates::{Candidates, Kind, cloud, kernel_kinds, mixtures, with_kernels};
use rayon::prelude::*;
use std::collections::BTreeMap;
use weights::{Candidate, fit_weights};

/// All candidates fitted to the training points, with weights from `spare` rows, which equal no training row, if there are enough
/// of them, else from cross-validation over the training points.
pub(super) fn fit(
    manifold: &dyn Manifold,
    blocks: &[SphereBlock],
    train: &Points,
    spare: &Points,
    options: &FitOptions,
) -> Result<Fitted, FitError> {
    // On rotations kernels gained nothing over fits (lab 19); on products they were not measured, and sums over them are slow.
    let single = matches!(blocks, [sphere] if !sphere.antipodal);
    let has_kernels = single && options.kernels > 0;
    let data = Data::new(blocks, train);
    let largest = match (single, has_kernels && data.points.len() <= MOST_KERNEL_POINTS) {
        (true, true) => LARGEST_WITH_KERNELS,
        (true, false) => usize::MAX,
        (false, _) => LARGEST,
    };
    let sizes = options.sizes.iter().copied().filter(|size| *size <= largest).collect();
    let options = &FitOptions { sizes, ..options.clone() };
    let fit_to = |data: &Data, rows: &Points| {
        let cloud = if has_kernels { cloud(data, rows) } else { None };
        (mixtures(data, has_kernels, options), cloud)
    };
    let (own, cloud) = fit_to(&data, train);
    let mut logs = match distinct(spare).0.len() >= ENOUGH_SPARE {
        true => left_out(manifold, std::iter::once((with_kernels(own.clone(), cloud.as_ref()), spare.clone())))?,
        false => {
            let refit = |Fold { train, scored }| {
                let (own, cloud) = fit_to(&Data::new(blocks, &train), &train);
                (with_kernels(own, cloud.as_ref()), scored)
            };
            left_out(manifold, Fold::all(train, &options.units, MOST_SCORED).into_iter().map(refit))?
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
    let weighted = fit_weights(kinds.iter().zip(logs.into_values()).map(candidate).collect());
    let (mut components, mut kernels) = (Vec::new(), Vec::new());
    for (place, weight) in &weighted.kept {
        if let Kind::Kernels { class, width } = kinds[*place] {
            kernels.push((class, width, *weight));
            continue;
        }
        let fitted = &own[&kinds[*place]];
        let total: f64 = fitted.iter().map(|c| c.weight).sum();
        components.extend(fitted.iter().map(|c| Component { weight: weight * c.weight / total, ..c.clone() }));
    }
    components.extend(cloud.iter().flat_map(|cloud| cloud.mixed(&kernels, options.kernels)));
    let what = format!("{} components from {} candidates", components.len(), weighted.kept.len());
    let tried = vec![Tried { what, validation: weighted.value }];
    let mixture = VonMisesFisherMixture::on(manifold, components)?;
    let value = if spare.is_empty() { weighted.value } else { mean_log_weight(&mixture, spare) };
    Ok(Fitted { choice: BaseChoice::Mixture { components: mixture.components().to_vec() }, tried, validation: value })
}

/// Log-densities of the scored points of all parts, each under candidates that were fitted without these rows.
fn left_out(
    manifold: &dyn Manifold,
    parts: impl Iterator<Item = (Candidates, Points)>,
) -> Result<BTreeMap<Kind, Vec<f64>>, FitError> {
    let mut logs: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
    let mut rows = 0;
    for (candidates, scored) in parts {
        for (kind, components) in candidates {
            let mixture = VonMisesFisherMixture::on(manifold, components)?;
            let all = logs.entry(kind).or_default();
            // Points of parts without this candidate have no density under it.
            all.resize(rows, f64::NEG_INFINITY);
            all.par_extend(scored.par_rows().with_min_len(64).map(|x| mixture.log_weight(x)));
        }
        rows += scored.len();
    }
    logs.values_mut().for_each(|logs| logs.resize(rows, f64::NEG_INFINITY));
    Ok(logs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BuildContext, build};

    #[test]
    fn points_of_parts_without_a_candidate_have_no_density_under_it() {
        let circle = build("sphere:1", &BuildContext::without_files()).unwrap();
        let component = |kappa: f64| vec![Component { weight: 1.0, mean: vec![1.0, 0.0], concentrations: vec![kappa] }];
        let fit = Kind::Fit { size: 1, occupancy: 0, wide: false };
        let point = || Points::from_vec(vec![1.0, 0.0], 2);
        let part = |has_fit: bool| {
            let mut candidates = Candidates::from([(Kind::Uniform, component(0.0))]);
            candidates.extend(has_fit.then(|| (fit, component(5.0))));
            (candidates, point())
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
