//! Conditions outside the range of the training rows.

use crate::args::Common;
use crate::error::CliError;
use crate::output;
use mad_core::Points;
use mad_nn::{Part, Run};
use serde::Serialize;

/// A condition outside the range of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outside {
    /// The column of the condition.
    column: String,
    /// The value given.
    value: f64,
    /// Smallest and largest value among the training rows.
    range: [f64; 2],
}

/// Warns of conditions outside the range of the training rows of `run`, and gives them back.
pub fn tell_outside(common: &Common, run: &Run, condition: &[f64]) -> Result<Vec<Outside>, CliError> {
    let (Some(columns), Some(seen)) = (&run.columns().condition, run.conditions(Part::Train)?) else {
        return Ok(Vec::new());
    };
    // Names and values correspond for real columns only, as conditions are.
    let seen = columns.in_file_units(&seen);
    let given = columns.in_file_units(&Points::from_vec(condition.to_vec(), condition.len()));
    let mut outside = Vec::new();
    for (i, column) in columns.encode_header().into_iter().enumerate().filter(|(i, _)| *i < seen.dim()) {
        let range = |(a, b): (f64, f64), row: &[f64]| (a.min(row[i]), b.max(row[i]));
        let (least, most) = seen.rows().fold((f64::INFINITY, f64::NEG_INFINITY), range);
        let value = given.row(0)[i];
        // Values that were standardised and back again differ in their last digits.
        let slack = 1e-9 * (most - least).max(least.abs()).max(most.abs());
        if value < least - slack || value > most + slack {
            output::notice(
                common,
                format!(
                    "warning: --given {column}={value}: the training rows have {column} from {least} to {most}; there the model \
                     is not supported by data"
                ),
            );
            outside.push(Outside { column, value, range: [least, most] });
        }
    }
    Ok(outside)
}
