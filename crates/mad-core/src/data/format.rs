//! The kinds of files: one list, from which reading, writing and messages choose.

use super::{DataError, Output, RowWriter, Table, csv_file, npy_file};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Rows written at a time.
const BLOCK: usize = 1024;

/// How a file is to be read where its content does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Delimiter of text files; found in the first line if absent.
    pub delimiter: Option<u8>,
    /// Whether the first row of a text file is a header; found from its cells if absent.
    pub header: Option<bool>,
    /// Largest file, in bytes. Memory stays below about four times this.
    pub max_bytes: u64,
    /// Longest line of a text file, in bytes.
    pub max_line: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { delimiter: None, header: None, max_bytes: 4 << 30, max_line: 1 << 20 }
    }
}

/// One kind of file.
pub struct Format {
    /// Name for lists.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// First bytes by which the kind is known when the name says nothing.
    pub magic: &'static [u8],
    read: ReadBytes,
    write: OpenWriter,
}

/// Makes a table of the bytes of a file; the text names the file in messages.
type ReadBytes = fn(&str, Vec<u8>, &ReadOptions) -> Result<Table, DataError>;

/// Begins a file with these column names.
type OpenWriter = fn(Output, &[String]) -> Result<Box<dyn RowWriter>, DataError>;

/// All kinds of files. The first one is taken for names without an ending and for standard input and output.
pub const FORMATS: &[Format] = &[
    Format {
        name: "CSV",
        extensions: &["csv", "txt", "dat"],
        magic: b"",
        read: csv_file::read,
        write: |output, header| csv_file::CsvWriter::create(output, header, b','),
    },
    Format {
        name: "TSV",
        extensions: &["tsv", "tab"],
        magic: b"",
        read: |source, bytes, options| {
            let options = ReadOptions { delimiter: options.delimiter.or(Some(b'\t')), ..options.clone() };
            csv_file::read(source, bytes, &options)
        },
        write: |output, header| csv_file::CsvWriter::create(output, header, b'\t'),
    },
    Format {
        name: "NPY",
        extensions: &["npy"],
        magic: npy_file::MAGIC,
        read: npy_file::read,
        write: npy_file::NpyWriter::create,
    },
];

/// Reads a table from a file; `-` is standard input. Files without rows are refused.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let (source, bytes) = if path.as_os_str() == "-" {
        ("standard input".to_string(), read_limited(io::stdin().lock(), Path::new("standard input"), options)?)
    } else {
        format_of(path)?;
        let file = File::open(path).map_err(|e| DataError::io(path, "open", e))?;
        (path.display().to_string(), read_limited(file, path, options)?)
    };
    let format = match extension(path) {
        Some(_) => format_of(path)?,
        None => FORMATS.iter().find(|f| !f.magic.is_empty() && bytes.starts_with(f.magic)).unwrap_or(&FORMATS[0]),
    };
    (format.read)(&source, bytes, options)?.require_rows()
}

/// Opens a file for rows under these column names; `-` is standard output. The kind follows from the ending of the name.
pub fn writer(path: &Path, header: &[String]) -> Result<Box<dyn RowWriter>, DataError> {
    let format = format_of(path)?;
    (format.write)(Output::create(path)?, header)
}

/// Writes a whole table.
pub fn write_table(path: &Path, table: &Table) -> Result<(), DataError> {
    let header: Vec<String> = (0..table.width()).map(|c| table.column_name(c)).collect();
    let mut writer = writer(path, &header)?;
    for start in (0..table.len()).step_by(BLOCK) {
        let rows: Vec<_> = (start..table.len().min(start + BLOCK)).map(|r| table.row(r)).collect();
        writer.write(&rows)?;
    }
    writer.finish()
}

fn extension(path: &Path) -> Option<String> {
    path.extension().map(|e| e.to_string_lossy().to_lowercase())
}

fn format_of(path: &Path) -> Result<&'static Format, DataError> {
    let Some(extension) = extension(path) else { return Ok(&FORMATS[0]) };
    FORMATS.iter().find(|f| f.extensions.contains(&extension.as_str())).ok_or_else(|| {
        let known: Vec<_> = FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        DataError::UnknownFormat { file: path.display().to_string(), extension, known: known.join(", ") }
    })
}

fn read_limited(from: impl Read, path: &Path, options: &ReadOptions) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    from.take(options.max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| DataError::io(path, "read", e))?;
    if bytes.len() as u64 > options.max_bytes {
        return Err(DataError::TooLarge { file: path.display().to_string(), limit: options.max_bytes });
    }
    Ok(bytes)
}
