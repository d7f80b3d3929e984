//! Matrix products of slices on one thread, and buffers that are written before they are read.

use std::mem::{ManuallyDrop, MaybeUninit};

use gemm::Parallelism;

/// A matrix inside a slice: element (i, j) is `data[i * row_stride + j * column_stride]`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix stored row by row without gaps.
    pub(super) fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows} x {columns} matrix needs as many numbers");
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Columns `start..start + count`.
    pub(super) fn columns(self, start: usize, count: usize) -> Self {
        assert!(start + count <= self.columns, "columns outside the matrix");
        if self.rows == 0 || count == 0 {
            return Self { data: &[], columns: count, ..self };
        }
        let first = start * self.column_stride;
        let last = first + (self.rows - 1) * self.row_stride + (count - 1) * self.column_stride;
        Self { data: &self.data[first..=last], columns: count, ..self }
    }

    /// The transposed matrix, without moving numbers.
    pub(super) fn transposed(self) -> Self {
        Self {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

/// Writes `left right` into `target`, row by row, and returns the numbers written.
pub(super) fn multiply_into<'t>(target: &'t mut [MaybeUninit<f32>], left: Matrix, right: Matrix) -> &'t mut [f32] {
    let (rows, inner, columns) = (left.rows, left.columns, right.columns);
    assert_eq!(inner, right.rows, "inner sizes of a matrix product must agree");
    assert_eq!(target.len(), rows * columns, "the target of a {rows} x {columns} product needs as many numbers");
    // SAFETY: the constructors of `Matrix` keep every (i, j) inside its slice, the target has rows x columns numbers at
    // strides (columns, 1), borrowed mutably and so disjoint from both inputs, and `read_dst` is false, so that
    // the target is written and never read.
    unsafe {
        gemm::gemm::<f32>(
            rows,
            columns,
            inner,
            target.as_mut_ptr().cast(),
            1,
            columns as isize,
            false,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
    // SAFETY: the product wrote each of the rows x columns numbers.
    unsafe { &mut *(target as *mut [MaybeUninit<f32>] as *mut [f32]) }
}

/// Writes `left right` over the numbers of `target`, row by row.
pub(super) fn multiply(target: &mut [f32], left: Matrix, right: Matrix) {
    multiply_into(as_unwritten(target), left, right);
}

/// Views numbers as a buffer to be written.
///
/// Private to the kernels, which write numbers into such a buffer and nothing else.
pub(super) fn as_unwritten(numbers: &mut [f32]) -> &mut [MaybeUninit<f32>] {
    // SAFETY: same layout; all writers in this module store initialised numbers only.
    unsafe { &mut *(numbers as *mut [f32] as *mut [MaybeUninit<f32>]) }
}

/// A buffer of `length` numbers that must all be written.
pub(super) fn unwritten(length: usize) -> Vec<MaybeUninit<f32>> {
    let mut buffer = Vec::with_capacity(length);
    // SAFETY: the capacity is `length` and `MaybeUninit` needs no initialisation.
    unsafe { buffer.set_len(length) };
    buffer
}

/// Turns a written buffer into numbers.
///
/// # Safety
/// Every element must have been written.
pub(super) unsafe fn written(buffer: Vec<MaybeUninit<f32>>) -> Vec<f32> {
    let mut buffer = ManuallyDrop::new(buffer);
    // SAFETY: same allocation, length and capacity; the caller promises that every element was written.
    unsafe { Vec::from_raw_parts(buffer.as_mut_ptr().cast(), buffer.len(), buffer.capacity()) }
}
