//! Tables as delimited text.
//!
//! Read as they come: comma, semicolon or tab, `#` comments anywhere, a byte order mark, any line ending, quoted fields,
//! blank lines. A first row without any number is a header; a first row with one is data.

use super::{
    Cell, DataError, ReadOptions, RowFault, RowWriter, Table, error::RowErrorList, output::Output, table::parse_number,
};
use std::io;

/// Reads a table from the bytes of a text file.
pub(super) fn read(source: &str, mut bytes: Vec<u8>, options: &ReadOptions) -> Result<Table, DataError> {
    if !bytes.contains(&b'\n') {
        bytes.iter_mut().filter(|b| **b == b'\r').for_each(|b| *b = b'\n');
    }
    let text = check_text(source, &bytes, options)?;
    let delimiter = options.delimiter.unwrap_or_else(|| detect_delimiter(text));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .comment(Some(b'#'))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let mut table: Option<Table> = None;
    let mut errors = RowErrorList::new("line");
    let mut doubled = false;
    let bad_csv = |e: csv::Error| DataError::io(source, "read", io_error(e));
    let (mut line, mut counted) = (1, 0);
    while reader.read_record(&mut record).map_err(bad_csv)? {
        let start = content_start(text, record.position().map_or(0, |p| p.byte() as usize));
        line += text.as_bytes()[counted..start].iter().filter(|b| **b == b'\n').count();
        counted = start;
        if text[start..].lines().next().is_none_or(|l| l.trim().is_empty()) && record.len() == 1 {
            continue;
        }
        match &mut table {
            None => table = Some(first_row(source, line, &record, options)?),
            Some(t) if t.width() != record.len() => {
                doubled |= record.len() == 2 * t.width();
                errors.push(line, None, RowFault::Ragged { wanted: t.width(), found: record.len() });
            }
            Some(t) => t.push(line, &record),
        }
    }
    errors.finish(
        source,
        doubled.then(|| "twice as many fields: are there decimal commas? Write decimal points".into()),
    )?;
    table.ok_or_else(|| DataError::Empty { file: source.into() })?.require_rows()
}

/// Where the record that the reader found from `at` on really starts: after line ends, empty lines and comments.
fn content_start(text: &str, mut at: usize) -> usize {
    loop {
        match text.as_bytes().get(at) {
            Some(b'\r' | b'\n') => at += 1,
            Some(b'#') if at == 0 || text.as_bytes()[at - 1] == b'\n' => {
                at = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            }
            _ => return at.min(text.len()),
        }
    }
}

/// Begins a table with its first row, which is a header or data.
fn first_row(source: &str, line: usize, record: &csv::StringRecord, options: &ReadOptions) -> Result<Table, DataError> {
    let is_header = options.header.unwrap_or_else(|| record.iter().all(|c| parse_number(c).is_err()));
    let mut table = if is_header {
        let names: Vec<String> = record.iter().map(|c| c.trim().to_string()).collect();
        for (second, name) in names.iter().enumerate().filter(|(_, n)| !n.is_empty()) {
            if let Some(first) = names[..second].iter().position(|n| n == name) {
                let column = name.clone();
                let (file, first, second) = (source.into(), first + 1, second + 1);
                return Err(DataError::DuplicateColumn { file, line, column, first, second });
            }
        }
        Table::text(source, Some(names), record.len())
    } else {
        let mut table = Table::text(source, None, record.len());
        table.push(line, record);
        table
    };
    table.set_header_line(line, options.header.is_none());
    Ok(table)
}

/// Checks encoding, zero bytes and line lengths; drops a byte order mark.
fn check_text<'a>(source: &str, bytes: &'a [u8], options: &ReadOptions) -> Result<&'a str, DataError> {
    let line_of = |offset: usize| 1 + bytes[..offset].iter().filter(|b| **b == b'\n').count();
    let file = || source.to_string();
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let offset = e.valid_up_to();
        DataError::NotUtf8 { file: file(), line: line_of(offset), offset }
    })?;
    if let Some(offset) = bytes.iter().position(|b| *b == 0) {
        return Err(DataError::NulByte { file: file(), line: line_of(offset), offset });
    }
    if let Some(i) = bytes.split(|b| *b == b'\n').position(|line| line.len() > options.max_line) {
        return Err(DataError::LineTooLong { file: file(), line: i + 1, limit: options.max_line });
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The delimiter of the first line of content: tab before semicolon before comma, outside quotes.
fn detect_delimiter(text: &str) -> u8 {
    let Some(line) = text.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#')) else { return b',' };
    let mut quoted = false;
    let mut seen = [false; 2];
    for byte in line.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\t' if !quoted => seen[0] = true,
            b';' if !quoted => seen[1] = true,
            _ => {}
        }
    }
    match seen {
        [true, _] => b'\t',
        [_, true] => b';',
        _ => b',',
    }
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
