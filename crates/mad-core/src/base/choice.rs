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
    /// A mixture of von Mises-Fisher densities on a sphere, or of antipodal pairs of them on rotations.
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
        if manifold.spheres().is_none_or(|blocks| blocks.len() != 1) {
            return Err(MixtureError::Manifold { spec: manifold.spec() });
        }
        let mixture = VonMisesFisherMixture::new(components, manifold.is_odd(), manifold.log_volume())?;
        let (got, expected) = (mixture.ambient_dim(), manifold.ambient_dim());
        if got != expected {
            return Err(MixtureError::Dimension { index: 0, got, expected });
        }
        Ok(Arc::new(mixture))
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
