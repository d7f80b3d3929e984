//! What a table holds and what is odd about it, before any training.

mod column;
pub(crate) mod poses;
mod suggest;
mod usable;

pub use column::ColumnReport;
pub use suggest::{Suggestion, suggest};
pub use usable::unusable;

use super::{LoadError, Tried, attempt};
use crate::Setting;
use crate::table::{ColumnOptions, DataError, Duplicates, FRACTIONS, SplitKind, Table, columns::Attempt, duplicates};
use serde::Serialize;

/// Fewer rows than this make held-out scores noisy: a tenth of them is scored.
const FEW_ROWS: usize = 200;

/// A table as the points of a manifold.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// The manifold, with numbers of levels filled in.
    pub manifold: String,
    /// Rows of the file, bad ones included.
    pub rows: usize,
    /// Number of ambient coordinates.
    pub ambient_dim: usize,
    /// Mean of each ambient coordinate over good rows.
    pub mean: Vec<f64>,
    /// Columns that samples are written to.
    pub written: Vec<String>,
    /// All columns of the file, in order.
    pub columns: Vec<ColumnReport>,
    /// How often good points repeat.
    pub duplicates: Duplicates,
    /// Rows that cannot be used.
    pub bad_rows: Option<BadRows>,
    /// What was assumed, repaired or looks odd.
    pub notices: Vec<String>,
    /// What to do about it.
    pub suggestions: Vec<String>,
    /// Whether a run can be made from the good rows: there are some, and no part of the usual split is empty. If there are bad
    /// rows, too, these must be skipped.
    pub can_fit: bool,
}

/// Rows that cannot be used, in short.
#[derive(Debug, Clone, Serialize)]
pub struct BadRows {
    /// Their number.
    pub total: usize,
    /// How many have each kind of fault.
    pub kinds: Vec<(String, usize)>,
    /// The first of them, in words.
    pub first: Vec<String>,
    /// All of them in lines of text, grouped by column and kind of fault if they are many.
    #[serde(rename = "told")]
    pub lines: Vec<String>,
    /// What may be behind them.
    pub hint: Option<String>,
}

/// Reads a table as [`load`](super::load) does and reports on it; bad rows are part of the report.
pub fn check(table: &Table, spec: &str, options: &ColumnOptions) -> Result<CheckReport, LoadError> {
    let Tried { manifold, columns, attempt, .. } = attempt(table, spec, options)?;
    let Attempt { mut points, mut notices, bad_rows, errors, hint } = attempt;
    let rows = table.len() + table.ragged().0.total();
    if !bad_rows.is_empty() {
        let mut bad = bad_rows.iter().copied().peekable();
        let good: Vec<usize> = (0..table.len()).filter(|row| bad.next_if_eq(row).is_none()).collect();
        points = points.select(&good);
    }
    points.rows_mut().for_each(|x| manifold.canonicalise(x));
    let repeated = duplicates(&points);
    let uses = columns.uses(table);
    let reports =
        (0..table.width()).map(|c| ColumnReport::of(table, c, uses.iter().find(|u| u.index == c))).collect::<Vec<_>>();
    notices.extend(oddities(&reports));
    let bad_rows = errors.into_errors(table.source(), hint).map(|errors| BadRows {
        total: errors.total,
        kinds: errors.kinds.iter().map(|(kind, count)| (kind.to_string(), *count)).collect(),
        first: errors.listed.iter().map(|row| row.to_string()).collect(),
        lines: errors.report(),
        hint: errors.hint,
    });
    let count = points.len().max(1) as f64;
    let mean = (0..points.dim()).map(|k| points.rows().map(|x| x[k]).sum::<f64>() / count).collect();
    let mut report = CheckReport {
        manifold: manifold.spec(),
        rows,
        ambient_dim: points.dim(),
        mean,
        written: columns.encode_header(),
        columns: reports,
        duplicates: repeated,
        bad_rows,
        notices,
        suggestions: Vec::new(),
        can_fit: false,
    };
    // On a finite set equal rows are the data, not duplicates.
    let kind = if manifold.intrinsic_dim() == 0 { SplitKind::Random } else { SplitKind::Distinct };
    let split = repeated.require_parts(kind, FRACTIONS).err();
    report.can_fit = split.is_none();
    report.suggestions = report.advice(manifold.intrinsic_dim(), split);
    Ok(report)
}

/// The columns of a table as they are, before anything is known about their use.
pub fn describe(table: &Table) -> Vec<ColumnReport> {
    (0..table.width()).map(|c| ColumnReport::of(table, c, None)).collect()
}

/// What is odd about used columns beside their values one by one.
fn oddities(columns: &[ColumnReport]) -> Vec<String> {
    let mut found = Vec::new();
    for column in columns.iter().filter(|c| c.role.is_some()) {
        if let (Some(min), Some(max)) = (column.min, column.max)
            && min == max
            && column.filled > 1
        {
            found.push(format!("{}: every value is {min}", column.name));
        }
    }
    found
}

impl CheckReport {
    fn advice(&self, intrinsic_dim: usize, split: Option<DataError>) -> Vec<String> {
        let mut advice = Vec::new();
        let Duplicates { rows, distinct, .. } = self.duplicates;
        if let Some(bad) = &self.bad_rows {
            let many = " (a large share of bad rows often means another unit, order or column)";
            let leave_out = format!(", or leave them out with {}", Setting::SkipBadRows);
            let (skip, why) = match bad.total {
                total if total >= self.rows => ("; none is good", many),
                total if 100 * total > self.rows => (leave_out.as_str(), many),
                _ => (leave_out.as_str(), ""),
            };
            advice.push(format!("{} of {} rows are bad: fix them{skip}{why}", bad.total, self.rows));
            if bad.kinds.iter().any(|(kind, _)| kind == "norm not 1") {
                advice.push(format!(
                    "{} rescales vectors of any length, if their directions are right",
                    Setting::Normalize
                ));
            }
        }
        if let Some(error) = split.filter(|_| rows > 0) {
            advice.push(error.to_string());
        }
        if distinct == 1 && rows > 1 {
            advice.push("all points are equal: there is nothing to learn".into());
        } else if distinct < rows && intrinsic_dim > 0 {
            advice.push(
                "equal points stay in one part by default (split = distinct); split = random spreads them".into(),
            );
        }
        if (1..FEW_ROWS).contains(&distinct) && intrinsic_dim > 0 {
            advice.push(format!(
                "{distinct} different points are few: scores on held-out rows will be noisy; repeat with several seeds"
            ));
        }
        advice
    }
}
