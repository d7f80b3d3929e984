//! Products of matrices in panels, on one thread.
//!
//! A tile of M × P sums stays in registers while both factors pass by. Every element is summed in the order of the inner index,
//! whatever tile it falls into, so products do not depend on how the work is cut.

use std::marker::PhantomData;

use super::lanes::Lanes;

/// Work on K rows of a result, for any K.
pub(super) trait Tiles {
    fn tile<const K: usize>(&mut self, first: usize);
}

/// Covers `rows` rows with tiles of M, and of 8, 4, 2 and 1 at the end.
///
/// Low tiles wait for loads of the right factor, so the last rows are cut into two tiles of 8 rather than into M and 4.
#[inline(always)]
pub(super) fn cover<const M: usize>(rows: usize, tiles: &mut impl Tiles) {
    let mut first = 0;
    while first + M <= rows && (M <= 8 || rows - first != 16) {
        tiles.tile::<M>(first);
        first += M;
    }
    while M > 8 && first + 8 <= rows {
        tiles.tile::<8>(first);
        first += 8;
    }
    while first + 4 <= rows {
        tiles.tile::<4>(first);
        first += 4;
    }
    if first + 2 <= rows {
        tiles.tile::<2>(first);
        first += 2;
    }
    if first < rows {
        tiles.tile::<1>(first);
    }
}

/// K rows of sums, each in two registers.
pub(super) type Sums<L, const K: usize> = [[L; 2]; K];

#[inline(always)]
pub(super) fn zeros<L: Lanes, const K: usize>() -> Sums<L, K> {
    // SAFETY: only variants compiled for the instruction set of L come here.
    unsafe { [[L::zero(); 2]; K] }
}

/// sums[r][j] += left(r) right[j].
#[inline(always)]
pub(super) fn add_outer<L: Lanes, const K: usize, const P: usize>(
    sums: &mut Sums<L, K>,
    left: impl Fn(usize) -> f32,
    right: &[f32; P],
) {
    let right = registers::<L, P>(right);
    // SAFETY: only variants compiled for the instruction set of L come here.
    unsafe {
        for (r, sums) in sums.iter_mut().enumerate() {
            let left = left(r);
            *sums = [sums[0].add_product(left, right[0]), sums[1].add_product(left, right[1])];
        }
    }
}

/// A row of P numbers in two registers.
#[inline(always)]
pub(super) fn registers<L: Lanes, const P: usize>(row: &[f32; P]) -> [L; 2] {
    const { assert!(P == 2 * L::LANES, "a panel is two registers wide") };
    // SAFETY: only variants compiled for the instruction set of L come here.
    unsafe { [L::load(&row[..P / 2]), L::load(&row[P / 2..])] }
}

/// The numbers of one row of sums.
#[inline(always)]
pub(super) fn row<L: Lanes, const P: usize>(sums: [L; 2]) -> [f32; P] {
    let mut row = [0.0; P];
    let (left, right) = row.split_at_mut(P / 2);
    // SAFETY: only variants compiled for the instruction set of L come here.
    unsafe {
        sums[0].store(left);
        sums[1].store(right);
    }
    row
}

/// One panel of x w: `x` is in panels of as many rows as `target`, `right` is the panel of w with one row for each column of x.
#[inline(always)]
pub(super) fn multiply<L: Lanes, const M: usize, const P: usize>(
    x: &[f32],
    right: &[[f32; P]],
    target: &mut [[f32; P]],
) {
    struct Rows<'a, L, const P: usize> {
        x: &'a [[f32; P]],
        right: &'a [[f32; P]],
        target: &'a mut [[f32; P]],
        lanes: PhantomData<L>,
    }
    impl<L: Lanes, const P: usize> Tiles for Rows<'_, L, P> {
        #[inline(always)]
        fn tile<const K: usize>(&mut self, first: usize) {
            let mut sums = zeros::<L, K>();
            let panels = self.x.chunks_exact(self.target.len());
            for (right, panel) in self.right.chunks(P).zip(panels) {
                let left: &[[f32; P]; K] = panel[first..].first_chunk().expect("the tile lies inside the panel");
                for (k, right) in right.iter().enumerate() {
                    add_outer(&mut sums, |r| left[r][k], right);
                }
            }
            for (target, sums) in self.target[first..].iter_mut().zip(sums) {
                *target = row(sums);
            }
        }
    }
    let rows = target.len();
    let x = x.as_chunks::<P>().0;
    assert!(x.len() >= right.len().div_ceil(P) * rows, "the left factor has a column for each row of the right one");
    cover::<M>(rows, &mut Rows::<L, P> { x, right, target, lanes: PhantomData });
}

/// Writes `height` rows of xᵀ z to `target`, row by row with `stride` numbers from one to the next, of which the first `width` count.
///
/// `factors` are panels of x and z with rows in common, block by block. With `add` the sums go on where `target` stopped: adding a
/// product in parts gives the same bits as at once.
#[inline(always)]
pub(super) fn multiply_transposed<'a, L: Lanes, const M: usize, const P: usize>(
    factors: impl Iterator<Item = (&'a [f32], &'a [f32])> + Clone,
    height: usize,
    width: usize,
    stride: usize,
    add: bool,
    target: &mut [f32],
) {
    struct Columns<'t, L, I, const P: usize> {
        factors: I,
        width: usize,
        stride: usize,
        add: bool,
        target: &'t mut [f32],
        lanes: PhantomData<L>,
    }
    impl<'a, L: Lanes, I: Iterator<Item = (&'a [f32], &'a [f32])> + Clone, const P: usize> Tiles for Columns<'_, L, I, P> {
        #[inline(always)]
        fn tile<const K: usize>(&mut self, first: usize) {
            assert!(first + K <= P, "the tile lies inside the panel");
            let mut sums = zeros::<L, K>();
            for (r, sums) in sums.iter_mut().enumerate().filter(|_| self.add) {
                let start = (first + r) * self.stride;
                let numbers = &self.target[start..start + self.width];
                // A whole row is moved at once, not number by number.
                let row: [f32; P] = match numbers.first_chunk() {
                    Some(whole) => *whole,
                    None => std::array::from_fn(|j| numbers.get(j).copied().unwrap_or(0.0)),
                };
                *sums = registers(&row);
            }
            for (x, z) in self.factors.clone() {
                for (x, z) in x.as_chunks::<P>().0.iter().zip(z.as_chunks::<P>().0) {
                    add_outer(&mut sums, |r| x[first + r], z);
                }
            }
            for (r, sums) in sums.into_iter().enumerate() {
                let start = (first + r) * self.stride;
                let (numbers, row) = (&mut self.target[start..start + self.width], row::<L, P>(sums));
                match numbers.first_chunk_mut() {
                    Some(whole) => *whole = row,
                    None => numbers.copy_from_slice(&row[..self.width]),
                }
            }
        }
    }
    cover::<M>(height, &mut Columns::<L, _, P> { factors, width, stride, add, target, lanes: PhantomData });
}
