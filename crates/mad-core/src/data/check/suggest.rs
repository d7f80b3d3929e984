//! Manifolds that the columns of a table suggest.

use crate::data::{
    ColumnOptions, Columns, Layout, Table,
    columns::{LATITUDE, LONGITUDE},
};
use serde::Serialize;

/// Words in the names of angles.
const ANGLES: &[&str] = &["phi", "psi", "omega", "chi", "theta", "angle", "torsion", "dihedral", "tors"];

/// A manifold that a table may be read on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The manifold.
    pub spec: String,
    /// Options that reading needs beside it, such as `--angle-unit deg`; or nothing.
    pub flags: String,
    /// What speaks for it.
    pub reason: String,
    /// Whether the names of the columns leave no doubt.
    pub certain: bool,
}

/// Manifolds for a table, the most likely first. Only names of columns make one certain.
pub fn suggest(table: &Table, options: &ColumnOptions) -> Vec<Suggestion> {
    let mut found = Found(Vec::new());
    let fits = |layout: Layout| Columns::find(&layout, table, options).is_ok();
    let numeric: Vec<usize> = (0..table.width()).filter(|&c| table.is_numeric(c)).collect();
    let names: Vec<String> = table.header().unwrap_or_default().iter().map(|n| n.to_lowercase()).collect();
    let any = |known: &[&str]| names.iter().any(|n| known.contains(&n.as_str()));
    if any(LATITUDE) && any(LONGITUDE) && fits(Layout::Direction) {
        found.certain("sphere:2", "columns of latitude and longitude");
    }
    if !names.is_empty() && fits(Layout::Rotation) {
        if numeric.len() >= 7 && fits(Layout::Blocks(vec![Layout::Rotation, Layout::Real(3)])) {
            found.certain("product(so3,euclid:3)", "columns of a rotation and a position");
        }
        found.certain("so3", "columns of a rotation");
    }
    let ends = |n: &&String| ["_deg", "_degrees", "_rad", "_radians"].iter().any(|end| n.ends_with(end));
    let angles = names.iter().filter(ends).count();
    if angles > 0 && found.0.is_empty() && fits(Layout::Angles(angles)) {
        found.certain(&format!("torus:{angles}"), "columns whose names end in _deg or _rad");
    }
    if numeric.is_empty() && fits(Layout::Categories(None)) {
        found.certain("categorical", "columns of text only");
    }
    let angles: Vec<usize> = numeric
        .iter()
        .copied()
        .filter(|&c| names.get(c).is_some_and(|n| ANGLES.iter().any(|word| n.contains(word))))
        .collect();
    if !angles.is_empty() && found.0.is_empty() {
        let columns = angles.iter().map(|&c| table.column_name(c)).collect::<Vec<_>>().join(",");
        let unit = if angles.iter().any(|&c| largest(table, c) > std::f64::consts::TAU) { "deg" } else { "rad" };
        let flags = format!("--columns {columns} --angle-unit {unit}");
        found.maybe(&format!("torus:{}", angles.len()), &flags, "columns that are called like angles; say their unit");
    }
    if names.is_empty() && numeric.len() == table.width() {
        match table.width() {
            2 if largest(table, 0) <= 90.0 && largest(table, 1) <= 360.0 => {
                found.maybe("sphere:2", "", "two columns without names, if they are latitude and longitude");
            }
            3 => found.maybe("sphere:2", "", "three columns without names, if they are unit vectors"),
            4 => found.maybe("so3", "--quat-order xyzw", "four columns without names, if they are quaternions"),
            9 => found.maybe("so3", "", "nine columns without names, if they are rotation matrices"),
            _ => {}
        }
    }
    if !numeric.is_empty() && found.0.iter().all(|s| !s.certain) {
        let columns = numeric.iter().map(|c| (c + 1).to_string()).collect::<Vec<_>>().join(",");
        let flags = if numeric.len() < table.width() { format!("--columns {columns}") } else { String::new() };
        found.maybe(
            &format!("euclid:{}", numeric.len()),
            &flags,
            "columns of numbers, if any numbers can occur in them",
        );
    }
    found.0
}

struct Found(Vec<Suggestion>);

impl Found {
    fn certain(&mut self, spec: &str, reason: &str) {
        self.add(spec, "", reason, true);
    }

    fn maybe(&mut self, spec: &str, flags: &str, reason: &str) {
        self.add(spec, flags, reason, false);
    }

    fn add(&mut self, spec: &str, flags: &str, reason: &str, certain: bool) {
        self.0.push(Suggestion { spec: spec.into(), flags: flags.into(), reason: reason.into(), certain });
    }
}

/// Largest absolute value of a column.
fn largest(table: &Table, column: usize) -> f64 {
    (0..table.len()).filter_map(|row| table.number(row, column).ok()).fold(0.0, |m: f64, x| m.max(x.abs()))
}
