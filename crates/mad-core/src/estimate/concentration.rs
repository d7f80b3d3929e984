//! From the length of a mean vector to a concentration.

use super::constants::LEAST_CONCENTRATION;
use crate::measure::MAX_CONCENTRATION;
use crate::special::bessel_ratio_complement;

/// The κ with 1 − A(κ) = `complement` on the sphere in R^`dim`; 0 if the complement is 1 or more, at most 1e8.
///
/// # Numerics
/// Secants of ln(1 − A) over ln κ, which is a line of slope −1 for large κ, with bisection wherever they are slow. The
/// complement is known to 1e-15 relative also where A is nearly 1, and so is κ.
pub(super) fn concentration(dim: usize, complement: f64) -> f64 {
    let order = dim as f64 / 2.0 - 1.0;
    let target = complement.ln();
    let off = |log: f64| bessel_ratio_complement(order, log.exp()).ln() - target;
    let (mut low, mut high) = (LEAST_CONCENTRATION.ln(), MAX_CONCENTRATION.ln());
    let (mut at_low, mut at_high) = (off(low), off(high));
    if at_low.is_nan() || at_low <= 0.0 {
        return 0.0;
    }
    if at_high >= 0.0 {
        return MAX_CONCENTRATION;
    }
    // A first guess: (d−1)/2κ for large κ.
    let mut guess = ((dim - 1) as f64 / 2.0 / complement).ln();
    for step in 0..200 {
        if !(guess > low && guess < high) || step % 8 == 7 {
            guess = 0.5 * (low + high);
        }
        let value = off(guess);
        let width = high - low;
        if value > 0.0 {
            (low, at_low) = (guess, value);
        } else {
            (high, at_high) = (guess, value);
        }
        if value.abs() < 1e-14 || width < 1e-14 * high.abs().max(1.0) {
            break;
        }
        // A secant through the last point with the slope of the bracket, or the asymptotic slope if that is steeper.
        let slope = (at_high - at_low) / (high - low);
        guess -= value / if (step % 2 == 0) || slope > -0.5 { slope.min(-1e-300) } else { -1.0 };
    }
    guess.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concentrations_are_recovered() {
        for dim in [2, 3, 4, 10, 100] {
            for exponent in -24..=31 {
                let kappa = 10f64.powf(f64::from(exponent) / 4.0);
                let complement = bessel_ratio_complement(dim as f64 / 2.0 - 1.0, kappa);
                let found = concentration(dim, complement);
                // 1 − A = 1 − κ/d for small κ, where 1e-16 of the complement is 1e-16 d/κ of κ.
                let tolerance = 1e-12 + 1e-14 * dim as f64 / kappa;
                assert!((found / kappa - 1.0).abs() < tolerance, "R^{dim}, κ = {kappa}: {found}");
            }
            assert_eq!(concentration(dim, 1.0), 0.0);
            assert_eq!(concentration(dim, 0.0), MAX_CONCENTRATION);
        }
    }
}
