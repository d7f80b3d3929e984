//! The two Bessel functions of a tilted sphere, tabulated for speed.

use super::{bessel_ratio, ln_mean_exp_scaled};

/// Pieces of equal length in t = 1/(1+k).
const PIECES: usize = 128;

/// Numbers of a piece's polynomial.
const TERMS: usize = 7;

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
}

impl TiltTable {
    /// The table for the sphere in R^`dim`; `None` if there is none.
    pub fn new(dim: usize) -> Option<Self> {
        (2..=MAX_DIM).contains(&dim).then(|| Self { dim, pieces: (0..PIECES).map(|i| piece(dim, i)).collect() })
    }

    /// h(k) and g(k) at t = 1/(1+k).
    pub fn at(&self, t: f64) -> (f64, f64) {
        let place = t * PIECES as f64;
        let piece = (place as usize).min(PIECES - 1);
        let s = place - piece as f64 - 0.5;
        let [h, g] = &self.pieces[piece];
        (polynomial(h, s), polynomial(g, s))
    }

    /// r^p, p = (d−1)/2.
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

fn polynomial(c: &[f64; TERMS], s: f64) -> f64 {
    let square = s * s;
    let even = ((c[6] * square + c[4]) * square + c[2]) * square + c[0];
    let odd = (c[5] * square + c[3]) * square + c[1];
    even + s * odd
}

/// Coefficients in s ∈ [−½, ½] of h and g on one piece.
fn piece(dim: usize, index: usize) -> [[f64; TERMS]; 2] {
    let nodes: [f64; TERMS] =
        std::array::from_fn(|i| 0.5 * ((2 * i + 1) as f64 * std::f64::consts::PI / (2 * TERMS) as f64).cos());
    let (nu, p) = (dim as f64 / 2.0 - 1.0, (dim - 1) as f64 / 2.0);
    let values = nodes.map(|s| {
        let t = (index as f64 + 0.5 + s) / PIECES as f64;
        let k = (1.0 - t) / t;
        let slope = if k == 0.0 { 1.0 / dim as f64 } else { bessel_ratio(nu, k) / k };
        [(ln_mean_exp_scaled(dim, k) - p * t.ln()).exp(), slope / t]
    });
    [0, 1].map(|which| interpolate(&nodes, values.map(|v| v[which])))
}

/// The polynomial through these values: Newton's divided differences, then expanded.
fn interpolate(nodes: &[f64; TERMS], mut values: [f64; TERMS]) -> [f64; TERMS] {
    for order in 1..TERMS {
        for i in (order..TERMS).rev() {
            values[i] = (values[i] - values[i - 1]) / (nodes[i] - nodes[i - order]);
        }
    }
    let mut coefficients = [0.0; TERMS];
    for i in (0..TERMS).rev() {
        // Multiply by (s − node) and add the next difference.
        for place in (0..TERMS).rev() {
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
            let table = TiltTable::new(dim).unwrap();
            let (nu, p) = (dim as f64 / 2.0 - 1.0, table.exponent());
            let mut worst: [f64; 2] = [0.0; 2];
            for i in 0..20_000 {
                let k = 10f64.powf(-6.0 + 16.0 * f64::from(i) / 2e4);
                let t = 1.0 / (1.0 + k);
                let (h, g) = table.at(t);
                let exact_h = (ln_mean_exp_scaled(dim, k) + p * k.ln_1p()).exp();
                let exact_g = bessel_ratio(nu, k) / k * (1.0 + k);
                worst = [worst[0].max((h / exact_h - 1.0).abs()), worst[1].max((g / exact_g - 1.0).abs())];
                assert!((table.power(t) / t.powf(p) - 1.0).abs() < 1e-14);
            }
            eprintln!("R^{dim}: h {:.1e}, g {:.1e}", worst[0], worst[1]);
            // The logarithm behind h is of size p ln k < 90, known to 1e-16 of that.
            assert!(worst[0] < 3e-14 && worst[1] < 1e-14, "R^{dim}: {worst:?}");
        }
        assert!(TiltTable::new(1).is_none() && TiltTable::new(9).is_none());
    }
}
