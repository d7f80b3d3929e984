//! What noise leaves of an orbit: the mean of a pose under the noisy point seen, all poses of the orbit being equally likely.

use crate::rotation::{IDENTITY, Quaternion, Symmetry, conjugate, multiply};
use crate::special::{bessel_ratio, ln_mean_exp_scaled};

/// Weights below e^−40 of the largest do not change a sum of f64.
const NEGLIGIBLE: f64 = -40.0;

/// E[x₀ | x] for x = x₀ + σ ε, x₀ uniform on the orbit {±q g}. `q` is a unit quaternion, `x` any point of R⁴.
///
/// # Formula
/// With y = q⁻¹ x and t_g = y·g/σ²: q Σ_g g sinh(t_g)/Σ_g cosh(t_g). SO(2): the orbit is the circle of the plane (z, w) of y, and
/// the mean is A(r/σ²) times the direction of y's part in that plane, r its length, A = I₁/I₀. O(2): also the circle of the
/// plane (x, y), the two weighted as I₀(r/σ²).
///
/// # Numerics
/// The largest exponent is taken out, so that nothing overflows however small σ is.
///
/// # Reference
/// The target of a denoiser averaged over the orbit: same minimiser as a random member of it, less noise (arXiv 2502.09890).
pub fn orbit_mean(symmetry: Symmetry, q: &[f64], x: &[f64], sigma: f64, out: &mut [f64; 4]) {
    let y = multiply(&conjugate(q), x);
    let precision = 1.0 / (sigma * sigma);
    let mean = match symmetry {
        Symmetry::Trivial => finite_mean(&[IDENTITY], &y, precision),
        Symmetry::Finite(list) => finite_mean(list, &y, precision),
        Symmetry::Axial => {
            let [z, w] = circle_mean([y[2], y[3]], precision);
            [0.0, 0.0, z, w]
        }
        Symmetry::AxialFlip => {
            let (side, axis) = (precision * y[0].hypot(y[1]), precision * y[2].hypot(y[3]));
            let log_odds = (axis - side) + (ln_mean_exp_scaled(2, axis) - ln_mean_exp_scaled(2, side));
            let upright = 1.0 / (1.0 + (-log_odds).exp());
            let flipped = 1.0 / (1.0 + log_odds.exp());
            let ([a, b], [z, w]) = (circle_mean([y[0], y[1]], precision), circle_mean([y[2], y[3]], precision));
            [flipped * a, flipped * b, upright * z, upright * w]
        }
    };
    *out = multiply(q, &mean);
}

fn finite_mean(list: &[Quaternion], y: &Quaternion, precision: f64) -> Quaternion {
    let product = |g: &Quaternion| g[0] * y[0] + g[1] * y[1] + g[2] * y[2] + g[3] * y[3];
    let largest = precision * list.iter().map(|g| product(g).abs()).fold(0.0, f64::max);
    // e^{−|t|} from e^{|t|}, both with the largest taken out.
    let both = (-2.0 * largest).exp();
    let (mut sum, mut total) = ([0.0; 4], 0.0);
    for g in list {
        let t = precision * product(g);
        let below = t.abs() - largest;
        if below < NEGLIGIBLE {
            continue;
        }
        let this = below.exp();
        let other = both / this;
        let signed = if t < 0.0 { other - this } else { this - other };
        total += this + other;
        for (slot, v) in sum.iter_mut().zip(g) {
            *slot += signed * v;
        }
    }
    sum.map(|v| v / total)
}

/// The mean of a uniform point of the unit circle of the plane under noise, `y` being seen.
fn circle_mean(y: [f64; 2], precision: f64) -> [f64; 2] {
    let r = y[0].hypot(y[1]);
    if r == 0.0 {
        return [0.0, 0.0];
    }
    let shrink = bessel_ratio(0.0, precision * r) / r;
    y.map(|v| shrink * v)
}

/// The point of the orbit {±q g} nearest to x, the first in the group's order where several are equally near.
pub fn nearest(symmetry: Symmetry, q: &[f64], x: &[f64]) -> Quaternion {
    let y = multiply(&conjugate(q), x);
    let (side, axis) = (y[0].hypot(y[1]), y[2].hypot(y[3]));
    let g = match symmetry {
        Symmetry::AxialFlip if side > axis => [y[0] / side, y[1] / side, 0.0, 0.0],
        Symmetry::Axial | Symmetry::AxialFlip if axis > 0.0 => [0.0, 0.0, y[2] / axis, y[3] / axis],
        Symmetry::Axial | Symmetry::AxialFlip => IDENTITY,
        Symmetry::Trivial | Symmetry::Finite(_) => {
            let (mut best, mut most) = (IDENTITY, -1.0);
            for g in symmetry.elements().unwrap_or_default() {
                let product: f64 = g.iter().zip(&y).map(|(a, b)| a * b).sum();
                if product.abs() > most {
                    (best, most) = (if product < 0.0 { g.map(|v| -v) } else { *g }, product.abs());
                }
            }
            best
        }
    };
    multiply(q, &g)
}
