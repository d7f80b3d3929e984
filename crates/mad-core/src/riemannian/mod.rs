//! Geodesics on products of spheres, which is what spheres, tori and rotations are; needed by methods that never leave the set.
//!
//! Rotations are unit quaternions up to sign, so their geodesics are those of S³ towards the nearer sign.

mod field;
mod generator;
mod heat;
mod walk;

pub use field::{Flow, TangentField};
pub use generator::{Frames, Generator};
pub use heat::heat_score;
pub use walk::{TimeChange, reverse_walk, walk};

use crate::{
    manifold::Manifold,
    measure::SphereBlock,
    rng::Rng,
    special::{dot, norm},
};
use rand_distr::{Distribution, StandardNormal};

/// A product of unit spheres in their usual metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spheres {
    blocks: Vec<SphereBlock>,
    dim: usize,
}

impl Spheres {
    /// The spheres that `manifold` is made of; `None` if it is made of something else.
    pub fn of(manifold: &dyn Manifold) -> Option<Self> {
        Some(Self { blocks: manifold.spheres()?, dim: manifold.ambient_dim() })
    }

    /// The spheres, in the order of their coordinates.
    pub fn blocks(&self) -> &[SphereBlock] {
        &self.blocks
    }

    /// Ambient coordinates.
    pub fn ambient_dim(&self) -> usize {
        self.dim
    }

    /// Dimension of the product.
    pub fn intrinsic_dim(&self) -> usize {
        self.dim - self.blocks.len()
    }

    /// Whether all of them are rotations.
    pub fn are_rotations(&self) -> bool {
        self.blocks.iter().all(is_rotation)
    }

    /// Puts `x` back onto the spheres after rounding or a straight step.
    pub fn normalise(&self, x: &mut [f64]) {
        for block in &self.blocks {
            let x = &mut x[block.range.clone()];
            let length = norm(x);
            x.iter_mut().for_each(|x| *x /= length);
        }
    }

    /// Removes from `v` what points away from the spheres at `x`.
    pub fn tangent(&self, x: &[f64], v: &mut [f64]) {
        for block in &self.blocks {
            let (x, v) = (&x[block.range.clone()], &mut v[block.range.clone()]);
            let away = dot(x, v);
            v.iter_mut().zip(x).for_each(|(v, x)| *v -= away * x);
        }
    }

    /// Moves `x` along the geodesic that starts with velocity `v`, a tangent vector at `x`.
    ///
    /// # Formula
    /// exp_x(v) = cos|v| x + sin|v| v/|v|, sphere by sphere.
    pub fn exp(&self, x: &mut [f64], v: &[f64]) {
        for block in &self.blocks {
            let (x, v) = (&mut x[block.range.clone()], &v[block.range.clone()]);
            let angle = norm(v);
            let (sine, cosine) = angle.sin_cos();
            let along = if angle > 0.0 { sine / angle } else { 1.0 };
            x.iter_mut().zip(v).for_each(|(x, v)| *x = cosine * *x + along * v);
        }
        self.normalise(x);
    }

    /// Writes the velocity at `x` of the shortest geodesic that reaches `y` at time one.
    ///
    /// # Numerics
    /// The angle is that of (x·y, |y − (x·y) x|), accurate at both ends. From the opposite point any direction is as short; the
    /// one taken is that of a fixed coordinate.
    pub fn log(&self, x: &[f64], y: &[f64], v: &mut [f64]) {
        for block in &self.blocks {
            let (x, y, v) = (&x[block.range.clone()], &y[block.range.clone()], &mut v[block.range.clone()]);
            let cosine = dot(x, y);
            let sign = if block.antipodal && cosine < 0.0 { -1.0 } else { 1.0 };
            for ((v, x), y) in v.iter_mut().zip(x).zip(y) {
                *v = sign * (y - cosine * x);
            }
            // Once more, because the first difference cancels where x and y are close.
            let rest = dot(x, v);
            v.iter_mut().zip(x).for_each(|(v, x)| *v -= rest * x);
            let sine = norm(v);
            if sine > 0.0 {
                let factor = sine.atan2(sign * cosine) / sine;
                v.iter_mut().for_each(|v| *v *= factor);
            } else if sign * cosine < 0.0 {
                let smallest = (0..x.len()).min_by(|&i, &j| x[i].abs().total_cmp(&x[j].abs())).unwrap_or(0);
                v.iter_mut().zip(x).for_each(|(v, x_j)| *v = -x[smallest] * x_j);
                v[smallest] += 1.0;
                let factor = std::f64::consts::PI / norm(v);
                v.iter_mut().for_each(|v| *v *= factor);
            }
        }
    }

    /// Writes the point at time `t` of the shortest geodesic from `x0` to `x1`, and its velocity there.
    pub fn path(&self, x0: &[f64], x1: &[f64], t: f64, point: &mut [f64], velocity: &mut [f64]) {
        self.log(x0, x1, velocity);
        for block in &self.blocks {
            let x0 = &x0[block.range.clone()];
            let (point, velocity) = (&mut point[block.range.clone()], &mut velocity[block.range.clone()]);
            let angle = norm(velocity);
            let (sine, cosine) = (t * angle).sin_cos();
            for ((point, velocity), x0) in point.iter_mut().zip(velocity).zip(x0) {
                let direction = if angle > 0.0 { *velocity / angle } else { 0.0 };
                *point = cosine * x0 + sine * direction;
                *velocity = angle * (cosine * direction - sine * x0);
            }
        }
        self.normalise(point);
    }

    /// An orthonormal basis of the tangent space at `x`, one vector of ambient coordinates after the other.
    ///
    /// # Formula
    /// Sphere by sphere, the columns but the first of the reflection that takes a coordinate axis to ±x.
    pub fn basis(&self, x: &[f64]) -> Vec<f64> {
        let mut basis = vec![0.0; self.intrinsic_dim() * self.dim];
        let mut rows = basis.chunks_exact_mut(self.dim);
        for block in &self.blocks {
            let x = &x[block.range.clone()];
            let sign = if x[0] > 0.0 { 1.0 } else { -1.0 };
            // v = x + sign e₀ has |v|² = 2 (1 + |x₀|).
            let v = |i: usize| x[i] + if i == 0 { sign } else { 0.0 };
            for axis in 1..x.len() {
                let row = &mut rows.next().expect("as many rows as dimensions")[block.range.clone()];
                let factor = v(axis) / (1.0 + x[0].abs());
                row.iter_mut().enumerate().for_each(|(i, r)| *r = f64::from(i == axis) - factor * v(i));
            }
        }
        basis
    }

    /// Writes a standard normal tangent vector at `x`.
    pub fn tangent_normal(&self, x: &[f64], rng: &mut Rng, v: &mut [f64]) {
        v.iter_mut().for_each(|v| *v = StandardNormal.sample(rng));
        self.tangent(x, v);
    }
}

/// Whether a sphere is that of unit quaternions up to sign.
pub fn is_rotation(block: &SphereBlock) -> bool {
    block.antipodal && block.range.len() == 4
}
