//! Squared chord distances, many at a time.

use crate::{Points, manifold::Manifold};
use std::ops::Range;

/// Rows handled together, as independent sums.
const LANES: usize = 8;

/// Pairs of points on which the fast form is held against [`Manifold::chord`].
const CHECKED_PAIRS: usize = 256;

/// A manifold's squared chord distance in a form that is quick to evaluate.
///
/// # Formula
/// |a − b|² over coordinates with one representative, plus min(|a − b|², |a + b|²) over each block whose sign is free.
///
/// # Numerics
/// The form follows from [`Manifold::odd_blocks`]. It is used only if it agrees with [`Manifold::chord`] on pairs of the
/// points at hand to 1e-9; else (quotients by larger groups) the manifold itself computes every pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Chord(Option<Vec<Segment>>);

#[derive(Debug, Clone, PartialEq)]
struct Segment {
    range: Range<usize>,
    odd: bool,
}

impl Chord {
    /// The form for points like these.
    pub(super) fn of(manifold: &dyn Manifold, points: &Points) -> Self {
        let mut segments = Vec::new();
        let mut start = 0;
        let mut blocks = manifold.odd_blocks();
        blocks.sort_by_key(|b| b.start);
        let end = points.dim()..points.dim();
        for odd in blocks.into_iter().chain(std::iter::once(end)) {
            let plain = start..odd.start;
            start = odd.end;
            segments.push(Segment { range: plain, odd: false });
            segments.push(Segment { range: odd, odd: true });
        }
        segments.retain(|s| !s.range.is_empty());
        let fast = Self(Some(segments));
        let n = points.len();
        // Steps that share no factor with small n meet many different pairs.
        let agrees = (0..CHECKED_PAIRS.min(n * n)).all(|i| {
            let (a, b) = (points.row(i * 7 % n), points.row((i * 13 + i / n + 1) % n));
            let asked = manifold.chord(a, b);
            (fast.squared(manifold, a, b) - asked * asked).abs() <= 1e-9 * (1.0 + asked * asked)
        });
        if agrees { fast } else { Self(None) }
    }

    /// The squared chord between two points.
    pub(super) fn squared(&self, manifold: &dyn Manifold, a: &[f64], b: &[f64]) -> f64 {
        let mut out = [0.0];
        self.squared_rows(manifold, a, b, &mut out);
        out[0]
    }

    /// The squared chords from `x` to all rows of `ys`, one per entry of `out`.
    pub(super) fn squared_rows(&self, manifold: &dyn Manifold, x: &[f64], ys: &[f64], out: &mut [f64]) {
        let d = x.len();
        let Some(segments) = &self.0 else {
            for (out, y) in out.iter_mut().zip(ys.chunks_exact(d)) {
                let chord = manifold.chord(x, y);
                *out = chord * chord;
            }
            return;
        };
        for (out, ys) in out.chunks_mut(LANES).zip(ys.chunks(LANES * d)) {
            match <&[f64; LANES]>::try_from(&*out) {
                Ok(_) => out.copy_from_slice(&lanes::<LANES>(segments, x, ys)),
                Err(_) => {
                    let each = out.iter_mut().zip(ys.chunks_exact(d));
                    each.for_each(|(out, y)| *out = lanes::<1>(segments, x, y)[0]);
                }
            }
        }
    }
}

/// Squared chords from `x` to N rows.
fn lanes<const N: usize>(segments: &[Segment], x: &[f64], ys: &[f64]) -> [f64; N] {
    let d = x.len();
    let rows: [&[f64]; N] = std::array::from_fn(|l| &ys[l * d..(l + 1) * d]);
    let mut total = [0.0; N];
    for Segment { range, odd } in segments {
        let (mut minus, mut plus) = ([0.0; N], [0.0; N]);
        for i in range.clone() {
            for l in 0..N {
                let difference = x[i] - rows[l][i];
                minus[l] += difference * difference;
            }
            if *odd {
                for l in 0..N {
                    let sum = x[i] + rows[l][i];
                    plus[l] += sum * sum;
                }
            }
        }
        for l in 0..N {
            total[l] += if *odd { minus[l].min(plus[l]) } else { minus[l] };
        }
    }
    total
}
