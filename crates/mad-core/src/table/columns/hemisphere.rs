//! Hemispheres in a column of their own beside latitude and longitude, which decide the signs of the numbers.

use super::block::Block;
use crate::{
    Setting,
    table::{DataError, Table, notation::Axis, value::is_missing},
};

/// A hemisphere in a column that is not used, beside a number without its sign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}: {place}: column `{column}` has {letter} for `{number}` = {value}, but hemispheres in a column of their own are not \
     read; write south and west as negative numbers, or the letter into the cell of the number ({value}{initial}). If the \
     numbers are right as they stand, choose the columns to be read with {}",
    Setting::Columns,
    initial = letter.chars().next().unwrap_or(' ').to_ascii_uppercase()
)]
pub struct UnusedHemisphere {
    /// The file in question.
    pub file: String,
    /// Line or row of the first number without its sign.
    pub place: String,
    /// The column of hemispheres.
    pub column: String,
    /// The hemisphere there.
    pub letter: String,
    /// The column of latitudes or longitudes.
    pub number: String,
    /// The number there.
    pub value: String,
}

/// Refuses latitudes and longitudes whose signs stand in a column that is not used: one of nothing but north and south, or east
/// and west, that has south or west where the number is positive. Where signs and letters agree nothing is refused.
pub(super) fn require_signs(blocks: &[Block], table: &Table) -> Result<(), DataError> {
    let used: Vec<usize> = blocks.iter().flat_map(Block::columns).map(|column| column.index).collect();
    for block in blocks {
        let Block::LatLon { columns, units } = block else { continue };
        for letters in (0..table.width()).filter(|column| !used.contains(column)) {
            // A longitude beyond half a turn lies in the west without a sign.
            let (number, most) = match axis_of(table, letters) {
                Some(Axis::Latitude) => (&columns[0], f64::INFINITY),
                Some(Axis::Longitude) => (&columns[1], units[1].half_turn()),
                None => continue,
            };
            let unsigned = |&row: &usize| {
                hemisphere(&table.cell(row, letters)).is_some_and(|(_, negative)| negative)
                    && table.number(row, number.index).is_ok_and(|value| value > 0.0 && value < most)
            };
            if let Some(row) = (0..table.len()).find(unsigned) {
                return Err(DataError::Hemisphere(Box::new(UnusedHemisphere {
                    file: table.source().into(),
                    place: format!("{} {}", table.unit(), table.line(row)),
                    column: table.column_name(letters),
                    letter: table.cell(row, letters).trim().to_owned(),
                    number: number.name.clone(),
                    value: table.cell(row, number.index).trim().to_owned(),
                })));
            }
        }
    }
    Ok(())
}

/// The axis of a column that holds hemispheres of one axis and nothing else.
fn axis_of(table: &Table, column: usize) -> Option<Axis> {
    let words = table.words(column).filter(|_| !table.is_numeric(column))?;
    let axes = words.into_iter().filter(|(word, _)| !is_missing(word)).map(|(word, _)| Some(hemisphere(word)?.0));
    let axes: Vec<Axis> = axes.collect::<Option<_>>()?;
    axes.first().copied().filter(|first| axes.iter().all(|axis| axis == first))
}

/// The axis of a hemisphere, and whether it is the one of negative numbers.
fn hemisphere(cell: &str) -> Option<(Axis, bool)> {
    match cell.trim().to_lowercase().as_str() {
        "n" | "north" => Some((Axis::Latitude, false)),
        "s" | "south" => Some((Axis::Latitude, true)),
        "e" | "east" => Some((Axis::Longitude, false)),
        "w" | "west" => Some((Axis::Longitude, true)),
        _ => None,
    }
}
