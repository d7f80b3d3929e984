//! Modified Bessel functions I_ν, as far as spheres need them.
//!
//! A uniform point x₀ on the unit sphere of R^p gives E\[exp(k u·x₀)\] = J(k) = Γ(ν+1) (2/k)^ν I_ν(k) with ν = p/2 − 1, and
//! d ln J/dk = I_{ν+1}(k)/I_ν(k). These two and the complement of the ratio are all that base measures ask for.
//!
//! # Numerics
//! With η = √(ν² + k²) and q = ν²/η², the function θ = k I′_ν/I_ν obeys dθ/d ln k + θ² = η². Its formal solution in falling
//! powers of η (Debye's expansion) is uniform: it holds for every ν ≥ 0 and k ≥ 0 with η large, so one series serves large
//! orders, large arguments and both together. Where η is small, the ratio comes down from a larger order by the stable
//! recurrence r_{ν−1} = k/(2ν + k r_ν); where k is small, ln J comes from its power series, whose terms are all positive.
//!
//! # Reference
//! NIST DLMF 10.29, 10.41; Amos, Computation of modified Bessel functions and their ratios, Math. Comp. 28 (1974).

use std::f64::consts::{LN_2, PI};
use std::sync::LazyLock;

/// The uniform series is used where η is at least this large: then its last term is below 1e-16.
const LARGE: f64 = 30.0;

/// Number of correction terms of the uniform series.
const TERMS: usize = 18;

/// Coefficients in q of the polynomials Q_j (ratio) and S_j (logarithm), j = 1 … TERMS at index j − 1.
struct Debye {
    ratio: Vec<Vec<f64>>,
    logarithm: Vec<Vec<f64>>,
}

/// # Formula
/// θ = η + (1−q) Σ_{j≥1} η^{1−j} Q_j(q), Q₁ = −½,
/// Q_{j+1} = −½ { (1−j)(1−q) Q_j + 2q Q_j − 2q(1−q) Q_j′ + (1−q) Σ_{i=1}^{j} Q_i Q_{j+1−i} },
/// and ln I_ν = η + ν ln(k/(ν+η)) − ½ ln(2πη) + Σ_{j≥2} η^{1−j} S_j(q), where −(j−1+2m) s_{j,m} = q_{j,m}.
static DEBYE: LazyLock<Debye> = LazyLock::new(|| {
    let mut ratio: Vec<Vec<f64>> = vec![vec![-0.5]];
    for j in 1..TERMS {
        let mut next = vec![0.0; j + 1];
        let last = &ratio[j - 1];
        for (m, &c) in last.iter().enumerate() {
            let m_real = m as f64;
            let plain = (1.0 - j as f64 - 2.0 * m_real) * c;
            next[m] += plain;
            next[m + 1] += 2.0 * c - plain;
        }
        let mut products = vec![0.0; j];
        for i in 1..=j {
            for (a, &x) in ratio[i - 1].iter().enumerate() {
                for (b, &y) in ratio[j - i].iter().enumerate() {
                    products[a + b] += x * y;
                }
            }
        }
        for (m, &c) in products.iter().enumerate() {
            next[m] += c;
            next[m + 1] -= c;
        }
        next.iter_mut().for_each(|c| *c *= -0.5);
        ratio.push(next);
    }
    let logarithm = ratio
        .iter()
        .enumerate()
        .map(|(j, q)| q.iter().enumerate().map(|(m, &c)| if j == 0 { 0.0 } else { -c / (j + 2 * m) as f64 }).collect())
        .collect();
    Debye { ratio, logarithm }
});

/// Σ_j η^{−j} poly_j(q) over the tabled polynomials from index `first` on, stopping once terms cannot matter.
fn series(polynomials: &[Vec<f64>], first: usize, eta: f64, q: f64) -> f64 {
    let inverse = 1.0 / eta;
    let (mut sum, mut power) = (0.0, inverse.powi(first as i32));
    for polynomial in &polynomials[first..] {
        sum += power * polynomial.iter().rev().fold(0.0, |acc, c| acc * q + c);
        power *= inverse;
        // Later terms are at most j! times this power.
        if power < 1e-22 {
            break;
        }
    }
    sum
}

/// η = √(ν² + k²) and q = (ν/η)².
fn eta_and_q(nu: f64, k: f64) -> (f64, f64) {
    let eta = nu.hypot(k);
    (eta, (nu / eta) * (nu / eta))
}

/// I_{ν+1}(k)/I_ν(k) − k/(η+ν), for large η: −(k/η²)·(½ + …).
fn ratio_correction(k: f64, eta: f64, q: f64) -> f64 {
    (k / eta) / eta * series(&DEBYE.ratio, 0, eta, q)
}

/// I_{ν+1}(k)/I_ν(k) for ν ≥ 0 and k ≥ 0, to about 1e-15 relative.
///
/// # Formula
/// k/(η+ν) + k Σ_{j≥1} η^{−1−j} Q_j(q) for large η; r_{ν−1} = k/(2ν + k r_ν) downwards otherwise.
///
/// # Numerics
/// One step of the recurrence multiplies an error by r², so 2 + 6√k steps from Amos' bound k/(ν + ½ + √((ν+3/2)² + k²))
/// reach 1e-16 for every ν where k < 30 (found by trial against 40 digits; the table of values holds it to that).
///
/// # Reference
/// MAD, Prop. on spheres: E\[x₀ | x\] = A_n(k) x/|x| with A_n = I_{(n+1)/2}/I_{(n−1)/2}.
pub fn bessel_ratio(nu: f64, k: f64) -> f64 {
    debug_assert!(nu >= 0.0 && k >= 0.0, "order {nu}, argument {k}");
    if k == 0.0 {
        return 0.0;
    }
    if k == f64::INFINITY {
        return 1.0;
    }
    if nu == 0.5 && k >= 1.0 {
        return 1.0 - bessel_ratio_complement(nu, k);
    }
    let (eta, q) = eta_and_q(nu, k);
    if eta >= LARGE {
        return k / (eta + nu) + ratio_correction(k, eta, q);
    }
    let steps = 2.0 + (6.0 * k.sqrt()).ceil();
    let top = nu + steps;
    let mut ratio = k / (top + 0.5 + (top + 1.5).hypot(k));
    let mut order = top;
    while order > nu {
        ratio = k / (2.0 * order + k * ratio);
        order -= 1.0;
    }
    ratio
}

/// 1 − I_{ν+1}(k)/I_ν(k) to about 1e-15 relative (1e-14 near k = 30), also where the ratio is nearly 1.
///
/// # Numerics
/// 1 − k/(η+ν) = 2ν/(k+ν+η) without subtraction. For ν = ½ and k ≥ 1: 1/k − 2/(e^{2k} − 1). Below η = 30 the complement
/// exceeds 1/60, so that 1 − ratio loses less than two digits.
pub fn bessel_ratio_complement(nu: f64, k: f64) -> f64 {
    debug_assert!(nu >= 0.0 && k >= 0.0, "order {nu}, argument {k}");
    if k == f64::INFINITY {
        return 0.0;
    }
    if nu == 0.5 && k >= 1.0 {
        return 1.0 / k - 2.0 / (2.0 * k).exp_m1();
    }
    if nu.hypot(k) < LARGE {
        return 1.0 - bessel_ratio(nu, k);
    }
    let (eta, q) = eta_and_q(nu, k);
    2.0 * nu / (k + nu + eta) - ratio_correction(k, eta, q)
}

/// ln J(k) = ln E\[exp(k u·x₀)\] for x₀ uniform on the unit sphere of R^`dim`; 0 at k = 0.
///
/// # Formula
/// J(k) = Γ(ν+1) (2/k)^ν I_ν(k) = ₀F₁(; ν+1; k²/4), ν = dim/2 − 1; d ln J/dk = [`bessel_ratio`]`(ν, k)`.
pub fn ln_mean_exp(dim: usize, k: f64) -> f64 {
    let nu = dim as f64 / 2.0 - 1.0;
    match small_argument(nu, k) {
        Some(value) => value,
        None if nu >= LARGE => large_order(nu, k, false),
        None => k + large_argument(nu, k),
    }
}

/// ln(e^{−k} J(k)): [`ln_mean_exp`] minus k, without the rounding of two numbers near k.
pub fn ln_mean_exp_scaled(dim: usize, k: f64) -> f64 {
    let nu = dim as f64 / 2.0 - 1.0;
    if dim == 3 && k >= 1.0 {
        return (-(-2.0 * k).exp()).ln_1p() - (2.0 * k).ln();
    }
    match small_argument(nu, k) {
        Some(value) => value - k,
        None if nu >= LARGE => large_order(nu, k, true),
        None => large_argument(nu, k),
    }
}

/// ln I_ν(k), for ν ≥ 0 a multiple of ½ and k > 0; −∞ at k = 0 unless ν = 0.
pub fn ln_bessel_i(nu: f64, k: f64) -> f64 {
    let dim = (2.0 * nu + 2.0).round() as usize;
    if nu == 0.0 {
        return ln_mean_exp(dim, k);
    }
    if nu.hypot(k) >= LARGE {
        let (eta, q) = eta_and_q(nu, k);
        return eta + nu * (k / (nu + eta)).ln() - 0.5 * (2.0 * PI * eta).ln() + log_series(eta, q);
    }
    ln_mean_exp(dim, k) + nu * (k / 2.0).ln() - libm::lgamma(nu + 1.0)
}

/// ln J by its power series Σ (k²/4)^m/(m! (ν+1)_m), where k is small.
fn small_argument(nu: f64, k: f64) -> Option<f64> {
    debug_assert!(k >= 0.0, "argument {k}");
    if k >= LARGE {
        return None;
    }
    let z = k * k / 4.0;
    let (mut term, mut sum, mut m) = (1.0, 0.0, 0.0);
    loop {
        m += 1.0;
        term *= z / (m * (nu + m));
        sum += term;
        if term <= 1e-18 * sum || term == 0.0 {
            return Some(sum.ln_1p());
        }
    }
}

/// Σ_{j≥2} η^{1−j} S_j(q).
fn log_series(eta: f64, q: f64) -> f64 {
    series(&DEBYE.logarithm, 1, eta, q)
}

/// ln J, or ln J − k if `scaled`, for ν ≥ 30.
///
/// # Numerics
/// Stirling's series for Γ(ν+1) is the same expansion at k = 0, so the large terms of ln Γ and ln I_ν cancel on paper. With
/// e = η − ν = k²/(η+ν): ln J = e − ν ln(1 + e/2ν) − ½ ln(1 + e/ν) + Σ; and e − k = −ν (e + k)/(η + k).
fn large_order(nu: f64, k: f64, scaled: bool) -> f64 {
    if k == f64::INFINITY {
        return if scaled { f64::NEG_INFINITY } else { k };
    }
    let (eta, q) = eta_and_q(nu, k);
    let excess = (k / (eta + nu)) * k;
    let leading = if scaled { -nu * ((excess + k) / (eta + k)) } else { excess };
    let corrections = log_series(eta, q) - log_series(nu, 1.0);
    leading - nu * (excess / (2.0 * nu)).ln_1p() - 0.5 * (excess / nu).ln_1p() + corrections
}

/// ln(e^{−k} J) for large η: ln Γ(ν+1) + ν ln(2/(ν+η)) + (η−k) − ½ ln(2πη) + Σ.
fn large_argument(nu: f64, k: f64) -> f64 {
    if k == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    let (eta, q) = eta_and_q(nu, k);
    let gap = if nu == 0.0 { 0.0 } else { nu * (nu / (eta + k)) };
    libm::lgamma(nu + 1.0) + nu * (LN_2 - (nu + eta).ln()) + gap - 0.5 * (2.0 * PI * eta).ln() + log_series(eta, q)
}
