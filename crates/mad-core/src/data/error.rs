//! What can be wrong with a data file, a choice of columns or a data set's name, and what to do about it.

use std::{collections::BTreeMap, fmt, io, path::PathBuf};

/// How many bad rows are listed one by one.
pub const LISTED_ROWS: usize = 20;

/// Largest absolute value of a number in a table.
pub(crate) const LARGEST_NUMBER: f64 = 1e140;

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
    /// A format for output only.
    #[error("{file}: {format} files are written, not read; give a file of {known}")]
    WriteOnly {
        /// The file in question.
        file: String,
        /// Name of the format.
        format: &'static str,
        /// Endings that are read.
        known: String,
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
    Rows(RowErrors),
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
    #[error("unknown data set `{name}`; did you mean `{nearest}`? Known: {known}")]
    UnknownDataset {
        /// Name as given.
        name: String,
        /// Most similar known name.
        nearest: String,
        /// All known names.
        known: String,
    },
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
                | Self::NumericHeader { .. }
                | Self::Array { .. }
                | Self::NoPlaces { .. }
                | Self::MixedColumn { .. }
                | Self::WriteOnly { .. }
                | Self::Selection { .. }
                | Self::WrittenTwice { .. }
                | Self::UselessOption { .. }
                | Self::Fractions(_)
                | Self::UnknownFormat { .. }
                | Self::TextInNpy { .. }
                | Self::UnknownDataset { .. }
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

/// Bad rows of one file: the first [`LISTED_ROWS`] in full, then a count.
#[derive(Debug)]
pub struct RowErrors {
    /// The file in question.
    pub file: String,
    /// The first bad rows.
    pub listed: Vec<RowError>,
    /// Number of bad rows in all.
    pub total: usize,
    /// How many rows have each kind of fault, the most frequent first.
    pub kinds: Vec<(&'static str, usize)>,
    /// What may be behind all of them.
    pub hint: Option<String>,
}

/// One bad row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowError {
    /// `line`, or `row` for files without lines.
    pub unit: &'static str,
    /// Line of the file, from 1; row of the array for files without lines.
    pub line: usize,
    /// The column or columns, where the fault has a place.
    pub column: Option<String>,
    /// What is wrong.
    pub fault: RowFault,
}

/// What can be wrong with a row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// Another number of fields than the header or the first row.
    #[error("{found} fields where the first row has {wanted}")]
    Ragged {
        /// Fields in the first row.
        wanted: usize,
        /// Fields here.
        found: usize,
    },
    /// Nothing where a value must stand.
    #[error("the cell is blank; fill it in or leave the row out")]
    Blank,
    /// A decimal comma.
    #[error("`{0}` has a decimal comma; write a decimal point")]
    DecimalComma(String),
    /// Text where a number must stand.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// NaN or an infinity.
    #[error("{0} is not a finite number")]
    NotFinite(f64),
    /// A number whose square over σ² overflows.
    #[error("{0:e} is too large; numbers up to {LARGEST_NUMBER:e} are read")]
    TooLarge(f64),
    /// Latitude off the globe.
    #[error("latitude {0} is outside [-90, 90]")]
    Latitude(f64),
    /// Longitude off the globe.
    #[error("longitude {0} is outside [-180, 360]")]
    Longitude(f64),
    /// Latitude off the globe, in radians.
    #[error("latitude {0} is outside [-π/2, π/2] in radians; is it in degrees?")]
    LatitudeRadians(f64),
    /// Longitude off the globe, in radians.
    #[error("longitude {0} is outside [-π, 2π] in radians; is it in degrees?")]
    LongitudeRadians(f64),
    /// A vector without direction.
    #[error("the {0} has norm zero")]
    ZeroNorm(&'static str),
    /// A vector that is not of length one.
    #[error("the {what} has norm {norm}, not 1 within {tolerance}; use --normalize to rescale")]
    Norm {
        /// `quaternion` or `direction`.
        what: &'static str,
        /// Its length.
        norm: f64,
        /// Difference allowed.
        tolerance: f64,
    },
    /// A mirror image or a singular matrix.
    #[error("the matrix has determinant {0}, so it is no rotation (which has determinant 1)")]
    Determinant(f64),
    /// A matrix far from orthogonal.
    #[error("the matrix is {deviation} away from the nearest rotation, more than {tolerance}")]
    NotOrthogonal {
        /// Frobenius distance to the nearest rotation.
        deviation: f64,
        /// Distance allowed.
        tolerance: f64,
    },
    /// A value that the training file did not have.
    #[error("unknown value `{value}`; nearest known: {nearest}")]
    UnknownCategory {
        /// The value.
        value: String,
        /// Similar known values.
        nearest: String,
    },
    /// Indicator coordinates that name no category.
    #[error("the coordinates are no indicator of a category (one 1, all others 0)")]
    NotOneHot,
    /// A weight that makes its point impossible.
    #[error("weight {0} is not positive; leave the row out instead")]
    Weight(f64),
    /// A point that a finite set already has.
    #[error("the same point as on {unit} {first}; list each point once and use a `weight` column")]
    Duplicate {
        /// `line`, or `row` for files without lines.
        unit: &'static str,
        /// Where the point stands first.
        first: usize,
    },
    /// A point off the manifold.
    #[error("the point lies {deviation} away from {manifold}, more than {tolerance}; use --normalize to project")]
    OffManifold {
        /// Distance to the manifold.
        deviation: f64,
        /// The manifold.
        manifold: String,
        /// Distance allowed.
        tolerance: f64,
    },
}

impl RowFault {
    /// The kind of fault in a few words, for counts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ragged { .. } => "wrong number of fields",
            Self::Blank => "blank cell",
            Self::DecimalComma(_) => "decimal comma",
            Self::NotANumber(_) => "not a number",
            Self::NotFinite(_) => "NaN or infinite",
            Self::TooLarge(_) => "too large",
            Self::Latitude(_) | Self::LatitudeRadians(_) => "latitude off the globe",
            Self::Longitude(_) | Self::LongitudeRadians(_) => "longitude off the globe",
            Self::ZeroNorm(_) => "norm zero",
            Self::Norm { .. } => "norm not 1",
            Self::Determinant(_) => "determinant not positive",
            Self::NotOrthogonal { .. } => "matrix not orthogonal",
            Self::UnknownCategory { .. } => "unknown value",
            Self::NotOneHot => "no indicator of a category",
            Self::Weight(_) => "weight not positive",
            Self::Duplicate { .. } => "repeated point",
            Self::OffManifold { .. } => "off the manifold",
        }
    }
}

impl RowErrors {
    /// The kinds of faults with their numbers, such as `2 blank cell, 1 not a number`.
    pub fn summary(&self) -> String {
        self.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for RowErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &self.listed[..]
            && self.total == 1
        {
            write!(f, "{}: {only}", self.file)?;
        } else {
            write!(f, "{}: {} bad rows", self.file, self.total)?;
            for row in &self.listed {
                write!(f, "\n  {row}")?;
            }
            if self.total > self.listed.len() {
                write!(f, "\n  and {} more; in all: {}", self.total - self.listed.len(), self.summary())?;
            }
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit, self.line)?;
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.fault)
    }
}

/// Gathers bad rows while a file is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowErrorList {
    unit: &'static str,
    listed: Vec<RowError>,
    total: usize,
    kinds: BTreeMap<&'static str, usize>,
}

impl RowErrorList {
    /// No bad row yet; places are counted in `unit`, which is `line` or `row`.
    pub(crate) fn new(unit: &'static str) -> Self {
        Self { unit, listed: Vec::new(), total: 0, kinds: BTreeMap::new() }
    }

    pub(crate) fn push(&mut self, line: usize, column: Option<String>, fault: RowFault) {
        self.total += 1;
        *self.kinds.entry(fault.kind()).or_default() += 1;
        if self.listed.len() < LISTED_ROWS {
            self.listed.push(RowError { unit: self.unit, line, column, fault });
        }
    }

    /// Number of bad rows.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// The bad rows of both lists in the order of their lines.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.total += other.total;
        other.kinds.iter().for_each(|(kind, count)| *self.kinds.entry(kind).or_default() += count);
        self.listed.extend(other.listed.iter().cloned());
        self.listed.sort_by_key(|row| row.line);
        self.listed.truncate(LISTED_ROWS);
    }

    /// An error if any row was bad.
    pub(crate) fn finish(self, file: &str, hint: Option<String>) -> Result<(), DataError> {
        self.into_errors(file, hint).map_or(Ok(()), |errors| Err(DataError::Rows(errors)))
    }

    /// The bad rows, if there are any.
    pub(crate) fn into_errors(self, file: &str, hint: Option<String>) -> Option<RowErrors> {
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let (listed, total) = (self.listed, self.total);
        (total > 0).then(|| RowErrors { file: file.into(), listed, total, kinds, hint })
    }
}
