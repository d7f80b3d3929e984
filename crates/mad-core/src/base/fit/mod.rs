//! Base measures fitted to data: mixtures by expectation maximisation, kernel densities, smoothed frequencies.
//!
//! A fitted base carries most of a density before any network is trained, and is a model of its own. Every choice that the
//! training part cannot make, such as the number of components, is made on the validation part.

mod concentration;
mod em;
mod kde;
mod mixture;
mod seeds;

pub use kde::fit_kde;
pub use mixture::fit_mixture;

use super::{BaseChoice, BaseMeasure, MixtureError};
use crate::Points;
use crate::manifold::{Manifold, SphereBlock};
use rayon::prelude::*;
use thiserror::Error;

/// How to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Seed of the starts.
    pub seed: u64,
    /// Most components of the result.
    pub max_components: usize,
    /// Numbers of components to try; those beyond half of the distinct training points are not.
    pub sizes: Vec<usize>,
    /// Strengths of the prior to try: imagined points per component.
    pub priors: Vec<f64>,
    /// Most iterations of one fit.
    pub iterations: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            max_components: 1600,
            sizes: vec![1, 4, 12, 25, 50, 100, 200, 400, 800, 1600],
            priors: vec![0.03, 0.1, 0.3, 1.0, 3.0],
            iterations: 30,
        }
    }
}

/// A fitted base measure and how it was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The measure, as a value to keep.
    pub choice: BaseChoice,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// Mean log-density of the validation points under the measure, with respect to volume.
    pub validation: f64,
}

/// One fit and how well it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// What was fitted, in words.
    pub what: String,
    /// Mean log-density of the validation points, with respect to volume.
    pub validation: f64,
}

/// Why nothing was fitted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FitError {
    /// There is no family of measures for the set.
    #[error(
        "no base measure can be fitted on {spec}: mixtures live on spheres, so3, tori and their products, frequencies on finite sets; use base uniform"
    )]
    Manifold {
        /// The manifold.
        spec: String,
    },
    /// A part has no rows.
    #[error(
        "the {part} part has no rows: a base measure is fitted to the training part and chosen on the validation part"
    )]
    Empty {
        /// The part.
        part: &'static str,
    },
    /// The fit is not a measure.
    #[error(transparent)]
    Mixture(#[from] MixtureError),
}

/// Mean log-density of `points` under `base` with respect to volume; its negative is the NLL.
pub fn mean_log_weight(base: &dyn BaseMeasure, points: &Points) -> f64 {
    let logs: Vec<f64> = points.par_rows().with_min_len(64).map(|x| base.log_weight(x)).collect();
    logs.iter().sum::<f64>() / points.len() as f64
}

/// The spheres of the manifold, if all rows can be used.
fn spheres(manifold: &dyn Manifold, train: &Points, validation: &Points) -> Result<Vec<SphereBlock>, FitError> {
    for (points, part) in [(train, "training"), (validation, "validation")] {
        if points.is_empty() {
            return Err(FitError::Empty { part });
        }
    }
    manifold.spheres().ok_or_else(|| FitError::Manifold { spec: manifold.spec() })
}

/// The distinct points, in the order of their first row, and how often each occurs.
pub fn distinct(points: &Points) -> (Points, Vec<f64>) {
    let mut places = std::collections::HashMap::new();
    let (mut rows, mut counts) = (Vec::new(), Vec::new());
    for (row, x) in points.rows().enumerate() {
        // Adding zero makes minus zero plus zero.
        let key: Vec<u64> = x.iter().map(|v| (v + 0.0).to_bits()).collect();
        let place = *places.entry(key).or_insert_with(|| {
            rows.push(row);
            counts.push(0.0);
            rows.len() - 1
        });
        counts[place] += 1.0;
    }
    (points.select(&rows), counts)
}
