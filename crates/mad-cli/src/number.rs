//! How numbers are written for people: with as many digits as count, whatever their size.

/// A number with four significant digits.
pub fn significant(value: f64) -> String {
    with_digits(value, 4)
}

/// A number with this many significant digits, and zeros at the end left out.
pub fn trimmed(value: f64, digits: usize) -> String {
    let text = with_digits(value, digits);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// Whole numbers up to a million stay whole; beyond that, and below a thousandth, an exponent follows.
fn with_digits(value: f64, digits: usize) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "not finite".into(),
        0.0 => "0".into(),
        _ if !(1e-3..1e6).contains(&size) => format!("{value:.*e}", digits - 2),
        _ => {
            let before = size.log10().floor() as i32 + 1;
            let decimals = usize::try_from(digits as i32 - before).unwrap_or(0);
            format!("{value:.decimals$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_that_count() {
        let cases = [
            (0.0, "0"),
            (-1.23456, "-1.235"),
            (123.456, "123.5"),
            (0.012345, "0.01235"),
            (0.0012346, "0.001235"),
            (98765.4, "98765"),
            (1.5e-7, "1.50e-7"),
            (f64::NAN, "not finite"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
        assert_eq!(
            (trimmed(12.5, 6), trimmed(-179.99961, 6), trimmed(5.0, 6)),
            ("12.5".into(), "-180".into(), "5".into())
        );
        assert_eq!((trimmed(7100.0, 6), trimmed(1.5e-7, 6)), ("7100".into(), "1.5000e-7".into()));
    }
}
