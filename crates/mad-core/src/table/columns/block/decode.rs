//! A block of one point from the cells of its columns.

use super::{Block, Column, joined};
use crate::{
    rotation::{self, canonical_sign},
    table::{
        Cell, RowFault, Table,
        columns::options::{AngleUnit, ColumnOptions, NORM_TOLERANCE, REPORTED, beyond_repair},
        notation::Axis,
    },
};

/// How far a latitude or longitude in radians may pass its bound: π/2 in single precision is 4e-8 too large.
const ROUNDED: f64 = 1e-6;

/// The last row of a pose matrix.
pub(super) const LAST_ROW: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

/// What was met while rows were read.
#[derive(Debug, Clone, Default)]
pub(in crate::table::columns) struct Tally {
    /// Rows in which the block is good.
    pub(in crate::table::columns) rows: usize,
    /// Rows repaired, and the largest repair.
    pub(super) repaired: usize,
    pub(super) largest_repair: f64,
    /// Angles far outside one turn.
    pub(super) wrapped: usize,
    /// Largest values met, in the file's unit.
    pub(super) largest: [f64; 2],
    pub(super) bad_latitudes: usize,
}

/// Where and why a row is bad.
pub(super) type Bad = (String, RowFault);

impl Block {
    /// Reads the block of one row into `x`.
    pub(in crate::table::columns) fn decode(
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
                let nearest = rotation::nearest_rotation(&entries);
                let (q, deviation) = nearest.map_err(|determinant| whole(RowFault::Determinant(determinant)))?;
                if beyond_repair(deviation) {
                    return Err(whole(RowFault::NotOrthogonal { deviation, tolerance: NORM_TOLERANCE }));
                }
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
        self.repaired += usize::from(size > REPORTED);
        self.largest_repair = self.largest_repair.max(size);
    }
}

/// The unit vector at a latitude and longitude in degrees: (cos lat cos lon, cos lat sin lon, sin lat).
fn direction(lat: f64, lon: f64) -> [f64; 3] {
    // 180 and -180, and 360 and 0, are the same meridian and must give the same bits.
    let lon = if lon >= 180.0 { lon - 360.0 } else { lon };
    let ((sin_lat, cos_lat), (sin_lon, cos_lon)) = (lat.to_radians().sin_cos(), lon.to_radians().sin_cos());
    if lat.abs() == 90.0 { [0.0, 0.0, sin_lat] } else { [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat] }
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
