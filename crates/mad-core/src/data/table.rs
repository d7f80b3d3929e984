//! A table as it stands in a file: names, cells and line numbers, before anything is understood.

use super::{DataError, RowFault, error::LARGEST_NUMBER};
use std::{borrow::Cow, fmt};

/// Rows that are looked at to tell a column of numbers from a column of text.
const LOOKED_AT: usize = 1000;

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

/// Rows and columns of a file with the line each row stands on.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    source: String,
    header: Option<Vec<String>>,
    header_line: usize,
    /// Whether the first row alone told if it is a header.
    header_guessed: bool,
    width: usize,
    /// What `lines` counts: `line` or `row`.
    unit: &'static str,
    lines: Vec<usize>,
    cells: Cells,
}

/// All cells row by row: numbers, or one long text cut at `ends`.
#[derive(Debug, Clone, PartialEq)]
enum Cells {
    Numbers(Vec<f64>),
    Text { text: String, ends: Vec<usize> },
}

impl Table {
    /// A table of text without rows. `source` names it in messages.
    pub fn text(source: impl Into<String>, header: Option<Vec<String>>, width: usize) -> Self {
        let cells = Cells::Text { text: String::new(), ends: Vec::new() };
        Self::with_cells(source.into(), header, width, Vec::new(), cells)
    }

    /// A table of numbers, row-major; row i stands on line i + 1, or i + 2 below a header.
    pub fn numbers(source: impl Into<String>, header: Option<Vec<String>>, width: usize, data: Vec<f64>) -> Self {
        assert!(width > 0 && data.len().is_multiple_of(width), "{} numbers do not fill rows of {width}", data.len());
        let first = 1 + usize::from(header.is_some());
        let lines = (first..first + data.len() / width).collect();
        Self::with_cells(source.into(), header, width, lines, Cells::Numbers(data))
    }

    fn with_cells(source: String, header: Option<Vec<String>>, width: usize, lines: Vec<usize>, cells: Cells) -> Self {
        Self { source, header, header_line: 1, header_guessed: false, width, unit: "line", lines, cells }
    }

    /// Says on which line the header or, without one, the first row stands, and whether its cells alone told which.
    pub(crate) fn set_header_line(&mut self, line: usize, guessed: bool) {
        (self.header_line, self.header_guessed) = (line, guessed);
    }

    /// Says that the source has rows instead of lines.
    pub(crate) fn count_rows(&mut self) {
        self.unit = "row";
    }

    /// Gives names to the columns of an array; its rows keep their numbers.
    pub(crate) fn name_columns(&mut self, names: Vec<String>) {
        assert_eq!(names.len(), self.width, "one name per column");
        self.header = Some(names);
    }

    /// Appends a row of text that stands on `line`. Panics if it has another number of cells or the table holds numbers.
    pub fn push<S: AsRef<str>>(&mut self, line: usize, row: impl IntoIterator<Item = S>) {
        let Cells::Text { text, ends } = &mut self.cells else { panic!("a table of numbers takes no text") };
        let before = ends.len();
        for cell in row {
            text.push_str(cell.as_ref());
            ends.push(text.len());
        }
        assert_eq!(ends.len() - before, self.width, "cells in a row");
        self.lines.push(line);
    }

    /// Name of the file or data set.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Column names, if the file has any.
    pub fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// Line of the header or, without one, of the first row.
    pub fn header_line(&self) -> usize {
        self.header_line
    }

    /// Whether the cells of the first row alone told if it is a header.
    pub(crate) fn header_guessed(&self) -> bool {
        self.header_guessed
    }

    /// What [`Table::line`] counts: `line`, or `row` for arrays.
    pub(crate) fn unit(&self) -> &'static str {
        self.unit
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Line on which a row stands, from 1; row number from 1 for arrays.
    pub fn line(&self, row: usize) -> usize {
        self.lines[row]
    }

    /// Name of a column, or `column3` for the third of a file without a header.
    pub fn column_name(&self, column: usize) -> String {
        match &self.header {
            Some(names) if !names[column].is_empty() => names[column].clone(),
            _ => format!("column{}", column + 1),
        }
    }

    /// The column of this name, compared without regard to case if no exact one exists.
    pub fn find(&self, name: &str) -> Option<usize> {
        let header = self.header.as_ref()?;
        header
            .iter()
            .position(|n| n == name)
            .or_else(|| header.iter().position(|n| n.to_lowercase() == name.to_lowercase()))
    }

    /// A cell as text.
    pub fn cell(&self, row: usize, column: usize) -> Cow<'_, str> {
        let i = row * self.width + column;
        match &self.cells {
            Cells::Numbers(data) => Cow::Owned(Cell::Number(data[i]).to_string()),
            Cells::Text { text, ends } => {
                let start = if i == 0 { 0 } else { ends[i - 1] };
                Cow::Borrowed(&text[start..ends[i]])
            }
        }
    }

    /// A cell as a finite number of at most 1e140.
    ///
    /// # Numerics
    /// The square of a larger number over σ² = 1e-12 overflows, and differences of infinities would be NaN.
    pub fn number(&self, row: usize, column: usize) -> Result<f64, RowFault> {
        let value = match &self.cells {
            Cells::Numbers(data) => data[row * self.width + column],
            Cells::Text { .. } => parse_number(&self.cell(row, column))?,
        };
        match value {
            v if !v.is_finite() => Err(RowFault::NotFinite(v)),
            v if v.abs() > LARGEST_NUMBER => Err(RowFault::TooLarge(v)),
            v => Ok(v),
        }
    }

    /// A row as cells to be written.
    pub fn row(&self, row: usize) -> Vec<Cell> {
        (0..self.width)
            .map(|column| match &self.cells {
                Cells::Numbers(data) => Cell::Number(data[row * self.width + column]),
                Cells::Text { .. } => Cell::Text(self.cell(row, column).into_owned()),
            })
            .collect()
    }

    /// Whether most cells of a column, as far as they are filled, are numbers.
    pub fn is_numeric(&self, column: usize) -> bool {
        if matches!(self.cells, Cells::Numbers(_)) {
            return true;
        }
        let (mut numbers, mut filled) = (0, 0);
        for row in 0..self.len().min(LOOKED_AT) {
            let cell = self.cell(row, column);
            if !is_missing(&cell) {
                filled += 1;
                numbers += usize::from(!matches!(parse_number(&cell), Err(RowFault::NotANumber(_))));
            }
        }
        numbers * 2 > filled
    }

    /// The rows with these indices, in this order.
    pub fn select(&self, rows: &[usize]) -> Table {
        let mut out = Table { lines: rows.iter().map(|&r| self.lines[r]).collect(), ..self.emptied() };
        match (&self.cells, &mut out.cells) {
            (Cells::Numbers(data), Cells::Numbers(chosen)) => {
                for &r in rows {
                    chosen.extend_from_slice(&data[r * self.width..(r + 1) * self.width]);
                }
            }
            (_, Cells::Text { text, ends }) => {
                for (&r, c) in rows.iter().flat_map(|r| (0..self.width).map(move |c| (r, c))) {
                    text.push_str(&self.cell(r, c));
                    ends.push(text.len());
                }
            }
            (Cells::Text { .. }, Cells::Numbers(_)) => unreachable!("both tables hold the same kind of cells"),
        }
        out
    }

    /// Refuses a table without rows.
    pub fn require_rows(self) -> Result<Self, DataError> {
        if self.is_empty() { Err(DataError::Empty { file: self.source }) } else { Ok(self) }
    }

    fn emptied(&self) -> Table {
        let cells = match &self.cells {
            Cells::Numbers(_) => Cells::Numbers(Vec::new()),
            Cells::Text { .. } => Cells::Text { text: String::new(), ends: Vec::new() },
        };
        Table { source: self.source.clone(), header: self.header.clone(), lines: Vec::new(), cells, ..*self }
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

/// Whether a cell says that its value is not known.
fn is_missing(cell: &str) -> bool {
    ["", "-", "na", "n/a", "null", "none"].contains(&cell.trim().to_lowercase().as_str())
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
