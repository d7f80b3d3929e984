//! The integral of a model's density, estimated from points that its own samples propose.

use mad_core::likelihood::Normaliser;
use std::fmt;

/// Standard errors from 1 beyond which an integral is called wrong.
const FAR: f64 = 4.0;

/// An integral that should be 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integral {
    pub value: f64,
    /// Standard error of the estimate; 0 for a sum over all points of a finite set.
    pub error: f64,
}

impl From<Normaliser> for Integral {
    fn from(found: Normaliser) -> Self {
        Self { value: found.value(), error: found.standard_error() }
    }
}

impl fmt::Display for Integral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, error } = self;
        write!(f, "integral {value:.3} ± {error:.3}")?;
        match (value - 1.0).abs() <= FAR * error + 0.03 {
            true => Ok(()),
            false => f.write_str(", not 1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integral_comes_with_its_error_and_a_warning_if_it_is_not_one() {
        let text = |value: f64, error: f64| Integral { value, error }.to_string();
        assert_eq!(text(0.98, 0.01), "integral 0.980 ± 0.010");
        assert_eq!(text(1.5, 0.2), "integral 1.500 ± 0.200");
        assert_eq!(text(0.6, 0.02), "integral 0.600 ± 0.020, not 1");
        assert!(text(f64::NAN, f64::NAN).ends_with("not 1"));
        let found = Normaliser { log_value: 2f64.ln(), relative_error: 0.25, draws: 10 };
        assert_eq!(Integral::from(found), Integral { value: found.value(), error: 0.25 * found.value() });
    }
}
