//! The cells of one column, kept in little memory while a file streams by.
//!
//! A column begins as a list of different words with two bytes per row. A column with more than 65 536 different words
//! becomes numbers, nine bytes per row, if most of its words are numbers, and plain text otherwise. Nothing is lost: every
//! cell gives back the text that stood in the file, up to blanks around numbers and the writing of exponents.

use super::{Cell, RowFault, value::parse_number};
use std::{borrow::Cow, collections::HashMap};

/// Largest number of different words.
const MOST_WORDS: usize = 1 << 16;

/// Most digits of a number in decimal notation that binary numbers give back exactly.
const EXACT_DIGITS: usize = 15;

/// A number written in the shortest way.
const SHORTEST: u8 = 255;

/// No number: the text is kept apart.
const ODD: u8 = 254;

/// An empty cell.
const MISSING: u8 = 253;

/// The cells of one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnCells {
    /// Few different words.
    Words(Words),
    /// Numbers.
    Numbers(Numbers),
    /// Many different texts, one after another, cut at `ends`.
    Text { text: String, ends: Vec<usize> },
}

/// A list of words, and which of them stands in each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Words {
    codes: Vec<u16>,
    words: Vec<Box<str>>,
    values: Vec<Result<f64, RowFault>>,
    places: HashMap<Box<str>, u16>,
}

/// Numbers with the way each is written: how many decimals, or one of the constants above.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Numbers {
    values: Vec<f64>,
    styles: Vec<u8>,
    odd: HashMap<usize, Box<str>>,
}

impl Default for ColumnCells {
    fn default() -> Self {
        Self::Words(Words::default())
    }
}

impl ColumnCells {
    /// A column that is known to hold numbers.
    pub(super) fn numbers() -> Self {
        Self::Numbers(Numbers::default())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Words(words) => words.codes.len(),
            Self::Numbers(numbers) => numbers.values.len(),
            Self::Text { ends, .. } => ends.len(),
        }
    }

    /// Appends a cell.
    pub(super) fn push(&mut self, cell: &str) {
        match self {
            Self::Words(words) => {
                if !words.push(cell) {
                    let wide = words.widened();
                    *self = wide;
                    self.push(cell);
                }
            }
            Self::Numbers(numbers) => {
                numbers.push(cell);
                // A column that turns out to be text after all.
                if numbers.odd.len() > MOST_WORDS && numbers.odd.len() * 4 > numbers.values.len() {
                    let mut plain = Self::Text { text: String::new(), ends: Vec::new() };
                    (0..numbers.values.len()).for_each(|row| plain.push(&numbers.text(row)));
                    *self = plain;
                }
            }
            Self::Text { text, ends } => {
                text.push_str(cell);
                ends.push(text.len());
            }
        }
    }

    /// Appends a number to a column of numbers; `None` is an empty cell.
    pub(super) fn push_number(&mut self, value: Option<f64>) {
        match (self, value) {
            (Self::Numbers(numbers), Some(value)) => numbers.push_value(value, SHORTEST),
            (Self::Numbers(numbers), None) => numbers.push_value(f64::NAN, MISSING),
            (other, value) => other.push(&value.map_or(String::new(), |v| Cell::Number(v).to_string())),
        }
    }

    /// The text of a cell.
    pub(super) fn text(&self, row: usize) -> Cow<'_, str> {
        match self {
            Self::Words(words) => Cow::Borrowed(&words.words[words.codes[row] as usize]),
            Self::Numbers(numbers) => numbers.text(row),
            Self::Text { text, ends } => {
                let start = if row == 0 { 0 } else { ends[row - 1] };
                Cow::Borrowed(&text[start..ends[row]])
            }
        }
    }

    /// A cell as a number; NaN and infinities pass here.
    pub(super) fn number(&self, row: usize) -> Result<f64, RowFault> {
        match self {
            Self::Words(words) => words.values[words.codes[row] as usize].clone(),
            Self::Numbers(numbers) => match numbers.styles[row] {
                ODD => parse_number(&numbers.text(row)),
                MISSING => Err(RowFault::Blank),
                _ => Ok(numbers.values[row]),
            },
            Self::Text { .. } => parse_number(&self.text(row)),
        }
    }

    /// A cell to be written.
    pub(super) fn cell(&self, row: usize) -> Cell {
        match self {
            Self::Numbers(numbers) if numbers.styles[row] == SHORTEST => Cell::Number(numbers.values[row]),
            _ => Cell::Text(self.text(row).into_owned()),
        }
    }

    /// The different words of the column with their numbers of rows, while there are few.
    pub(super) fn words(&self) -> Option<Vec<(&str, usize)>> {
        let Self::Words(words) = self else { return None };
        let mut counts = vec![0; words.words.len()];
        words.codes.iter().for_each(|&code| counts[code as usize] += 1);
        let counted = words.words.iter().map(|w| &**w).zip(counts);
        Some(counted.filter(|(_, count)| *count > 0).collect())
    }

    /// Hands cells to `look`, each with the number of rows it stands for: every different word, or about
    /// `most` cells of a column of many.
    pub(super) fn sample(&self, most: usize, mut look: impl FnMut(&str, usize)) {
        match self {
            Self::Words(_) => self.words().into_iter().flatten().for_each(|(word, count)| look(word, count)),
            other => {
                let step = (other.len() / most).max(1);
                (0..other.len()).step_by(step).for_each(|row| look(&other.text(row), 1));
            }
        }
    }

    /// The cells of these rows, in this order.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Words(words) => {
                let codes = rows.iter().map(|&row| words.codes[row]).collect();
                Self::Words(Words { codes, ..words.clone() })
            }
            Self::Numbers(numbers) => {
                let odd = rows.iter().enumerate().filter(|(_, row)| numbers.styles[**row] == ODD);
                Self::Numbers(Numbers {
                    odd: odd.map(|(new, row)| (new, numbers.odd[row].clone())).collect(),
                    values: rows.iter().map(|&row| numbers.values[row]).collect(),
                    styles: rows.iter().map(|&row| numbers.styles[row]).collect(),
                })
            }
            Self::Text { .. } => {
                let mut chosen = Self::Text { text: String::new(), ends: Vec::with_capacity(rows.len()) };
                rows.iter().for_each(|&row| chosen.push(&self.text(row)));
                chosen
            }
        }
    }
}

impl Words {
    /// Appends a cell unless it would be one word too many.
    fn push(&mut self, cell: &str) -> bool {
        let code = match self.places.get(cell) {
            Some(code) => *code,
            None if self.words.len() == MOST_WORDS => return false,
            None => {
                let code = self.words.len() as u16;
                self.words.push(cell.into());
                self.values.push(parse_number(cell));
                self.places.insert(cell.into(), code);
                code
            }
        };
        self.codes.push(code);
        true
    }

    /// The same cells in a form that takes more different ones.
    fn widened(&self) -> ColumnCells {
        let numbers = self.words.iter().filter(|word| styled(word.trim()).is_some()).count();
        let mut wide = if numbers * 2 > self.words.len() {
            ColumnCells::numbers()
        } else {
            ColumnCells::Text { text: String::new(), ends: Vec::new() }
        };
        self.codes.iter().for_each(|&code| wide.push(&self.words[code as usize]));
        wide
    }
}

impl Numbers {
    fn push(&mut self, cell: &str) {
        let trimmed = cell.trim();
        match styled(trimmed) {
            Some((value, style)) => self.push_value(value, style),
            None if trimmed.is_empty() => self.push_value(f64::NAN, MISSING),
            None => {
                self.odd.insert(self.values.len(), cell.into());
                self.push_value(f64::NAN, ODD);
            }
        }
    }

    fn push_value(&mut self, value: f64, style: u8) {
        self.values.push(value);
        self.styles.push(style);
    }

    fn text(&self, row: usize) -> Cow<'_, str> {
        let value = self.values[row];
        match self.styles[row] {
            ODD => Cow::Borrowed(self.odd.get(&row).map_or("", |text| text)),
            MISSING => Cow::Borrowed(""),
            SHORTEST => Cow::Owned(Cell::Number(value).to_string()),
            decimals => Cow::Owned(format!("{value:.*}", decimals as usize)),
        }
    }
}

/// A number and the way it is written; `None` for texts such as `007`, `+1` or `nan`, which are more than their number.
pub(super) fn styled(text: &str) -> Option<(f64, u8)> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let whole = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    if whole == 0 || whole > 1 && digits[0] == b'0' {
        return None;
    }
    let decimals = match digits.get(whole) {
        None => Some(0),
        Some(b'.') if digits.len() > whole + 1 && digits[whole + 1..].iter().all(u8::is_ascii_digit) => {
            Some(digits.len() - whole - 1)
        }
        Some(_) => None,
    };
    let value: f64 = text.parse().ok().filter(|v: &f64| v.is_finite())?;
    match decimals {
        Some(decimals) if whole + decimals <= EXACT_DIGITS => Some((value, decimals as u8)),
        _ => Some((value, SHORTEST)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column of more different words than fit, then these.
    fn wide(cells: &[&str], filler: impl Fn(usize) -> String) -> ColumnCells {
        let mut column = ColumnCells::default();
        (0..=MOST_WORDS).for_each(|i| column.push(&filler(i)));
        cells.iter().for_each(|cell| column.push(cell));
        column
    }

    #[test]
    fn every_kind_of_column_gives_its_text_back() {
        let cells = ["1.50", "-0", "", "007", "NA", "12345678901234", "0.1", "-0.00", "+1", "ü, \"x\"", "100", "1e999"];
        let start = MOST_WORDS + 1;
        for (column, start) in [
            (cells.iter().fold(ColumnCells::default(), |mut c, cell| (c.push(cell), c).1), 0),
            (wide(&cells, |i| format!("{i}.25")), start),
            (wide(&cells, |i| format!("name {i}")), start),
        ] {
            assert_eq!(column.len(), start + cells.len());
            for (i, cell) in cells.iter().enumerate() {
                assert_eq!(column.text(start + i), *cell);
                assert_eq!(column.number(start + i), parse_number(cell), "{cell}");
            }
            let chosen = column.select(&[start + 3, start, start + 4]);
            assert_eq!([0, 1, 2].map(|r| chosen.text(r).into_owned()), ["007", "1.50", "NA"]);
        }
        assert!(matches!(wide(&[], |i| format!("{i}.25")), ColumnCells::Numbers(_)));
        assert!(matches!(wide(&[], |i| format!("0{i}")), ColumnCells::Text { .. }));
    }

    #[test]
    fn long_and_exponential_numbers_keep_their_value() {
        let column = wide(&["0.30000000000000004", "1.5e-3"], |i| i.to_string());
        assert_eq!(column.number(MOST_WORDS + 1), Ok(0.30000000000000004));
        assert_eq!(column.text(MOST_WORDS + 2), "0.0015");
    }

    #[test]
    fn a_column_of_late_text_becomes_text() {
        let mut column = wide(&[], |i| i.to_string());
        (0..2 * MOST_WORDS).for_each(|i| column.push(&format!("id{i}")));
        assert!(matches!(column, ColumnCells::Text { .. }));
        assert_eq!((column.text(7).as_ref(), column.text(MOST_WORDS + 1).as_ref()), ("7", "id0"));
    }

    #[test]
    fn words_are_counted() {
        let mut column = ColumnCells::default();
        ["a", "b", "a", ""].iter().for_each(|cell| column.push(cell));
        assert_eq!(column.words(), Some(vec![("a", 2), ("b", 1), ("", 1)]));
        assert_eq!(column.select(&[0, 2]).words(), Some(vec![("a", 2)]));
    }
}
