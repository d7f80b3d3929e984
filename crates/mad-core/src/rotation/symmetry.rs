//! The rotations after which a solid looks the same.

use super::{Group, IDENTITY, Quaternion, canonical_sign, choose, conjugate, multiply, turn_about_z, unit};
use crate::rng::Rng;
use rand::RngExt as _;
use std::{
    f64::consts::{FRAC_PI_8, PI},
    sync::LazyLock,
};

/// Number of angles in the published lists of the continuous groups.
const LISTED_ANGLES: usize = 360;

/// A symmetry group G, acting on poses from the right: q and q g show the same picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Symmetry {
    /// The identity alone.
    Trivial,
    /// A finite group: one quaternion for each rotation, the identity first.
    Finite(&'static [Quaternion]),
    /// SO(2): all rotations about z.
    Axial,
    /// O(2): all rotations about z and all half turns about axes in the xy plane.
    AxialFlip,
}

/// T of the tetrahedron that stands in the cube turned by 45° about z, with vertices (0, ±√2, 1) and (±√2, 0, −1).
static TETRAHEDRAL: LazyLock<Vec<Quaternion>> = LazyLock::new(|| {
    let (sin, cos) = FRAC_PI_8.sin_cos();
    let turn = [0.0, 0.0, sin, cos];
    let turned = |g: Quaternion| {
        let mut g = multiply(&multiply(&turn, &g), &conjugate(&turn));
        unit(&mut g);
        canonical_sign(&mut g);
        g
    };
    Group::Tetrahedral.elements().unwrap_or_default().into_iter().map(turned).collect()
});
static OCTAHEDRAL: LazyLock<Vec<Quaternion>> = LazyLock::new(|| Group::Octahedral.elements().unwrap_or_default());
static ICOSAHEDRAL: LazyLock<Vec<Quaternion>> = LazyLock::new(|| Group::Icosahedral.elements().unwrap_or_default());

/// The rotation about z by twice an angle.
fn about_z(half: f64) -> Quaternion {
    [0.0, 0.0, half.sin(), half.cos()]
}

/// The half turn about the axis of the xy plane at an angle.
fn flip(angle: f64) -> Quaternion {
    [angle.cos(), angle.sin(), 0.0, 0.0]
}

impl Symmetry {
    /// T, turned by 45° about z as SymSol's tetrahedron is.
    pub fn tetrahedral() -> Self {
        Symmetry::Finite(&TETRAHEDRAL)
    }

    /// O of the cube along the axes.
    pub fn octahedral() -> Self {
        Symmetry::Finite(&OCTAHEDRAL)
    }

    /// I of the icosahedron with vertices at the cyclic shifts of (±1, ±φ, 0).
    pub fn icosahedral() -> Self {
        Symmetry::Finite(&ICOSAHEDRAL)
    }

    /// The elements, the identity first; `None` for the continuous groups.
    pub fn elements(&self) -> Option<&'static [Quaternion]> {
        match *self {
            Symmetry::Trivial => Some(&[IDENTITY]),
            Symmetry::Finite(list) => Some(list),
            Symmetry::Axial | Symmetry::AxialFlip => None,
        }
    }

    /// Number of angles the group leaves free: 1 for the continuous ones.
    pub fn dimension(&self) -> usize {
        usize::from(matches!(self, Symmetry::Axial | Symmetry::AxialFlip))
    }

    /// Elements as the published data list them: all of a finite group; for SO(2) the turns by 360 angles from 0 to 2π with
    /// both ends, so that the first stands there twice; for O(2) each of these and the same after a half turn about x.
    pub fn listed(&self) -> Vec<Quaternion> {
        let angles = || (0..LISTED_ANGLES).map(|i| PI * i as f64 / (LISTED_ANGLES - 1) as f64);
        match *self {
            Symmetry::Trivial => vec![IDENTITY],
            Symmetry::Finite(list) => list.to_vec(),
            Symmetry::Axial => angles().map(about_z).collect(),
            Symmetry::AxialFlip => angles().flat_map(|half| [about_z(half), flip(half)]).collect(),
        }
    }

    /// At most `most` members: of a finite group as many as there are, of circles evenly spaced ones.
    pub fn some(&self, most: usize) -> Vec<Quaternion> {
        let most = most.max(1);
        let angles = |count: usize| (0..count).map(move |i| PI * i as f64 / count as f64);
        match *self {
            Symmetry::Trivial => vec![IDENTITY],
            Symmetry::Finite(list) => list.iter().copied().step_by(list.len().div_ceil(most)).collect(),
            Symmetry::Axial => angles(most).map(about_z).collect(),
            Symmetry::AxialFlip => {
                angles(most.div_ceil(2)).flat_map(|half| [about_z(half), flip(half)]).take(most).collect()
            }
        }
    }

    /// Angle in radians of the smallest rotation from `q` to a pose that shows the same picture as `truth`. Unit quaternions.
    ///
    /// # Formula
    /// min over g of 2 atan2(|v|, |w|), (v, w) = g⁻¹ p, p = truth⁻¹ q. For SO(2) the largest |w| is √(z²+w²) of p, which gives
    /// the angle between the axes; for O(2) also √(x²+y²), the angle to the reversed axis.
    pub fn distance(&self, q: &[f64], truth: &[f64]) -> f64 {
        let p = multiply(&conjugate(truth), q);
        let (side, axis) = (p[0].hypot(p[1]), p[2].hypot(p[3]));
        let (vector, real) = match *self {
            Symmetry::Axial => (side, axis),
            Symmetry::AxialFlip => (side.min(axis), side.max(axis)),
            Symmetry::Trivial => (p[0].hypot(p[1]).hypot(p[2]), p[3].abs()),
            Symmetry::Finite(list) => {
                let best = self.nearest_element(list, &p);
                let r = multiply(&conjugate(&list[best]), &p);
                ((r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt(), r[3].abs())
            }
        };
        2.0 * vector.atan2(real)
    }

    /// Number of the element of `list` nearest to p as a rotation, the first of equals.
    fn nearest_element(&self, list: &[Quaternion], p: &[f64]) -> usize {
        let mut best = (0, -1.0);
        for (i, g) in list.iter().enumerate() {
            let cosine = (g[0] * p[0] + g[1] * p[1] + g[2] * p[2] + g[3] * p[3]).abs();
            if cosine > best.1 {
                best = (i, cosine);
            }
        }
        best.0
    }

    /// Number of the group element g for which `truth` g is nearest to `q`; `None` for the continuous groups.
    pub fn mode(&self, q: &[f64], truth: &[f64]) -> Option<usize> {
        let list = self.elements()?;
        Some(self.nearest_element(list, &multiply(&conjugate(truth), q)))
    }

    /// The representative of q's orbit nearest to the identity: the same for all of the orbit, up to round-off.
    ///
    /// # Formula
    /// The q g with the largest w. For SO(2): the one with z = 0 and w ≥ 0; for O(2) of the two such the one with the larger w.
    ///
    /// # Numerics
    /// On a seam several members have the same w. Numbers within 1e-9 count as equal; then the largest x, y, z decide in
    /// turn, which does not depend on the member one starts from. Where SO(2) has no continuous choice, at R e_z = −e_z, it
    /// is the half turn about x.
    pub fn canonical(&self, q: &[f64]) -> Quaternion {
        let mut chosen = match *self {
            Symmetry::Trivial => {
                let mut q = [q[0], q[1], q[2], q[3]];
                canonical_sign(&mut q);
                q
            }
            Symmetry::Axial => turn_about_z(q),
            Symmetry::AxialFlip => choose(vec![turn_about_z(q), turn_about_z(&multiply(q, &[1.0, 0.0, 0.0, 0.0]))]),
            Symmetry::Finite(list) => {
                choose(list.iter().map(|g| multiply(q, g)).flat_map(|q| [q, q.map(|v| -v)]).collect())
            }
        };
        unit(&mut chosen);
        chosen
    }

    /// q g for a random element g of the group.
    pub fn lift(&self, q: &[f64], rng: &mut Rng) -> Quaternion {
        let g = match *self {
            Symmetry::Trivial => IDENTITY,
            Symmetry::Finite(list) => list[rng.random_range(0..list.len())],
            Symmetry::Axial | Symmetry::AxialFlip => {
                let half = PI * rng.random::<f64>();
                if *self == Symmetry::AxialFlip && rng.random::<bool>() { flip(half) } else { about_z(half) }
            }
        };
        let mut lifted = multiply(q, &g);
        unit(&mut lifted);
        canonical_sign(&mut lifted);
        lifted
    }
}
