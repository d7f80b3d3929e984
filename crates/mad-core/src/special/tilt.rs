//! The two Bessel functions of a tilted sphere, tabulated for speed.

use super::{bessel_ratio, ln_mean_exp_scaled};
use std::sync::OnceLock;

/// Pieces of equal length in t = 1/(1+k).
const PIECES: usize = 128;

/// Numbers of a piece's polynomial.
const TERMS: usize = 7;

/// Above k = FAR − 1 one polynomial serves for all k, so that several k can be worked on at once.
const FAR: f64 = 21.0;

/// Numbers of that polynomial.
const FAR_TERMS: usize = 12;

/// Largest number of coordinates with a table: beyond, e^{−k}J(k) leaves the range of simple scaling.
const MAX_DIM: usize = 8;

/// e^{−k} J(k) and A(k)/k of the sphere in R^d, for 2 ≤ d ≤ 8, as piecewise polynomials.
///
/// # Formula
/// h(k) = e^{−k} J(k) (1+k)^p with p = (d−1)/2, and g(k) = (1+k) A(k)/k, where J and A are those of [`super::ln_mean_exp`]
/// and [`bessel_ratio`]. Both are smooth in t = 1/(1+k) on \[0, 1\], k = ∞ included.
///
/// # Numerics
/// Degree 6 on 128 pieces, interpolated at Chebyshev points: within 1e-14 relative of the functions themselves (tested).
#[derive(Debug, Clone, PartialEq)]
pub struct TiltTable {
    dim: usize,
    pieces: Vec<[[f64; TERMS]; 2]>,
    /// One polynomial in t·[`FAR`] for all k ≥ FAR − 1.
    far: [[f64; FAR_TERMS]; 2],
}

impl TiltTable {
    /// The table for the sphere in R^`dim`; `None` if there is none.
    pub fn of(dim: usize) -> Option<&'static Self> {
        static TABLES: [OnceLock<TiltTable>; MAX_DIM + 1] = [const { OnceLock::new() }; MAX_DIM + 1];
        let known = (2..=MAX_DIM).contains(&dim);
        known.then(|| TABLES[dim].get_or_init(|| Self::new(dim)))
    }

    fn new(dim: usize) -> Self {
        Self {
            dim,
            pieces: (0..PIECES).map(|i| fit(dim, i as f64 / PIECES as f64, 1.0 / PIECES as f64)).collect(),
            far: fit(dim, 0.0, 1.0 / FAR),
        }
    }

    /// h(k) and g(k) at t = 1/(1+k).
    #[inline(always)]
    pub fn at(&self, t: f64) -> (f64, f64) {
        let place = t * PIECES as f64;
        let piece = (place as usize).min(PIECES - 1);
        let s = place - piece as f64 - 0.5;
        let [h, g] = &self.pieces[piece];
        (polynomial(h, s), polynomial(g, s))
    }

    /// h and g for several t = 1/(1+k) at once.
    #[inline(always)]
    pub(crate) fn at_all<const N: usize>(&self, t: &[f64; N]) -> ([f64; N], [f64; N]) {
        let (mut h, mut g) = ([0.0; N], [0.0; N]);
        let near = t.iter().fold(false, |near, t| near | (*t > 1.0 / FAR));
        if near {
            for ((h, g), t) in h.iter_mut().zip(&mut g).zip(t) {
                (*h, *g) = self.at(*t);
            }
        } else {
            let mut s = *t;
            s.iter_mut().for_each(|s| *s = *s * FAR - 0.5);
            for (values, coefficients) in [(&mut h, &self.far[0]), (&mut g, &self.far[1])] {
                for c in coefficients.iter().rev() {
                    values.iter_mut().zip(&s).for_each(|(v, s)| *v = *v * s + c);
                }
            }
        }
        (h, g)
    }

    /// r^p, p = (d−1)/2.
    #[inline(always)]
    pub fn power(&self, r: f64) -> f64 {
        let whole = match (self.dim - 1) / 2 {
            0 => 1.0,
            1 => r,
            2 => r * r,
            _ => r * r * r,
        };
        if self.dim.is_multiple_of(2) { whole * r.sqrt() } else { whole }
    }

    /// p = (d−1)/2.
    pub fn exponent(&self) -> f64 {
        (self.dim - 1) as f64 / 2.0
    }
}

#[inline(always)]
fn polynomial(c: &[f64; TERMS], s: f64) -> f64 {
    let square = s * s;
    let even = ((c[6] * square + c[4]) * square + c[2]) * square + c[0];
    let odd = (c[5] * square + c[3]) * square + c[1];
    even + s * odd
}

/// Coefficients in s ∈ [−½, ½] of h and g where t = `start` + `width` (s + ½).
fn fit<const N: usize>(dim: usize, start: f64, width: f64) -> [[f64; N]; 2] {
    let nodes: [f64; N] =
        std::array::from_fn(|i| 0.5 * ((2 * i + 1) as f64 * std::f64::consts::PI / (2 * N) as f64).cos());
    let (nu, p) = (dim as f64 / 2.0 - 1.0, (dim - 1) as f64 / 2.0);
    let values = nodes.map(|s| {
        let t = start + width * (0.5 + s);
        let k = (1.0 - t) / t;
        let slope = if k == 0.0 { 1.0 / dim as f64 } else { bessel_ratio(nu, k) / k };
        [(ln_mean_exp_scaled(dim, k) - p * t.ln()).exp(), slope / t]
    });
    [0, 1].map(|which| interpolate(&nodes, values.map(|v| v[which])))
}

/// The polynomial through these values: Newton's divided differences, then expanded.
fn interpolate<const N: usize>(nodes: &[f64; N], mut values: [f64; N]) -> [f64; N] {
    for order in 1..N {
        for i in (order..N).rev() {
            values[i] = (values[i] - values[i - 1]) / (nodes[i] - nodes[i - order]);
        }
    }
    let mut coefficients = [0.0; N];
    for i in (0..N).rev() {
        // Multiply by (s − node) and add the next difference.
        for place in (0..N).rev() {
            let below = if place > 0 { coefficients[place - 1] } else { values[i] };
            coefficients[place] = below - nodes[i] * coefficients[place];
        }
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_agree_with_the_functions() {
        for dim in 2..=MAX_DIM {
            let table = TiltTable::of(dim).unwrap();
            let (nu, p) = (dim as f64 / 2.0 - 1.0, table.exponent());
            let mut worst: [f64; 2] = [0.0; 2];
            for i in 0..20_000 {
                let k = 10f64.powf(-6.0 + 16.0 * f64::from(i) / 2e4);
                let t = 1.0 / (1.0 + k);
                let (h, g) = table.at(t);
                let exact_h = (ln_mean_exp_scaled(dim, k) + p * k.ln_1p()).exp();
                let exact_g = bessel_ratio(nu, k) / k * (1.0 + k);
                let (all_h, all_g) = table.at_all(&[t; 3]);
                assert!((all_h[2] / h - 1.0).abs() < 3e-14 && (all_g[2] / g - 1.0).abs() < 1e-14, "R^{dim}, {k}");
                worst = [worst[0].max((h / exact_h - 1.0).abs()), worst[1].max((g / exact_g - 1.0).abs())];
                assert!((table.power(t) / t.powf(p) - 1.0).abs() < 1e-14);
            }
            eprintln!("R^{dim}: h {:.1e}, g {:.1e}", worst[0], worst[1]);
            // The logarithm behind h is of size p ln k < 90, known to 1e-16 of that.
            assert!(worst[0] < 3e-14 && worst[1] < 1e-14, "R^{dim}: {worst:?}");
        }
        assert!(TiltTable::of(1).is_none() && TiltTable::of(9).is_none());
    }
}
