//! Columns that no manifold should be suggested for.

use crate::load::ColumnReport;
use crate::table::{ColumnOptions, Table};

/// A column of text has no information if a single value stands in more than this percentage of its rows.
const MOST_ALIKE: usize = 99;

/// Columns that are left out of every suggestion, in words: those of numbers of which fewer than half of the cells hold one, and
/// those of text if a single value fills nearly all of each.
pub fn unusable(table: &Table, options: &ColumnOptions) -> Vec<String> {
    let columns = options.chosen(table).unwrap_or_default();
    let text: Vec<usize> = columns.iter().copied().filter(|&c| !table.is_numeric(c) && !table.is_time(c)).collect();
    let alike = text.iter().map(|&c| nearly_constant(table, c)).collect::<Option<Vec<_>>>().unwrap_or_default();
    let reason = |c: usize| {
        let report = ColumnReport::of(table, c, None);
        format!(
            "column {} is left out: only {} of {} cells hold a number ({} blank, {} something else)",
            report.name,
            report.filled,
            table.len(),
            report.missing,
            report.not_numbers
        )
    };
    let mut left_out: Vec<String> = columns.into_iter().filter(|&c| !is_usable(table, c)).map(reason).collect();
    left_out.extend(text.iter().zip(alike).map(|(&c, (word, count))| {
        let (name, all) = (table.column_name(c), table.len());
        format!(
            "column {name} is left out: `{word}` stands in {count} of {all} cells, so that its categories tell nothing"
        )
    }));
    left_out
}

/// The value of a column of text that stands in nearly all of its rows, with their number.
pub(super) fn nearly_constant(table: &Table, column: usize) -> Option<(String, usize)> {
    let words = table.words(column)?;
    let (word, count) = words.into_iter().max_by_key(|(_, count)| *count)?;
    (100 * count > MOST_ALIKE * table.len()).then(|| (word.chars().take(40).collect(), count))
}

/// Whether a column of numbers holds a number in at least half of its cells.
pub(super) fn is_usable(table: &Table, column: usize) -> bool {
    if !table.is_numeric(column) {
        return true;
    }
    let good = (0..table.len()).filter(|&row| table.number(row, column).is_ok()).count();
    2 * good >= table.len()
}
