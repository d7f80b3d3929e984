//! The four benchmark sets of events on Earth, read from a data directory.

use super::{Arguments, DatasetEntry, Request};
use crate::table::{DataError, ReadOptions, Table, read};

/// Eruptions.
pub(crate) const VOLCANO: DatasetEntry = DatasetEntry {
    name: "volcano",
    summary: "827 volcanic eruptions at 267 places (NOAA), from the data directory",
    parameters: &[],
    manifold,
    is_distribution: false,
    make: |request| make(request, "volcano", "volerup.csv"),
};

/// Significant earthquakes.
pub(crate) const EARTHQUAKE: DatasetEntry = DatasetEntry {
    name: "earthquake",
    summary: "6120 significant earthquakes (NOAA), from the data directory",
    parameters: &[],
    manifold,
    is_distribution: false,
    make: |request| make(request, "earthquake", "quakes_all.csv"),
};

/// Floods.
pub(crate) const FLOOD: DatasetEntry = DatasetEntry {
    name: "flood",
    summary: "4875 large floods (Dartmouth Flood Observatory), from the data directory",
    parameters: &[],
    manifold,
    is_distribution: false,
    make: |request| make(request, "flood", "flood.csv"),
};

/// Fires.
pub(crate) const FIRE: DatasetEntry = DatasetEntry {
    name: "fire",
    summary: "12809 active fires (NASA FIRMS), from the data directory",
    parameters: &[],
    manifold,
    is_distribution: false,
    make: |request| make(request, "fire", "fire.csv"),
};

fn manifold(_: &Arguments) -> String {
    "sphere:2".into()
}

fn make(request: &Request, name: &str, file: &str) -> Result<Table, DataError> {
    request.choose(name, read(&request.file(name, "earth", file)?, &ReadOptions::default())?)
}
