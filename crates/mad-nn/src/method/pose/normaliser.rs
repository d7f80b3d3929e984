//! The normaliser of a Bingham distribution of quaternions.

use std::f64::consts::PI;

/// e^{−αu} is negligible beyond αu = 45.
const NEGLIGIBLE: f64 = 45.0;

/// Nodes of Gauss and Legendre on one piece.
const NODES: usize = 16;

/// Positive nodes and their weights on [−1, 1].
const RULE: [(f64, f64); NODES / 2] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];

/// ln F(λ) and its derivatives.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogNormaliser {
    /// ln F.
    pub value: f64,
    /// ∂ ln F/∂λⱼ, the mean of rⱼ².
    pub slope: [f64; 3],
}

impl LogNormaliser {
    /// F(λ) = ∫ exp(λ₁x₁² + λ₂x₂² + λ₃x₃²) over the unit quaternions, for 0 ≥ λ₁ ≥ λ₂ ≥ λ₃.
    ///
    /// # Formula
    /// In coordinates (√(1−u) e^{is}, √u e^{it}) both angles integrate to Bessel functions:
    ///
    /// F = 2π² ∫₀¹ e^{λ₂u} Ĩ₀(λ₁(1−u)/2) Ĩ₀((λ₂−λ₃)u/2) du, Ĩ₀(k) = e^{−|k|} I₀(k).
    ///
    /// # Numerics
    /// With u = v² the integrand is smooth on the scale 1/√|λ₃| first and 1/√|λ₂| then: pieces of v that grow fourfold, 16 nodes of
    /// Gauss and Legendre on each. Tests hold it to 10⁻⁴ against sums over angles.
    pub fn at(lambda: &[f64; 3]) -> Self {
        let (gamma, alpha, beta) = (-0.5 * lambda[0], -lambda[1], 0.5 * (lambda[1] - lambda[2]));
        let end = (NEGLIGIBLE / alpha.max(NEGLIGIBLE)).sqrt();
        let mut from = 0.0;
        let mut to = (2.0 / (1.0 + alpha + beta).sqrt()).min(end);
        // The integral and its derivatives along α, β, γ.
        let mut sums = [0.0; 4];
        loop {
            let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
            for (node, weight) in RULE {
                for v in [middle - half * node, middle + half * node] {
                    let u = v * v;
                    let (first, first_slope) = scaled_bessel(gamma * (1.0 - u));
                    let (second, second_slope) = scaled_bessel(beta * u);
                    let rest = weight * half * 2.0 * v * (-alpha * u).exp();
                    sums[0] += rest * first * second;
                    sums[1] -= rest * u * first * second;
                    sums[2] += rest * u * first * second_slope;
                    sums[3] += rest * (1.0 - u) * first_slope * second;
                }
            }
            if to >= end {
                break;
            }
            (from, to) = (to, (4.0 * to).min(end));
        }
        let [total, by_alpha, by_beta, by_gamma] = sums;
        let slope = [-0.5 * by_gamma, 0.5 * by_beta - by_alpha, -0.5 * by_beta];
        Self { value: (2.0 * PI * PI * total).ln(), slope: slope.map(|s| s / total) }
    }
}

/// Ĩ₀(k) = e^{−k} I₀(k) and its derivative e^{−k}(I₁(k) − I₀(k)), for k ≥ 0.
///
/// # Numerics
/// Power series below 12, asymptotic series above; relative error of Ĩ₀ below 10⁻⁸.
fn scaled_bessel(k: f64) -> (f64, f64) {
    if k < 12.0 {
        let quarter = 0.25 * k * k;
        let (mut zero, mut one) = (1.0, 0.5);
        let (mut a, mut b) = (1.0, 0.5);
        let mut i = 1.0;
        while a > 1e-17 * zero {
            a *= quarter / (i * i);
            b *= quarter / (i * (i + 1.0));
            zero += a;
            one += b;
            i += 1.0;
        }
        let scale = (-k).exp();
        return (scale * zero, scale * (k * one - zero));
    }
    // Σ cᵢ/kⁱ, cᵢ₊₁ = cᵢ ((2i+1)² − 4ν²)/(8(i+1)), as long as terms fall.
    let series = |order: f64| {
        let (mut sum, mut term) = (1.0, 1.0);
        for i in 0..14 {
            let i = f64::from(i);
            let next = term * ((2.0 * i + 1.0).powi(2) - 4.0 * order * order) / (8.0 * (i + 1.0) * k);
            if next.abs() > f64::abs(term) || next.abs() < 1e-17 {
                break;
            }
            sum += next;
            term = next;
        }
        sum
    };
    let scale = 1.0 / (2.0 * PI * k).sqrt();
    let (zero, one) = (series(0.0), series(1.0));
    (scale * zero, scale * (one - zero))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::{
        rng::{Purpose, stream},
        special::ln_bessel_i,
    };
    use rand::RngExt as _;

    /// F by the midpoint rule in three angles, with the middle of the distribution spread out.
    fn numeric(lambda: &[f64; 3]) -> f64 {
        // S³ as (√(1−u) e^{is}, √u e^{it}) with measure du ds dt/2, and u = v².
        let n = 1500;
        let mean =
            |f: &dyn Fn(f64) -> f64| (0..n).map(|i| f((f64::from(i) + 0.5) / f64::from(n))).sum::<f64>() / f64::from(n);
        let circle = |a: f64, b: f64| {
            2.0 * PI * mean(&|t| (a * (2.0 * PI * t).cos().powi(2) + b * (2.0 * PI * t).sin().powi(2)).exp())
        };
        mean(&|v| {
            let u = v * v;
            0.5 * 2.0 * v * circle(0.0, lambda[0] * (1.0 - u)) * circle(lambda[1] * u, lambda[2] * u)
        })
    }

    #[test]
    fn the_formula_is_the_integral() {
        for lambda in
            [[0.0, 0.0, 0.0], [-0.3, -1.0, -2.0], [-3.0, -3.0, -60.0], [-20.0, -150.0, -300.0], [-0.01, -0.02, -900.0]]
        {
            let (said, wanted) = (LogNormaliser::at(&lambda).value, numeric(&lambda).ln());
            assert!((said - wanted).abs() < 1e-4, "{lambda:?}: {said} {wanted}");
        }
        let sphere = (2.0 * PI * PI).ln();
        assert!((LogNormaliser::at(&[0.0; 3]).value - sphere).abs() < 1e-12);
    }

    #[test]
    fn it_agrees_with_random_points() {
        let lambda = [-1.0, -6.0, -10.0];
        let mut rng = stream(1, Purpose::Metric, 0);
        let n = 200_000;
        let mean = (0..n)
            .map(|_| {
                let q = mad_core::rotation::uniform(&mut rng);
                (0..3).map(|j| lambda[j] * q[j] * q[j]).sum::<f64>().exp()
            })
            .sum::<f64>()
            / f64::from(n);
        let said = LogNormaliser::at(&lambda).value.exp() / (2.0 * PI * PI);
        assert!((said / mean - 1.0).abs() < 0.02, "{said} {mean}");
    }

    #[test]
    fn sharp_distributions_are_normal() {
        for lambda in [[-2e5, -2e5, -2e5], [-1e5, -1e6, -6e6]] {
            let product: f64 = lambda.iter().map(|l: &f64| l.abs()).product();
            let normal = (2.0 * PI.powf(1.5) / product.sqrt()).ln();
            let found = LogNormaliser::at(&lambda);
            assert!((found.value - normal).abs() < 2e-5, "{lambda:?}: {} {normal}", found.value);
            for j in 0..3 {
                assert!((found.slope[j] * -2.0 * lambda[j] - 1.0).abs() < 1e-4, "{lambda:?}: {:?}", found.slope);
            }
        }
    }

    #[test]
    fn slopes_are_derivatives() {
        let mut rng = stream(2, Purpose::Metric, 0);
        for _ in 0..40 {
            let mut step = || (14.0 * rng.random::<f64>() - 4.0).exp();
            let (a, b, c) = (step(), step(), step());
            let lambda = [-a, -a - b, -a - b - c];
            let found = LogNormaliser::at(&lambda);
            for j in 0..3 {
                let h = [a, b, c].into_iter().fold(f64::MAX, f64::min) * 1e-3;
                let moved = |h: f64| {
                    let mut moved = lambda;
                    moved[j] += h;
                    LogNormaliser::at(&moved).value
                };
                let numeric = (moved(h) - moved(-h)) / (2.0 * h);
                let off = (numeric - found.slope[j]).abs();
                assert!(off < 1e-4 * found.slope[j] + 1e-9 / h, "{lambda:?} {j}: {numeric} {:?}", found.slope);
            }
        }
    }

    #[test]
    fn bessel_functions_are_right() {
        for k in [0.0, 1e-3, 0.5, 3.0, 11.9, 12.1, 40.0, 1e3, 1e6] {
            let (zero, slope) = scaled_bessel(k);
            if k == 0.0 {
                assert_eq!((zero, slope), (1.0, -1.0));
                continue;
            }
            let (i0, i1) = ((ln_bessel_i(0.0, k) - k).exp(), (ln_bessel_i(1.0, k) - k).exp());
            assert!((zero / i0 - 1.0).abs() < 1e-8, "{k}: {zero} {i0}");
            assert!((slope - (i1 - i0)).abs() < 1e-8 * i0, "{k}: {slope} {}", i1 - i0);
        }
    }
}
