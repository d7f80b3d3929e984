//! Files that list the points of a finite set.

use super::{DataError, RowFault, Table, row_error::RowErrorList};
use crate::{Points, manifold::PointTable};
use std::cmp::Ordering;

/// Names of a column of weights.
const WEIGHT: &[&str] = &["weight", "weights", "probability"];

/// Reads a finite set from a table: a column `weight` or `probability` holds positive weights, scaled to sum 1; every
/// other column is a coordinate and must hold numbers. A point that stands twice is a bad row.
pub fn support(table: &Table) -> Result<PointTable, DataError> {
    table.require_whole()?;
    let weight = WEIGHT.iter().find_map(|name| table.find(name));
    let columns: Vec<usize> = (0..table.width()).filter(|c| Some(*c) != weight).collect();
    if columns.is_empty() {
        return Err(DataError::Columns {
            file: table.source().into(),
            line: table.header_line(),
            wanted: "coordinates x0, x1, …".into(),
            found: "only weights".into(),
            advice: String::new(),
        });
    }
    let mut points = Points::zeros(table.len(), columns.len());
    let mut weights = Vec::new();
    let mut errors = RowErrorList::new(table.unit());
    for (row, x) in points.rows_mut().enumerate() {
        let mut number = |column: usize| match table.number(row, column) {
            Ok(x) => x,
            Err(fault) => {
                errors.push(table.line(row), Some(table.column_name(column)), fault);
                1.0
            }
        };
        x.iter_mut().zip(&columns).for_each(|(x, c)| *x = number(*c));
        if let Some(column) = weight {
            let w = number(column);
            if w <= 0.0 {
                errors.push(table.line(row), Some(table.column_name(column)), RowFault::Weight(w));
            }
            weights.push(w);
        }
    }
    errors.finish(table.source(), None)?;
    let mut errors = RowErrorList::new(table.unit());
    for (first, row) in repeated(&points) {
        let fault = RowFault::Duplicate { unit: table.unit(), first: table.line(first) };
        errors.push(table.line(row), None, fault);
    }
    errors.finish(table.source(), None)?;
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    Ok(PointTable { points, weights: weight.map(|_| weights) })
}

/// Rows that repeat an earlier one, in order, each after the first row of its kind.
fn repeated(points: &Points) -> Vec<(usize, usize)> {
    let compare = |a: usize, b: usize| points.row(a).partial_cmp(points.row(b)).unwrap_or(Ordering::Equal);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| compare(a, b));
    let alike = order.chunk_by(|&a, &b| compare(a, b).is_eq());
    let mut pairs: Vec<_> = alike.flat_map(|rows| rows[1..].iter().map(|&row| (rows[0], row))).collect();
    pairs.sort_by_key(|&(_, row)| row);
    pairs
}
