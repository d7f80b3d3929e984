//! What can be wrong with a data file, a choice of columns or a data set's name, and what to do about it.

use super::{RowErrors, UnusedHemisphere};
use std::{io, path::PathBuf};

/// A refusal of input or a failure to write output. Every text names the file and says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file in question.
        path: PathBuf,
        /// What was tried, such as `read`.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// There is no row of data.
    #[error("{file}: no data rows (empty, or only comments and a header); give a file with at least one row")]
    Empty {
        /// The file in question.
        file: String,
    },
    /// Bytes that are no UTF-8 text.
    #[error("{file}: line {line}: byte {offset} of the file is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 {
        /// The file in question.
        file: String,
        /// Line of the first bad byte, from 1.
        line: usize,
        /// Position of the first bad byte, from 0.
        offset: usize,
    },
    /// A zero byte inside a text file.
    #[error("{file}: line {line}: byte {offset} of the file is zero; this is not a text file")]
    NulByte {
        /// The file in question.
        file: String,
        /// Line of the first zero byte, from 1.
        line: usize,
        /// Position of the first zero byte, from 0.
        offset: usize,
    },
    /// A line beyond the limit.
    #[error("{file}: line {line} is longer than {limit} bytes; is this a table with one row per line?")]
    LineTooLong {
        /// The file in question.
        file: String,
        /// The line, from 1.
        line: usize,
        /// Longest line allowed, in bytes.
        limit: usize,
    },
    /// A file beyond the limit.
    #[error("{file}: larger than the limit of {limit} bytes; split the file or raise the limit")]
    TooLarge {
        /// The file in question.
        file: String,
        /// Largest size allowed, in bytes.
        limit: u64,
    },
    /// A compressed file that unpacks to far more than its size.
    #[error(
        "{file}: {packed} bytes unpack to more than {unpacked}; this looks like a decompression bomb. \
         Unpack the file yourself if it is honest"
    )]
    Bomb {
        /// The file in question.
        file: String,
        /// Bytes read from the file.
        packed: u64,
        /// Bytes that came out.
        unpacked: u64,
    },
    /// Compressed data that cannot be unpacked.
    #[error("{file}: cannot unpack: {problem}; the file is damaged or is not what its name says")]
    Unpack {
        /// The file in question.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A quoted field without an end.
    #[error("{file}: line {line}: a quoted field starts here and does not end; add the missing \" or remove this one")]
    UnclosedQuote {
        /// The file in question.
        file: String,
        /// Line on which the row starts.
        line: usize,
    },
    /// A first row of numbers that may be names.
    #[error(
        "{file}: line {line}: `{cells}` may be column names or the first row of data; \
         give --header yes if they are names, or --header no"
    )]
    NumericHeader {
        /// The file in question.
        file: String,
        /// Line of the row.
        line: usize,
        /// The row.
        cells: String,
    },
    /// Two columns of one name.
    #[error("{file}: line {line}: columns {first} and {second} are both called `{column}`; rename one")]
    DuplicateColumn {
        /// The file in question.
        file: String,
        /// Line of the header.
        line: usize,
        /// The name.
        column: String,
        /// Number of the first column, from 1.
        first: usize,
        /// Number of the second column, from 1.
        second: usize,
    },
    /// Two columns of one name would be written.
    #[error("{file}: a column called `{column}` would be written twice; rename column {first} of the input")]
    WrittenTwice {
        /// The file that was to be written.
        file: String,
        /// The name.
        column: String,
        /// Number of the first column, from 1.
        first: usize,
    },
    /// No reader or writer for this kind of file.
    #[error("{file}: unknown format `.{extension}`; known: {known}")]
    UnknownFormat {
        /// The file in question.
        file: String,
        /// Ending of its name.
        extension: String,
        /// Known endings.
        known: String,
    },
    /// An NPY file of Python objects.
    #[error(
        "{file}: the array has dtype object, which needs Python's pickle and could run code; \
         save numbers instead, e.g. np.save(f, a.astype(float))"
    )]
    Pickle {
        /// The file in question.
        file: String,
    },
    /// A broken or unsuitable NPY file.
    #[error("{file}: bad NPY file: {problem}")]
    Npy {
        /// The file in question.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A broken or unsuitable NPZ file.
    #[error("{file}: bad NPZ file: {problem}")]
    Npz {
        /// The file in question.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// One of several arrays must be named.
    #[error("{file}: {problem}; choose one with --array NAME, from: {known}")]
    Array {
        /// The file in question.
        file: String,
        /// What is wrong.
        problem: String,
        /// Names of the arrays.
        known: String,
    },
    /// A broken or unsuitable GeoJSON file.
    #[error("{file}: bad GeoJSON file: {problem}")]
    GeoJson {
        /// The file in question.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A broken or unsuitable Parquet file.
    #[error("{file}: bad Parquet file: {problem}")]
    Parquet {
        /// The file in question.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// Text below numbers in a column that is written as numbers.
    #[error("{file}: column `{column}` holds text (`{text}`) below numbers; write a .csv file")]
    MixedColumn {
        /// The file in question.
        file: String,
        /// The column.
        column: String,
        /// The first text.
        text: String,
    },
    /// Columns without a place on the globe in a format of places.
    #[error(
        "{file}: GeoJSON holds places on the globe, and there are no columns lat and lon (found {columns}); \
         write a .csv or .parquet file"
    )]
    NoPlaces {
        /// The file in question.
        file: String,
        /// The columns there are.
        columns: String,
    },
    /// Text in a format of numbers.
    #[error("{file}: column `{column}` holds text, and NPY files hold only numbers; write a .csv file")]
    TextInNpy {
        /// The file in question.
        file: String,
        /// First column of text.
        column: String,
    },
    /// Rows that cannot be used.
    #[error("{0}")]
    Rows(Box<RowErrors>),
    /// The columns do not fit the manifold.
    #[error("{file}: line {line}: columns do not fit: wanted {wanted}; found {found}{advice}")]
    Columns {
        /// The file in question.
        file: String,
        /// Line of the header or of the first row.
        line: usize,
        /// What the manifold asks for.
        wanted: String,
        /// The columns there are.
        found: String,
        /// What to do, starting with `; `, or nothing.
        advice: String,
    },
    /// No base measure of this name.
    #[error("unknown base measure `{text}`; known: default, uniform, mixture:FILE, and in `mad fit` mixture and kde")]
    UnknownBase {
        /// The name given.
        text: String,
    },
    /// Angles of unknown unit.
    #[error(
        "{file}: the unit of the angle columns {columns} is not known; \
         give --angle-unit deg or rad, or end the column names in _deg or _rad"
    )]
    AngleUnit {
        /// The file in question.
        file: String,
        /// The columns.
        columns: String,
    },
    /// Quaternion columns of unknown order.
    #[error("{file}: the order of the quaternion columns {columns} is not known; give --quat-order xyzw or wxyz")]
    QuaternionOrder {
        /// The file in question.
        file: String,
        /// The columns.
        columns: String,
    },
    /// Quaternion columns that are not four.
    #[error(
        "{file}: quaternion columns are not clear: {problem}; choose four with --columns, and give --quat-order xyzw or \
         wxyz if their names do not tell the order"
    )]
    QuaternionColumns {
        /// The file in question.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// Euler angles of unknown sequence.
    #[error(
        "{file}: the columns {columns} look like Euler angles, of which there are many kinds; give the sequence as \
         scipy does: --euler zyx (about fixed axes) or --euler ZYX (about turning axes)"
    )]
    EulerSequence {
        /// The file in question.
        file: String,
        /// The columns.
        columns: String,
    },
    /// Three numbers of a rotation that may be a rotation vector or Euler angles.
    #[error(
        "{file}: the columns {columns} may be a rotation vector (the axis times the angle) or Euler angles; \
         give --rotation rotvec, or the sequence of Euler angles as scipy writes it, such as --euler ZYX"
    )]
    RotationForm {
        /// The file in question.
        file: String,
        /// The columns.
        columns: String,
    },
    /// Hemispheres that are not part of the numbers they belong to.
    #[error(transparent)]
    Hemisphere(Box<UnusedHemisphere>),
    /// Text in a column that a model is conditioned on.
    #[error(
        "{file}: column `{column}` holds text ({values}), and a condition must be a number or a date: conditions on text are \
         not supported yet. Write one column of 0 and 1 per value, or train one run per value"
    )]
    TextCondition {
        /// The file in question.
        file: String,
        /// The column.
        column: String,
        /// Its most frequent values.
        values: String,
    },
    /// An option that means nothing for the file or its columns.
    #[error("{file}: {option} does not fit: {problem}; leave it out")]
    UselessOption {
        /// The file in question.
        file: String,
        /// The option as given.
        option: String,
        /// Why not.
        problem: String,
    },
    /// A choice of columns that means nothing for this file.
    #[error("{file}: column selection `{selection}`: {problem}")]
    Selection {
        /// The file in question.
        file: String,
        /// The selection as given.
        selection: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A column of strings with too many different values.
    #[error(
        "{file}: line {line}: column `{column}` has more than {limit} different values by this line, and {found} in all; \
         every value is one coordinate of the model ({found} values x 512 units take {megabytes} MB of weights). \
         Group rare values under one name, or choose the other columns with --columns"
    )]
    TooManyLevels {
        /// The file in question.
        file: String,
        /// Line at which the limit was passed.
        line: usize,
        /// The column.
        column: String,
        /// Number of values allowed.
        limit: usize,
        /// Number of values in the file.
        found: usize,
        /// Memory of one dense layer on that many inputs.
        megabytes: usize,
    },
    /// A column of strings with another number of different values than the spec says.
    #[error(
        "{file}: column `{column}` has {found} different values, and the manifold declares {declared}; \
         write categorical without numbers to take them from the file"
    )]
    LevelCount {
        /// The file in question.
        file: String,
        /// The column.
        column: String,
        /// Number of values in the file.
        found: usize,
        /// Number of values in the spec.
        declared: usize,
    },
    /// A part of a split without rows.
    #[error(
        "cannot split {rows} rows ({distinct} distinct): the {part} part would be empty; give more {}",
        if *random { "different rows, or `split = random` if equal rows are meant" } else { "rows" }
    )]
    EmptyPart {
        /// `training`, `validation` or `test`.
        part: &'static str,
        /// Number of rows.
        rows: usize,
        /// Number of distinct rows.
        distinct: usize,
        /// Whether no part would be empty if equal rows might stand in several.
        random: bool,
    },
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
    DatasetArgument {
        /// Name as given.
        name: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A data set that lives in a file which is not there.
    #[error(
        "data set `{name}` needs the file {file}, which was not found in {looked}; \
         give the directory with --data-dir or the environment variable MAD_DATA"
    )]
    MissingData {
        /// Name of the set.
        name: String,
        /// Name of the file.
        file: String,
        /// Places where it was looked for.
        looked: String,
    },
}

impl DataError {
    /// Whether the command line, rather than the data, must change (exit code 2).
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

    /// Whether the operating system refused (exit code 5).
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// Whether the reader of standard output has gone away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
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
