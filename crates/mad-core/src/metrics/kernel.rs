//! Kernels: how similar two points are.

use super::chord::Chord;
use crate::{
    Points,
    manifold::Manifold,
    measure::SphereBlock,
    riemannian::is_rotation,
    rng::{Purpose, stream},
};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Terms of the truncated heat series: degrees 0 to 10.
const DEGREE: usize = 10;

/// Points among which the median distance is taken.
const MEDIAN_POINTS: usize = 1000;

/// A positive definite kernel k(x, y) for comparing samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Kernel {
    /// Truncated heat kernel of S² with κ = 0.5, as in RSGM's code; a function of the inner product.
    HeatSphere,
    /// The same series carried to S³, on quaternions with w ≥ 0.
    HeatQuaternion,
    /// Heat kernel of SO(3) at τ = 1/8; free of the sign of the quaternion.
    HeatRotations,
    /// exp(−|x − y|²/(2 h²)) in the manifold's chord distance.
    Gaussian {
        /// Bandwidth h; the median heuristic on the reference sample where absent.
        bandwidth: Option<f64>,
    },
}

impl Default for Kernel {
    fn default() -> Self {
        Kernel::Gaussian { bandwidth: None }
    }
}

impl Kernel {
    /// The kernel ready for use: series as polynomials, and a bandwidth from `reference` if none is given.
    pub fn prepare(&self, manifold: &dyn Manifold, reference: &Points) -> Profile {
        match self {
            Kernel::HeatSphere => Profile::Polynomial { coefficients: heat_sphere(), variable: Variable::Cosine },
            Kernel::HeatQuaternion => {
                Profile::Polynomial { coefficients: heat_quaternion(), variable: Variable::UpperCosine }
            }
            Kernel::HeatRotations => {
                Profile::Polynomial { coefficients: heat_rotations(), variable: Variable::SquaredCosine }
            }
            Kernel::Gaussian { bandwidth } => {
                let chord = Chord::of(manifold, reference);
                let bandwidth = bandwidth.unwrap_or_else(|| median_bandwidth(manifold, &chord, reference));
                Profile::Gaussian { bandwidth, chord }
            }
        }
    }

    /// Why it cannot compare points of this manifold.
    pub fn refuses(&self, manifold: &dyn Manifold) -> Option<String> {
        let one = |suits: fn(&SphereBlock) -> bool| {
            manifold.spheres().is_some_and(|spheres| matches!(&spheres[..], [sphere] if suits(sphere)))
        };
        let plain = |sphere: &SphereBlock| !sphere.antipodal && sphere.range.len() == 3;
        let needs = |set: &str| Some(format!("is a kernel of {set}; this is {}", manifold.spec()));
        match self {
            Kernel::HeatSphere if !one(plain) => needs("sphere:2"),
            Kernel::HeatQuaternion | Kernel::HeatRotations if !one(is_rotation) => needs("so3"),
            Kernel::Gaussian { bandwidth: Some(h) } if !(h.is_finite() && *h > 0.0) => {
                Some(format!("has bandwidth {h}, which must be above zero"))
            }
            _ => None,
        }
    }

    /// The kernel in words, with its bandwidth.
    pub fn describe(&self, profile: &Profile) -> String {
        match (self, profile) {
            (Kernel::HeatSphere, _) => "heat kernel of S2, tau 1/8, degree 10".into(),
            (Kernel::HeatQuaternion, _) => "heat series of S3 as RSGM, tau 1/8, degree 10, w >= 0".into(),
            (Kernel::HeatRotations, _) => "heat kernel of SO(3), tau 1/8, degree 10".into(),
            (Kernel::Gaussian { bandwidth }, Profile::Gaussian { bandwidth: h, .. }) => {
                let source = if bandwidth.is_some() { "given" } else { "median of the reference" };
                format!("Gaussian, chord distance, bandwidth {h:.4} ({source})")
            }
            (Kernel::Gaussian { .. }, Profile::Polynomial { .. }) => "Gaussian".into(),
        }
    }
}

/// A kernel as numbers, to be evaluated many times.
#[derive(Debug, Clone, PartialEq)]
pub enum Profile {
    /// Σ_n a_n v^n in a variable v made from the inner product.
    Polynomial {
        /// a_0 … a_10.
        coefficients: [f64; DEGREE + 1],
        /// The variable.
        variable: Variable,
    },
    /// exp(−chord²/(2 h²)).
    Gaussian {
        /// Bandwidth h.
        bandwidth: f64,
        /// The distance.
        chord: Chord,
    },
}

/// What a polynomial kernel is a polynomial in; c is the inner product clipped to [−1, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    /// c.
    Cosine,
    /// c of the representatives whose last coordinate is not negative.
    UpperCosine,
    /// c².
    SquaredCosine,
}

impl Profile {
    /// k(x, y).
    pub fn evaluate(&self, manifold: &dyn Manifold, x: &[f64], y: &[f64]) -> f64 {
        match self {
            Profile::Polynomial { coefficients, variable } => {
                let c = x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>().clamp(-1.0, 1.0);
                let v = match variable {
                    Variable::Cosine => c,
                    Variable::UpperCosine => c * upper(x) * upper(y),
                    Variable::SquaredCosine => c * c,
                };
                horner(coefficients, v)
            }
            Profile::Gaussian { bandwidth, chord } => {
                (-0.5 * chord.squared(manifold, x, y) / (bandwidth * bandwidth)).exp()
            }
        }
    }

    /// Σ_j k(x, y_j) over all rows of `ys`, in order.
    pub(super) fn row_sum(&self, manifold: &dyn Manifold, x: &[f64], ys: &[f64]) -> f64 {
        let d = x.len();
        match self {
            Profile::Polynomial { coefficients, variable } => match d {
                3 => polynomial_sum::<3>(coefficients, *variable, x, ys),
                4 => polynomial_sum::<4>(coefficients, *variable, x, ys),
                _ => ys.chunks_exact(d).map(|y| self.evaluate(manifold, x, y)).sum(),
            },
            Profile::Gaussian { bandwidth, chord } => {
                let factor = -0.5 / (bandwidth * bandwidth);
                let mut squared = [0.0; SLAB];
                let mut total = 0.0;
                for ys in ys.chunks(SLAB * d) {
                    let squared = &mut squared[..ys.len() / d];
                    chord.squared_rows(manifold, x, ys, squared);
                    total += squared.iter().map(|s| (factor * s).exp()).sum::<f64>();
                }
                total
            }
        }
    }

    /// k(x, x), the same for every point of the manifolds these kernels are made for.
    pub(crate) fn at_zero(&self) -> f64 {
        match self {
            Profile::Polynomial { coefficients, .. } => coefficients.iter().sum(),
            Profile::Gaussian { .. } => 1.0,
        }
    }

    /// Bandwidth of a Gaussian kernel.
    pub fn bandwidth(&self) -> Option<f64> {
        match self {
            Profile::Gaussian { bandwidth, .. } => Some(*bandwidth),
            Profile::Polynomial { .. } => None,
        }
    }
}

/// Lanes of independent sums, so that the compiler can use vector instructions.
const LANES: usize = 8;

/// Distances held at a time.
const SLAB: usize = 256;

fn polynomial_sum<const D: usize>(a: &[f64; DEGREE + 1], variable: Variable, x: &[f64], ys: &[f64]) -> f64 {
    let x: [f64; D] = std::array::from_fn(|i| x[i]);
    let sign = if variable == Variable::UpperCosine { upper(&x) } else { 1.0 };
    let at = |y: &[f64]| {
        let mut c = 0.0;
        for i in 0..D {
            c += x[i] * y[i];
        }
        let c = c.clamp(-1.0, 1.0);
        match variable {
            Variable::Cosine => c,
            Variable::UpperCosine => c * sign * upper(y),
            Variable::SquaredCosine => c * c,
        }
    };
    let mut sums = [0.0; LANES];
    let mut blocks = ys.chunks_exact(LANES * D);
    for block in &mut blocks {
        let v: [f64; LANES] = std::array::from_fn(|l| at(&block[l * D..(l + 1) * D]));
        let mut k = [a[DEGREE]; LANES];
        for n in (0..DEGREE).rev() {
            for l in 0..LANES {
                k[l] = k[l] * v[l] + a[n];
            }
        }
        for l in 0..LANES {
            sums[l] += k[l];
        }
    }
    sums.iter().sum::<f64>() + blocks.remainder().chunks_exact(D).map(|y| horner(a, at(y))).sum::<f64>()
}

fn horner(a: &[f64; DEGREE + 1], v: f64) -> f64 {
    a.iter().rev().fold(0.0, |sum, a| sum * v + a)
}

/// The sign that makes the last coordinate, or the first non-zero one if that is zero, positive.
fn upper(q: &[f64]) -> f64 {
    let first = q.last().filter(|w| **w != 0.0).or_else(|| q.iter().find(|c| **c != 0.0));
    if first.is_some_and(|c| *c < 0.0) { -1.0 } else { 1.0 }
}

/// Heat kernel of S² at τ = κ²/2 with κ = 1/2.
///
/// # Formula
/// k(c) = (1/4π) Σ_{n=0}^{10} (2n + 1) exp(−n(n + 1)/8) P_n(c).
///
/// # Reference
/// oxcsml/riemannian-score-sde, scripts/approximate_forward.py.
///
/// # Numerics
/// Summed in powers of c. The factors exp(−n(n + 1)/8) fall faster than the coefficients of P_n grow, so nothing cancels.
fn heat_sphere() -> [f64; DEGREE + 1] {
    // (n + 1) P_{n+1} = (2n + 1) c P_n − n P_{n−1}.
    let mut sum = [0.0; DEGREE + 1];
    let (mut before, mut now) = ([0.0; DEGREE + 1], [0.0; DEGREE + 1]);
    now[0] = 1.0;
    for n in 0..=DEGREE {
        let factor = (2 * n + 1) as f64 * damping(n) / (4.0 * PI);
        sum.iter_mut().zip(now).for_each(|(s, p)| *s += factor * p);
        let (two_n_1, n_f) = ((2 * n + 1) as f64, n as f64);
        let next = std::array::from_fn(|i| {
            let shifted = if i == 0 { 0.0 } else { now[i - 1] };
            (two_n_1 * shifted - n_f * before[i]) / (n_f + 1.0)
        });
        (before, now) = (now, next);
    }
    sum
}

/// The same series carried to S³, with the eigenvalues n(n + 1) of S² as in RSGM's code.
///
/// # Formula
/// k(c) = (1/2π²) Σ_{n=0}^{10} (n + 1) exp(−n(n + 1)/8) U_n(c).
fn heat_quaternion() -> [f64; DEGREE + 1] {
    let mut sum = [0.0; DEGREE + 1];
    for (n, u) in chebyshev::<{ DEGREE + 1 }>(DEGREE).into_iter().enumerate() {
        let factor = (n + 1) as f64 * damping(n) / (2.0 * PI * PI);
        sum.iter_mut().zip(u).for_each(|(s, p)| *s += factor * p);
    }
    sum
}

/// Heat kernel of SO(3) at τ = 1/8, as a polynomial in c², c the inner product of quaternions.
///
/// # Formula
/// k = (1/8π²) Σ_{l=0}^{10} (2l + 1) exp(−l(l + 1)/8) χ_l, χ_l = sin((2l + 1)θ/2)/sin(θ/2) = U_{2l}(c), |c| = cos(θ/2).
fn heat_rotations() -> [f64; DEGREE + 1] {
    let mut sum = [0.0; DEGREE + 1];
    for (l, u) in chebyshev::<{ 2 * DEGREE + 1 }>(2 * DEGREE).into_iter().step_by(2).enumerate() {
        let factor = (2 * l + 1) as f64 * damping(l) / (8.0 * PI * PI);
        sum.iter_mut().zip(u.into_iter().step_by(2)).for_each(|(s, p)| *s += factor * p);
    }
    sum
}

/// exp(−n(n + 1)/8).
fn damping(n: usize) -> f64 {
    (-((n * (n + 1)) as f64) / 8.0).exp()
}

/// Coefficients of the Chebyshev polynomials U_0 … U_degree: U_{n+1} = 2 c U_n − U_{n−1}.
fn chebyshev<const N: usize>(degree: usize) -> Vec<[f64; N]> {
    let mut all = vec![std::array::from_fn(|i| if i == 0 { 1.0 } else { 0.0 })];
    for n in 0..degree {
        let (now, before): ([f64; N], _) = (all[n], n.checked_sub(1).map(|b| all[b]));
        all.push(std::array::from_fn(|i| {
            let shifted = if i == 0 { 0.0 } else { now[i - 1] };
            2.0 * shifted - before.map_or(0.0, |b: [f64; N]| b[i])
        }));
    }
    all
}

/// The bandwidth h with 2 h² = (median chord distance)², over pairs of at most a thousand points of `reference`.
///
/// Pairs of equal points do not count, so that repeated points cannot make it zero; 1 if all points are equal.
fn median_bandwidth(manifold: &dyn Manifold, chord: &Chord, reference: &Points) -> f64 {
    let mut rng = stream(0, Purpose::Metric, 0);
    let count = reference.len().min(MEDIAN_POINTS);
    let rows: Vec<usize> = if reference.len() <= MEDIAN_POINTS {
        (0..count).collect()
    } else {
        (0..count).map(|_| rng.random_range(0..reference.len())).collect()
    };
    let mut distances: Vec<f64> = Vec::with_capacity(count * count / 2); // squared
    for (i, a) in rows.iter().enumerate() {
        let squares = rows[..i].iter().map(|b| chord.squared(manifold, reference.row(*a), reference.row(*b)));
        distances.extend(squares.filter(|d| *d > 0.0));
    }
    if distances.is_empty() {
        return 1.0;
    }
    let middle = distances.len() / 2;
    (*distances.select_nth_unstable_by(middle, f64::total_cmp).1 / 2.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_kernel_of_the_sphere_has_the_measured_values() {
        let expected = [
            (0.0, 0.6638249),
            (0.1, 0.6512277),
            (0.25, 0.5889161),
            (0.5, 0.4112558),
            (1.0, 0.0980159),
            (1.5, 0.0090623),
            (2.0, 0.00033191),
        ];
        for (angle, value) in expected {
            let k = horner(&heat_sphere(), f64::cos(angle));
            assert!((k - value).abs() < 6e-8, "{angle}: {k} {value}");
        }
        let k = horner(&heat_sphere(), -1.0);
        assert!((k - 1.46e-7).abs() < 1e-9, "{k}");
    }

    #[test]
    fn heat_kernels_on_quaternions_match_their_sines() {
        assert!((horner(&heat_quaternion(), 1.0) - 0.7681).abs() < 5e-5);
        assert!((horner(&heat_rotations(), 1.0) - 0.5241).abs() < 5e-5);
        for half in [0.3f64, 0.9, 1.4] {
            let direct = |n: usize| ((n + 1) as f64 * half).sin() / half.sin();
            let s3: f64 = (0..=10).map(|n| (n + 1) as f64 * damping(n) * direct(n)).sum::<f64>() / (2.0 * PI * PI);
            assert!((horner(&heat_quaternion(), half.cos()) - s3).abs() < 1e-13);
            let so3: f64 =
                (0..=10).map(|l| (2 * l + 1) as f64 * damping(l) * direct(2 * l)).sum::<f64>() / (8.0 * PI * PI);
            assert!((horner(&heat_rotations(), half.cos().powi(2)) - so3).abs() < 1e-12);
        }
    }
}
