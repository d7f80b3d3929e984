//! Rotations as unit quaternions up to sign, also modulo a symmetry group.

use super::Manifold;
use super::sphere::normalise;
use crate::{
    Points,
    measure::{BaseMeasure, SphereBlock, UniformSphere},
    rng::Rng,
    rotation::{Group, Quaternion, canonical_sign, choose, conjugate, multiply, turn_about_z},
    special::norm,
};
use rand::RngExt;
use std::{f64::consts::PI, ops::Range, sync::Arc};

/// SO(3), double covered by the unit quaternions S³ in R⁴ with the scalar last; or SO(3)/G.
///
/// Modulo a group G of symmetries, q and q g are the same pose. Data are replaced by the representative nearest to the
/// identity before noise is added, and samples by a random one afterwards. The base measure stays uniform on the whole S³
/// with density 1/(8π²): on the fundamental cell that is `1/|G|` of the mass, and it has the closed form. `log_volume` is
/// that of the quotient, 8π²/|G|; for SO(2) and O(2) the length of the group in rotation angle takes the place of |G|, which
/// gives 4π, the sphere of axis directions, and 2π, the axes without sign.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotations {
    group: Option<Group>,
    elements: Vec<Quaternion>,
}

impl Rotations {
    /// SO(3), or SO(3) modulo `group`.
    pub fn new(group: Option<Group>) -> Self {
        Self { group, elements: group.and_then(|g| g.elements()).unwrap_or_default() }
    }

    /// The symmetry group, if any.
    pub fn group(&self) -> Option<Group> {
        self.group
    }

    /// The largest |Re(q g)| over the group, as (|vector part|, |real part|) of that q g.
    fn nearest_to_identity(&self, q: &[f64]) -> (f64, f64) {
        let (side, axis) = (q[0].hypot(q[1]), q[2].hypot(q[3]));
        match self.group {
            Some(Group::Axial) => (side, axis),
            Some(Group::AxialFlip) => (side.min(axis), side.max(axis)),
            None => (norm(&q[..3]), q[3].abs()),
            Some(_) => {
                let best =
                    self.elements.iter().map(|g| multiply(q, g)).max_by(|a, b| a[3].abs().total_cmp(&b[3].abs()));
                best.map_or((norm(&q[..3]), q[3].abs()), |q| (norm(&q[..3]), q[3].abs()))
            }
        }
    }
}

impl Manifold for Rotations {
    fn spec(&self) -> String {
        self.group.map_or("so3".into(), |g| format!("so3/{g}"))
    }

    fn ambient_dim(&self) -> usize {
        4
    }

    fn intrinsic_dim(&self) -> usize {
        3 - self.group.map_or(0, |g| g.dimension())
    }

    fn log_volume(&self) -> f64 {
        (8.0 * PI * PI).ln() - self.group.map_or(0.0, |g| g.log_size())
    }

    fn project(&self, x: &mut [f64]) {
        normalise(x);
    }

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        Arc::new(UniformSphere::with_log_volume(4, (8.0 * PI * PI).ln()))
    }

    /// Angle of the rotation from a to b, the smallest over the symmetry group.
    ///
    /// # Formula
    /// 2 atan2(|v|, |w|) with (v, w) = a⁻¹ b g; for SO(2) the largest |w| is √(w²+z²), for O(2) also √(x²+y²).
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let (vector, real) = self.nearest_to_identity(&multiply(&conjugate(a), b));
        2.0 * vector.atan2(real)
    }

    /// # Formula
    /// √((|a|−|b|)² + |a||b| (2 sin θ/4)²), θ the rotation angle: quaternions stand half of it apart.
    fn chord(&self, a: &[f64], b: &[f64]) -> f64 {
        let (na, nb) = (norm(a), norm(b));
        (na - nb).hypot(2.0 * (self.distance(a, b) / 4.0).sin() * (na * nb).sqrt())
    }

    fn deviation(&self, x: &[f64]) -> f64 {
        crate::special::norm_minus_one(x).abs()
    }

    fn is_odd(&self) -> bool {
        true
    }

    fn odd_blocks(&self) -> Vec<Range<usize>> {
        std::iter::once(0..4).collect()
    }

    fn canonicalise(&self, x: &mut [f64]) {
        let chosen = match self.group {
            None => return canonical_sign(x),
            Some(Group::Axial) => turn_about_z(x),
            Some(Group::AxialFlip) => {
                let flipped = multiply(x, &[1.0, 0.0, 0.0, 0.0]);
                choose(vec![turn_about_z(x), turn_about_z(&flipped)])
            }
            Some(_) => {
                let orbit = self.elements.iter().map(|g| multiply(x, g));
                choose(orbit.flat_map(|q| [q, q.map(|v| -v)]).collect())
            }
        };
        x.copy_from_slice(&chosen);
        normalise(x);
    }

    fn lift(&self, x: &mut [f64], rng: &mut Rng) {
        let Some(group) = self.group else { return };
        let g = if group.dimension() == 0 {
            self.elements[rng.random_range(0..self.elements.len())]
        } else {
            let (sin, cos) = (PI * rng.random::<f64>()).sin_cos();
            let flip = group == Group::AxialFlip && rng.random::<bool>();
            if flip { [cos, sin, 0.0, 0.0] } else { [0.0, 0.0, sin, cos] }
        };
        let q = multiply(x, &g);
        x.copy_from_slice(&q);
        normalise(x);
        canonical_sign(x);
    }

    /// Super-Fibonacci spiral, modulo a finite group brought to representatives; `None` for continuous groups.
    ///
    /// # Reference
    /// Alexa, Super-Fibonacci Spirals: Fast, Low-Discrepancy Sampling of SO(3), CVPR 2022.
    fn grid(&self, n: usize) -> Option<Points> {
        if self.intrinsic_dim() != 3 {
            return None;
        }
        // ψ is the positive root of ψ⁴ = ψ + 4; φ = √2.
        const PSI: f64 = 1.533_751_168_755_204_3;
        let mut grid = Points::zeros(n, 4);
        for (i, row) in grid.rows_mut().enumerate() {
            let s = i as f64 + 0.5;
            let (inner, outer) = ((s / n as f64).sqrt(), (1.0 - s / n as f64).sqrt());
            let (alpha, beta) = (2.0 * PI * s / std::f64::consts::SQRT_2, 2.0 * PI * s / PSI);
            row.copy_from_slice(&[inner * alpha.sin(), inner * alpha.cos(), outer * beta.sin(), outer * beta.cos()]);
            normalise(row);
            self.canonicalise(row);
        }
        Some(grid)
    }

    fn is_quotient(&self) -> bool {
        self.group.is_some()
    }

    fn is_angular(&self) -> bool {
        true
    }

    fn spheres(&self) -> Option<Vec<SphereBlock>> {
        self.group.is_none().then(|| vec![SphereBlock { range: 0..4, antipodal: true }])
    }
}
