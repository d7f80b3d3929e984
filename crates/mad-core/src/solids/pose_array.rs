//! Arrays of poses, read picture by picture.

use super::error::{Place, PoseError};
use crate::rotation::{Matrix, Quaternion, from_matrix};
use crate::table::{
    DataError,
    npy_file::{Decode, Header},
};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Most entries in the list of one picture.
const MAX_LIST: usize = 100_000;

/// A reader that knows how far it has come.
struct Counted<'a, R> {
    inner: &'a mut R,
    bytes: u64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(block)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

/// Reads an array `[N, S, 3, 3]`, or `[N, 3, 3]`, picture by picture; memory is taken for one list at a time.
pub(super) fn read_array(
    mut file: impl Read,
    size: u64,
    place: &Place,
    most: usize,
    mut keep: impl FnMut(&[Quaternion]) -> ControlFlow<()>,
) -> Result<(), PoseError> {
    let broken = |e: io::Error| place.array(format!("cannot be read: {e}"));
    let mut counted = Counted { inner: &mut file, bytes: 0 };
    let header = Header::read("", &mut counted).map_err(|e| match e {
        DataError::Damaged { problem, .. } => place.array(problem),
        e => place.array(e.to_string()),
    })?;
    let start = counted.bytes;
    let decode = Decode::parse(&header.descr).filter(|_| header.descr.contains('f'));
    let decode = decode.ok_or_else(|| place.array(format!("dtype {}; wanted f2, f4 or f8", header.descr)))?;
    if header.fortran {
        return Err(place.array("Fortran order; save np.ascontiguousarray(…)"));
    }
    let (pictures, entries) = match header.shape[..] {
        [n, s, 3, 3] if (1..=MAX_LIST).contains(&s) => (n, s),
        [n, 3, 3] => (n, 1),
        _ => return Err(place.array(format!("shape {:?}; wanted (pictures, poses, 3, 3)", header.shape))),
    };
    let list_bytes = entries * 9 * decode.size;
    let expected = (pictures as u128) * (list_bytes as u128) + start as u128;
    if expected != u128::from(size) {
        return Err(place.array(format!("{size} bytes for shape {:?}, which needs {expected}", header.shape)));
    }
    let tolerance = if decode.size == 2 { 5e-3 } else { 1e-3 };
    let (mut bytes, mut list) = (vec![0; list_bytes], Vec::with_capacity(entries.min(most)));
    for row in 0..pictures {
        file.read_exact(&mut bytes).map_err(broken)?;
        list.clear();
        for (entry, matrix) in bytes.chunks_exact(9 * decode.size).take(most).enumerate() {
            let mut m: Matrix = [[0.0; 3]; 3];
            for (slot, number) in m.as_flattened_mut().iter_mut().zip(matrix.chunks_exact(decode.size)) {
                *slot = decode.number(number);
            }
            let defect = defect(&m);
            // Also where the defect is not a number.
            if defect.is_nan() || defect > tolerance {
                return Err(place.not_a_rotation(row, entry, defect));
            }
            list.push(from_matrix(&m));
        }
        if keep(&list).is_break() {
            break;
        }
    }
    Ok(())
}

/// How far a matrix is from a rotation: the largest entry of MᵀM − 1, or |det M − 1|.
fn defect(m: &Matrix) -> f64 {
    let mut largest: f64 = 0.0;
    for i in 0..3 {
        for j in i..3 {
            let product: f64 = m.iter().map(|row| row[i] * row[j]).sum();
            let miss = (product - f64::from(u8::from(i == j))).abs();
            largest = if miss.is_nan() { f64::NAN } else { largest.max(miss) };
            if largest.is_nan() {
                return largest;
            }
        }
    }
    let minor = |a: usize, b: usize| m[1][a] * m[2][b] - m[1][b] * m[2][a];
    let determinant = m[0][0] * minor(1, 2) - m[0][1] * minor(0, 2) + m[0][2] * minor(0, 1);
    largest.max((determinant - 1.0).abs() / 3.0)
}
