//! Backbone torsions of proteins, read from a data directory.

use super::{DatasetEntry, Request};
use crate::table::{DataError, ReadOptions, Table, read};

/// Columns of the file that make a point.
const TORSIONS: [&str; 2] = ["phi_deg", "psi_deg"];

/// The Ramachandran plot of lysine.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "ramachandran",
    summary: "backbone torsions phi and psi of 34860 lysines (Top8000, Richardson Lab), from the data directory",
    parameters: &[],
    manifold: |_| "torus:2".into(),
    is_distribution: false,
    make,
};

fn make(request: &Request) -> Result<Table, DataError> {
    let path = request.file(ENTRY.name, "rotamers", "top8000_lys.csv.gz")?;
    let table = read(&path, &ReadOptions::default())?;
    let unusable = |what: String| DataError::DatasetArgument {
        name: ENTRY.name.into(),
        problem: format!("{}: {what}", path.display()),
    };
    let mut columns = Vec::new();
    for name in TORSIONS {
        columns.push(table.find(name).ok_or_else(|| unusable(format!("no column {name}")))?);
    }
    let mut data = Vec::with_capacity(table.len() * columns.len());
    for row in 0..table.len() {
        for &column in &columns {
            let fault = |fault| unusable(format!("line {}: {fault}", table.line(row)));
            data.push(table.number(row, column).map_err(fault)?);
        }
    }
    let header = TORSIONS.map(String::from).to_vec();
    request.choose(ENTRY.name, Table::numbers(ENTRY.name, Some(header), columns.len(), data))
}
