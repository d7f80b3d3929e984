//! Rotation matrices and quaternions (x, y, z, w).

use super::options::{NORM_TOLERANCE, beyond_repair};
use crate::{data::RowFault, manifold::canonical_sign};
use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion};

/// The quaternion of a row-major matrix, and how far the matrix was from a rotation.
///
/// # Formula
/// The nearest rotation in Frobenius norm is U Vᵀ with M = U S Vᵀ, given det M > 0.
pub(super) fn from_matrix(entries: &[f64; 9]) -> Result<([f64; 4], f64), RowFault> {
    let matrix = Matrix3::from_row_slice(entries);
    let determinant = matrix.determinant();
    if determinant <= 0.0 {
        return Err(RowFault::Determinant(determinant));
    }
    let svd = matrix.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else { return Err(RowFault::Determinant(determinant)) };
    let nearest = u * v_t;
    let deviation = (matrix - nearest).norm();
    if beyond_repair(deviation) {
        return Err(RowFault::NotOrthogonal { deviation, tolerance: NORM_TOLERANCE });
    }
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(nearest));
    let mut q = [q.i, q.j, q.k, q.w];
    canonical_sign(&mut q);
    Ok((q, deviation))
}

/// The row-major matrix of a unit quaternion.
pub(super) fn to_matrix(q: &[f64]) -> [f64; 9] {
    let unit = UnitQuaternion::new_normalize(Quaternion::new(q[3], q[0], q[1], q[2]));
    let m = unit.to_rotation_matrix();
    std::array::from_fn(|i| m[(i / 3, i % 3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_and_back_even_at_half_turns() {
        let s = 0.5f64.sqrt();
        for q in
            [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, s, s, 0.0], [0.1, 0.7, 0.1, 0.7], [0.5, 0.5, 0.5, 0.5]]
        {
            let (back, deviation) = from_matrix(&to_matrix(&q)).unwrap();
            assert!(deviation < 1e-14);
            assert!(q.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{q:?} {back:?}");
        }
    }
}
