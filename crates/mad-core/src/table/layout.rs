//! Which columns a manifold's points may stand in.

use serde::{Deserialize, Serialize};

/// The form of a point in a file, as a manifold asks for it; `columns` finds it in a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// This many ambient coordinates, `x0, x1, …`.
    Coordinates(usize),
    /// A unit vector in R³: `lat, lon`, or `x0, x1, x2`.
    Direction,
    /// A rotation: quaternion `qx, qy, qz, qw` in any order, matrix `r00 … r22`, rotation vector, Euler angles, or `x0 … x3`
    /// (x, y, z, w).
    Rotation,
    /// This many angles, one column each; their unit must be known.
    Angles(usize),
    /// Columns of strings, one per entry, with these numbers of levels; `None` until a file has been seen.
    Categories(Option<Vec<usize>>),
    /// This many real numbers, standardised by the training part.
    Real(usize),
    /// One layout after another.
    Blocks(Vec<Layout>),
}

impl Layout {
    /// Number of ambient coordinates of a point; `None` while categories are not known.
    pub fn dim(&self) -> Option<usize> {
        match self {
            Layout::Coordinates(n) | Layout::Real(n) => Some(*n),
            Layout::Direction => Some(3),
            Layout::Rotation => Some(4),
            Layout::Angles(n) => Some(2 * n),
            Layout::Categories(levels) => levels.as_ref().map(|l| l.iter().sum()),
            Layout::Blocks(blocks) => blocks.iter().map(Layout::dim).sum(),
        }
    }

    /// The blocks one after another, without nesting.
    pub fn leaves(&self) -> Vec<&Layout> {
        match self {
            Layout::Blocks(blocks) => blocks.iter().flat_map(Layout::leaves).collect(),
            leaf => vec![leaf],
        }
    }

    /// The columns in words, for messages.
    pub fn describe(&self) -> String {
        match self {
            Layout::Coordinates(n) => format!("{n} coordinates {}", numbered(*n)),
            Layout::Direction => "lat, lon, or a unit vector x0, x1, x2".into(),
            Layout::Rotation => {
                "quaternion qx, qy, qz, qw, or matrix r00 … r22, or rotation vector rotvec_x …, or x0 … x3".into()
            }
            Layout::Angles(n) => {
                format!("{n} angle columns (named …_deg or …_rad, or chosen), or {} as cos, sin pairs", numbered(2 * n))
            }
            Layout::Categories(None) => "columns of strings".into(),
            Layout::Categories(Some(levels)) => format!("{} columns of strings", levels.len()),
            Layout::Real(n) => format!("{n} columns of numbers"),
            Layout::Blocks(blocks) => blocks.iter().map(Layout::describe).collect::<Vec<_>>().join("; then "),
        }
    }
}

/// `x0`, `x0, x1` or `x0 … x6`.
fn numbered(n: usize) -> String {
    match n {
        0 | 1 => "x0".into(),
        2 => "x0, x1".into(),
        n => format!("x0 … x{}", n - 1),
    }
}
