//! Flat tori: n angles, each a point of the unit circle.

use super::sphere::{angle, circle_grid, normalise};
use super::{Manifold, ManifoldError};
use crate::{
    Points,
    measure::{BaseMeasure, ProductMeasure, SphereBlock, UniformSphere},
};
use std::{f64::consts::PI, sync::Arc};

/// T^n = (S¹)^n in R^{2n}; coordinates (cos θ₁, sin θ₁, …, cos θ_n, sin θ_n).
#[derive(Debug, Clone, PartialEq)]
pub struct Torus {
    n: usize,
}

impl Torus {
    /// T^`n`, n ≥ 1.
    pub fn new(n: usize) -> Result<Self, ManifoldError> {
        if n == 0 {
            return Err(ManifoldError::dimension("torus", "at least 1 angle", n));
        }
        Ok(Self { n })
    }
}

impl Manifold for Torus {
    fn spec(&self) -> String {
        format!("torus:{}", self.n)
    }

    fn ambient_dim(&self) -> usize {
        2 * self.n
    }

    fn intrinsic_dim(&self) -> usize {
        self.n
    }

    fn log_volume(&self) -> f64 {
        self.n as f64 * (2.0 * PI).ln()
    }

    fn project(&self, x: &mut [f64]) {
        x.chunks_exact_mut(2).for_each(normalise);
    }

    fn spheres(&self) -> Option<Vec<SphereBlock>> {
        Some((0..self.n).map(|i| SphereBlock { range: 2 * i..2 * i + 2, antipodal: false }).collect())
    }

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        let circle: Arc<dyn BaseMeasure> = Arc::new(UniformSphere::new(2));
        Arc::new(ProductMeasure::new(vec![circle; self.n]))
    }

    /// Root of the sum of squared angle differences, each wrapped to \[0, π\].
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let squares = a.chunks_exact(2).zip(b.chunks_exact(2)).map(|(a, b)| angle(a, b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Equal angles for one circle, a square lattice of ⌈√n⌉² points for two, nothing beyond.
    fn grid(&self, n: usize) -> Option<Points> {
        match self.n {
            1 => Some(circle_grid(n)),
            2 => {
                let circle = circle_grid((n as f64).sqrt().ceil() as usize);
                let mut grid = Points::new(4);
                for a in circle.rows() {
                    for b in circle.rows() {
                        grid.push(&[a[0], a[1], b[0], b[1]]);
                    }
                }
                Some(grid)
            }
            _ => None,
        }
    }
}
