//! Unit spheres S^n.

use super::{Manifold, ManifoldError};
use crate::{
    Points,
    measure::{BaseMeasure, SphereBlock, UniformSphere, log_area},
    special::{distance_squared, norm},
};
use std::{f64::consts::PI, sync::Arc};

/// The unit sphere S^n in R^{n+1}.
#[derive(Debug, Clone, PartialEq)]
pub struct Sphere {
    n: usize,
}

impl Sphere {
    /// S^`n`, n ≥ 1.
    pub fn new(n: usize) -> Result<Self, ManifoldError> {
        if n == 0 {
            return Err(ManifoldError::dimension("sphere", "a dimension of at least 1", n));
        }
        Ok(Self { n })
    }
}

/// Puts `x` at unit length; the origin goes to the first coordinate vector.
pub(super) fn normalise(x: &mut [f64]) {
    let length = norm(x);
    if length > 0.0 && length.is_finite() {
        x.iter_mut().for_each(|x| *x /= length);
        // Lengths far from 1 can leave the last digits off: a second division settles them.
        let length = norm(x);
        x.iter_mut().for_each(|x| *x /= length);
    } else {
        x.fill(0.0);
        x[0] = 1.0;
    }
}

/// Angle between unit vectors, 2 atan2(|a−b|, |a+b|): accurate near 0 and near π, where arccos is not.
pub(super) fn angle(a: &[f64], b: &[f64]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (a + b) * (a + b)).sum();
    2.0 * distance_squared(a, b).sqrt().atan2(sum.sqrt())
}

/// `n` equally spaced points of the unit circle.
pub(super) fn circle_grid(n: usize) -> Points {
    let angles = (0..n).map(|i| 2.0 * PI * (i as f64 + 0.5) / n as f64);
    Points::from_vec(angles.flat_map(|a| [a.cos(), a.sin()]).collect(), 2)
}

impl Manifold for Sphere {
    fn spec(&self) -> String {
        format!("sphere:{}", self.n)
    }

    fn ambient_dim(&self) -> usize {
        self.n + 1
    }

    fn intrinsic_dim(&self) -> usize {
        self.n
    }

    fn log_volume(&self) -> f64 {
        log_area(self.n + 1)
    }

    fn project(&self, x: &mut [f64]) {
        normalise(x);
    }

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        Arc::new(UniformSphere::new(self.n + 1))
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        angle(a, b)
    }

    fn deviation(&self, x: &[f64]) -> f64 {
        crate::special::norm_minus_one(x).abs()
    }

    /// Equal angles on S¹; on S² the Fibonacci lattice, whose i-th point has height 1 − (2i+1)/n and turns by the golden angle.
    fn grid(&self, n: usize) -> Option<Points> {
        match self.n {
            1 => Some(circle_grid(n)),
            2 => {
                let golden_angle = PI * (3.0 - 5.0_f64.sqrt());
                let mut grid = Points::zeros(n, 3);
                for (i, row) in grid.rows_mut().enumerate() {
                    let z = 1.0 - (2.0 * i as f64 + 1.0) / n as f64;
                    let (sin, cos) = (golden_angle * i as f64).sin_cos();
                    let radius = ((1.0 - z) * (1.0 + z)).sqrt();
                    row.copy_from_slice(&[radius * cos, radius * sin, z]);
                    normalise(row);
                }
                Some(grid)
            }
            _ => None,
        }
    }

    fn spheres(&self) -> Option<Vec<SphereBlock>> {
        Some(vec![SphereBlock { range: 0..self.ambient_dim(), antipodal: false }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_of_small_spheres() {
        for (n, area) in [(1, 2.0 * PI), (2, 4.0 * PI), (3, 2.0 * PI * PI)] {
            assert!((Sphere { n }.log_volume() - area.ln()).abs() < 1e-14, "S^{n}");
        }
    }

    #[test]
    fn distance_resolves_tiny_and_straight_angles() {
        let s = Sphere { n: 1 };
        assert!((s.distance(&[1.0, 0.0], &[1.0, 1e-12]) / 1e-12 - 1.0).abs() < 1e-9);
        assert!((s.distance(&[1.0, 0.0], &[-1.0, 0.0]) - PI).abs() < 1e-15);
    }

    #[test]
    fn the_centre_goes_to_the_first_axis() {
        let mut x = [0.0; 3];
        Sphere { n: 2 }.project(&mut x);
        assert_eq!(x, [1.0, 0.0, 0.0]);
    }
}
