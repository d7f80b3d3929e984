//! Kernel densities: one von Mises–Fisher kernel per training point.

use super::golden::maximise;
use super::{FitError, FitOptions, Fitted, Tried, distinct, frequencies, mean_log_weight, places, spheres};
use crate::Points;
use crate::base::{BaseChoice, Component, MAX_CONCENTRATION, VonMisesFisherMixture};
use crate::manifold::Manifold;

/// Smallest concentration that is tried.
const SMALLEST: f64 = 1e-2;

/// Parts of which each is left out once.
const FOLDS: usize = 5;

/// Most points of a part that are judged.
const MOST_JUDGED: usize = 4000;

/// A kernel on every distinct training point, all of the concentration that cross-validation over training and validation
/// points finds best.
///
/// On a product of spheres the kernel is a product; where signs are free it is a pair of kernels. On finite sets, where no
/// point is near another, it is [`super::fit_mixture`].
pub fn fit_kde(
    manifold: &dyn Manifold,
    train: &Points,
    validation: &Points,
    _options: &FitOptions,
) -> Result<Fitted, FitError> {
    if manifold.intrinsic_dim() == 0 {
        return frequencies::fit(manifold, train, validation);
    }
    let spheres = spheres(manifold, train, validation)?.len();
    let folds = Fold::all(train, validation);
    let judged: usize = folds.iter().map(|fold| fold.judged.len()).sum();
    // As many kernels as points, each with its share of the volume.
    let start = 2.0 / manifold.intrinsic_dim() as f64 * (train.len() as f64).ln();
    let mut tried = Vec::new();
    let (log_kappa, _) = maximise((SMALLEST.ln(), start, MAX_CONCENTRATION.ln()), |log_kappa| {
        let mut sum = 0.0;
        for Fold { kernels, judged } in &folds {
            let base = VonMisesFisherMixture::on(manifold, kernels.of(log_kappa, spheres))?;
            sum += judged.len() as f64 * mean_log_weight(&base, judged);
        }
        let value = sum / judged as f64;
        tried.push(Tried { what: format!("kernels of concentration {:.4e}", log_kappa.exp()), validation: value });
        Ok::<f64, FitError>(value)
    })?;
    let components = Kernels::on(train).of(log_kappa, spheres);
    let validation = mean_log_weight(&VonMisesFisherMixture::on(manifold, components.clone())?, validation);
    Ok(Fitted { choice: BaseChoice::Mixture { components }, tried, validation })
}

/// Where kernels stand and how often.
struct Kernels {
    points: Points,
    counts: Vec<f64>,
}

impl Kernels {
    fn on(points: &Points) -> Self {
        let (points, counts) = distinct(points);
        Self { points, counts }
    }

    fn of(&self, log_kappa: f64, spheres: usize) -> Vec<Component> {
        let concentrations = vec![log_kappa.exp().min(MAX_CONCENTRATION); spheres];
        let rows = self.points.rows().zip(&self.counts);
        rows.map(|(x, n)| Component { weight: *n, mean: x.to_vec(), concentrations: concentrations.clone() }).collect()
    }
}

/// Points that are judged by kernels on the others.
struct Fold {
    kernels: Kernels,
    judged: Points,
}

impl Fold {
    /// Each fifth of all points against the rest. Equal points fall in the same fifth, unless the validation part repeats
    /// training points: then rows to come will repeat them as well, and the rows are divided.
    fn all(train: &Points, validation: &Points) -> Vec<Self> {
        let together = Points::from_vec([train.as_slice(), validation.as_slice()].concat(), train.dim());
        let (firsts, places) = places(&together);
        let repeats = places[train.len()..].iter().any(|&place| firsts[place] < train.len());
        let fold_of = |row: usize| if repeats { row } else { places[row] } % FOLDS;
        let fold = |fold: usize| {
            let (judged, others): (Vec<usize>, Vec<usize>) = (0..together.len()).partition(|&row| fold_of(row) == fold);
            let judged: Vec<usize> =
                judged.iter().copied().step_by(judged.len().div_ceil(MOST_JUDGED).max(1)).collect();
            let fold = || Self { kernels: Kernels::on(&together.select(&others)), judged: together.select(&judged) };
            (!judged.is_empty() && !others.is_empty()).then(fold)
        };
        let folds: Vec<Self> = (0..FOLDS).filter_map(fold).collect();
        if folds.is_empty() {
            return vec![Self { kernels: Kernels::on(train), judged: validation.clone() }];
        }
        folds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(angles: &[f64]) -> Points {
        Points::from_vec(angles.iter().flat_map(|a| [a.cos(), a.sin()]).collect(), 2)
    }

    #[test]
    fn every_point_is_judged_once_by_the_others() {
        let angles: Vec<f64> = (0..23).map(|i| 0.1 * i as f64).collect();
        let folds = Fold::all(&circle(&angles[..20]), &circle(&angles[20..]));
        assert_eq!(folds.len(), FOLDS);
        assert_eq!(folds.iter().map(|fold| fold.judged.len()).sum::<usize>(), 23);
        for Fold { kernels, judged } in &folds {
            assert_eq!(kernels.points.len() + judged.len(), 23);
            assert!(judged.rows().all(|x| kernels.points.rows().all(|y| x != y)));
        }
    }

    #[test]
    fn equal_points_stay_together_unless_validation_repeats_them() {
        // Each training point comes three times.
        let angles: Vec<f64> = (0..30).map(|i| 0.1 * (i % 10) as f64).collect();
        let seen = |folds: &[Fold]| {
            folds.iter().any(|fold| fold.judged.rows().any(|x| fold.kernels.points.rows().any(|y| x == y)))
        };
        assert!(!seen(&Fold::all(&circle(&angles), &circle(&[2.0, 2.1]))));
        assert!(seen(&Fold::all(&circle(&angles), &circle(&[0.1, 2.1]))));
    }

    #[test]
    fn a_single_point_is_judged_by_itself() {
        let folds = Fold::all(&circle(&[0.5]), &circle(&[0.5]));
        assert!(!folds.is_empty() && folds.iter().all(|fold| !fold.judged.is_empty()));
    }
}
