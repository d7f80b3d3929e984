//! Mixtures on manifolds that are products of spheres.

use super::Manifold;
use crate::measure::{Component, MixtureError, VonMisesFisherMixture};

impl VonMisesFisherMixture {
    /// A mixture on `manifold`, if that is a product of spheres.
    pub fn on(manifold: &dyn Manifold, components: Vec<Component>) -> Result<Self, MixtureError> {
        match manifold.spheres() {
            Some(blocks) => Self::new(components, blocks, manifold.log_volume()),
            None => Err(MixtureError::Manifold { spec: manifold.spec() }),
        }
    }
}
