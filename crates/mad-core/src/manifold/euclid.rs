//! Flat space R^n.

use super::{Manifold, ManifoldError};
use crate::measure::{BaseMeasure, Flat};
use std::sync::Arc;

/// R^n with Lebesgue measure as its base.
#[derive(Debug, Clone, PartialEq)]
pub struct Euclid {
    n: usize,
}

impl Euclid {
    /// R^`n`, n ≥ 1.
    pub fn new(n: usize) -> Result<Self, ManifoldError> {
        if n == 0 {
            return Err(ManifoldError::dimension("euclid", "a dimension of at least 1", n));
        }
        Ok(Self { n })
    }
}

impl Manifold for Euclid {
    fn spec(&self) -> String {
        format!("euclid:{}", self.n)
    }

    fn ambient_dim(&self) -> usize {
        self.n
    }

    fn intrinsic_dim(&self) -> usize {
        self.n
    }

    fn log_volume(&self) -> f64 {
        0.0
    }

    fn project(&self, _x: &mut [f64]) {}

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        Arc::new(Flat::new(self.n))
    }
}
