//! The order in which matrices are stored for products.
//!
//! A matrix of `rows` rows lies in panels of P neighbouring columns, one panel after the other, each row by row: element
//! (i, j) is number (j / P) · rows · P + i · P + j % P. P is the width of a tile of the instruction set at hand. The columns that
//! fill up the last panel may hold anything; nothing reads them into a result.
//!
//! In this order the inner loop of a product reads both factors one number after the other, be it x W, z Wᵀ or xᵀ z. Weights and
//! what enters and leaves a chain are rearranged; what a layer computes is in panels from the start.

use std::ops::{Deref, DerefMut, Range};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Numbers in `rows` rows of `columns`, with the last panel filled up.
pub(crate) fn length(rows: usize, columns: usize, panel_columns: usize) -> usize {
    rows * columns.next_multiple_of(panel_columns)
}

/// Puts a matrix that is stored row by row into panels, with zeros to fill up.
#[inline(always)]
pub(super) fn pack<const P: usize>(matrix: &[f32], columns: usize, panels: &mut [f32]) {
    let rows = matrix.len() / columns;
    for (first, panel) in (0..columns).step_by(P).zip(panels.chunks_exact_mut(rows * P)) {
        for (row, target) in matrix.chunks_exact(columns).zip(panel.as_chunks_mut::<P>().0) {
            let row = &row[first..];
            *target = match row.first_chunk() {
                Some(whole) => *whole,
                None => std::array::from_fn(|j| row.get(j).copied().unwrap_or(0.0)),
            };
        }
    }
}

/// Puts the transpose of a matrix that is stored row by row into panels, with zeros to fill up.
#[inline(always)]
pub(super) fn pack_transposed<const P: usize>(matrix: &[f32], columns: usize, panels: &mut [f32]) {
    for (rows, panel) in matrix.chunks(P * columns).zip(panels.chunks_exact_mut(columns * P)) {
        if rows.len() < P * columns {
            panel.fill(0.0);
        }
        // Blocks of columns, so that every line of the matrix that is fetched is used at once.
        const BLOCK: usize = 16;
        for (block, target) in panel.as_chunks_mut::<P>().0.chunks_mut(BLOCK).enumerate() {
            for (group, rows) in rows.chunks(SIDE * columns).enumerate() {
                let squares = match rows.len() == SIDE * columns {
                    true => target.len() / SIDE,
                    false => 0,
                };
                let (whole, rest) = target.split_at_mut(squares * SIDE);
                for (square, target) in whole.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                    turn(&rows[block * BLOCK + square * SIDE..], columns, target, group * SIDE);
                }
                for (j, row) in rows.chunks_exact(columns).enumerate() {
                    for (target, &value) in rest.iter_mut().zip(&row[block * BLOCK + squares * SIDE..]) {
                        target[group * SIDE + j] = value;
                    }
                }
            }
        }
    }
}

/// Side of the squares that are transposed in registers.
const SIDE: usize = 4;

/// Puts the transpose of a square at the start of `matrix` into `target`, from column `first` on.
#[inline(always)]
fn turn<const P: usize>(matrix: &[f32], columns: usize, target: &mut [[f32; P]; SIDE], first: usize) {
    let rows: [[f32; SIDE]; SIDE] =
        std::array::from_fn(|j| *matrix[j * columns..].first_chunk().expect("the square lies inside the matrix"));
    for (i, target) in target.iter_mut().enumerate() {
        target[first..first + SIDE].copy_from_slice(&rows.map(|row| row[i]));
    }
}

/// Takes a matrix out of panels, row by row.
#[inline(always)]
pub(super) fn unpack<const P: usize>(panels: &[f32], columns: usize, matrix: &mut [f32]) {
    let rows = matrix.len() / columns;
    for (first, panel) in (0..columns).step_by(P).zip(panels.chunks_exact(rows * P)) {
        let width = P.min(columns - first);
        for (target, row) in matrix.chunks_exact_mut(columns).zip(panel.as_chunks::<P>().0) {
            target[first..first + width].copy_from_slice(&row[..width]);
        }
    }
}

/// Numbers to be overwritten, aligned to a cache line: a load of the widest register never touches two. On drop they wait to be
/// taken again, so that no step has to ask the system for memory.
///
/// The vector is longer than the buffer by [`SLACK`]; the buffer begins at its first aligned number.
#[derive(Debug, Default)]
pub(crate) struct Buffer(Vec<f32>);

/// Bytes of a cache line, and of the widest register.
const LINE: usize = 64;

/// Numbers that may have to be skipped until a line begins.
const SLACK: usize = LINE / size_of::<f32>() - 1;

/// A value that begins with a cache line.
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) T);

/// Buffers that wait. Sizes come from networks and blocks of rows, so there are few different ones.
static WAITING: Mutex<Vec<Vec<f32>>> = Mutex::new(Vec::new());

/// Plain numbers that were lent and not recycled yet.
static LENT: AtomicUsize = AtomicUsize::new(0);

/// Bytes that may wait; what is beyond goes back to the allocator.
const MOST_WAITING: usize = 256 << 20;

impl Buffer {
    /// A buffer of `length` numbers, whatever they are.
    pub(crate) fn take(length: usize) -> Self {
        Self(take(length + SLACK))
    }

    fn range(&self) -> Range<usize> {
        let first = self.0.as_ptr().align_offset(LINE).min(SLACK);
        first..first + self.0.len().saturating_sub(SLACK)
    }
}

fn take(length: usize) -> Vec<f32> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    match waiting.iter().rposition(|numbers| numbers.len() == length) {
        Some(place) => waiting.swap_remove(place),
        None => vec![0.0; length],
    }
}

/// Plain numbers to be overwritten, which come back only through [`recycle`].
pub(crate) fn lend(length: usize) -> Vec<f32> {
    LENT.fetch_add(1, Ordering::Relaxed);
    take(length)
}

/// Lets gradients that nobody needs any more be overwritten by the next step that wants as many.
///
/// Takes no more than were given out, so gradients that come from elsewhere, as from a GPU, do not pile up.
pub fn recycle(numbers: Vec<f32>) {
    if LENT.try_update(Ordering::Relaxed, Ordering::Relaxed, |lent| lent.checked_sub(1)).is_ok() {
        drop(Buffer(numbers));
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let held: usize = waiting.iter().map(Vec::len).sum();
        if 4 * (held + self.0.len()) <= MOST_WAITING {
            waiting.push(std::mem::take(&mut self.0));
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.0.get(self.range()).unwrap_or_default()
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        let range = self.range();
        self.0.get_mut(range).unwrap_or_default()
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let mut copy = Self::take(self.len());
        copy.copy_from_slice(self);
        copy
    }
}
