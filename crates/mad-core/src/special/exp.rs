//! The exponential of several numbers at once.

use std::f64::consts::LOG2_E;

/// Added and taken away, it rounds to an integer, which stands in the lowest bits in between: 1.5 · 2⁵².
const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; integers below 2³² times the first are exact.
const LN_2: [f64; 2] = [6.931_457_519_531_25e-1, 1.428_606_820_309_417_2e-6];

/// Replaces every x ≤ 709 by exp x, within 2 units in the last place; below −600 by exp(−600) < 1e-260.
///
/// # Formula
/// x = k ln 2 + r with an integer k and |r| ≤ ln 2/2, and exp r = 1 + 2 rP(r²)/(Q(r²) − rP(r²)).
///
/// # Reference
/// Moshier, Cephes library, exp.c: P and Q.
///
/// # Numerics
/// Without calls and branches, so that the loop becomes vector instructions. Nothing smaller than 1e-261 is returned, as
/// subnormal products with it would be slow. NaN stays NaN.
#[inline(always)]
pub(crate) fn exp_all(values: &mut [f64]) {
    for value in values {
        let x = if *value < -600.0 { -600.0 } else { *value };
        let shifted = x * LOG2_E + ROUND;
        let k = shifted - ROUND;
        let r = x - k * LN_2[0] - k * LN_2[1];
        let square = r * r;
        let p = r * ((1.261_771_930_748_105_9e-4 * square + 3.029_944_077_074_419_6e-2) * square + 1.0);
        let q = ((3.001_985_051_386_644_6e-6 * square + 2.524_483_403_496_841e-3) * square
            + 2.272_655_482_081_550_3e-1)
            * square
            + 2.0;
        let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
        *value = (1.0 + 2.0 * (p / (q - p))) * power;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_agree_with_the_library_to_two_units_in_the_last_place() {
        let wide: Vec<f64> = (0..=1_000_000).map(|i| -600.0 + 1309.0 * i as f64 / 1e6).collect();
        let fine: Vec<f64> = (0..=1_000_000).map(|i| -1.0 + i as f64 / 1e6).collect();
        for x in [wide, fine] {
            let mut values = x.clone();
            exp_all(&mut values);
            for (value, x) in values.iter().zip(&x) {
                assert!((value / x.exp() - 1.0).abs() <= 2.0 * f64::EPSILON, "exp {x}: {value}");
            }
        }
    }

    #[test]
    fn exponentials_of_extreme_arguments() {
        let mut values = [0.0, -0.0, -1e300, f64::NEG_INFINITY, f64::NAN];
        exp_all(&mut values);
        assert_eq!(values[..2], [1.0, 1.0]);
        assert!(values[2..4].iter().all(|v| (0.0..1e-260).contains(v)), "{values:?}");
        assert!(values[4].is_nan());
    }
}
