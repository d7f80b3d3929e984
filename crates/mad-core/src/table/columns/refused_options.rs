//! Options that do not apply to the columns that were found are mistakes, and are refused.

use super::{
    block::{Block, Column},
    name::unit,
    options::{AngleUnit, ColumnOptions, QuaternionOrder, RotationForm},
};
use crate::{
    Setting,
    table::{DataError, Table},
};

/// Refuses an option that no column needs, or that contradicts the names of the columns.
pub(super) fn refuse(blocks: &[Block], table: &Table, options: &ColumnOptions) -> Result<(), DataError> {
    let error = |option: String, problem: String| {
        Err(DataError::UselessOption { file: table.source().into(), option, problem })
    };
    if let Some(order) = options.quat_order
        && let Some(problem) = against_order(blocks, table, options, order)
    {
        return error(format!("{} {}", Setting::QuatOrder, order.letters()), problem);
    }
    if let Some(sequence) = options.euler
        && !blocks.iter().any(|b| matches!(b, Block::Euler { .. }))
    {
        return error(format!("{} {sequence}", Setting::Euler), without(blocks, "Euler angles"));
    }
    if options.rotation == Some(RotationForm::Rotvec)
        && !blocks.iter().any(|b| matches!(b, Block::RotationVector { .. }))
    {
        return error(format!("{} rotvec", Setting::Rotation), without(blocks, "a rotation vector"));
    }
    if options.rotation == Some(RotationForm::Euler) && !blocks.iter().any(|b| matches!(b, Block::Euler { .. })) {
        return error(format!("{} euler", Setting::Rotation), without(blocks, "Euler angles"));
    }
    if let Some(given) = options.angle_unit
        && let Some(problem) = against_unit(blocks, given)
    {
        return error(format!("{} {}", Setting::AngleUnit, given.short()), problem);
    }
    Ok(())
}

/// Why an order of quaternions does not apply.
fn against_order(blocks: &[Block], table: &Table, options: &ColumnOptions, order: QuaternionOrder) -> Option<String> {
    let quaternions: Vec<&[Column]> =
        blocks.iter().filter(|b| matches!(b, Block::Quaternion { .. })).map(Block::columns).collect();
    if quaternions.is_empty() {
        return Some(without(blocks, "a quaternion"));
    }
    if table.header().is_none() || !quaternions.iter().all(|columns| tell_order(columns)) {
        return None;
    }
    let chosen = options.chosen(table).unwrap_or_default();
    let written = |columns: &[Column]| {
        let mut letters: Vec<(Option<usize>, char)> =
            columns.iter().map(|c| chosen.iter().position(|i| *i == c.index)).zip("xyzw".chars()).collect();
        letters.sort();
        letters.into_iter().map(|(_, letter)| letter).collect::<String>()
    };
    let other = quaternions.into_iter().find(|columns| written(columns) != order.letters())?;
    Some(format!("the names {} already tell the order, which is another", names(other)))
}

/// Whether four columns are called x, y, z and w after a common beginning.
fn tell_order(columns: &[Column]) -> bool {
    let cut: Option<Vec<String>> = columns
        .iter()
        .zip("xyzw".chars())
        .map(|(c, l)| c.name.to_lowercase().strip_suffix(l).map(String::from))
        .collect();
    cut.is_some_and(|beginnings| beginnings.windows(2).all(|pair| pair[0] == pair[1]))
}

/// Why a unit of angles does not apply.
fn against_unit(blocks: &[Block], given: AngleUnit) -> Option<String> {
    let angles: Vec<&Column> = blocks.iter().filter(|b| is_angular(b)).flat_map(Block::columns).collect();
    if angles.is_empty() {
        return Some(without(blocks, "angles"));
    }
    let all_other = angles.iter().all(|c| unit(&c.name).is_some_and(|named| named != given));
    all_other.then(|| {
        let names: Vec<_> = angles.iter().map(|c| c.name.as_str()).collect();
        format!("the names {} already say another unit", names.join(", "))
    })
}

/// Whether the columns of a block hold angles.
fn is_angular(block: &Block) -> bool {
    matches!(block, Block::LatLon { .. } | Block::Angles { .. } | Block::Euler { .. } | Block::RotationVector { .. })
}

/// That the columns do not hold something, and what they hold instead.
fn without(blocks: &[Block], wanted: &str) -> String {
    let instead = blocks.iter().find_map(|block| match block {
        Block::Quaternion { .. } => Some(format!("{} hold a quaternion", names(block.columns()))),
        Block::Matrix { .. } => Some("the columns hold a rotation matrix".into()),
        Block::Euler { .. } => Some(format!("{} hold Euler angles", names(block.columns()))),
        Block::RotationVector { .. } => Some(format!("{} hold a rotation vector", names(block.columns()))),
        Block::CosSin { .. } => Some(format!("{} are read as cosines and sines", names(block.columns()))),
        _ => None,
    });
    instead.unwrap_or_else(|| format!("no columns of this manifold hold {wanted}"))
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
}
