//! Base measures as values that can be written down.

use super::{BaseMeasure, Component, MixtureError, VonMisesFisherMixture};
use crate::manifold::Manifold;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
}

impl BaseChoice {
    /// The measure on `manifold`.
    pub fn build(&self, manifold: &dyn Manifold) -> Result<Arc<dyn BaseMeasure>, MixtureError> {
        let components = match self {
            BaseChoice::Default => return Ok(manifold.default_base()),
            BaseChoice::Uniform => return Ok(manifold.uniform()),
            BaseChoice::Mixture { components } => components.clone(),
        };
        Ok(Arc::new(VonMisesFisherMixture::on(manifold, components)?))
    }

    /// Its name in a config.
    pub fn name(&self) -> &'static str {
        match self {
            BaseChoice::Default => "default",
            BaseChoice::Uniform => "uniform",
            BaseChoice::Mixture { .. } => "mixture",
        }
    }
}
