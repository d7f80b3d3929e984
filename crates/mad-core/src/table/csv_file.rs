//! Tables as delimited text.
//!
//! Read as they come: comma, semicolon, tab, bar or blanks, `#` comments anywhere, a byte order mark, any line ending, quoted
//! fields, blank lines. Error values of spreadsheets such as `#N/A` are cells. Blanks separate where nothing else does and most
//! cells are numbers. A first row without any number is a header; a first row with one is data, and a comment right above it may
//! name the columns. Rows are cut into cells while the file streams by; its text is not kept.

use super::{
    Cell, DataError, ReadOptions, RowFault, RowWriter, Table, TextStyle, columns, input::Input,
    notation::is_written_number, output::Output, record::Records, style::Names, text_lines::TextLines,
    value::is_sheet_error,
};
use std::io::{self, Write};

/// Reads a table that is built into the library.
pub(crate) fn read_bytes(source: &str, bytes: &[u8]) -> Result<Table, DataError> {
    read(&mut Input::of_bytes(source, bytes), &ReadOptions::default())
}

/// Reads a table from a text file.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<Table, DataError> {
    let name = input.name.clone();
    let lines = TextLines::new(&name, &mut *input.stream, options.max_line)?;
    let mut records = Records::new(&name, lines, options);
    let Some(line) = records.next()? else { return Err(DataError::Empty { file: name }) };
    let row: Vec<String> = records.cells().map(str::to_owned).collect();
    let comment = records.comment();
    let mut table = first_row(&name, line, &row, &comment, options)?;
    let mut doubtful = options.header.is_none() && counts_up(&row);
    let mut doubled = false;
    if !table.is_empty() {
        records.count_comments();
    }
    while let Some(line) = records.next()? {
        if records.len() != table.width() {
            doubled |= records.len() == 2 * table.width();
            let fault = RowFault::Ragged { wanted: table.width(), found: records.len() };
            table.ragged.push(line, None, fault);
            continue;
        }
        if doubtful && records.cells().any(|cell| cell.contains('.')) {
            let (file, line, cells) = (name, table.header_line(), row.join(", "));
            return Err(DataError::NumericHeader { file, line, cells });
        }
        doubtful = false;
        table.push(line, records.cells());
        records.count_comments();
    }
    if let Some((count, first)) = records.comments() {
        table.notices.push(format!(
            "comments (`#`) below the first row of data are left out: {count}, the first on line {first}"
        ));
    }
    if doubled {
        table.hint = Some("twice as many fields: are there decimal commas? Separate the columns with semicolons");
    }
    if records.is_windows() {
        table.notices.push("the text is not UTF-8 and was read as Windows-1252 (Latin-1)".into());
    }
    let delimiter = records.delimiter();
    table.style.delimiter = char::from(delimiter);
    table.recognise(delimiter);
    Ok(table)
}

/// Begins a table with its first row, which is a header or data.
fn first_row(
    source: &str,
    line: usize,
    row: &[String],
    comment: &[String],
    options: &ReadOptions,
) -> Result<Table, DataError> {
    let is_header = options.header.unwrap_or_else(|| !row.iter().any(|c| is_written_number(c) || is_sheet_error(c)));
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
        let named = options.header.is_none() && names_columns(comment, row.len());
        let mut table = Table::text(source, named.then(|| comment.to_vec()), row.len());
        table.push(line, row);
        if named {
            table.style.names = Names::Comment;
            table.notices.push(format!("column names from the comment above the first row: {}", comment.join(", ")));
        }
        table
    };
    (table.header_line, table.header_guessed) = (line, options.header.is_none());
    Ok(table)
}

/// Whether the words of a comment are names of `width` columns: all different, none a number, and most of them known, since a
/// sentence may have as many words as the table has columns.
fn names_columns(comment: &[String], width: usize) -> bool {
    let known = |word: &&String| {
        let word = word.to_lowercase();
        let coordinate = |prefix: &str| {
            word.strip_prefix(prefix).is_some_and(|rest| matches!(rest.trim_start_matches('_'), "x" | "y" | "z" | "w"))
        };
        word.len() == 1
            || columns::is_latitude(&word)
            || columns::is_longitude(&word)
            || ["time", "timestamp", "stamp", "date"].contains(&word.as_str())
            || ["q", "t", "p", "r", "pos", "position", "quat"].into_iter().any(coordinate)
            || word.strip_prefix(['x', 'r', 'm', 'q']).is_some_and(|n| n.parse::<u8>().is_ok())
            || columns::unit(&word).is_some()
    };
    let repeated = |(i, word): (usize, &String)| comment[..i].contains(word);
    comment.len() == width
        && !comment.iter().any(|word| word.is_empty() || is_written_number(word))
        && !comment.iter().enumerate().any(repeated)
        && 2 * comment.iter().filter(known).count() > width
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

/// Writes rows as text.
pub(super) struct CsvWriter {
    writer: csv::Writer<Output>,
    decimal_comma: bool,
}

impl CsvWriter {
    pub(super) fn create(
        mut output: Output,
        header: &[String],
        style: &TextStyle,
    ) -> Result<Box<dyn RowWriter>, DataError> {
        let delimiter = u8::try_from(style.delimiter).ok().filter(u8::is_ascii).unwrap_or(b',');
        if style.names == Names::Comment {
            let names = header.join(&char::from(delimiter).to_string());
            writeln!(output, "# {names}").map_err(|e| output.failed(e))?;
        }
        let writer =
            csv::WriterBuilder::new().delimiter(delimiter).comment(Some(b'#')).flexible(true).from_writer(output);
        let mut writer = Self { writer, decimal_comma: style.decimal_comma };
        if style.names == Names::Row {
            let written = writer.writer.write_record(header);
            writer.checked(written)?;
        }
        Ok(Box::new(writer))
    }

    fn checked(&self, result: csv::Result<()>) -> Result<(), DataError> {
        result.map_err(|e| self.writer.get_ref().failed(io_error(e)))
    }

    fn text(&self, cell: &Cell) -> String {
        match cell {
            Cell::Number(_) if self.decimal_comma => cell.to_string().replace('.', ","),
            other => other.to_string(),
        }
    }
}

impl RowWriter for CsvWriter {
    fn write(&mut self, rows: &[Vec<Cell>]) -> Result<(), DataError> {
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| self.text(cell)).collect();
            let written = self.writer.write_record(cells);
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
