//! Products with the windows of images as one factor, on one thread.
//!
//! Images lie pixel by pixel with their channels side by side, inside margins of zeros. A window is then a few runs of
//! neighbouring numbers, one for each of its rows, so that a convolution is a matrix product whose left factor is read where it
//! lies: nothing is copied. The right factor is in panels as in [`super::panels`].
//!
//! Every sum runs over rows and columns of a window, or over pixels, in order, whatever tile it falls into.

use std::marker::PhantomData;

use super::activation::silu_slope;
use super::lanes::Lanes;
use super::panels::pack;
use super::product::{Tiles, add_outer, cover, registers, row, zeros};
use super::simd::{Simd, for_each_simd};

/// Pixels of a weight gradient that are taken at once: windows and gradients of this many fit into the second cache together.
const PIXELS_AT_ONCE: usize = 128;

/// What follows the sum in a layer of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rectifier {
    /// y = z.
    Identity,
    /// y = max(z, 0).
    Relu,
    /// y = z / (1 + e⁻ᶻ).
    Silu,
}

/// Windows of images as the rows of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows<'a> {
    /// The images.
    pub(crate) numbers: &'a [f32],
    /// Where each window begins.
    pub(crate) starts: &'a [u32],
    /// Rows of a window.
    pub(crate) rows: usize,
    /// Numbers in each of its rows.
    pub(crate) run: usize,
    /// Numbers from one of its rows to the next.
    pub(crate) row_stride: usize,
}

impl Windows<'_> {
    /// Panics unless every window lies inside the images.
    fn check(&self) {
        let reach = (self.rows.max(1) - 1) * self.row_stride + self.run;
        let last = self.starts.iter().copied().max().unwrap_or(0) as usize;
        assert!(self.starts.is_empty() || last + reach <= self.numbers.len(), "windows lie inside the images");
    }
}

/// What becomes of the rows of a product.
#[derive(Debug)]
pub(crate) enum Finish<'a> {
    /// They are written.
    Set,
    /// They are added to what is there.
    Add,
    /// y = act(z + b + shortcut) is written.
    Activate {
        /// b, filled up with zeros to whole panels.
        bias: &'a [f32],
        /// Numbers of the shortcut and where those of each row begin.
        shortcut: Option<(&'a [f32], &'a [u32])>,
        /// act.
        rectifier: Rectifier,
        /// Where act'(z) goes, row by row without gaps; only what cannot be told from y needs it.
        slopes: Option<&'a mut [f32]>,
    },
}

/// Rows of `outputs` numbers, each at its own place.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    /// The numbers.
    pub(crate) numbers: &'a mut [f32],
    /// Where each row begins.
    pub(crate) starts: &'a [u32],
    /// Numbers of a row.
    pub(crate) outputs: usize,
}

struct Product<'a, 't, 'f, L, const P: usize, const FMA: bool> {
    windows: Windows<'a>,
    weight: &'a [[f32; P]],
    target: &'a mut Rows<'t>,
    finish: &'a mut Finish<'f>,
    /// First column of the panel.
    column: usize,
    lanes: PhantomData<L>,
}

impl<L: Lanes, const P: usize, const FMA: bool> Tiles for Product<'_, '_, '_, L, P, FMA> {
    #[inline(always)]
    fn tile<const K: usize>(&mut self, first: usize) {
        let Windows { numbers, starts, run, row_stride, .. } = self.windows;
        let starts: &[u32; K] = starts[first..].first_chunk().expect("the tile lies inside the rows");
        let mut sums = zeros::<L, K>();
        for (index, weight) in self.weight.chunks_exact(run).enumerate() {
            let left: [&[f32]; K] = std::array::from_fn(|r| {
                let start = starts[r] as usize + index * row_stride;
                &numbers[start..start + run]
            });
            for (j, right) in weight.iter().enumerate() {
                // SAFETY: `weight` has `run` rows, as many as each part of the windows has numbers.
                add_outer(&mut sums, |r| unsafe { *left[r].get_unchecked(j) }, right);
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            self.put(first + r, row(sums));
        }
    }
}

impl<L: Lanes, const P: usize, const FMA: bool> Product<'_, '_, '_, L, P, FMA> {
    #[inline(always)]
    fn put(&mut self, index: usize, mut row: [f32; P]) {
        let outputs = self.target.outputs;
        let (column, width) = (self.column, P.min(outputs - self.column));
        let start = self.target.starts[index] as usize + column;
        let target = &mut self.target.numbers[start..start + width];
        match self.finish {
            Finish::Set => write(target, &row),
            Finish::Add => match target.first_chunk_mut::<P>() {
                Some(whole) => (0..P).for_each(|j| whole[j] += row[j]),
                None => target.iter_mut().zip(row).for_each(|(target, value)| *target += value),
            },
            Finish::Activate { bias, shortcut, rectifier, slopes } => {
                let bias: &[f32; P] = bias[column..].first_chunk().expect("the bias is filled up");
                (0..P).for_each(|j| row[j] += bias[j]);
                if let Some((numbers, starts)) = shortcut {
                    let start = starts[index] as usize + column;
                    let numbers = &numbers[start..start + width];
                    match numbers.first_chunk::<P>() {
                        Some(whole) => (0..P).for_each(|j| row[j] += whole[j]),
                        None => row.iter_mut().zip(numbers).for_each(|(target, value)| *target += value),
                    }
                }
                match rectifier {
                    Rectifier::Identity => {}
                    Rectifier::Relu => (0..P).for_each(|j| row[j] = if row[j] < 0.0 { 0.0 } else { row[j] }),
                    Rectifier::Silu => {
                        let mut slope = [0.0; P];
                        (0..P).for_each(|j| (row[j], slope[j]) = silu_slope::<FMA>(row[j]));
                        if let Some(slopes) = slopes {
                            let start = index * outputs + column;
                            write(&mut slopes[start..start + width], &slope);
                        }
                    }
                }
                write(target, &row);
            }
        }
    }
}

/// Writes the first numbers of a row; a whole row is moved at once.
#[inline(always)]
fn write<const P: usize>(target: &mut [f32], row: &[f32; P]) {
    match target.first_chunk_mut::<P>() {
        Some(whole) => *whole = *row,
        None => target.copy_from_slice(&row[..target.len()]),
    }
}

#[inline(always)]
fn convolve_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    windows: Windows<'_>,
    weights: &[f32],
    mut target: Rows<'_>,
    mut finish: Finish<'_>,
) {
    windows.check();
    assert_eq!(windows.starts.len(), target.starts.len(), "a row for each window");
    let height = windows.rows * windows.run;
    assert!(weights.len() >= height * target.outputs.next_multiple_of(P), "a panel for every {P} outputs");
    for (column, panel) in (0..target.outputs).step_by(P).zip(0..) {
        let weight = &weights.as_chunks::<P>().0[panel * height..(panel + 1) * height];
        let windows = Windows { run: windows.run.max(1), ..windows };
        let (target, finish) = (&mut target, &mut finish);
        cover::<M>(
            windows.starts.len(),
            &mut Product::<L, P, FMA> { windows, weight, target, finish, column, lanes: PhantomData },
        );
    }
}

for_each_simd! {
    tiled
    /// Windows times weights in panels, one row for each window.
    pub(crate) fn convolve(windows: Windows<'_>, weights: &[f32], target: Rows<'_>, finish: Finish<'_>) = convolve_body
}

/// Numbers beyond the last gradient that [`correlate`] may read: the columns that fill up a panel.
pub(crate) const SLACK: usize = 32;

struct Correlation<'a, 'b, L, const P: usize> {
    windows: Windows<'a>,
    gradient: &'a [f32],
    starts: &'a [u32],
    /// Number of the window's row, and where it begins.
    offset: usize,
    column: usize,
    outputs: usize,
    target: &'b mut [f32],
    lanes: PhantomData<L>,
}

impl<L: Lanes, const P: usize> Tiles for Correlation<'_, '_, L, P> {
    #[inline(always)]
    fn tile<const K: usize>(&mut self, first: usize) {
        let (column, outputs) = (self.column, self.outputs);
        let width = P.min(outputs - column);
        let target = &mut self.target[first * outputs + column..];
        let mut sums = zeros::<L, K>();
        for (r, sums) in sums.iter_mut().enumerate() {
            let numbers = &target[r * outputs..r * outputs + width];
            let row: [f32; P] = match numbers.first_chunk() {
                Some(whole) => *whole,
                None => std::array::from_fn(|j| numbers.get(j).copied().unwrap_or(0.0)),
            };
            *sums = registers(&row);
        }
        let (numbers, gradient, offset) = (self.windows.numbers, self.gradient, self.offset + first);
        for (&x, &z) in self.windows.starts.iter().zip(self.starts) {
            // SAFETY: `correlate_body` has checked that all windows lie inside `numbers`, and that P numbers follow each column of
            // each gradient; the tile lies inside the row of the window.
            let (x, z): (&[f32; K], &[f32; P]) = unsafe {
                let x = numbers.as_ptr().add(x as usize + offset).cast();
                let z = gradient.as_ptr().add(z as usize + column).cast();
                (&*x, &*z)
            };
            add_outer(&mut sums, |r| x[r], z);
        }
        for (r, sums) in sums.into_iter().enumerate() {
            write(&mut target[r * outputs..r * outputs + width], &row::<L, P>(sums));
        }
    }
}

#[inline(always)]
fn correlate_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    windows: Windows<'_>,
    gradient: &[f32],
    starts: &[u32],
    outputs: usize,
    target: &mut [f32],
) {
    windows.check();
    assert_eq!(windows.starts.len(), starts.len(), "a gradient for each window");
    assert_eq!(target.len(), windows.rows * windows.run * outputs, "a row for each number of a window");
    let last = starts.iter().copied().max().unwrap_or(0) as usize;
    const { assert!(P <= SLACK, "a panel is not wider than the slack") };
    assert!(last + outputs + SLACK <= gradient.len(), "gradients lie inside their numbers, with slack behind");
    let chunks = windows.starts.chunks(PIXELS_AT_ONCE).zip(starts.chunks(PIXELS_AT_ONCE));
    for (window_starts, starts) in chunks {
        let windows = Windows { starts: window_starts, ..windows };
        for column in (0..outputs).step_by(P) {
            for (row, target) in target.chunks_exact_mut(windows.run * outputs).enumerate() {
                let offset = row * windows.row_stride;
                let lanes = PhantomData::<L>;
                let tiles =
                    &mut Correlation::<_, P> { windows, gradient, starts, offset, column, outputs, target, lanes };
                cover::<M>(windows.run, tiles);
            }
        }
    }
}

for_each_simd! {
    tiled
    /// Adds windowsᵀ · gradient to the gradient of the weights, `outputs` columns row by row.
    pub(crate) fn correlate(windows: Windows<'_>, gradient: &[f32], starts: &[u32], outputs: usize, target: &mut [f32])
        = correlate_body
}

#[inline(always)]
fn gate_body<const FMA: bool>(gradient: &mut [f32], values: &[f32], slopes: bool, sums: &mut [f32]) {
    for (gradient, values) in gradient.chunks_exact_mut(sums.len()).zip(values.chunks_exact(sums.len())) {
        for ((g, v), sum) in gradient.iter_mut().zip(values).zip(&mut *sums) {
            // A number that is not finite is passed on, so that a diverged run is seen.
            *g = if slopes {
                *g * v
            } else if *v > 0.0 || v.is_nan() {
                *g
            } else {
                0.0
            };
            *sum += *g;
        }
    }
}

for_each_simd! {
    /// ȳ ⊙ act'(z) in place, with act' given or read off the values of y, and adds its sums over all pixels to `sums`.
    pub(crate) fn gate(gradient: &mut [f32], values: &[f32], slopes: bool, sums: &mut [f32]) = gate_body
}

#[inline(always)]
fn total_body<const FMA: bool>(gradient: &[f32], sums: &mut [f32]) {
    for gradient in gradient.chunks_exact(sums.len()) {
        for (g, sum) in gradient.iter().zip(&mut *sums) {
            *sum += *g;
        }
    }
}

for_each_simd! {
    /// Adds the sums over all pixels to `sums`.
    pub(crate) fn total(gradient: &[f32], sums: &mut [f32]) = total_body
}

#[inline(always)]
fn pack_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    matrix: &[f32],
    columns: usize,
    panels: &mut [f32],
) {
    pack::<P>(matrix, columns, panels);
}

for_each_simd! {
    tiled
    /// Puts a matrix that is stored row by row into panels, with zeros to fill up.
    pub(crate) fn pack_rows(matrix: &[f32], columns: usize, panels: &mut [f32]) = pack_body
}

/// Puts the transposes of matrices of `rows` rows and `columns` columns one below the other into panels, with zeros to fill up.
///
/// `slices` says where each matrix begins in `weights`.
pub(crate) fn pack_slices(
    simd: Simd,
    weights: &[f32],
    slices: &[usize],
    [rows, columns]: [usize; 2],
    panels: &mut [f32],
) {
    let width = simd.panel_columns();
    let height = slices.len() * columns;
    for (panel, target) in panels.chunks_exact_mut((height * width).max(1)).enumerate() {
        let first = panel * width;
        let count = width.min(rows.saturating_sub(first));
        for (&slice, target) in slices.iter().zip(target.chunks_exact_mut(columns * width)) {
            let matrix = &weights[slice + first * columns..slice + (first + count) * columns];
            if count < width {
                target.fill(0.0);
            }
            // Blocks of columns, so that every line of the matrix that is fetched is used at once.
            for (block, target) in target.chunks_mut(16 * width).enumerate() {
                for (j, row) in matrix.chunks_exact(columns).enumerate() {
                    for (target, &value) in target.chunks_exact_mut(width).zip(&row[16 * block..]) {
                        target[j] = value;
                    }
                }
            }
        }
    }
}
