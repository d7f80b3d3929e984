//! Tables as delimited text.
//!
//! Read as they come: comma, semicolon, tab, bar or blanks, `#` comments anywhere, a byte order mark, any line ending, quoted
//! fields, blank lines. Blanks separate where nothing else does and most cells are numbers. A first row without any number is
//! a header; a first row with one is data. Rows are cut into cells while the file streams by; its text is not kept.

use super::{
    Cell, DataError, ReadOptions, RowWriter, Table, input::Input, output::Output, record::Records, table::parse_number,
    text_lines::TextLines,
};
use std::io;

/// Reads a table from a text file.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<Table, DataError> {
    let name = input.name.clone();
    let lines = TextLines::new(&name, &mut *input.stream, options.max_line)?;
    let mut records = Records::new(&name, lines, options);
    let Some(line) = records.next()? else { return Err(DataError::Empty { file: name }) };
    let row: Vec<String> = records.cells().map(str::to_owned).collect();
    let mut table = first_row(&name, line, &row, options)?;
    let mut doubtful = options.header.is_none() && counts_up(&row);
    let mut doubled = false;
    while let Some(line) = records.next()? {
        if records.len() != table.width() {
            doubled |= records.len() == 2 * table.width();
            table.push_ragged(line, records.len());
            continue;
        }
        if doubtful && records.cells().any(|cell| cell.contains('.')) {
            let (file, line, cells) = (name, table.header_line(), row.join(", "));
            return Err(DataError::NumericHeader { file, line, cells });
        }
        doubtful = false;
        table.push(line, records.cells());
    }
    if doubled {
        table.set_hint("twice as many fields: are there decimal commas? Write decimal points");
    }
    Ok(table)
}

/// Begins a table with its first row, which is a header or data.
fn first_row(source: &str, line: usize, row: &[String], options: &ReadOptions) -> Result<Table, DataError> {
    let is_header = options.header.unwrap_or_else(|| row.iter().all(|c| parse_number(c).is_err()));
    let mut table = if is_header {
        let names: Vec<String> = row.iter().map(|c| c.trim().to_string()).collect();
        for (second, name) in names.iter().enumerate().filter(|(_, n)| !n.is_empty()) {
            if let Some(first) = names[..second].iter().position(|n| n == name) {
                let column = name.clone();
                let (file, first, second) = (source.into(), first + 1, second + 1);
                return Err(DataError::DuplicateColumn { file, line, column, first, second });
            }
        }
        Table::text(source, Some(names), row.len())
    } else {
        let mut table = Table::text(source, None, row.len());
        table.push(line, row);
        table
    };
    table.set_header_line(line, options.header.is_none());
    Ok(table)
}

/// Whether a row is 0, 1, 2, … or 1, 2, 3, …, as programs name columns that have no names.
fn counts_up(row: &[String]) -> bool {
    let from = |first: usize| row.iter().enumerate().all(|(i, cell)| cell.trim() == (first + i).to_string());
    row.len() > 1 && (from(0) || from(1))
}

/// The failure of the system behind a failure of the CSV reader or writer, so that its kind is kept.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes rows as text with a header line.
pub(super) struct CsvWriter {
    writer: csv::Writer<Output>,
}

impl CsvWriter {
    pub(super) fn create(output: Output, header: &[String], delimiter: u8) -> Result<Box<dyn RowWriter>, DataError> {
        let writer =
            csv::WriterBuilder::new().delimiter(delimiter).comment(Some(b'#')).flexible(true).from_writer(output);
        let mut writer = Self { writer };
        let written = writer.writer.write_record(header);
        writer.checked(written)?;
        Ok(Box::new(writer))
    }

    fn checked(&self, result: csv::Result<()>) -> Result<(), DataError> {
        result.map_err(|e| self.writer.get_ref().failed(io_error(e)))
    }
}

impl RowWriter for CsvWriter {
    fn write(&mut self, rows: &[Vec<Cell>]) -> Result<(), DataError> {
        for row in rows {
            let written = self.writer.write_record(row.iter().map(Cell::to_string));
            self.checked(written)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), DataError> {
        match self.writer.into_inner() {
            Ok(output) => output.commit(),
            Err(e) => {
                let problem = std::io::Error::new(e.error().kind(), e.error().to_string());
                Err(e.into_inner().get_ref().failed(problem))
            }
        }
    }
}
