//! Seismic events of one week, built into the library.

use super::DatasetEntry;
use crate::table::{DataError, Table, read_bytes};

/// The data set.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "earthquakes-week",
    summary: "1707 seismic events of one week of 2018 (USGS), built in: latitude, longitude, magnitude",
    parameters: &[],
    manifold: |_| "sphere:2".into(),
    is_distribution: false,
    make: |request| request.choose("earthquakes-week", table()?),
};

const FILE: &str = include_str!("../../../assets/earthquakes-week.csv");

fn table() -> Result<Table, DataError> {
    read_bytes("earthquakes-week", FILE.as_bytes())
}
