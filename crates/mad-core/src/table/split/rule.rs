//! How rows are divided, as it stands in settings.

use super::SplitError;
use crate::{Unit, manifold::Manifold};
use std::{fmt, str::FromStr};

/// A way to divide rows.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitRule {
    /// Row by row, as in the paper: a repeated point may stand in several parts.
    Random,
    /// Point by point: equal points always fall in the same part.
    Distinct,
    /// By blocks of neighbours: rows of different parts are farther apart than this distance.
    Blocks(Distance),
    /// By time: the rows with the largest values of this column are the test part, those before them the validation part.
    Time(String),
    /// By group: rows with the same value in this column stay in one part.
    Group(String),
}

impl SplitRule {
    /// All rules in words.
    pub const KNOWN: &str = "distinct (equal points in one part), random (row by row), blocks:DISTANCE (neighbours in one \
                             part; blocks:5km on the globe, blocks:5deg for angles and rotations), time:COLUMN (the latest \
                             rows are the test part), group:COLUMN (equal values in one part)";
}

impl FromStr for SplitRule {
    type Err = SplitError;

    fn from_str(text: &str) -> Result<Self, SplitError> {
        let unknown = || SplitError::Unknown { text: text.to_owned() };
        match text.split_once(':').map(|(kind, rest)| (kind, rest.trim())) {
            None if text == "random" => Ok(Self::Random),
            None if text == "distinct" => Ok(Self::Distinct),
            Some(("blocks", distance)) => Ok(Self::Blocks(distance.parse()?)),
            Some(("time", column)) if !column.is_empty() => Ok(Self::Time(column.to_owned())),
            Some(("group", column)) if !column.is_empty() => Ok(Self::Group(column.to_owned())),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for SplitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => write!(f, "random"),
            Self::Distinct => write!(f, "distinct"),
            Self::Blocks(distance) => write!(f, "blocks:{distance}"),
            Self::Time(column) => write!(f, "time:{column}"),
            Self::Group(column) => write!(f, "group:{column}"),
        }
    }
}

/// A distance with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// How many units; positive and finite.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
}

impl Distance {
    /// The geodesic distance on `manifold`.
    pub fn on(self, manifold: &dyn Manifold) -> Result<f64, SplitError> {
        if self.unit.fits(manifold) {
            return Ok(self.value * self.unit.size());
        }
        let (rule, manifold) = (SplitRule::Blocks(self).to_string(), manifold.spec());
        let (unit, advice) = match self.unit {
            Unit::Degree => ("degrees", "give a plain number, in the units of the columns"),
            _ => ("kilometres", "use deg for angles and rotations, or a plain number"),
        };
        Err(SplitError::Unit { rule, unit, manifold, advice })
    }
}

impl FromStr for Distance {
    type Err = SplitError;

    fn from_str(text: &str) -> Result<Self, SplitError> {
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '°');
        let unit = match text[digits.len()..].trim() {
            "" => Some(Unit::Plain),
            "km" => Some(Unit::Kilometre),
            "deg" | "°" => Some(Unit::Degree),
            _ => None,
        };
        let value = digits.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
        match (value, unit) {
            (Some(value), Some(unit)) => Ok(Self { value, unit }),
            _ => Err(SplitError::Distance { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, self.unit.symbol())
    }
}
