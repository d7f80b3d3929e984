//! Training, validation and test part, of points, conditions, pictures or counts alike.

use mad_core::{Points, table::Split};
use serde::{Deserialize, Serialize};

/// Which rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Rows to learn from.
    Train,
    /// Rows to choose settings by.
    Validation,
    /// Rows to judge by.
    Test,
}

impl Part {
    /// All parts in order.
    pub const ALL: [Part; 3] = [Part::Train, Part::Validation, Part::Test];

    /// Name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Part::Train => "train",
            Part::Validation => "validation",
            Part::Test => "test",
        }
    }
}

/// Something for each part; validation and test part may be empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Parts<T = Points> {
    pub train: T,
    pub validation: T,
    pub test: T,
}

impl<T> Parts<T> {
    /// That of one part.
    pub fn get(&self, part: Part) -> &T {
        match part {
            Part::Train => &self.train,
            Part::Validation => &self.validation,
            Part::Test => &self.test,
        }
    }

    /// What `f` makes of each.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Parts<U> {
        Parts { train: f(&self.train), validation: f(&self.validation), test: f(&self.test) }
    }

    /// What `f` makes of each, or its first error.
    pub(crate) fn try_map<U, E>(&self, mut f: impl FnMut(&T) -> Result<U, E>) -> Result<Parts<U>, E> {
        Ok(Parts { train: f(&self.train)?, validation: f(&self.validation)?, test: f(&self.test)? })
    }
}

impl Parts {
    /// The rows of each part of `split`.
    pub fn cut(points: &Points, split: &Split) -> Self {
        Parts::of(split).map(|rows| points.select(rows))
    }
}

impl<'a> Parts<&'a [usize]> {
    /// The numbers of the rows of each part of `split`.
    pub(crate) fn of(split: &'a Split) -> Self {
        Parts { train: &split.train, validation: &split.validation, test: &split.test }
    }
}
