//! Base measures fitted to data: mixtures by expectation maximisation, kernel densities, smoothed frequencies.
//!
//! A fitted base carries most of a density before any network is trained, and is a model of its own. Every choice that the
//! training part cannot make, such as the number of components, is made with points that were left out. The rule in force is
//! `docs/fitted-base.md`, all constants are in `constants.rs`.

mod choice;
mod concentration;
mod constants;
mod em;
mod frequencies;
mod initial_means;
mod kde;
mod line_search;
mod mixture;
mod stack;

pub use choice::BaseChoice;
use choice::{FiniteColumn, finite_columns};
pub use kde::fit_kde;
pub use mixture::fit_mixture;

use constants::{ALONE, KERNELS_PER_POINT, SIZES, STACKED};

use crate::Points;
use crate::groups::Groups;
use crate::manifold::Manifold;
use crate::measure::{BaseMeasure, MixtureError, SphereBlock};
use rayon::prelude::*;
use thiserror::Error;

/// Counts changes after which the same points give another measure, so that scores of older fits can be distinguished: of
/// fits of one size or width, and of stacks.
pub fn version(stacked: bool) -> u32 {
    if stacked { 4 } else { 3 }
}

/// How to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Seed of the starts.
    pub seed: u64,
    /// Numbers of components to fit; those beyond half of the distinct training points are left out.
    pub sizes: Vec<usize>,
    /// Whether fits of all sizes are combined, or the best of them is returned.
    pub stacked: bool,
    /// Most kernels on a training point; 0 for mixtures alone. On the two-dimensional sphere an elongated kernel is up to five
    /// components.
    pub kernels: usize,
    /// Number of leading validation rows that the fit must not look at, because training is stopped by their score.
    pub reserved: usize,
    /// Block, period or group of each training row: rows of one unit are never on both sides of a fold. Empty if rows are independent.
    pub units: Vec<u32>,
    /// Strength of the prior on concentrations: imagined points per component, spread as the fit's points at its start.
    pub prior: f64,
    /// Most iterations of one fit.
    pub iterations: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            sizes: SIZES.to_vec(),
            stacked: true,
            kernels: KERNELS_PER_POINT,
            reserved: 0,
            units: Vec::new(),
            prior: STACKED.0,
            iterations: STACKED.1,
        }
    }
}

impl FitOptions {
    /// A single mixture of the best size: what expectation maximisation usually means.
    pub fn plain() -> Self {
        Self { stacked: false, kernels: 0, prior: ALONE.0, iterations: ALONE.1, ..Self::default() }
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
    /// Mean log-density, with respect to volume, of new places: of validation points, or by cross-validation.
    pub validation: f64,
}

/// Why nothing was fitted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum FitError {
    /// There is no family of measures for the set.
    #[error(
        "no base measure can be fitted on {spec}: mixtures live on spheres, so3, tori and their products, frequencies on finite sets; use the uniform base"
    )]
    Manifold { spec: String },
    /// A part has no rows.
    #[error(
        "the {part} part has no rows: a base measure is fitted to the training part and chosen on the validation part"
    )]
    Empty { part: &'static str },
    /// The fit is not a measure.
    #[error(transparent)]
    Mixture(#[from] MixtureError),
}

/// Mean log-density of `points` under `base` with respect to volume; its negative is the NLL.
pub fn mean_log_weight(base: &dyn BaseMeasure, points: &Points) -> f64 {
    let logs: Vec<f64> = points.par_rows().with_min_len(64).map(|x| base.log_weight(x)).collect();
    logs.iter().sum::<f64>() / points.len() as f64
}

/// Refuses parts without rows.
fn refuse_empty(train: &Points, validation: &Points) -> Result<(), FitError> {
    for (points, part) in [(train, "training"), (validation, "validation")] {
        if points.is_empty() {
            return Err(FitError::Empty { part });
        }
    }
    Ok(())
}

/// The spheres of the manifold, if there are rows.
fn spheres(manifold: &dyn Manifold, train: &Points, validation: &Points) -> Result<Vec<SphereBlock>, FitError> {
    refuse_empty(train, validation)?;
    manifold.spheres().ok_or_else(|| FitError::Manifold { spec: manifold.spec() })
}

/// Rows that equal none of the `known` ones.
fn new_places(known: &Points, rows: &Points) -> Points {
    let together = Points::from_vec([known.as_slice(), rows.as_slice()].concat(), known.dim());
    let groups = Groups::of(&together);
    let mut new: Vec<usize> = groups
        .iter()
        .filter(|equal| equal[0] as usize >= known.len())
        .flat_map(|equal| equal.iter().map(|&row| row as usize))
        .collect();
    new.sort_unstable();
    together.select(&new)
}

/// The distinct points, in the order of their first row, and how often each occurs.
pub fn distinct(points: &Points) -> (Points, Vec<f64>) {
    let groups = Groups::of(points);
    (points.select(&groups.firsts()), groups.iter().map(|rows| rows.len() as f64).collect())
}
