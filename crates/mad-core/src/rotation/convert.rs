//! Quaternions from the forms in which files hold rotations, and back: nine entries of a matrix, rotation vectors.

use super::canonical_sign;
use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};

/// The rotation nearest to a row-major matrix, and how far the matrix is from it; the determinant if that is not positive.
///
/// # Formula
/// The nearest rotation in Frobenius norm is U Vᵀ with M = U S Vᵀ, given det M > 0.
pub(crate) fn nearest_rotation(entries: &[f64; 9]) -> Result<(super::Quaternion, f64), f64> {
    let matrix = Matrix3::from_row_slice(entries);
    let determinant = matrix.determinant();
    if determinant <= 0.0 {
        return Err(determinant);
    }
    let svd = matrix.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else { return Err(determinant) };
    let nearest = u * v_t;
    let deviation = (matrix - nearest).norm();
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(nearest));
    let mut q = [q.i, q.j, q.k, q.w];
    canonical_sign(&mut q);
    Ok((q, deviation))
}

/// The row-major matrix of a unit quaternion.
pub(crate) fn entries(q: &[f64]) -> [f64; 9] {
    let unit = UnitQuaternion::new_normalize(Quaternion::new(q[3], q[0], q[1], q[2]));
    let m = unit.to_rotation_matrix();
    std::array::from_fn(|i| m[(i / 3, i % 3)])
}

/// The quaternion of a rotation vector in radians.
///
/// # Formula
/// v = θ u turns by θ about the unit vector u: q = (u sin θ/2, cos θ/2).
pub(crate) fn from_vector(v: [f64; 3]) -> super::Quaternion {
    // Whole turns go first, so that long vectors keep their digits.
    let angle = v[0].hypot(v[1]).hypot(v[2]);
    let scale = if angle > std::f64::consts::TAU { angle % std::f64::consts::TAU / angle } else { 1.0 };
    let q = UnitQuaternion::from_scaled_axis(Vector3::from(v) * scale);
    let mut q = [q.i, q.j, q.k, q.w];
    canonical_sign(&mut q);
    q
}

/// The rotation vector of a unit quaternion, of length at most π.
pub(crate) fn to_vector(q: &[f64]) -> [f64; 3] {
    let mut q = [q[0], q[1], q[2], q[3]];
    canonical_sign(&mut q);
    let v = UnitQuaternion::new_normalize(Quaternion::new(q[3], q[0], q[1], q[2])).scaled_axis();
    [v.x, v.y, v.z]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_vectors_come_back_up_to_whole_turns() {
        use std::f64::consts::{FRAC_PI_2, PI, TAU};
        for v in [[0.0; 3], [0.1, -0.2, 0.3], [0.0, 0.0, FRAC_PI_2], [1e-9, 0.0, 0.0], [0.0, 3.0, 0.0]] {
            let back = to_vector(&from_vector(v));
            assert!(v.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{v:?} {back:?}");
        }
        let turned = to_vector(&from_vector([TAU + 0.5, 0.0, 0.0]));
        assert!((turned[0] - 0.5).abs() < 1e-12, "{turned:?}");
        assert!((to_vector(&from_vector([0.0, PI, 0.0]))[1].abs() - PI).abs() < 1e-12);
        // A quarter turn about z takes x to y.
        let m = entries(&from_vector([0.0, 0.0, FRAC_PI_2]));
        assert!((m[3] - 1.0).abs() < 1e-15 && m[0].abs() < 1e-15, "{m:?}");
    }

    #[test]
    fn matrix_and_back_even_at_half_turns() {
        let s = 0.5f64.sqrt();
        for q in
            [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, s, s, 0.0], [0.1, 0.7, 0.1, 0.7], [0.5, 0.5, 0.5, 0.5]]
        {
            let (back, deviation) = nearest_rotation(&entries(&q)).unwrap();
            assert!(deviation < 1e-14);
            assert!(q.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{q:?} {back:?}");
        }
    }
}
