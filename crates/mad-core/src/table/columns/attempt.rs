//! Points read from columns, with the rows that cannot be used.

use crate::{
    Points, Setting,
    table::{DataError, Table, row_error::RowErrorList},
};

/// Points read from a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// One point per row, in ambient coordinates.
    pub points: Points,
    /// What was assumed, repaired or looked odd, in words.
    pub notices: Vec<String>,
}

/// Points and bad rows of a table.
pub(crate) struct Attempt {
    /// One point per row; those of bad rows mean nothing.
    pub(crate) points: Points,
    pub(crate) notices: Vec<String>,
    /// Indices of bad rows, in order.
    pub(crate) bad_rows: Vec<usize>,
    /// What is wrong with them, and rows that are not in the table at all.
    pub(crate) errors: RowErrorList,
    pub(crate) hint: Option<String>,
}

impl Attempt {
    /// The points, if no row is bad.
    pub(crate) fn require_good(self, table: &Table) -> Result<Decoded, DataError> {
        let advice = format!("fix them, or leave them out with {}", Setting::SkipBadRows);
        let hint = match self.hint {
            hint if self.bad_rows.len() == table.len() => hint,
            Some(hint) => Some(format!("{hint}; otherwise {advice}")),
            None => Some(advice),
        };
        self.errors.finish(table.source(), hint)?;
        Ok(Decoded { points: self.points, notices: self.notices })
    }
}

/// How a column of a table is used.
pub(crate) struct ColumnUse {
    pub(crate) index: usize,
    pub(crate) role: String,
    pub(crate) why: &'static str,
}
