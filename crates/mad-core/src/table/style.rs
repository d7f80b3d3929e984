//! How a text file is written, so that samples can be written alike.

use serde::{Deserialize, Serialize};

/// Delimiter, decimal mark and place of the column names of a text file. The default is plain CSV.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextStyle {
    /// What separates columns; a blank stands for any number of them.
    pub(super) delimiter: char,
    /// Whether decimal commas are written.
    pub(super) decimal_comma: bool,
    /// Where the names of the columns stand.
    pub(super) names: Names,
}

/// Where the names of the columns stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Names {
    /// In the first row.
    Row,
    /// In a comment above the first row, as in trajectories of the TUM benchmark.
    Comment,
    /// Nowhere, as in trajectories of the KITTI benchmark.
    Absent,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { delimiter: ',', decimal_comma: false, names: Names::Row }
    }
}

impl TextStyle {
    /// Whether this is plain CSV.
    pub(super) fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// The part of this style that samples keep: all of it for decimal commas and commented names, else plain CSV.
    pub(super) fn kept(&self) -> Self {
        if self.decimal_comma || self.names == Names::Comment { self.clone() } else { Self::default() }
    }
}
