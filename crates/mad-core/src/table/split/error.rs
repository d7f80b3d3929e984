//! Why rows cannot be divided as asked.

use super::SplitRule;

/// A division of rows that does not exist.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum SplitError {
    /// Text that is no rule.
    #[error("`{text}` is no way to split rows; known: {}", SplitRule::KNOWN)]
    Unknown { text: String },
    /// A distance that is no positive number, or whose unit is not known.
    #[error("`{text}` is no distance: give a positive number, such as 0.1, with km on the globe or deg for angles")]
    Distance { text: String },
    /// A unit that does not measure distances on this set.
    #[error("split = {rule}: {unit} do not measure distances on {manifold}; {advice}")]
    Unit { rule: String, unit: &'static str, manifold: String, advice: &'static str },
    /// No column of this name.
    #[error("{file}: split = {rule}: there is no column `{column}`; {known}")]
    Column { file: String, rule: String, column: String, known: String },
    /// A cell that cannot be ordered or grouped by.
    #[error("{file}: line {line}: column {column}: {problem}; split = {rule} needs a value in every row")]
    Cell { file: String, line: usize, column: String, rule: String, problem: String },
    /// Not enough blocks, groups or times for the parts.
    #[error("split = {rule}: {found} {units} are too few for {parts} parts; {advice}")]
    TooFew { rule: String, found: usize, units: &'static str, parts: usize, advice: &'static str },
    /// All rows of a part are too close to another one.
    #[error(
        "split = {rule}: every row of the {part} part is closer than that to a row of another part; \
         choose a smaller distance"
    )]
    Crowded { rule: String, part: &'static str },
}

impl SplitError {
    /// Whether the rule itself is at fault, not the rows.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Distance { .. } | Self::Unit { .. } | Self::Column { .. })
    }
}
