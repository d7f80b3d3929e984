//! Single values: as they are written, and as they stand in cells.

use super::RowFault;
use std::fmt;

/// One value to be written.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
}

impl fmt::Display for Cell {
    /// The shortest text that reads back as the same value; very large and very small numbers with an exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Number(x) if *x == 0.0 || (1e-5..1e16).contains(&x.abs()) => write!(f, "{x}"),
            Cell::Number(x) => write!(f, "{x:e}"),
            Cell::Text(text) => f.write_str(text),
        }
    }
}

/// Reads a number; NaN and infinities pass here.
pub(crate) fn parse_number(cell: &str) -> Result<f64, RowFault> {
    let cell = cell.trim();
    if cell.is_empty() {
        return Err(RowFault::Blank);
    }
    cell.parse().map_err(|_| {
        if cell.matches(',').count() == 1 && cell.replace(',', ".").parse::<f64>().is_ok() {
            RowFault::DecimalComma(cell.into())
        } else {
            RowFault::NotANumber(cell.chars().take(40).collect())
        }
    })
}

/// What spreadsheets write into cells that they cannot compute.
pub(super) const SHEET_ERRORS: [&str; 7] = ["#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!"];

/// Whether a cell marks a missing value.
pub(crate) fn is_missing(cell: &str) -> bool {
    ["", "-", "na", "n/a", "null", "none"].contains(&cell.trim().to_lowercase().as_str()) || is_sheet_error(cell)
}

/// Whether a cell holds an error value of a spreadsheet.
pub(super) fn is_sheet_error(cell: &str) -> bool {
    SHEET_ERRORS.iter().any(|error| cell.trim().eq_ignore_ascii_case(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_numbers_read_back_as_themselves() {
        for x in [0.0, 0.1, -1.5, 1.0 / 3.0, 1e-300, 6.02e23, f64::MIN_POSITIVE, f64::MAX, 123456.789] {
            let text = Cell::Number(x).to_string();
            assert_eq!(text.parse::<f64>(), Ok(x), "{text}");
            assert!(text.len() < 26, "{text}");
        }
    }

    #[test]
    fn bad_numbers_are_told_apart() {
        assert_eq!(parse_number(" "), Err(RowFault::Blank));
        assert_eq!(parse_number("1,5"), Err(RowFault::DecimalComma("1,5".into())));
        assert_eq!(parse_number("NA"), Err(RowFault::NotANumber("NA".into())));
        assert_eq!(parse_number(" -2.5e3 "), Ok(-2500.0));
    }
}
