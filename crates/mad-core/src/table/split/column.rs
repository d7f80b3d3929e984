//! Divisions by the values of a column.

use super::{
    Division, SplitError, SplitRule,
    division::{numbers, too_few},
};
use crate::{
    rng::{Purpose, stream},
    table::{Table, Time, value::is_missing},
};
use std::collections::HashMap;

/// Rows of neighbouring times form this many units within the training part, so that cross-validation leaves out whole periods.
const PERIODS: usize = 50;

/// The column that `name` means: a header, or `column3` or `3` where the file has none.
fn find(table: &Table, name: &str, rule: &SplitRule) -> Result<usize, SplitError> {
    let numbered = || {
        let number: usize = name.strip_prefix("column").unwrap_or(name).parse().ok()?;
        (table.header().is_none() && (1..=table.width()).contains(&number)).then(|| number - 1)
    };
    table.find(name).or_else(numbered).ok_or_else(|| {
        let known = match table.header() {
            Some(names) => format!("the columns are {}", names.join(", ")),
            None => format!("the file has no column names; use column1 to column{}", table.width()),
        };
        let (file, rule, column) = (table.source().to_owned(), rule.to_string(), name.to_owned());
        SplitError::Column { file, rule, column, known }
    })
}

/// A refusal of the cell in a row.
fn bad_cell(table: &Table, row: usize, column: usize, rule: &SplitRule, problem: String) -> SplitError {
    let (file, column) = (table.source().to_owned(), table.column_name(column));
    SplitError::Cell { file, line: table.line(row), column, rule: rule.to_string(), problem }
}

/// Rows with equal cells stay together.
pub(super) fn by_group(
    table: &Table,
    name: &str,
    rule: &SplitRule,
    fractions: [f64; 3],
    seed: u64,
) -> Result<Division, SplitError> {
    let column = find(table, name, rule)?;
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for row in 0..table.len() {
        let cell = table.cell(row, column);
        if is_missing(&cell) {
            return Err(bad_cell(table, row, column, rule, "the cell is empty".into()));
        }
        let group = *places.entry(cell.trim().to_owned()).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(row as u32);
    }
    Division::assign(groups, "groups", rule, fractions, &mut stream(seed, Purpose::Split, 1))
}

/// Earlier rows first; rows of the same time stay together.
pub(super) fn by_time(
    table: &Table,
    name: &str,
    rule: &SplitRule,
    fractions: [f64; 3],
) -> Result<Division, SplitError> {
    let column = find(table, name, rule)?;
    let mut rows = Vec::with_capacity(table.len());
    for row in 0..table.len() {
        let time = Time::parse(&table.cell(row, column)).map(Time::unix_seconds);
        let time = time.or_else(|| table.number(row, column).ok());
        let Some(time) = time else {
            let problem = match table.cell(row, column) {
                cell if is_missing(&cell) => "the cell is empty".to_owned(),
                cell => format!("`{cell}` is neither a number nor a date such as 2024-05-31T12:00:00Z"),
            };
            return Err(bad_cell(table, row, column, rule, problem));
        };
        rows.push((time, row as u32));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let times: Vec<Vec<u32>> =
        rows.chunk_by(|a, b| a.0 == b.0).map(|equal| equal.iter().map(|entry| entry.1).collect()).collect();
    let needed = fractions.iter().filter(|share| **share > 0.0).count();
    if times.len() < needed {
        return Err(too_few(rule, times.len(), "times", needed));
    }
    let period = times.len().div_ceil(PERIODS);
    let unit_of = numbers(&times.chunks(period).map(|times| times.concat()).collect::<Vec<_>>());
    let mut division = Division { parts: Default::default(), units: "times", counts: [0; 3], left_out: 0, unit_of };
    let mut until = rows.len() as f64;
    let mut times = times.into_iter().rev().peekable();
    let (mut left, mut assigned) = (times.len(), 0);
    for part in (0..3).rev().filter(|part| fractions[*part] > 0.0) {
        until -= fractions[part] * rows.len() as f64;
        let others = (0..part).filter(|part| fractions[*part] > 0.0).count();
        // At least one time, and one for every earlier part; else the border that is nearest.
        while let Some(equal) = times.peek() {
            let middle = rows.len() as f64 - assigned as f64 - 0.5 * equal.len() as f64;
            let wanted = part == 0 || middle >= until - 1e-9;
            if left <= others || !(wanted || division.counts[part] == 0) {
                break;
            }
            division.parts[part].extend(equal);
            division.counts[part] += 1;
            (left, assigned) = (left - 1, assigned + equal.len());
            times.next();
        }
    }
    Ok(division)
}
