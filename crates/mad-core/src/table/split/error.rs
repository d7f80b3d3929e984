//! Why rows cannot be divided as asked.

use super::SplitRule;

/// A division of rows that does not exist.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// Text that is no rule.
    #[error("`{text}` is no way to split rows; known: {}", SplitRule::KNOWN)]
    Unknown {
        /// The text.
        text: String,
    },
    /// A distance that is no positive number, or whose unit is not known.
    #[error("`{text}` is no distance: give a positive number, such as 0.1, with km on the globe or deg for angles")]
    Distance {
        /// The text after `blocks:`.
        text: String,
    },
    /// A unit that does not measure distances on this set.
    #[error("split = {rule}: {unit} do not measure distances on {manifold}; {advice}")]
    Unit {
        /// The rule.
        rule: String,
        /// The unit in words.
        unit: &'static str,
        /// The set.
        manifold: String,
        /// What would be right.
        advice: &'static str,
    },
    /// No column of this name.
    #[error("{file}: split = {rule}: there is no column `{column}`; {known}")]
    Column {
        /// The file in question.
        file: String,
        /// The rule.
        rule: String,
        /// The column as given.
        column: String,
        /// The columns there are.
        known: String,
    },
    /// A cell that cannot be ordered or grouped by.
    #[error("{file}: line {line}: column {column}: {problem}; split = {rule} needs a value in every row")]
    Cell {
        /// The file in question.
        file: String,
        /// The line of the row, from 1.
        line: usize,
        /// The column.
        column: String,
        /// The rule.
        rule: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Not enough blocks, groups or times for the parts.
    #[error("split = {rule}: {found} {units} are too few for {parts} parts; {advice}")]
    TooFew {
        /// The rule.
        rule: String,
        /// How many there are.
        found: usize,
        /// What they are called.
        units: &'static str,
        /// Parts that must not be empty.
        parts: usize,
        /// What to do.
        advice: &'static str,
    },
    /// All rows of a part are too close to another one.
    #[error(
        "split = {rule}: every row of the {part} part is closer than that to a row of another part; \
         choose a smaller distance"
    )]
    Crowded {
        /// The rule.
        rule: String,
        /// The part that would be empty.
        part: &'static str,
    },
}

impl SplitError {
    /// Whether the rule itself is at fault, not the rows.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Distance { .. } | Self::Unit { .. } | Self::Column { .. })
    }
}
