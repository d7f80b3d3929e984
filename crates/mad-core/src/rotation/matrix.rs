//! Rotations as matrices.

use super::{Quaternion, canonical_sign, multiply, unit};

/// Rows of a rotation matrix.
pub type Matrix = [[f64; 3]; 3];

/// The matrix of q/|q|, for any q but zero.
pub fn matrix(q: &[f64]) -> Matrix {
    let [x, y, z, w] = [q[0], q[1], q[2], q[3]];
    let s = 2.0 / (x * x + y * y + z * z + w * w);
    [
        [1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
        [s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)],
        [s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)],
    ]
}

/// The unit quaternion of a rotation matrix, of both signs the one with w > 0.
///
/// # Numerics
/// Of the four numbers the largest comes from the diagonal and the others from it, so that nothing is divided by a small one.
pub fn from_matrix(m: &Matrix) -> Quaternion {
    let trace = m[0][0] + m[1][1] + m[2][2];
    let squares = [m[0][0], m[1][1], m[2][2], trace].map(|d| 1.0 + 2.0 * d - trace);
    let squares = [squares[0], squares[1], squares[2], 1.0 + trace];
    let largest = (0..4).fold(3, |best, i| if squares[i] > squares[best] { i } else { best });
    let mut q = match largest {
        3 => [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], squares[3]],
        0 => [squares[0], m[0][1] + m[1][0], m[0][2] + m[2][0], m[2][1] - m[1][2]],
        1 => [m[0][1] + m[1][0], squares[1], m[1][2] + m[2][1], m[0][2] - m[2][0]],
        _ => [m[0][2] + m[2][0], m[1][2] + m[2][1], squares[2], m[1][0] - m[0][1]],
    };
    unit(&mut q);
    canonical_sign(&mut q);
    q
}

/// M v.
pub fn turn(m: &Matrix, v: &[f64; 3]) -> [f64; 3] {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Where a rotation takes the third axis: R e_z.
pub fn axis(q: &[f64]) -> [f64; 3] {
    matrix(q).map(|row| row[2])
}

/// A rotation that takes the third axis to the unit vector `a`, after a turn about it by `twist` radians.
///
/// # Formula
/// (−a_y, a_x, 0, 1 + a_z), scaled to length one, times the turn; half a turn about x where a = −e_z.
pub fn with_axis(a: &[f64; 3], twist: f64) -> Quaternion {
    let mut q = match 1.0 + a[2] > 1e-9 {
        true => [-a[1], a[0], 0.0, 1.0 + a[2]],
        false => [1.0, 0.0, 0.0, 0.0],
    };
    unit(&mut q);
    multiply(&q, &[0.0, 0.0, (0.5 * twist).sin(), (0.5 * twist).cos()])
}
