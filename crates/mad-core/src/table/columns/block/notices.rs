//! What was odd about the cells of a block, in words.

use super::{Block, Tally, are_degrees, joined};
use crate::{
    Setting,
    table::{
        Table,
        columns::{name::is_latitude, options::AngleUnit},
    },
};

/// Smallest table for which values are reported to look like radians.
const ENOUGH_ROWS: usize = 20;

/// Latitude and longitude look swapped if at least one in this many latitudes is off the globe.
const SWAPPED_SHARE: usize = 20;

impl Block {
    /// What may be behind bad rows.
    pub(in crate::table::columns) fn hint(&self, tally: &Tally, table: &Table) -> Option<String> {
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
    pub(in crate::table::columns) fn notices(&self, tally: &Tally) -> Vec<String> {
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
