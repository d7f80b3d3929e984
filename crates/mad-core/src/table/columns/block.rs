//! One block of a point: which columns it stands in, how it is read, and how it is written.

mod decode;
mod encode;
mod notices;

pub(super) use decode::Tally;

use super::{
    EulerSequence,
    options::{AngleUnit, ColumnOptions},
};
use crate::{
    Points,
    table::{DataError, RowFault, Table, row_error::RowErrorList},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeSet, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

/// A column of the training file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    /// Position in the file, from 0.
    pub(super) index: usize,
    /// Whether its angles are written from 0 to a whole turn, not from minus half a turn to half a turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    from_zero: bool,
}

impl Column {
    pub(super) fn new(name: String, index: usize) -> Self {
        Self { name, index, from_zero: false }
    }

    /// An angle between minus half a turn and half a turn as the column writes it.
    fn turned(&self, angle: f64, unit: AngleUnit) -> f64 {
        if self.from_zero && angle < 0.0 { angle + 2.0 * unit.half_turn() } else { angle }
    }
}

/// The form of one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "form")]
pub(super) enum Block {
    /// Ambient coordinates as they are.
    Coordinates { columns: Vec<Column> },
    /// A unit vector.
    Direction { columns: Vec<Column> },
    /// Latitude and longitude.
    LatLon {
        columns: Vec<Column>,
        #[serde(default = "degrees", skip_serializing_if = "are_degrees")]
        units: [AngleUnit; 2],
    },
    /// A quaternion in the order x, y, z, w.
    Quaternion { columns: Vec<Column> },
    /// A rotation matrix, row-major; the last row of a 4x4 pose matrix may follow.
    Matrix { columns: Vec<Column> },
    /// A rotation vector.
    RotationVector { columns: Vec<Column>, units: Vec<AngleUnit> },
    /// Three Euler angles, written as a quaternion.
    Euler { columns: Vec<Column>, sequence: EulerSequence, units: Vec<AngleUnit> },
    /// One angle per column.
    Angles { columns: Vec<Column>, units: Vec<AngleUnit> },
    /// A cosine and a sine per angle.
    CosSin { columns: Vec<Column> },
    /// One string per column, from these values.
    Categories { columns: Vec<Column>, levels: Vec<Vec<String>> },
    /// Indicator coordinates of categories with these numbers of levels.
    Indicators { columns: Vec<Column>, sizes: Vec<usize> },
    /// Real numbers, seen by the model as (value − mean)/scale.
    Real { columns: Vec<Column>, mean: Vec<f64>, scale: Vec<f64> },
}

/// The columns of a block of any form.
macro_rules! columns_of {
    ($block:expr) => {
        match $block {
            Block::Coordinates { columns }
            | Block::Direction { columns }
            | Block::LatLon { columns, .. }
            | Block::Quaternion { columns }
            | Block::Matrix { columns }
            | Block::RotationVector { columns, .. }
            | Block::Euler { columns, .. }
            | Block::Angles { columns, .. }
            | Block::CosSin { columns }
            | Block::Categories { columns, .. }
            | Block::Indicators { columns, .. }
            | Block::Real { columns, .. } => columns,
        }
    };
}

impl Block {
    pub(super) fn columns(&self) -> &[Column] {
        columns_of!(self)
    }

    pub(super) fn columns_mut(&mut self) -> &mut Vec<Column> {
        columns_of!(self)
    }

    /// Number of ambient coordinates.
    pub(super) fn dim(&self) -> usize {
        match self {
            Block::LatLon { .. } => 3,
            Block::Matrix { .. } | Block::RotationVector { .. } | Block::Euler { .. } => 4,
            Block::Angles { columns, .. } => 2 * columns.len(),
            Block::Categories { levels, .. } => levels.iter().map(Vec::len).sum(),
            other => other.columns().len(),
        }
    }

    /// Values of each column of strings.
    pub(super) fn levels(&self) -> Option<&[Vec<String>]> {
        match self {
            Block::Categories { levels, .. } => Some(levels),
            _ => None,
        }
    }

    /// Collects the values of columns of strings, in sorted order, without blanks around them. Blank cells are no values;
    /// a column of nothing else is refused.
    pub(super) fn learn_levels(&mut self, table: &Table, options: &ColumnOptions) -> Result<(), DataError> {
        let Block::Categories { columns, levels } = self else { return Ok(()) };
        for (column, levels) in columns.iter().zip(levels) {
            let mut seen = BTreeSet::new();
            for row in 0..table.len() {
                let cell = table.cell(row, column.index);
                let cell = cell.trim();
                if !cell.is_empty() && !seen.contains(cell) {
                    seen.insert(cell.to_string());
                }
                if seen.len() > options.max_levels {
                    let found = count_values(table, column.index);
                    return Err(DataError::TooManyLevels {
                        file: table.source().into(),
                        line: table.line(row),
                        column: column.name.clone(),
                        limit: options.max_levels,
                        found,
                        megabytes: (found * 512 * 4).div_ceil(1 << 20),
                    });
                }
            }
            if seen.is_empty() {
                let mut errors = RowErrorList::new(table.unit());
                (0..table.len()).for_each(|r| errors.push(table.line(r), Some(column.name.clone()), RowFault::Blank));
                errors.finish(table.source(), None)?;
            }
            *levels = seen.into_iter().collect();
        }
        Ok(())
    }

    /// Refuses columns of strings whose numbers of values are not these.
    pub(super) fn require_levels(&self, table: &Table, declared: &[usize]) -> Result<(), DataError> {
        let Block::Categories { columns, levels } = self else { return Ok(()) };
        for ((column, levels), &declared) in columns.iter().zip(levels).zip(declared) {
            if levels.len() != declared {
                let (file, column) = (table.source().into(), column.name.clone());
                return Err(DataError::LevelCount { file, column, found: levels.len(), declared });
            }
        }
        Ok(())
    }

    /// Takes over what was learnt from the training file.
    pub(super) fn adopt(&mut self, fitted: &Block) {
        match (self, fitted) {
            (Block::Categories { levels, .. }, Block::Categories { levels: known, .. }) => levels.clone_from(known),
            (Block::Real { mean, scale, .. }, Block::Real { mean: m, scale: s, .. }) => {
                mean.clone_from(m);
                scale.clone_from(s);
            }
            _ => {}
        }
    }

    /// Learns whether angles and longitudes are written from 0 to a whole turn: all are within it, and some beyond half a turn.
    pub(super) fn learn_turns(&mut self, table: &Table) {
        let learn = |column: &mut Column, unit: &AngleUnit| {
            let values = || (0..table.len()).filter_map(|row| table.number(row, column.index).ok());
            let (half, turn) = (unit.half_turn(), 2.0 * unit.half_turn());
            column.from_zero = values().all(|v| (0.0..=turn).contains(&v)) && values().any(|v| v > half);
        };
        match self {
            Block::LatLon { columns, units } => learn(&mut columns[1], &units[1]),
            Block::Angles { columns, units } => columns.iter_mut().zip(&*units).for_each(|(c, unit)| learn(c, unit)),
            _ => {}
        }
    }

    /// Centres and scales real coordinates, which start at `start` in every point.
    pub(super) fn standardise(&mut self, points: &mut Points, start: usize, training_rows: &[usize]) {
        let Block::Real { mean, scale, .. } = self else { return };
        let count = training_rows.len().max(1) as f64;
        for (i, (mean, scale)) in mean.iter_mut().zip(scale).enumerate() {
            let value = |row: &usize| points.row(*row)[start + i];
            let m = training_rows.iter().map(value).sum::<f64>() / count;
            let variance = training_rows.iter().map(|r| (value(r) - m).powi(2)).sum::<f64>() / count;
            // A column that varies only by rounding is constant.
            let s = if variance.sqrt() > 1e-12 * m.abs() { variance.sqrt() } else { 1.0 };
            points.rows_mut().for_each(|x| x[start + i] = (x[start + i] - m) / s);
            *mean += *scale * m;
            *scale *= s;
        }
    }

    /// Undoes [`Block::standardise`] for the coordinates of one point.
    pub(super) fn restore(&self, x: &mut [f64]) {
        let Block::Real { mean, scale, .. } = self else { return };
        x.iter_mut().zip(mean).zip(scale).for_each(|((x, m), s)| *x = *x * s + m);
    }

    /// −Σ ln scale of real columns.
    pub(super) fn log_jacobian(&self) -> f64 {
        match self {
            Block::Real { scale, .. } => -scale.iter().map(|s| s.ln()).sum::<f64>(),
            _ => 0.0,
        }
    }
}

fn degrees() -> [AngleUnit; 2] {
    [AngleUnit::Deg; 2]
}

fn are_degrees(units: &[AngleUnit; 2]) -> bool {
    *units == degrees()
}

/// Number of different texts in a column, without blanks around them and without blank ones.
fn count_values(table: &Table, column: usize) -> usize {
    // Hashes are enough to count by, and small.
    let mut seen: HashSet<u64> = HashSet::new();
    for row in 0..table.len() {
        let cell = table.cell(row, column);
        let cell = cell.trim();
        if !cell.is_empty() {
            let mut hasher = DefaultHasher::new();
            cell.hash(&mut hasher);
            seen.insert(hasher.finish());
        }
    }
    seen.len()
}

fn joined(columns: &[Column]) -> String {
    columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(",")
}
