//! What can be wrong with a data file, a choice of columns or a data set's name, and what to do about it.

use super::{RowErrors, UnusedHemisphere};
use crate::Setting;
use std::{io, path::PathBuf};

/// A refusal of input or a failure to write output. Every message names the file and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum DataError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io { path: PathBuf, action: &'static str, source: io::Error },
    /// There is no row of data.
    #[error("{file}: no data rows (empty, or only comments and a header); give a file with at least one row")]
    Empty { file: String },
    /// Bytes that are no UTF-8 text.
    #[error("{file}: line {line}: byte {offset} of the file is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 { file: String, line: usize, offset: usize },
    /// A zero byte inside a text file.
    #[error("{file}: line {line}: byte {offset} of the file is zero; this is not a text file")]
    NulByte { file: String, line: usize, offset: usize },
    /// A line beyond the limit.
    #[error("{file}: line {line} is longer than {limit} bytes; is this a table with one row per line?")]
    LineTooLong { file: String, line: usize, limit: usize },
    /// A file beyond the limit.
    #[error("{file}: larger than the limit of {limit} bytes; split the file or raise the limit")]
    TooLarge { file: String, limit: u64 },
    /// A compressed file that unpacks to far more than its size.
    #[error(
        "{file}: {packed} bytes unpack to more than {unpacked}; this looks like a decompression bomb. \
         Unpack the file yourself if it is honest"
    )]
    Bomb { file: String, packed: u64, unpacked: u64 },
    /// Compressed data that cannot be unpacked.
    #[error("{file}: cannot unpack: {problem}; the file is damaged or does not match its name")]
    Unpack { file: String, problem: String },
    /// A quoted field without an end.
    #[error("{file}: line {line}: a quoted field starts here and does not end; add the missing \" or remove this one")]
    UnclosedQuote { file: String, line: usize },
    /// A first row of numbers that may be names.
    #[error(
        "{file}: line {line}: `{cells}` may be column names or the first row of data; \
         give {header} yes if they are names, or {header} no",
        header = Setting::Header
    )]
    NumericHeader { file: String, line: usize, cells: String },
    /// Two columns of one name.
    #[error("{file}: line {line}: columns {first} and {second} are both called `{column}`; rename one")]
    DuplicateColumn { file: String, line: usize, column: String, first: usize, second: usize },
    /// Two columns of one name would be written.
    #[error("{file}: a column called `{column}` would be written twice; rename column {first} of the input")]
    WrittenTwice { file: String, column: String, first: usize },
    /// No reader or writer for this kind of file.
    #[error("{file}: unknown format `.{extension}`; known: {known}")]
    UnknownFormat { file: String, extension: String, known: String },
    /// An NPY file of Python objects.
    #[error(
        "{file}: the array has dtype object, which needs Python's pickle and could run code; \
         save numbers instead, e.g. np.save(f, a.astype(float))"
    )]
    Pickle { file: String },
    /// A broken or unsuitable file of a binary or nested format.
    #[error("{file}: bad {format} file: {problem}")]
    Damaged { file: String, format: &'static str, problem: String },
    /// One of several arrays must be named.
    #[error("{file}: {problem}; choose one with {} NAME, from: {known}", Setting::Array)]
    Array { file: String, problem: String, known: String },
    /// Text below numbers in a column that is written as numbers.
    #[error("{file}: column `{column}` holds text (`{text}`) below numbers; write a .csv file")]
    MixedColumn { file: String, column: String, text: String },
    /// Columns without a place on the globe in a format of places.
    #[error(
        "{file}: GeoJSON holds places on the globe, and there are no columns lat and lon (found {columns}); \
         write a .csv or .parquet file"
    )]
    NoPlaces { file: String, columns: String },
    /// Text in a format of numbers.
    #[error("{file}: column `{column}` holds text, and NPY files hold only numbers; write a .csv file")]
    TextInNpy { file: String, column: String },
    /// Rows that cannot be used.
    #[error("{0}")]
    Rows(Box<RowErrors>),
    /// The columns do not fit the manifold.
    #[error("{file}: line {line}: columns do not fit: wanted {wanted}; found {found}{advice}")]
    Columns { file: String, line: usize, wanted: String, found: String, advice: String },
    /// No base measure of this name.
    #[error("unknown base measure `{text}`; known: default, uniform, mixture:FILE, and for a fit mixture and kde")]
    UnknownBase { text: String },
    /// Angles of unknown unit.
    #[error(
        "{file}: the unit of the angle columns {columns} is not known; \
         give {} deg or rad, or end the column names in _deg or _rad",
        Setting::AngleUnit
    )]
    AngleUnit { file: String, columns: String },
    /// Quaternion columns of unknown order.
    #[error(
        "{file}: the order of the quaternion columns {columns} is not known; give {} xyzw or wxyz",
        Setting::QuatOrder
    )]
    QuaternionOrder { file: String, columns: String },
    /// Quaternion columns that are not four.
    #[error(
        "{file}: quaternion columns are not clear: {problem}; choose four with {}, and give {} xyzw or wxyz if their \
         names do not tell the order",
        Setting::Columns,
        Setting::QuatOrder
    )]
    QuaternionColumns { file: String, problem: String },
    /// Euler angles of unknown sequence.
    #[error(
        "{file}: the columns {columns} look like Euler angles, of which there are many kinds; give the sequence as \
         scipy does: {euler} zyx (about fixed axes) or {euler} ZYX (about turning axes)",
        euler = Setting::Euler
    )]
    EulerSequence { file: String, columns: String },
    /// Three numbers of a rotation that may be a rotation vector or Euler angles.
    #[error(
        "{file}: the columns {columns} may be a rotation vector (the axis times the angle) or Euler angles; \
         give {} rotvec, or the sequence of Euler angles as scipy writes it, such as {} ZYX",
        Setting::Rotation,
        Setting::Euler
    )]
    RotationForm { file: String, columns: String },
    /// Hemispheres that are not part of the numbers they belong to.
    #[error(transparent)]
    Hemisphere(Box<UnusedHemisphere>),
    /// Text in a column that a model is conditioned on.
    #[error(
        "{file}: column `{column}` holds text ({values}), and a condition must be a number or a date: conditions on text are \
         not supported yet. Write one column of 0 and 1 per value, or train one run per value"
    )]
    TextCondition { file: String, column: String, values: String },
    /// An option that means nothing for the file or its columns.
    #[error("{file}: {option} does not fit: {problem}; leave it out")]
    UselessOption { file: String, option: String, problem: String },
    /// A choice of columns that means nothing for this file.
    #[error("{file}: column selection `{selection}`: {problem}")]
    Selection { file: String, selection: String, problem: String },
    /// A column of strings with too many different values.
    #[error(
        "{file}: line {line}: column `{column}` has more than {limit} different values by this line, and {found} in all; \
         every value is one coordinate of the model ({found} values x 512 units take {megabytes} MB of weights). \
         Group rare values under one name, or choose the other columns with {}",
        Setting::Columns
    )]
    TooManyLevels { file: String, line: usize, column: String, limit: usize, found: usize, megabytes: usize },
    /// A column of strings with another number of different values than the spec.
    #[error(
        "{file}: column `{column}` has {found} different values, and the manifold declares {declared}; \
         write categorical without numbers to take them from the file"
    )]
    LevelCount { file: String, column: String, found: usize, declared: usize },
    /// A part of a split without rows.
    #[error(
        "cannot split {rows} rows ({distinct} distinct): the {part} part would be empty; give more {}",
        if *random { "different rows, or `split = random` if equal rows are meant" } else { "rows" }
    )]
    EmptyPart { part: &'static str, rows: usize, distinct: usize, random: bool },
    /// Fractions that are no division of a whole.
    #[error("split fractions {0:?} must be non-negative and sum to 1")]
    Fractions([f64; 3]),
    /// Rows cannot be divided as asked.
    #[error(transparent)]
    Split(#[from] super::SplitError),
    /// No data set of this name.
    #[error(transparent)]
    UnknownDataset(#[from] crate::registry::Unknown),
    /// A parameter of a data set is wrong.
    #[error("data set `{name}`: {problem}")]
    DatasetArgument { name: String, problem: String },
    /// A data set that lives in a file which is not there.
    #[error(
        "data set `{name}` needs the file {file}, which was not found in {looked}; \
         give the directory with {} or the environment variable MAD_DATA",
        Setting::DataDir
    )]
    MissingData { name: String, file: String, looked: String },
}

impl DataError {
    /// Whether the request, rather than the data, must change.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::UnknownBase { .. }
                | Self::AngleUnit { .. }
                | Self::QuaternionOrder { .. }
                | Self::QuaternionColumns { .. }
                | Self::EulerSequence { .. }
                | Self::RotationForm { .. }
                | Self::Hemisphere(_)
                | Self::TextCondition { .. }
                | Self::NumericHeader { .. }
                | Self::Array { .. }
                | Self::NoPlaces { .. }
                | Self::MixedColumn { .. }
                | Self::Selection { .. }
                | Self::WrittenTwice { .. }
                | Self::UselessOption { .. }
                | Self::Fractions(_)
                | Self::UnknownFormat { .. }
                | Self::TextInNpy { .. }
                | Self::UnknownDataset(_)
                | Self::DatasetArgument { .. }
        ) || matches!(self, Self::Split(error) if error.is_usage())
    }

    /// Whether the operating system refused.
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// Whether the reader of a pipe has gone away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// A file that is not what its format asks for.
    pub(crate) fn damaged(file: &str, format: &'static str, problem: impl Into<String>) -> Self {
        Self::Damaged { file: file.into(), format, problem: problem.into() }
    }

    /// A failed read of the file called `name`; errors of this kind that travelled through a reader come out again.
    pub(crate) fn read(name: &str, error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(inner) => inner,
            Err(source) => Self::io(name, "read", source),
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>, action: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.into(), action, source }
    }
}
