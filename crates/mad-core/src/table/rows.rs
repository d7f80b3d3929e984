//! A table as it stands in a file: names, cells and line numbers, before anything is understood.

use super::{
    Cell, DataError, RowFault,
    cells::ColumnCells,
    lines::Lines,
    notation::{Axis, Commas, Notation},
    row_error::{LARGEST_NUMBER, RowErrorList},
    style::TextStyle,
    value::is_missing,
};
use std::borrow::Cow;

/// Rows that are inspected to distinguish a column of numbers from a column of text.
const LOOKED_AT: usize = 1000;

/// Rows and columns of a file with the line each row stands on.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    source: String,
    pub(super) header: Option<Vec<String>>,
    pub(super) header_line: usize,
    /// Whether only the first row showed if it is a header.
    pub(super) header_guessed: bool,
    width: usize,
    /// What `lines` counts: `line` or `row`.
    pub(super) unit: &'static str,
    lines: Lines,
    cells: Cells,
    /// Rows of another number of cells, which are not among the others.
    pub(super) ragged: RowErrorList,
    /// What may be behind them.
    pub(super) hint: Option<&'static str>,
    /// What was noticed while the file was read, in words.
    pub(super) notices: Vec<String>,
    /// How the numbers of each column are written; empty if all are plain.
    notations: Vec<Notation>,
    /// How the file is written, if it is text.
    pub(super) style: TextStyle,
}

/// All cells: numbers row by row, or columns of any content.
#[derive(Debug, Clone, PartialEq)]
enum Cells {
    Numbers(Vec<f64>),
    Columns(Vec<ColumnCells>),
}

impl Table {
    /// A table of text without rows. `source` names it in messages.
    pub fn text(source: impl Into<String>, header: Option<Vec<String>>, width: usize) -> Self {
        let cells = Cells::Columns(vec![ColumnCells::default(); width]);
        Self::with_cells(source.into(), header, width, Lines::default(), cells)
    }

    /// A table of numbers, row-major; row i stands on line i + 1, or i + 2 below a header.
    pub fn numbers(source: impl Into<String>, header: Option<Vec<String>>, width: usize, data: Vec<f64>) -> Self {
        assert!(width > 0 && data.len().is_multiple_of(width), "{} numbers do not fill rows of {width}", data.len());
        let first = 1 + usize::from(header.is_some());
        let lines = Lines::consecutive(first, data.len() / width);
        Self::with_cells(source.into(), header, width, lines, Cells::Numbers(data))
    }

    /// A table of named columns of equal length, whose rows are counted from 1.
    pub(super) fn of_columns(source: &str, header: Vec<String>, columns: Vec<ColumnCells>) -> Self {
        let len = columns.first().map_or(0, ColumnCells::len);
        assert!(columns.iter().all(|c| c.len() == len) && header.len() == columns.len(), "columns of a table");
        let (width, lines) = (columns.len(), Lines::consecutive(1, len));
        let table = Self::with_cells(source.into(), Some(header), width, lines, Cells::Columns(columns));
        Self { unit: "row", ..table }
    }

    fn with_cells(source: String, header: Option<Vec<String>>, width: usize, lines: Lines, cells: Cells) -> Self {
        let (unit, ragged) = ("line", RowErrorList::new("line"));
        Self {
            source,
            header,
            header_line: 1,
            header_guessed: false,
            width,
            unit,
            lines,
            cells,
            ragged,
            hint: None,
            notices: Vec::new(),
            notations: Vec::new(),
            style: TextStyle::default(),
        }
    }

    /// Determines how the numbers of a text file are written whose columns `delimiter` separates.
    pub(super) fn recognise(&mut self, delimiter: u8) {
        let Cells::Columns(columns) = &self.cells else { return };
        let mut commas = Commas::default();
        columns.iter().for_each(|column| commas.look(column));
        let decimal = commas.are_decimal(delimiter);
        let name = |i: usize| self.header.as_ref().map(|names| names[i].as_str());
        self.notations = columns.iter().enumerate().map(|(i, c)| Notation::of(c, name(i), decimal)).collect();
        self.style.decimal_comma = decimal && self.notations.contains(&Notation::DecimalComma);
        if self.style.decimal_comma {
            self.notices.push("numbers are read with decimal commas".into());
        }
        if self.notations.iter().all(|n| *n == Notation::Plain) {
            self.notations.clear();
        }
    }

    /// Declares that columns hold dates, whatever their cells look like.
    pub(super) fn set_times(&mut self, columns: &[usize]) {
        if !columns.is_empty() {
            self.notations.resize(self.width, Notation::Plain);
            columns.iter().for_each(|&column| self.notations[column] = Notation::Time);
        }
    }

    /// How the numbers of a column are written.
    fn notation(&self, column: usize) -> Notation {
        self.notations.get(column).copied().unwrap_or_default()
    }

    /// Whether a column holds dates, which are decimal years (UTC) where numbers are asked for.
    pub fn is_time(&self, column: usize) -> bool {
        self.notation(column) == Notation::Time
    }

    /// The axis that the hemisphere letters of a column belong to.
    pub(super) fn axis(&self, column: usize) -> Option<Axis> {
        match self.notation(column) {
            Notation::Degrees(axis) => axis,
            _ => None,
        }
    }

    /// Whether the numbers of a column are degrees with minutes or hemisphere letters.
    pub(super) fn is_in_degrees(&self, column: usize) -> bool {
        matches!(self.notation(column), Notation::Degrees(_))
    }

    /// What was noticed while the file was read, in words.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Appends a row of text that stands on `line`. Panics if it has another number of cells or the table holds numbers.
    pub fn push<S: AsRef<str>>(&mut self, line: usize, row: impl IntoIterator<Item = S>) {
        let Cells::Columns(columns) = &mut self.cells else { panic!("a table of numbers takes no text") };
        let mut count = 0;
        for cell in row {
            assert!(count < columns.len(), "cells in a row");
            columns[count].push(cell.as_ref());
            count += 1;
        }
        assert_eq!(count, self.width, "cells in a row");
        self.lines.push(line);
    }

    /// Sets where each row stands, and what is counted there.
    pub(super) fn set_lines(&mut self, unit: &'static str, lines: &[usize]) {
        assert_eq!(lines.len(), self.len(), "one place per row");
        self.unit = unit;
        self.ragged = RowErrorList::new(unit);
        self.lines = Lines::default();
        lines.iter().for_each(|&line| self.lines.push(line));
    }

    /// Rows that were left out because they have another number of cells, and what may be behind them.
    pub(crate) fn ragged(&self) -> (&RowErrorList, Option<&'static str>) {
        (&self.ragged, self.hint)
    }

    /// Refuses a table of which rows were left out.
    pub(crate) fn require_whole(&self) -> Result<(), DataError> {
        self.ragged.clone().finish(&self.source, self.hint.map(String::from))
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
    pub(crate) fn header_line(&self) -> usize {
        self.header_line
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
        self.len() == 0
    }

    /// Line on which a row stands, from 1; row number from 1 for arrays.
    pub fn line(&self, row: usize) -> usize {
        self.lines.get(row)
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
        match &self.cells {
            Cells::Numbers(data) => Cow::Owned(Cell::Number(data[row * self.width + column]).to_string()),
            Cells::Columns(columns) => columns[column].text(row),
        }
    }

    /// A cell as a finite number of at most 1e140. Dates are decimal years (UTC), and coordinates with minutes or hemisphere
    /// letters are degrees.
    ///
    /// # Numerics
    /// The square of a larger number over σ² = 1e-12 overflows, and differences of infinities would be NaN.
    pub fn number(&self, row: usize, column: usize) -> Result<f64, RowFault> {
        let value = match &self.cells {
            Cells::Numbers(data) => data[row * self.width + column],
            Cells::Columns(columns) => match self.notation(column) {
                Notation::Plain => columns[column].number(row)?,
                other => other.number(&columns[column].text(row))?,
            },
        };
        match value {
            v if !v.is_finite() => Err(RowFault::NotFinite(v)),
            v if v.abs() > LARGEST_NUMBER => Err(RowFault::TooLarge(v)),
            v => Ok(v),
        }
    }

    /// A row as cells to be written.
    pub fn row(&self, row: usize) -> Vec<Cell> {
        match &self.cells {
            Cells::Numbers(data) => {
                data[row * self.width..(row + 1) * self.width].iter().copied().map(Cell::Number).collect()
            }
            Cells::Columns(columns) => columns.iter().map(|column| column.cell(row)).collect(),
        }
    }

    /// Whether most cells of a column, as far as they are filled, are numbers; dates are not.
    pub fn is_numeric(&self, column: usize) -> bool {
        let Cells::Columns(columns) = &self.cells else { return true };
        match self.notation(column) {
            Notation::Plain => {}
            Notation::Time => return false,
            Notation::DecimalComma | Notation::Degrees(_) => return true,
        }
        let column = &columns[column];
        let (mut numbers, mut filled) = (0, 0);
        for row in 0..self.len().min(LOOKED_AT) {
            if !is_missing(&column.text(row)) {
                filled += 1;
                numbers += usize::from(!matches!(column.number(row), Err(RowFault::NotANumber(_))));
            }
        }
        numbers * 2 > filled
    }

    /// The different texts of a column with their numbers of rows, unless there are more than 65 536.
    pub(crate) fn words(&self, column: usize) -> Option<Vec<(&str, usize)>> {
        match &self.cells {
            Cells::Numbers(_) => None,
            Cells::Columns(columns) => columns[column].words(),
        }
    }

    /// The rows with these indices, in this order.
    pub fn select(&self, rows: &[usize]) -> Table {
        let cells = match &self.cells {
            Cells::Numbers(data) => {
                let row = |r: &usize| data[r * self.width..(r + 1) * self.width].iter().copied();
                Cells::Numbers(rows.iter().flat_map(row).collect())
            }
            Cells::Columns(columns) => Cells::Columns(columns.iter().map(|c| c.select(rows)).collect()),
        };
        Table {
            source: self.source.clone(),
            header: self.header.clone(),
            lines: self.lines.select(rows),
            cells,
            ragged: self.ragged.clone(),
            notices: self.notices.clone(),
            notations: self.notations.clone(),
            style: self.style.clone(),
            ..*self
        }
    }

    /// The same table without names of its columns.
    pub(crate) fn without_names(self) -> Self {
        Self { header: None, ..self }
    }

    /// Leaves out these rows, which stand in ascending order, and forgets rows of another number of cells.
    pub(crate) fn leave_out(&mut self, bad: &[usize]) {
        self.ragged = RowErrorList::new(self.unit);
        if bad.is_empty() {
            return;
        }
        let mut bad = bad.iter().copied().peekable();
        let good: Vec<usize> = (0..self.len()).filter(|row| bad.next_if_eq(row).is_none()).collect();
        self.lines = self.lines.select(&good);
        match &mut self.cells {
            Cells::Numbers(data) => {
                for (to, from) in good.iter().enumerate() {
                    data.copy_within(from * self.width..(from + 1) * self.width, to * self.width);
                }
                data.truncate(good.len() * self.width);
            }
            // One column at a time, so that the table is never held twice.
            Cells::Columns(columns) => columns.iter_mut().for_each(|c| *c = c.select(&good)),
        }
    }

    /// Refuses a table without rows.
    pub fn require_rows(self) -> Result<Self, DataError> {
        if !self.is_empty() {
            return Ok(self);
        }
        self.require_whole()?;
        Err(DataError::Empty { file: self.source })
    }
}
