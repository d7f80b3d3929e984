//! Euler angles, which are read but never written.

use nalgebra::{Unit, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Three axes in the order of their angles, written as scipy does: `zyx` turns about the axes of the fixed frame, one after
/// another; `ZYX` about the axes of the turning body.
///
/// ```
/// use mad_core::table::EulerSequence;
/// let sequence: EulerSequence = "ZYX".parse().unwrap();
/// assert_eq!(sequence.to_string(), "ZYX");
/// assert!("zYx".parse::<EulerSequence>().is_err() && "xxz".parse::<EulerSequence>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EulerSequence {
    /// Axes as 0, 1 or 2.
    axes: [usize; 3],
    /// Whether the axes turn with the body.
    intrinsic: bool,
}

impl EulerSequence {
    /// The axes as letters `x`, `y`, `z`.
    pub(crate) fn letters(self) -> [char; 3] {
        self.axes.map(|axis| ['x', 'y', 'z'][axis])
    }

    /// The quaternion (x, y, z, w) of three angles in radians.
    ///
    /// # Formula
    /// Fixed axes: q = q₃ q₂ q₁. Turning axes: q = q₁ q₂ q₃. Here qᵢ is the turn about axis i by angle i.
    pub(crate) fn quaternion(self, angles: [f64; 3]) -> [f64; 4] {
        let mut turns = [0, 1, 2].map(|i| {
            let mut axis = Vector3::zeros();
            axis[self.axes[i]] = 1.0;
            UnitQuaternion::from_axis_angle(&Unit::new_unchecked(axis), angles[i])
        });
        if !self.intrinsic {
            turns.reverse();
        }
        let q = turns[0] * turns[1] * turns[2];
        [q.i, q.j, q.k, q.w]
    }
}

impl FromStr for EulerSequence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no Euler sequence; give three axes as scipy does, such as zyx (fixed axes) or ZYX (turning)"
            )
        };
        let intrinsic = text.chars().all(|c| c.is_ascii_uppercase());
        if !intrinsic && !text.chars().all(|c| c.is_ascii_lowercase()) {
            return Err(wrong());
        }
        let axes: Option<Vec<usize>> = text.to_lowercase().chars().map(|c| "xyz".find(c)).collect();
        match axes.as_deref() {
            Some(&[a, b, c]) if a != b && b != c => Ok(Self { axes: [a, b, c], intrinsic }),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for EulerSequence {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<EulerSequence> for String {
    fn from(sequence: EulerSequence) -> Self {
        sequence.to_string()
    }
}

impl fmt::Display for EulerSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.letters().iter().collect();
        f.write_str(&if self.intrinsic { text.to_uppercase() } else { text })
    }
}
