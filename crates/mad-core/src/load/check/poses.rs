//! Rows of 12 or 16 numbers that are pose matrices, row by row or column by column.

use crate::table::{ColumnOptions, Columns, Layout, Table};

/// Rows that are inspected to distinguish pose matrices from other numbers.
const LOOKED_AT: usize = 1000;

/// The layout of a rotation and a position.
pub(super) fn layout() -> Layout {
    Layout::Blocks(vec![Layout::Rotation, Layout::Real(3)])
}

/// Whether at least half of the first rows are pose matrices, so that the others are bad rows: no other numbers happen to be
/// orthonormal.
pub(super) fn are_poses(table: &Table, options: &ColumnOptions) -> bool {
    let rows: Vec<usize> = (0..table.len().min(LOOKED_AT)).collect();
    most_are_poses(&table.select(&rows), options)
}

/// Whether the same holds for the transposes of the matrices, whatever their entries are called.
pub(crate) fn are_transposed(table: &Table) -> bool {
    if ![12, 16].contains(&table.width()) {
        return false;
    }
    let rows: Vec<usize> = (0..table.len().min(LOOKED_AT)).collect();
    let some = table.select(&rows).without_names();
    let columns = Some(column_by_column(table.width()));
    most_are_poses(&some, &ColumnOptions { columns, ..ColumnOptions::default() })
}

/// The choice of columns that reads matrices of this many numbers column by column.
pub(crate) fn column_by_column(numbers: usize) -> String {
    let rows = numbers / 4;
    let place = |i: usize| (i % 4) * rows + i / 4 + 1;
    (0..numbers).map(|i| place(i).to_string()).collect::<Vec<_>>().join(",")
}

fn most_are_poses(table: &Table, options: &ColumnOptions) -> bool {
    let width = options.chosen(table).map_or(0, |columns| columns.len());
    let found = [12, 16].contains(&width).then(|| Columns::find(&layout(), table, options));
    let tried = found.and_then(Result::ok).and_then(|columns| columns.bad_rows(table).ok());
    tried.is_some_and(|tried| !table.is_empty() && 2 * tried.bad_rows.len() <= table.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_read_column_by_column() {
        assert_eq!(column_by_column(12), "1,4,7,10,2,5,8,11,3,6,9,12");
        assert_eq!(column_by_column(16), "1,5,9,13,2,6,10,14,3,7,11,15,4,8,12,16");
    }
}
