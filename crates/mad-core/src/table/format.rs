//! The kinds of files: one list, from which reading, writing and messages choose.

use super::{
    DataError, Output, RowWriter, Table, TextStyle, csv_file,
    geojson_file::{self, Collection},
    geojson_reader,
    input::{Input, Watch},
    npy_file, npz_file, parquet_file, parquet_writer,
};
use crate::Setting;
use std::{io::BufRead, path::Path};

/// Rows written at a time.
const BLOCK: usize = 1024;

/// How a file is to be read where its content leaves it open.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Delimiter of text files; found in the first lines if absent.
    pub delimiter: Option<u8>,
    /// Whether the first row of a text file is a header; found from its cells if absent.
    pub header: Option<bool>,
    /// The array of an NPZ file; the only one if absent.
    pub array: Option<String>,
    /// Largest file, in bytes after unpacking. Memory stays below about five times this, and for files of measured numbers
    /// below twice.
    pub max_bytes: u64,
    /// Longest line of a text file, in bytes.
    pub max_line: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { delimiter: None, header: None, array: None, max_bytes: 4 << 30, max_line: 1 << 20 }
    }
}

/// One kind of file.
pub struct Format {
    /// Name for lists.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// First bytes by which the kind is known when the name has no ending.
    pub magic: &'static [u8],
    read: ReadTable,
    write: Option<OpenWriter>,
}

/// Makes a table of an open file.
type ReadTable = fn(&mut Input, &ReadOptions) -> Result<Table, DataError>;

/// Begins a file with these column names; the style is that of text files.
type OpenWriter = fn(Output, &[String], &TextStyle) -> Result<Box<dyn RowWriter>, DataError>;

/// All kinds of files. The first one is taken for names without an ending and for standard input and output.
pub(crate) const FORMATS: &[Format] = &[
    Format {
        name: "CSV",
        extensions: &["csv", "txt", "dat"],
        magic: b"",
        read: csv_file::read,
        write: Some(csv_file::CsvWriter::create),
    },
    Format {
        name: "TSV",
        extensions: &["tsv", "tab"],
        magic: b"",
        read: |input, options| {
            let options = ReadOptions { delimiter: options.delimiter.or(Some(b'\t')), ..options.clone() };
            csv_file::read(input, &options)
        },
        write: Some(|output, header, style| {
            // Numbers in tab-separated files may keep their decimal mark; everything else is fixed.
            let style = TextStyle {
                delimiter: '\t',
                ..TextStyle { decimal_comma: style.decimal_comma, ..TextStyle::default() }
            };
            csv_file::CsvWriter::create(output, header, &style)
        }),
    },
    Format {
        name: "Parquet",
        extensions: &["parquet", "pq"],
        magic: parquet_file::MAGIC,
        read: parquet_file::read,
        write: Some(|output, header, _| parquet_writer::ParquetWriter::create(output, header)),
    },
    Format {
        name: "NPY",
        extensions: &["npy"],
        magic: npy_file::MAGIC,
        read: npy_file::read,
        write: Some(|output, header, _| npy_file::NpyWriter::create(output, header)),
    },
    Format { name: "NPZ", extensions: &["npz"], magic: npz_file::MAGIC, read: npz_file::read, write: None },
    Format {
        name: "GeoJSON",
        extensions: &["geojson", "json"],
        magic: b"{",
        read: geojson_reader::read,
        write: Some(|output, header, _| geojson_file::GeoJsonWriter::create(output, header, Collection::Whole)),
    },
    Format {
        name: "GeoJSON lines",
        extensions: &["geojsonl", "geojsons", "ndgeojson"],
        magic: b"",
        read: geojson_reader::read,
        write: Some(|output, header, _| geojson_file::GeoJsonWriter::create(output, header, Collection::Lines)),
    },
];

/// Endings of packed files; the ending before them is that of the content.
const PACKED: &[&str] = &["gz", "zst"];

/// Reads a table from a file; `-` is standard input. Files without rows are refused.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    read_watched(path, options, &mut |_, _| {})
}

/// As [`read`], and calls `watch` with how many bytes of the file have been read, and how many there are where that is known.
pub fn read_watched(path: &Path, options: &ReadOptions, watch: &mut Watch<'_>) -> Result<Table, DataError> {
    let named = format_of(path, true)?;
    // The borrow of the watcher ends with the input; the trait object is wrapped so that its lifetime may shrink.
    let mut watch = |done, total| watch(done, total);
    let mut input = Input::open(path, options, &mut watch)?;
    let format = match named {
        Some(format) => format,
        None => {
            let start = input.stream.fill_buf().map_err(|e| DataError::read(&input.name, e))?;
            FORMATS.iter().find(|f| !f.magic.is_empty() && start.starts_with(f.magic)).unwrap_or(&FORMATS[0])
        }
    };
    let is_text = ["CSV", "TSV"].contains(&format.name);
    for (option, given, fits, problem) in [
        (Setting::Array, options.array.is_some(), format.name == "NPZ", "only .npz files hold several arrays"),
        (Setting::Delimiter, options.delimiter.is_some(), is_text, "only text files have one"),
        (Setting::Header, options.header.is_some(), is_text, "only text files may have one or not"),
    ] {
        if given && !fits {
            return Err(DataError::UselessOption {
                file: input.name,
                option: option.to_string(),
                problem: problem.into(),
            });
        }
    }
    (format.read)(&mut input, options)?.require_rows()
}

/// Opens a file for rows under these column names; `-` is standard output. The kind follows from the ending of the name.
pub fn writer(path: &Path, header: &[String]) -> Result<Box<dyn RowWriter>, DataError> {
    writer_like(path, header, &TextStyle::default())
}

/// As [`writer`]; text files get this style.
pub fn writer_like(path: &Path, header: &[String], style: &TextStyle) -> Result<Box<dyn RowWriter>, DataError> {
    let format = format_of(path, false)?.unwrap_or(&FORMATS[0]);
    let write = format.write.ok_or_else(|| unknown(path, format.extensions[0], |f| f.write.is_some()))?;
    for (second, column) in header.iter().enumerate() {
        if let Some(first) = header[..second].iter().position(|name| name == column) {
            return Err(DataError::WrittenTwice {
                file: path.display().to_string(),
                column: column.clone(),
                first: first + 1,
            });
        }
    }
    write(Output::create(path)?, header, style)
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

/// The kind of a file by the ending of its name, if it has one; an ending of a packed file counts only for reading.
fn format_of(path: &Path, packed: bool) -> Result<Option<&'static Format>, DataError> {
    let ending = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let Some(mut extension) = ending(path) else { return Ok(None) };
    if packed && PACKED.contains(&extension.as_str()) {
        match path.file_stem().and_then(|stem| ending(Path::new(stem))) {
            Some(inner) => extension = inner,
            None => return Ok(None),
        }
    }
    let found = FORMATS.iter().find(|f| f.extensions.contains(&extension.as_str()));
    found.map(Some).ok_or_else(|| match packed {
        true => unknown(path, &extension, |_| true),
        false => unknown(path, &extension, |f| f.write.is_some()),
    })
}

fn unknown(path: &Path, extension: &str, can: fn(&Format) -> bool) -> DataError {
    let (file, extension) = (path.display().to_string(), extension.to_owned());
    DataError::UnknownFormat { file, extension, known: endings(can) }
}

/// Endings of the formats that can do something.
fn endings(can: fn(&Format) -> bool) -> String {
    let known = FORMATS.iter().filter(|f| can(f)).flat_map(|f| f.extensions);
    known.map(|e| format!(".{e}")).collect::<Vec<_>>().join(", ")
}
