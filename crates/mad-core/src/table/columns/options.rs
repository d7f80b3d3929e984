//! Options for columns, and how a choice of columns is written.

use super::EulerSequence;
use crate::table::{DataError, Table};
use serde::{Deserialize, Serialize};

/// Largest difference of a norm from 1, and of a matrix from a rotation, that is repaired by default.
pub(super) const NORM_TOLERANCE: f64 = 1e-3;

/// Whether a difference is too large to be repaired. One of 1e-3 is not, on whichever side its last bit was rounded.
pub(super) fn beyond_repair(difference: f64) -> bool {
    difference > NORM_TOLERANCE * (1.0 + 1e-9)
}

/// Repairs smaller than this are rounding and are not reported.
pub(super) const REPORTED: f64 = 1e-6;

/// Order of the four numbers of a quaternion whose columns have no telling names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuaternionOrder {
    /// Scalar last.
    Xyzw,
    /// Scalar first.
    Wxyz,
}

impl QuaternionOrder {
    /// The order as the option writes it.
    pub(super) fn letters(self) -> &'static str {
        match self {
            QuaternionOrder::Xyzw => "xyzw",
            QuaternionOrder::Wxyz => "wxyz",
        }
    }
}

/// What three numbers of a rotation are, where their names leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RotationForm {
    /// A rotation vector: the axis times the angle.
    Rotvec,
    /// Euler angles, whose sequence must be given.
    Euler,
}

/// Unit of angle columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AngleUnit {
    /// Degrees.
    Deg,
    /// Radians.
    Rad,
}

impl AngleUnit {
    /// One unit in radians.
    pub(super) fn radians(self) -> f64 {
        match self {
            AngleUnit::Deg => std::f64::consts::PI / 180.0,
            AngleUnit::Rad => 1.0,
        }
    }

    /// An angle in radians in this unit.
    pub(super) fn of_radians(self, angle: f64) -> f64 {
        match self {
            AngleUnit::Deg => angle.to_degrees(),
            AngleUnit::Rad => angle,
        }
    }

    /// The unit in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            AngleUnit::Deg => "degrees",
            AngleUnit::Rad => "radians",
        }
    }

    /// The unit as options and names of columns write it.
    pub(crate) fn short(self) -> &'static str {
        match self {
            AngleUnit::Deg => "deg",
            AngleUnit::Rad => "rad",
        }
    }

    /// Half a turn in this unit.
    pub(super) fn half_turn(self) -> f64 {
        match self {
            AngleUnit::Deg => 180.0,
            AngleUnit::Rad => std::f64::consts::PI,
        }
    }
}

/// What the names of the columns leave open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnOptions {
    /// The columns to use: names, numbers from 1, and ranges of numbers, such as `phi,psi` or `1,3-9`. All if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// Order of quaternions without telling names; x, y, z, w if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quat_order: Option<QuaternionOrder>,
    /// Unit of angles, latitudes and longitudes whose names do not end in `_deg` or `_rad`. Angles are not read without one;
    /// latitudes and longitudes are in degrees if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angle_unit: Option<AngleUnit>,
    /// What three columns of a rotation are, where their names leave it open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<RotationForm>,
    /// Sequence of Euler angles, without which they are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub euler: Option<EulerSequence>,
    /// Whether vectors of any length, and points off the manifold, are moved onto it.
    pub normalize: bool,
    /// Largest number of different values of a column of strings.
    pub max_levels: usize,
}

impl Default for ColumnOptions {
    fn default() -> Self {
        Self {
            columns: None,
            quat_order: None,
            angle_unit: None,
            rotation: None,
            euler: None,
            normalize: false,
            max_levels: 4096,
        }
    }
}

impl ColumnOptions {
    /// These options, and those of `kept` where these are silent.
    pub(super) fn or(self, kept: &Self) -> Self {
        Self {
            columns: self.columns.or_else(|| kept.columns.clone()),
            quat_order: self.quat_order.or(kept.quat_order),
            angle_unit: self.angle_unit.or(kept.angle_unit),
            rotation: self.rotation.or(kept.rotation),
            euler: self.euler.or(kept.euler),
            normalize: self.normalize || kept.normalize,
            max_levels: kept.max_levels,
        }
    }

    /// Refuses a choice of columns that the table does not have.
    pub fn require_in(&self, table: &Table) -> Result<(), DataError> {
        self.chosen(table).map(drop)
    }

    /// Indices of the chosen columns, in the order given; all if none are chosen.
    pub(crate) fn chosen(&self, table: &Table) -> Result<Vec<usize>, DataError> {
        match &self.columns {
            Some(selection) => select(selection, table),
            None => Ok((0..table.width()).collect()),
        }
    }
}

/// Indices of the columns of a selection, in the order given.
///
/// A part that is the name of a column is that column, even if it looks like a number or a range.
fn select(selection: &str, table: &Table) -> Result<Vec<usize>, DataError> {
    let failed = |problem| DataError::Selection { file: table.source().into(), selection: selection.into(), problem };
    let number = |text: &str| -> Result<usize, DataError> {
        match text.trim().parse::<usize>() {
            Ok(n) if (1..=table.width()).contains(&n) => Ok(n - 1),
            Ok(n) => Err(failed(format!("there is no column {n}; the file has {} columns", table.width()))),
            Err(_) => {
                let names: Vec<_> = table.header().into_iter().flatten().map(String::as_str).collect();
                let known = if names.is_empty() {
                    "the file has no column names; use numbers from 1, such as 1,3-9".into()
                } else {
                    format!("the columns are {}", names.join(", "))
                };
                Err(failed(format!("`{text}` is neither a column name nor a number; {known}")))
            }
        }
    };
    let mut chosen: Vec<usize> = Vec::new();
    for part in selection.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let range = if let Some(index) = table.find(part) {
            index..=index
        } else if let Some((from, to)) = part.split_once('-').filter(|(a, b)| !a.is_empty() && !b.is_empty()) {
            match (number(from), number(to)) {
                (Ok(from), Ok(to)) if from <= to => from..=to,
                (Ok(_), Ok(_)) => return Err(failed(format!("the range `{part}` runs backwards"))),
                _ if from.trim().parse::<usize>().is_err() => return number(part).map(|i| vec![i]),
                (Err(e), _) | (_, Err(e)) => return Err(e),
            }
        } else {
            let index = number(part)?;
            index..=index
        };
        for index in range {
            if chosen.contains(&index) {
                return Err(failed(format!("column {} is chosen twice", table.column_name(index))));
            }
            chosen.push(index);
        }
    }
    if chosen.is_empty() { Err(failed("it chooses no column".into())) } else { Ok(chosen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(header: Option<&[&str]>) -> Table {
        let mut t = Table::text("t.csv", header.map(|h| h.iter().map(|s| s.to_string()).collect()), 4);
        t.push(1, ["a", "b", "1", "2"]);
        t
    }

    #[test]
    fn names_numbers_and_ranges() {
        let plain = table(None);
        assert_eq!(select("3-4", &plain).unwrap(), [2, 3]);
        assert_eq!(select(" 4, 1-2", &plain).unwrap(), [3, 0, 1]);
        let named = table(Some(&["phi", "psi-1", "2", "other"]));
        assert_eq!(select("psi-1,phi,2", &named).unwrap(), [1, 0, 2]);
    }

    #[test]
    fn mistakes_are_explained() {
        let plain = table(None);
        let text = |s: &str| select(s, &plain).unwrap_err().to_string();
        assert!(text("5").contains("no column 5; the file has 4"), "{}", text("5"));
        assert!(text("1,1").contains("twice"));
        assert!(text("3-1").contains("backwards"));
        assert!(text("phi").contains("use numbers"));
        assert!(text("").contains("no column"));
        let named = table(Some(&["phi", "psi", "c", "d"]));
        assert!(select("phi,pis", &named).unwrap_err().to_string().contains("the columns are phi, psi, c, d"));
    }
}
