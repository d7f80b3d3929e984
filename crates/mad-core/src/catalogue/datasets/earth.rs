//! The four benchmark sets of events on Earth, read from a data directory.

use super::{DatasetEntry, Request};
use crate::table::{DataError, ReadOptions, Table, read};

/// Eruptions.
pub(crate) const VOLCANO: DatasetEntry =
    entry("volcano", "827 volcanic eruptions at 267 places (NOAA), from the data directory", |request| {
        make(request, "volcano", "volerup.csv")
    });

/// Significant earthquakes.
pub(crate) const EARTHQUAKE: DatasetEntry =
    entry("earthquake", "6120 significant earthquakes (NOAA), from the data directory", |request| {
        make(request, "earthquake", "quakes_all.csv")
    });

/// Floods.
pub(crate) const FLOOD: DatasetEntry =
    entry("flood", "4875 large floods (Dartmouth Flood Observatory), from the data directory", |request| {
        make(request, "flood", "flood.csv")
    });

/// Fires.
pub(crate) const FIRE: DatasetEntry =
    entry("fire", "12809 active fires (NASA FIRMS), from the data directory", |request| {
        make(request, "fire", "fire.csv")
    });

const fn entry(
    name: &'static str,
    summary: &'static str,
    make: fn(&Request) -> Result<Table, DataError>,
) -> DatasetEntry {
    DatasetEntry { name, summary, parameters: &[], manifold: |_| "sphere:2".into(), is_distribution: false, make }
}

fn make(request: &Request, name: &str, file: &str) -> Result<Table, DataError> {
    request.choose(name, read(&request.file(name, "earth", file)?, &ReadOptions::default())?)
}
