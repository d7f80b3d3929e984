//! One block of a point: which columns it stands in, how it is read, and how it is written.

use super::{
    EulerSequence,
    name::{is_latitude, unit},
    options::{AngleUnit, ColumnOptions, NORM_TOLERANCE, WORTH_SAYING, beyond_repair},
    rotation,
};
use crate::{
    Points, Setting,
    rotation::canonical_sign,
    table::{Cell, DataError, RowFault, Table, notation::Axis, row_error::RowErrorList},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeSet, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

/// Smallest table for which values are said to look like radians.
const ENOUGH_ROWS: usize = 20;

/// Latitude and longitude look swapped if at least one in so many latitudes is off the globe.
const SWAPPED_SHARE: usize = 20;

/// How far a latitude or longitude in radians may pass its bound: π/2 in single precision is 4e-8 too large.
const ROUNDED: f64 = 1e-6;

/// The last row of a pose matrix.
const LAST_ROW: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

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

/// What was met while rows were read.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Rows in which the block is good.
    pub(super) rows: usize,
    /// Rows repaired, and the largest repair.
    repaired: usize,
    largest_repair: f64,
    /// Angles far outside one turn.
    wrapped: usize,
    /// Largest values met, in the file's unit.
    largest: [f64; 2],
    bad_latitudes: usize,
}

/// Where and why a row is bad.
type Bad = (String, RowFault);

impl Block {
    pub(super) fn columns(&self) -> &[Column] {
        match self {
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
    }

    pub(super) fn columns_mut(&mut self) -> &mut Vec<Column> {
        match self {
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

    /// Reads the block of one row into `x`.
    pub(super) fn decode(
        &self,
        table: &Table,
        row: usize,
        options: &ColumnOptions,
        x: &mut [f64],
        tally: &mut Tally,
    ) -> Result<(), Bad> {
        let number = |c: &Column| table.number(row, c.index).map_err(|fault| (c.name.clone(), fault));
        let whole = |fault| (joined(self.columns()), fault);
        match self {
            Block::Coordinates { columns } => fill(x, columns.iter().map(number)),
            Block::Direction { columns } => {
                fill(x, columns.iter().map(number))?;
                normalise(x, "direction", options, tally).map_err(whole)
            }
            Block::LatLon { columns, units } => {
                for (column, other) in columns.iter().zip([Axis::Longitude, Axis::Latitude]) {
                    if table.axis(column.index) == Some(other) {
                        let cell = table.cell(row, column.index).trim().chars().take(40).collect();
                        return Err((column.name.clone(), RowFault::Hemisphere(cell)));
                    }
                }
                let (lat, lon) = (number(&columns[0])?, number(&columns[1])?);
                tally.largest = [tally.largest[0].max(lat.abs()), tally.largest[1].max(lon.abs())];
                let (lat, lon) = (degrees_of(lat, units[0]), degrees_of(lon, units[1]));
                if lat.abs() > 90.0 {
                    tally.bad_latitudes += 1;
                    let fault = match units[0] {
                        AngleUnit::Deg => RowFault::Latitude(lat),
                        AngleUnit::Rad => RowFault::LatitudeRadians(number(&columns[0])?),
                    };
                    return Err((columns[0].name.clone(), fault));
                }
                if !(-180.0..=360.0).contains(&lon) {
                    let fault = match units[1] {
                        AngleUnit::Deg => RowFault::Longitude(lon),
                        AngleUnit::Rad => RowFault::LongitudeRadians(number(&columns[1])?),
                    };
                    return Err((columns[1].name.clone(), fault));
                }
                x.copy_from_slice(&direction(lat, lon));
                Ok(())
            }
            Block::Quaternion { columns } => {
                fill(x, columns.iter().map(number))?;
                normalise(x, "quaternion", options, tally).map_err(whole)?;
                canonical_sign(x);
                Ok(())
            }
            Block::Matrix { columns } => {
                let mut entries = [0.0; 9];
                fill(&mut entries, columns.iter().map(number))?;
                let mut last_row = LAST_ROW;
                fill(&mut last_row, columns[9..].iter().map(number))?;
                if last_row.iter().zip(&LAST_ROW).any(|(found, wanted)| beyond_repair((found - wanted).abs())) {
                    let found = last_row.map(|x| Cell::Number(x).to_string()).join(" ");
                    return Err((joined(&columns[9..]), RowFault::LastRow(found)));
                }
                let (q, deviation) = rotation::from_matrix(&entries).map_err(whole)?;
                tally.repair(deviation);
                x.copy_from_slice(&q);
                Ok(())
            }
            Block::RotationVector { columns, units } => {
                let mut vector = [0.0; 3];
                fill(&mut vector, columns.iter().map(number))?;
                tally.largest[0] = vector.iter().fold(tally.largest[0], |largest, v| largest.max(v.abs()));
                vector.iter_mut().zip(units).for_each(|(v, unit)| *v *= unit.radians());
                let length = vector[0].hypot(vector[1]).hypot(vector[2]);
                tally.wrapped += usize::from(length > std::f64::consts::TAU);
                x.copy_from_slice(&rotation::from_vector(vector));
                Ok(())
            }
            Block::Euler { columns, sequence, units } => {
                let mut angles = [0.0; 3];
                for ((angle, column), unit) in angles.iter_mut().zip(columns).zip(units) {
                    *angle = tally.angle(number(column)?, *unit);
                }
                x.copy_from_slice(&sequence.quaternion(angles));
                canonical_sign(x);
                Ok(())
            }
            Block::Angles { columns, units } => {
                for ((column, unit), pair) in columns.iter().zip(units).zip(x.chunks_exact_mut(2)) {
                    let angle = tally.angle(number(column)?, *unit);
                    pair.copy_from_slice(&[angle.cos(), angle.sin()]);
                }
                Ok(())
            }
            Block::CosSin { columns } => {
                fill(x, columns.iter().map(number))?;
                for (pair, columns) in x.chunks_exact_mut(2).zip(columns.chunks_exact(2)) {
                    normalise(pair, "direction", options, tally).map_err(|fault| (joined(columns), fault))?;
                }
                Ok(())
            }
            Block::Categories { columns, levels } => {
                x.fill(0.0);
                let mut start = 0;
                for (column, levels) in columns.iter().zip(levels) {
                    let cell = table.cell(row, column.index);
                    let cell = cell.trim();
                    match levels.binary_search_by(|l| l.as_str().cmp(cell)) {
                        Ok(level) => x[start + level] = 1.0,
                        Err(_) if cell.is_empty() => return Err((column.name.clone(), RowFault::Blank)),
                        Err(_) => return Err((column.name.clone(), unknown(cell, levels))),
                    }
                    start += levels.len();
                }
                Ok(())
            }
            Block::Indicators { columns, sizes } => {
                fill(x, columns.iter().map(number))?;
                let mut rest = &x[..];
                for size in sizes {
                    let (own, others) = rest.split_at(*size);
                    rest = others;
                    let ones = own.iter().filter(|v| **v == 1.0).count();
                    if ones != 1 || own.iter().filter(|v| **v == 0.0).count() != size - 1 {
                        return Err(whole(RowFault::NotOneHot));
                    }
                }
                Ok(())
            }
            Block::Real { columns, mean, scale } => {
                fill(x, columns.iter().map(number))?;
                for ((x, m), s) in x.iter_mut().zip(mean).zip(scale) {
                    *x = (*x - m) / s;
                }
                Ok(())
            }
        }
    }

    /// Names of the columns the block is written to, and where they stand.
    pub(super) fn written(&self) -> Vec<(usize, String)> {
        match self {
            Block::Euler { columns, .. } => ["qx", "qy", "qz", "qw"].map(|n| (columns[0].index, n.into())).to_vec(),
            other => other.columns().iter().map(|c| c.index).zip(other.written_names()).collect(),
        }
    }

    /// Name under which each column is written where it is written at all: its own, but radians of latitudes and longitudes
    /// are said, because without a word they are degrees.
    pub(super) fn written_names(&self) -> Vec<String> {
        let own = |c: &Column| c.name.clone();
        match self {
            Block::LatLon { columns, units } => {
                let said = |(c, u): (&Column, &AngleUnit)| match u {
                    AngleUnit::Rad if unit(&c.name).is_none() => format!("{}_rad", c.name),
                    _ => own(c),
                };
                columns.iter().zip(units).map(said).collect()
            }
            other => other.columns().iter().map(own).collect(),
        }
    }

    /// What each column of the block holds, in words.
    pub(super) fn roles(&self) -> Vec<String> {
        let same = |text: &str| vec![text.to_owned(); self.columns().len()];
        match self {
            Block::Coordinates { .. } => same("coordinate"),
            Block::Direction { .. } => same("coordinate of a unit vector"),
            Block::LatLon { units: [lat, lon], .. } => {
                vec![format!("latitude, {}", lat.name()), format!("longitude, {}", lon.name())]
            }
            Block::Quaternion { .. } => ["x", "y", "z", "w"].map(|c| format!("quaternion {c}")).to_vec(),
            Block::Matrix { columns } => {
                let inner = (0..9).map(|i| format!("matrix row {}, column {}", i / 3, i % 3));
                inner.chain((9..columns.len()).map(|i| format!("matrix row 3, column {}", i - 9))).collect()
            }
            Block::RotationVector { units, .. } => {
                units.iter().zip(["x", "y", "z"]).map(|(u, c)| format!("rotation vector {c}, {}", u.name())).collect()
            }
            Block::Euler { sequence, units, .. } => {
                let letters = sequence.letters();
                units.iter().zip(letters).map(|(u, c)| format!("Euler angle about {c}, {}", u.name())).collect()
            }
            Block::Angles { units, .. } => units.iter().map(|u| format!("angle, {}", u.name())).collect(),
            Block::CosSin { columns } => {
                (0..columns.len()).map(|i| if i % 2 == 0 { "cosine" } else { "sine" }.to_owned()).collect()
            }
            Block::Categories { levels, .. } => {
                levels.iter().map(|l| format!("category, {} values", l.len())).collect()
            }
            Block::Indicators { .. } => same("indicator of a category"),
            Block::Real { .. } => same("real number"),
        }
    }

    /// Whether the columns of this form are known by their names.
    pub(super) fn is_named(&self) -> bool {
        let named = |name: &str| name.strip_prefix('x').is_some_and(|n| n.parse::<usize>().is_ok());
        match self {
            Block::LatLon { .. } | Block::Quaternion { .. } | Block::Matrix { .. } | Block::RotationVector { .. } => {
                true
            }
            other => other.columns().iter().all(|c| named(&c.name.to_lowercase()) || unit(&c.name).is_some()),
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

    /// The block of one point as cells, in the order of [`Block::written`].
    pub(super) fn encode(&self, x: &[f64]) -> Vec<Cell> {
        let numbers = |values: &[f64]| values.iter().copied().map(Cell::Number).collect();
        match self {
            Block::Coordinates { .. } | Block::Direction { .. } | Block::CosSin { .. } | Block::Indicators { .. } => {
                numbers(x)
            }
            Block::LatLon { columns, units } => {
                let lon = units[1].of_radians(x[1].atan2(x[0]));
                let lat = units[0].of_radians(x[2].atan2(x[0].hypot(x[1])));
                let half = units[1].half_turn();
                numbers(&[lat, columns[1].turned(if lon >= half { -half } else { lon + 0.0 }, units[1])])
            }
            Block::Quaternion { .. } | Block::Euler { .. } => {
                let mut q = x.to_vec();
                canonical_sign(&mut q);
                numbers(&q)
            }
            Block::Matrix { columns } => {
                let mut entries = rotation::to_matrix(x).to_vec();
                entries.extend(&LAST_ROW[..columns.len() - 9]);
                numbers(&entries)
            }
            Block::RotationVector { units, .. } => {
                let vector = rotation::to_vector(x);
                vector.iter().zip(units).map(|(v, unit)| Cell::Number(unit.of_radians(*v))).collect()
            }
            Block::Angles { columns, units } => {
                let angle = |((pair, column), unit): ((&[f64], &Column), &AngleUnit)| {
                    let (angle, half) = (pair[1].atan2(pair[0]) / unit.radians(), unit.half_turn());
                    Cell::Number(column.turned(if angle <= -half { half } else { angle.min(half) }, *unit))
                };
                x.chunks_exact(2).zip(columns).zip(units).map(angle).collect()
            }
            Block::Categories { levels, .. } => {
                let mut rest = x;
                let text = |levels: &Vec<String>| {
                    let (own, others) = rest.split_at(levels.len());
                    rest = others;
                    let best = (1..own.len()).fold(0, |best, i| if own[i] > own[best] { i } else { best });
                    Cell::Text(levels[best].clone())
                };
                levels.iter().map(text).collect()
            }
            Block::Real { .. } => {
                let mut values = x.to_vec();
                self.restore(&mut values);
                numbers(&values)
            }
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

    /// What may be behind bad rows.
    pub(super) fn hint(&self, tally: &Tally, table: &Table) -> Option<String> {
        let Block::LatLon { columns, units } = self else { return None };
        let quarter = units[1].half_turn() / 2.0;
        // A single bad latitude among many good ones is a slip of its own.
        let few = SWAPPED_SHARE * tally.bad_latitudes < tally.rows + tally.bad_latitudes;
        if tally.bad_latitudes == 0 || few || tally.largest[1] > quarter {
            return None;
        }
        let (lat, lon) = (&columns[0], &columns[1]);
        let remedy = match table.header() {
            Some(_) if is_latitude(&lat.name) => "exchange the names of the two columns in the file".into(),
            Some(_) => format!("give {} {},{}", Setting::Columns, lon.name, lat.name),
            None => format!("give {} {},{}", Setting::Columns, lon.index + 1, lat.index + 1),
        };
        let bound = if units[1] == AngleUnit::Deg { "90" } else { "π/2" };
        let seen = format!("every longitude is within [-{bound}, {bound}]");
        Some(format!("latitude and longitude look swapped: {seen}; if they are, {remedy}"))
    }

    /// Repairs and oddities, in words.
    pub(super) fn notices(&self, tally: &Tally) -> Vec<String> {
        let mut notices = Vec::new();
        let names = joined(self.columns());
        if tally.repaired > 0 {
            let what = match self {
                Block::Matrix { .. } => "matrices were replaced by the nearest rotation",
                Block::Quaternion { .. } => "quaternions were rescaled to norm 1",
                _ => "vectors were rescaled to norm 1",
            };
            notices.push(format!("{names}: {} {what}; largest change {:.1e}", tally.repaired, tally.largest_repair));
        }
        if tally.wrapped > 0 {
            notices.push(format!("{names}: {} angles lay outside one turn and were wrapped", tally.wrapped));
        }
        if let Block::Categories { columns, levels } = self {
            let rare = |levels: &&Vec<String>| tally.rows >= ENOUGH_ROWS && 2 * levels.len() > tally.rows;
            for (column, levels) in columns.iter().zip(levels).filter(|(_, levels)| rare(levels)) {
                let (name, found, rows) = (&column.name, levels.len(), tally.rows);
                notices.push(format!(
                    "{name}: {found} different values in {rows} rows, so hardly anything can be learned of them; if these are \
                     identifiers or numbers, choose the other columns with {}",
                    Setting::Columns
                ));
            }
        }
        let small = tally.rows >= ENOUGH_ROWS && tally.largest.iter().all(|l| *l <= std::f64::consts::TAU);
        if small && matches!(self, Block::LatLon { units, .. } if are_degrees(units)) {
            notices.push(format!(
                "{names}: no value exceeds 2π; are these radians? They were read as degrees; {} rad reads radians",
                Setting::AngleUnit
            ));
        }
        if let Block::Angles { units, .. } | Block::Euler { units, .. } | Block::RotationVector { units, .. } = self {
            let all = |unit| units.iter().all(|u| *u == unit);
            if small && all(AngleUnit::Deg) {
                notices.push(format!("{names}: no value exceeds 2π; are these radians? They were read as degrees"));
            } else if tally.largest[0] > std::f64::consts::TAU && all(AngleUnit::Rad) {
                notices.push(format!("{names}: some values exceed 2π; are these degrees? They were read as radians"));
            }
        }
        notices
    }
}

impl Tally {
    /// Notes an angle and gives it in radians, within two turns around zero.
    fn angle(&mut self, angle: f64, unit: AngleUnit) -> f64 {
        self.wrapped += usize::from(angle < -unit.half_turn() || angle > 2.0 * unit.half_turn());
        self.largest[0] = self.largest[0].max(angle.abs());
        // Whole turns go first: the product with π would lose them at large angles.
        (angle % (2.0 * unit.half_turn())) * unit.radians()
    }

    fn repair(&mut self, size: f64) {
        self.repaired += usize::from(size > WORTH_SAYING);
        self.largest_repair = self.largest_repair.max(size);
    }
}

/// The unit vector at a latitude and longitude in degrees: (cos lat cos lon, cos lat sin lon, sin lat).
pub(crate) fn direction(lat: f64, lon: f64) -> [f64; 3] {
    // 180 and -180, and 360 and 0, are the same meridian and must give the same bits.
    let lon = if lon >= 180.0 { lon - 360.0 } else { lon };
    let ((sin_lat, cos_lat), (sin_lon, cos_lon)) = (lat.to_radians().sin_cos(), lon.to_radians().sin_cos());
    if lat.abs() == 90.0 { [0.0, 0.0, sin_lat] } else { [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat] }
}

fn degrees() -> [AngleUnit; 2] {
    [AngleUnit::Deg; 2]
}

fn are_degrees(units: &[AngleUnit; 2]) -> bool {
    *units == degrees()
}

/// A latitude or longitude in degrees. Radians that pass a bound by rounding only are moved back to it.
fn degrees_of(angle: f64, unit: AngleUnit) -> f64 {
    if unit == AngleUnit::Deg {
        return angle;
    }
    let bounds = [0.5, 1.0, 2.0].map(|turns| turns * unit.half_turn());
    let near = bounds.into_iter().find(|bound| (angle.abs() - bound).abs() <= ROUNDED && angle.abs() > *bound);
    near.map_or(angle, |bound| bound.copysign(angle)).to_degrees()
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

fn fill(x: &mut [f64], values: impl Iterator<Item = Result<f64, Bad>>) -> Result<(), Bad> {
    for (x, value) in x.iter_mut().zip(values) {
        *x = value?;
    }
    Ok(())
}

/// Scales a vector to length one if it is close to it or the options allow.
fn normalise(x: &mut [f64], what: &'static str, options: &ColumnOptions, tally: &mut Tally) -> Result<(), RowFault> {
    // Scaled first, so that squares neither overflow nor vanish.
    let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return Err(RowFault::ZeroNorm(what));
    }
    let norm = largest * x.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt();
    if beyond_repair((norm - 1.0).abs()) && !options.normalize {
        return Err(RowFault::Norm { what, norm, tolerance: NORM_TOLERANCE });
    }
    tally.repair((norm - 1.0).abs());
    x.iter_mut().for_each(|v| *v = *v / largest / (norm / largest));
    Ok(())
}

/// An unknown value with the most similar known ones.
fn unknown(value: &str, levels: &[String]) -> RowFault {
    let mut near: Vec<_> = levels.iter().map(|l| (strsim::damerau_levenshtein(l, value), l)).collect();
    near.sort();
    let nearest = near.iter().take(3).map(|(_, l)| format!("`{l}`")).collect::<Vec<_>>().join(", ");
    RowFault::UnknownCategory { value: value.chars().take(40).collect(), nearest }
}

fn joined(columns: &[Column]) -> String {
    columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(",")
}
