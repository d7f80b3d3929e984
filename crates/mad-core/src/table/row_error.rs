//! Bad rows of a file: what is wrong with each, and how they are reported together.

use super::DataError;
use std::{collections::BTreeMap, fmt};

/// How many bad rows are kept one by one.
pub(crate) const LISTED_ROWS: usize = 20;

/// How many rows of one kind of fault in one column are shown; more are reported by their number, with as many examples.
const EXAMPLES: usize = 3;

/// Bad rows up to this number are reported one by one, in the order of their lines.
const FEW: usize = 6;

/// Most groups of faults that are distinguished.
const MOST_GROUPS: usize = 12;

/// Largest absolute value of a number in a table.
pub(crate) const LARGEST_NUMBER: f64 = 1e140;

/// Bad rows of one file: the first ones in full, and all of them grouped by column and kind of fault.
#[derive(Debug)]
pub struct RowErrors {
    /// The file in question.
    pub file: String,
    /// The first bad rows.
    pub listed: Vec<RowError>,
    /// All bad rows by column and kind of fault, in the order of their first rows.
    pub groups: Vec<RowGroup>,
    /// Number of bad rows in all.
    pub total: usize,
    /// How many rows have each kind of fault, the most frequent first.
    pub kinds: Vec<(&'static str, usize)>,
    /// What may be behind all of them.
    pub hint: Option<String>,
}

/// Bad rows with one kind of fault in one column.
#[derive(Debug, Clone, PartialEq)]
pub struct RowGroup {
    /// The column or columns, where the fault has a place.
    pub column: Option<String>,
    /// The kind of fault.
    pub kind: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// The first of them, and a few whose words differ.
    pub examples: Vec<RowError>,
}

impl fmt::Display for RowGroup {
    /// A few rows one by one; of more their number, the first line, and examples on lines of their own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows <= EXAMPLES {
            let rows: Vec<String> = self.examples.iter().map(RowError::to_string).collect();
            return f.write_str(&rows.join("\n"));
        }
        if let Some(column) = &self.column {
            write!(f, "column {column}, ")?;
        }
        write!(f, "{} rows: {}", self.rows, self.kind)?;
        let shown_before = |i: usize| self.examples[..i].iter().any(|row| row.fault == self.examples[i].fault);
        for (count, i) in (0..self.examples.len()).filter(|&i| !shown_before(i)).take(EXAMPLES).enumerate() {
            let RowError { unit, line, fault, .. } = &self.examples[i];
            write!(f, "{}{unit} {line}: {fault}", if count == 0 { ", first at " } else { "\n  " })?;
        }
        Ok(())
    }
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
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum RowFault {
    /// Another number of fields than the header or the first row.
    #[error("{found} fields where the first row has {wanted}")]
    Ragged { wanted: usize, found: usize },
    /// Nothing where a value must stand.
    #[error("the cell is blank; fill it in or leave the row out")]
    Blank,
    /// A comma that may be decimal or separate thousands, or a decimal comma among decimal points.
    #[error(
        "`{0}` has a comma where other numbers have none; write a decimal point, and thousands without a separator"
    )]
    DecimalComma(String),
    /// A point in a file of decimal commas.
    #[error(
        "`{0}` has a point in a file of decimal commas: is it decimal, or does it separate thousands? Write all numbers alike"
    )]
    MixedDecimals(String),
    /// A feature of another geometry than points.
    #[error(
        "the geometry is a {0}, and only Point and MultiPoint are read; convert it to points, such as its centroid"
    )]
    Geometry(String),
    /// A position without longitude and latitude.
    #[error("the position has no longitude and latitude")]
    Position,
    /// A matrix of a pose whose last row is not 0 0 0 1.
    #[error("the last row of the matrix is {0}, not 0 0 0 1, so it is no rigid motion")]
    LastRow(String),
    /// Something else in a column of dates.
    #[error("`{0}` is not an ISO 8601 date or time, such as 2016-05-01 or 2016-05-01T12:30:00Z")]
    NotATime(String),
    /// A latitude among longitudes, or the reverse.
    #[error("`{0}` has the hemisphere letter of the other axis (N and S are latitudes, E and W longitudes)")]
    Hemisphere(String),
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
    #[error("the {what} has norm {norm}, not 1 within {tolerance}; use {} to rescale", crate::Setting::Normalize)]
    Norm { what: &'static str, norm: f64, tolerance: f64 },
    /// A mirror image or a singular matrix.
    #[error("the matrix has determinant {0}, so it is no rotation (which has determinant 1)")]
    Determinant(f64),
    /// A matrix far from orthogonal.
    #[error("the matrix is {deviation} away from the nearest rotation, more than {tolerance}")]
    NotOrthogonal { deviation: f64, tolerance: f64 },
    /// A value that the training file did not have.
    #[error("unknown value `{value}`; nearest known: {nearest}")]
    UnknownCategory { value: String, nearest: String },
    /// Indicator coordinates that name no category.
    #[error("the coordinates are no indicator of a category (one 1, all others 0)")]
    NotOneHot,
    /// A weight that makes its point impossible.
    #[error("weight {0} is not positive; leave the row out instead")]
    Weight(f64),
    /// A point that a finite set already has.
    #[error("the same point as on {unit} {first}; list each point once and use a `weight` column")]
    Duplicate { unit: &'static str, first: usize },
    /// A point off the manifold.
    #[error(
        "the point lies {deviation} away from {manifold}, more than {tolerance}; use {} to project",
        crate::Setting::Normalize
    )]
    OffManifold { deviation: f64, manifold: String, tolerance: f64 },
}

impl RowFault {
    /// The kind of fault in a few words, for counts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ragged { .. } => "wrong number of fields",
            Self::Blank => "blank cell",
            Self::DecimalComma(_) => "decimal comma",
            Self::MixedDecimals(_) => "decimal point among decimal commas",
            Self::NotATime(_) => "not a date",
            Self::Geometry(_) => "geometry other than points",
            Self::Position => "position without longitude and latitude",
            Self::LastRow(_) => "last row not 0 0 0 1",
            Self::Hemisphere(_) => "letter of the other axis",
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

impl RowErrors {
    /// The bad rows in lines of text: few one by one, more by column and kind of fault.
    pub fn report(&self) -> Vec<String> {
        if self.total <= FEW {
            return self.listed.iter().map(RowError::to_string).collect();
        }
        let mut lines: Vec<String> =
            self.groups.iter().flat_map(|g| g.to_string().lines().map(String::from).collect::<Vec<_>>()).collect();
        let grouped: usize = self.groups.iter().map(|group| group.rows).sum();
        if self.total > grouped {
            lines.push(format!("and {} more; in all: {}", self.total - grouped, self.summary()));
        }
        lines
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
            self.report().iter().try_for_each(|line| write!(f, "\n  {line}"))?;
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
    groups: Vec<RowGroup>,
    total: usize,
    kinds: BTreeMap<&'static str, usize>,
}

impl RowErrorList {
    /// No bad row yet; places are counted in `unit`, which is `line` or `row`.
    pub(crate) fn new(unit: &'static str) -> Self {
        Self { unit, listed: Vec::new(), groups: Vec::new(), total: 0, kinds: BTreeMap::new() }
    }

    pub(crate) fn push(&mut self, line: usize, column: Option<String>, fault: RowFault) {
        self.total += 1;
        *self.kinds.entry(fault.kind()).or_default() += 1;
        let row = RowError { unit: self.unit, line, column, fault };
        let group = RowGroup { column: row.column.clone(), kind: row.fault.kind(), rows: 1, examples: Vec::new() };
        self.join(group, std::slice::from_ref(&row));
        if self.listed.len() < LISTED_ROWS {
            self.listed.push(row);
        }
    }

    /// Adds rows to the group of their column and kind, if there is one or room for one.
    fn join(&mut self, group: RowGroup, examples: &[RowError]) {
        let known = self.groups.iter().position(|g| g.kind == group.kind && g.column == group.column);
        let place = match known {
            Some(place) => {
                self.groups[place].rows += group.rows;
                place
            }
            None if self.groups.len() < MOST_GROUPS => {
                self.groups.push(group);
                self.groups.len() - 1
            }
            None => return,
        };
        let own = &mut self.groups[place];
        for row in examples {
            let new = own.examples.iter().all(|e| e.fault != row.fault);
            if own.examples.len() < EXAMPLES || (new && own.examples.len() < 2 * EXAMPLES) {
                own.examples.push(row.clone());
            }
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
        for group in &other.groups {
            self.join(RowGroup { examples: Vec::new(), ..group.clone() }, &group.examples);
        }
        self.groups.iter_mut().for_each(|group| group.examples.sort_by_key(|row| row.line));
        self.groups.sort_by_key(|group| group.examples.first().map(|row| row.line));
    }

    /// An error if any row was bad.
    pub(crate) fn finish(self, file: &str, hint: Option<String>) -> Result<(), DataError> {
        self.into_errors(file, hint).map_or(Ok(()), |errors| Err(DataError::Rows(Box::new(errors))))
    }

    /// The bad rows, if there are any.
    pub(crate) fn into_errors(self, file: &str, hint: Option<String>) -> Option<RowErrors> {
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let (listed, groups, total) = (self.listed, self.groups, self.total);
        (total > 0).then(|| RowErrors { file: file.into(), listed, groups, total, kinds, hint })
    }
}
