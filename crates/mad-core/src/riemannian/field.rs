//! Flows along tangent fields: points moved, densities followed.

use super::Spheres;
use crate::Points;

/// A field of tangent vectors that changes over time.
pub trait TangentField: Send + Sync {
    /// The vectors at all rows of `x`.
    fn at(&self, x: &Points, t: f64) -> Points;

    /// The vectors at all rows of `x`, and the divergence of the field on the set there.
    fn with_divergence(&self, x: &Points, t: f64) -> (Points, Vec<f64>);
}

/// How to follow dx/dt = v(x, t).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// Time at the start.
    pub from: f64,
    /// Time at the end; may be earlier.
    pub to: f64,
    /// Steps of equal length.
    pub steps: usize,
}

impl Flow {
    /// Moves all rows of `x` along geodesics, one call of the field per step.
    ///
    /// # Formula
    /// x ← exp_x(v dt), Euler's method on the set.
    pub fn euler(&self, spheres: &Spheres, field: &dyn TangentField, x: &mut Points) {
        let dt = (self.to - self.from) / self.steps as f64;
        for i in 0..self.steps {
            let mut v = field.at(x, self.from + dt * i as f64);
            v.as_mut_slice().iter_mut().for_each(|v| *v *= dt);
            x.rows_mut().zip(v.rows()).for_each(|(x, v)| spheres.exp(x, v));
        }
    }

    /// Moves all rows of `x` and returns ∫ div v dt along the way of each, which is how much log p falls.
    ///
    /// # Numerics
    /// Classical fourth-order Runge-Kutta on the field extended by x/|x|, put back onto the set after each step; four calls per
    /// step.
    pub fn follow(&self, spheres: &Spheres, field: &dyn TangentField, x: &mut Points) -> Vec<f64> {
        let dt = (self.to - self.from) / self.steps as f64;
        let mut total = vec![0.0; x.len()];
        let moved = |x: &Points, v: &Points, size: f64| {
            let mut there = x.clone();
            there.as_mut_slice().iter_mut().zip(v.as_slice()).for_each(|(x, v)| *x += size * v);
            there.rows_mut().for_each(|x| spheres.normalise(x));
            there
        };
        for i in 0..self.steps {
            let t = self.from + dt * i as f64;
            let (k1, d1) = field.with_divergence(x, t);
            let (k2, d2) = field.with_divergence(&moved(x, &k1, 0.5 * dt), t + 0.5 * dt);
            let (k3, d3) = field.with_divergence(&moved(x, &k2, 0.5 * dt), t + 0.5 * dt);
            let (k4, d4) = field.with_divergence(&moved(x, &k3, dt), t + dt);
            let mut slope = k1;
            for (((a, b), c), d) in
                slope.as_mut_slice().iter_mut().zip(k2.as_slice()).zip(k3.as_slice()).zip(k4.as_slice())
            {
                *a = (*a + 2.0 * b + 2.0 * c + d) / 6.0;
            }
            for (j, total) in total.iter_mut().enumerate() {
                *total += dt * (d1[j] + 2.0 * d2[j] + 2.0 * d3[j] + d4[j]) / 6.0;
            }
            *x = moved(x, &slope, dt);
        }
        total
    }
}
