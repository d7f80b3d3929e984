//! Inner products and lengths.

/// Σ aᵢ bᵢ.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Σ (aᵢ − bᵢ)².
pub fn distance_squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Euclidean length, free of overflow and underflow.
pub fn norm(x: &[f64]) -> f64 {
    let square = dot(x, x);
    if square > 1e-280 && square < 1e280 {
        return square.sqrt();
    }
    let largest = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * x.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt()
}

/// |x| − 1 to full relative accuracy for the given `x`.
///
/// # Numerics
/// (|x|² − 1)/(|x| + 1), with |x|² − 1 summed in twice the working precision when |x| is near 1. The plain difference is
/// wrong by 1e-16, which a division by σ² = 1e-12 turns into 1e-4.
pub(crate) fn norm_minus_one(x: &[f64]) -> f64 {
    let length = norm(x);
    if (length - 1.0).abs() > 0.1 {
        return length - 1.0;
    }
    let (mut sum, mut lost) = (-1.0, 0.0);
    for &x in x {
        let square = x * x;
        lost += x.mul_add(x, -square);
        let next = sum + square;
        let carried = next - sum;
        lost += (sum - (next - carried)) + (square - carried);
        sum = next;
    }
    (sum + lost) / (length + 1.0)
}

/// ln Σ exp.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + values.iter().map(|v| (v - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norm_survives_extreme_lengths() {
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
        assert_eq!(norm(&[0.0, 0.0]), 0.0);
    }

    #[test]
    fn norm_minus_one_keeps_its_digits() {
        let exact = {
            // 0.6 = a/2^53, 0.8 = b/2^53 with integers a, b: the square is an exact integer computation.
            let a = (0.6_f64 * (1u64 << 53) as f64) as i128;
            let b = (0.8_f64 * (1u64 << 53) as f64) as i128;
            let excess = a * a + b * b - (1i128 << 106);
            excess as f64 / 2f64.powi(106) / 2.0
        };
        assert!((norm_minus_one(&[0.6, 0.8]) / exact - 1.0).abs() < 1e-12);
    }
}
