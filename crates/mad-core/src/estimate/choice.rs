//! Base measures as values that can be written down.

use crate::Points;
use crate::manifold::Manifold;
use crate::measure::{BaseMeasure, Component, Finite, MixtureError, ProductMeasure, VonMisesFisherMixture};
use serde::{Deserialize, Serialize};
use std::{ops::Range, sync::Arc};

/// Which base measure to put on a manifold; kept with a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum BaseChoice {
    /// The manifold's own: uniform, or the weights given with a finite set.
    #[default]
    Default,
    /// Uniform.
    Uniform,
    /// A mixture of von Mises-Fisher densities on spheres, of antipodal pairs of them on rotations, or of products of these.
    Mixture {
        /// Its components.
        components: Vec<Component>,
    },
    /// Weights on a finite set, or the product of weights on the columns of a table.
    Frequencies {
        /// One list for a finite set, in the order of its points; one per column for a table, in the order of levels.
        weights: Vec<Vec<f64>>,
    },
    /// A measure of the program's own, which cannot be written down: whoever opens the model brings it again.
    Own {
        /// The measure, if it was brought.
        #[serde(skip)]
        measure: OwnMeasure,
    },
}

/// A measure of the program's own. Two of them cannot be compared, so all of them count as equal.
#[derive(Debug, Clone, Default)]
pub struct OwnMeasure(Option<Arc<dyn BaseMeasure>>);

impl PartialEq for OwnMeasure {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl BaseChoice {
    /// A measure of the program's own.
    pub fn own(measure: Arc<dyn BaseMeasure>) -> Self {
        BaseChoice::Own { measure: OwnMeasure(Some(measure)) }
    }

    /// The measure of the program's own that this is, if it was brought.
    pub fn brought(&self) -> Option<&Arc<dyn BaseMeasure>> {
        match self {
            BaseChoice::Own { measure } => measure.0.as_ref(),
            _ => None,
        }
    }

    /// The measure on `manifold`.
    pub fn build(&self, manifold: &dyn Manifold) -> Result<Arc<dyn BaseMeasure>, MixtureError> {
        match self {
            BaseChoice::Default => Ok(manifold.default_base()),
            BaseChoice::Uniform => Ok(manifold.uniform()),
            BaseChoice::Mixture { components } => {
                Ok(Arc::new(VonMisesFisherMixture::on(manifold, components.clone())?))
            }
            BaseChoice::Frequencies { weights } => frequencies(manifold, weights),
            BaseChoice::Own { measure } => match &measure.0 {
                Some(own) if own.ambient_dim() == manifold.ambient_dim() => Ok(own.clone()),
                Some(own) => Err(MixtureError::OwnDimension {
                    spec: manifold.spec(),
                    got: own.ambient_dim(),
                    expected: manifold.ambient_dim(),
                }),
                None => Err(MixtureError::NotBrought),
            },
        }
    }

    /// Its name in a config.
    pub fn name(&self) -> &'static str {
        match self {
            BaseChoice::Default => "default",
            BaseChoice::Uniform => "uniform",
            BaseChoice::Mixture { .. } | BaseChoice::Frequencies { .. } => "mixture",
            BaseChoice::Own { .. } => "own",
        }
    }
}

/// A finite factor of a finite manifold, under equal weights.
#[derive(Debug)]
pub(super) struct FiniteColumn {
    /// Its coordinates.
    pub range: Range<usize>,
    /// Its points.
    pub measure: Finite,
}

/// The columns of a table of categories, or a finite set as its own only column; `None` on other manifolds.
pub(super) fn finite_columns(manifold: &dyn Manifold) -> Option<Vec<FiniteColumn>> {
    let mut end = 0;
    let place = |points: Points| {
        let start = end;
        end += points.dim();
        Some(FiniteColumn { range: start..end, measure: Finite::uniform(points).ok()? })
    };
    manifold.finite_factors()?.into_iter().map(place).collect()
}

fn frequencies(manifold: &dyn Manifold, weights: &[Vec<f64>]) -> Result<Arc<dyn BaseMeasure>, MixtureError> {
    let refuse = |problem: String| MixtureError::Frequencies { spec: manifold.spec(), problem };
    let columns = finite_columns(manifold).ok_or_else(|| refuse("the set is not finite".into()))?;
    if columns.len() != weights.len() {
        return Err(refuse(format!("{} lists of weights for {} columns", weights.len(), columns.len())));
    }
    let weighted = |(column, weights): (FiniteColumn, &Vec<f64>)| -> Result<Arc<dyn BaseMeasure>, MixtureError> {
        let points = column.measure.points().clone();
        Ok(Arc::new(Finite::weighted(points, weights).map_err(|e| refuse(e.to_string()))?))
    };
    let mut measures: Vec<_> = columns.into_iter().zip(weights).map(weighted).collect::<Result<_, _>>()?;
    match measures.pop() {
        Some(only) if measures.is_empty() => Ok(only),
        last => Ok(Arc::new(ProductMeasure::new(measures.into_iter().chain(last).collect()))),
    }
}
