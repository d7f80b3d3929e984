//! Unit quaternions (x, y, z, w): products, signs, representatives, angles, the exponential map, uniform draws.

use crate::{rng::Rng, special::norm};
use rand_distr::{Distribution, StandardNormal};

/// A unit quaternion (x, y, z, w), scalar last.
pub type Quaternion = [f64; 4];

/// The rotation that changes nothing.
pub(crate) const IDENTITY: Quaternion = [0.0, 0.0, 0.0, 1.0];

/// Numbers closer than this count as equal when a representative is chosen, so that round-off does not decide.
const TIE: f64 = 1e-9;

/// Hamilton product a b.
pub fn multiply(a: &[f64], b: &[f64]) -> Quaternion {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

/// Of q and −q the one whose first non-zero number among w, x, y, z is positive, without minus zeros.
pub(crate) fn canonical_sign(q: &mut [f64]) {
    let leading = [q[3], q[0], q[1], q[2]].into_iter().find(|v| *v != 0.0);
    if leading.is_some_and(|v| v < 0.0) {
        q.iter_mut().for_each(|v| *v = -*v);
    }
    // No minus zero: equal points have equal bits.
    q.iter_mut().for_each(|v| *v += 0.0);
}

/// The inverse of a unit quaternion.
pub fn conjugate(q: &[f64]) -> Quaternion {
    [-q[0], -q[1], -q[2], q[3]]
}

/// Scales to length one.
pub(crate) fn unit(q: &mut Quaternion) {
    let length = norm(q);
    q.iter_mut().for_each(|v| *v /= length);
}

/// The candidate with the largest w, among equals the largest x, then y, then z.
///
/// # Numerics
/// Candidates within 1e-9 of the largest stay in the race at each stage. On a seam of the fundamental cell the same few
/// candidates tie whichever member of the class one starts from, so the choice does not depend on round-off; distinct
/// members differ by far more than 1e-9 in some number.
pub(crate) fn choose(mut candidates: Vec<Quaternion>) -> Quaternion {
    for place in [3, 0, 1, 2] {
        let largest = candidates.iter().map(|q| q[place]).fold(f64::NEG_INFINITY, f64::max);
        candidates.retain(|q| q[place] >= largest - TIE);
    }
    candidates[0]
}

/// The q g with g a rotation about z that has z = 0 and w ≥ 0; half turns that reverse the z axis become (1, 0, 0, 0).
///
/// No continuous choice exists there. Within 1e-9 of such a half turn the point is moved onto it, and beyond that the
/// representative carries the round-off divided by the distance to it.
pub(crate) fn turn_about_z(q: &[f64]) -> Quaternion {
    let h = q[2].hypot(q[3]);
    if h < TIE {
        return [1.0, 0.0, 0.0, 0.0];
    }
    let (c, s) = (q[3] / h, -q[2] / h);
    [q[0] * c + q[1] * s, q[1] * c - q[0] * s, 0.0, h]
}

/// Rotation angle between two poses without symmetry, for unit quaternions.
///
/// # Formula
/// 2 atan2(|v|, |w|) with (v, w) = a⁻¹ b.
pub fn angle(a: &[f64], b: &[f64]) -> f64 {
    let p = multiply(&conjugate(a), b);
    2.0 * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt().atan2(p[3].abs())
}

/// The rotation about the direction of `v` by |v| radians.
pub fn by(v: &[f64; 3]) -> Quaternion {
    let angle = norm(v);
    let factor = if angle > 1e-12 { (0.5 * angle).sin() / angle } else { 0.5 };
    [factor * v[0], factor * v[1], factor * v[2], (0.5 * angle).cos()]
}

/// A rotation drawn uniformly.
pub fn uniform(rng: &mut Rng) -> Quaternion {
    loop {
        let mut q: Quaternion = std::array::from_fn(|_| StandardNormal.sample(rng));
        if q.iter().map(|v| v * v).sum::<f64>() > 1e-12 {
            unit(&mut q);
            canonical_sign(&mut q);
            return q;
        }
    }
}
