//! One column of a table in numbers.

use crate::table::{RowFault, Table, columns::ColumnUse, value::is_missing};
use serde::Serialize;

/// Most frequent values shown of a column of text.
const SHOWN: usize = 3;

/// What stands in one column, and what it is used for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnReport {
    /// Its name, or `column3` for the third of a file without names.
    pub name: String,
    /// `numbers`, `dates` or `text`.
    pub kind: &'static str,
    /// What it holds of a point; absent if it is not used.
    pub role: Option<String>,
    /// Why it was taken.
    pub why: Option<&'static str>,
    /// Cells with a number, or with text in a column of text.
    pub filled: usize,
    /// Cells that are blank or hold `NA` and the like.
    pub missing: usize,
    /// Cells of a column of numbers or dates that hold anything else.
    pub not_numbers: usize,
    /// Smallest number; dates are decimal years (UTC).
    pub min: Option<f64>,
    /// Largest number.
    pub max: Option<f64>,
    /// Mean of the numbers.
    pub mean: Option<f64>,
    /// Number of different texts, unless there are more than 65 536.
    pub values: Option<usize>,
    /// The most frequent texts of a column of text with their numbers of rows.
    pub common: Vec<(String, usize)>,
}

impl ColumnReport {
    pub(super) fn of(table: &Table, column: usize, used: Option<&ColumnUse>) -> Self {
        let (numeric, dates) = (table.is_numeric(column), table.is_time(column));
        let mut report = Self {
            name: table.column_name(column),
            kind: match (numeric, dates) {
                (true, _) => "numbers",
                (_, true) => "dates",
                _ => "text",
            },
            role: used.map(|u| u.role.clone()),
            why: used.map(|u| u.why),
            filled: 0,
            missing: 0,
            not_numbers: 0,
            min: None,
            max: None,
            mean: None,
            values: None,
            common: Vec::new(),
        };
        let words = table.words(column);
        report.values = words.as_ref().map(Vec::len);
        if numeric || dates {
            report.count_numbers(table, column);
        } else if let Some(mut words) = words {
            for (word, count) in &words {
                *(if is_missing(word) { &mut report.missing } else { &mut report.filled }) += count;
            }
            words.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            report.common = words.iter().take(SHOWN).map(|(word, count)| (word.to_string(), *count)).collect();
        } else {
            report.missing = (0..table.len()).filter(|&row| is_missing(&table.cell(row, column))).count();
            report.filled = table.len() - report.missing;
        }
        report
    }

    fn count_numbers(&mut self, table: &Table, column: usize) {
        let (mut min, mut max, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for row in 0..table.len() {
            match table.number(row, column) {
                Ok(x) => {
                    self.filled += 1;
                    (min, max, sum) = (min.min(x), max.max(x), sum + x);
                }
                Err(RowFault::Blank) => self.missing += 1,
                Err(RowFault::NotANumber(text) | RowFault::NotATime(text)) if is_missing(&text) => self.missing += 1,
                Err(_) => self.not_numbers += 1,
            }
        }
        if self.filled > 0 {
            (self.min, self.max, self.mean) = (Some(min), Some(max), Some(sum / self.filled as f64));
        }
    }
}
