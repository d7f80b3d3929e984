//! The four benchmark sets of events on Earth, read from a data directory.

use super::{Arguments, DatasetEntry, Request};
use crate::table::{DataError, ReadOptions, Table, read};
use std::{env, ffi::OsString, path::PathBuf};

/// Environment variable that names the data directory.
const VARIABLE: &str = "MAD_DATA";

/// Eruptions.
pub const VOLCANO: DatasetEntry = DatasetEntry {
    name: "volcano",
    summary: "827 volcanic eruptions at 267 places (NOAA), from the data directory",
    parameters: &[],
    manifold,
    is_law: false,
    make: |request| make(request, "volcano", "volerup.csv"),
};

/// Significant earthquakes.
pub const EARTHQUAKE: DatasetEntry = DatasetEntry {
    name: "earthquake",
    summary: "6120 significant earthquakes (NOAA), from the data directory",
    parameters: &[],
    manifold,
    is_law: false,
    make: |request| make(request, "earthquake", "quakes_all.csv"),
};

/// Floods.
pub const FLOOD: DatasetEntry = DatasetEntry {
    name: "flood",
    summary: "4875 large floods (Dartmouth Flood Observatory), from the data directory",
    parameters: &[],
    manifold,
    is_law: false,
    make: |request| make(request, "flood", "flood.csv"),
};

/// Fires.
pub const FIRE: DatasetEntry = DatasetEntry {
    name: "fire",
    summary: "12809 active fires (NASA FIRMS), from the data directory",
    parameters: &[],
    manifold,
    is_law: false,
    make: |request| make(request, "fire", "fire.csv"),
};

fn manifold(_: &Arguments) -> String {
    "sphere:2".into()
}

/// The directory that the variable names; empty counts as unset.
fn directory_in(variable: Option<OsString>) -> Option<PathBuf> {
    variable.filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn make(request: &Request, name: &str, file: &str) -> Result<Table, DataError> {
    let directory = request.directory.map(PathBuf::from).or_else(|| directory_in(env::var_os(VARIABLE)));
    let missing = |looked: String| DataError::MissingData { name: name.into(), file: file.into(), looked };
    let Some(directory) = directory else { return Err(missing("any directory: none was given".into())) };
    let places = [directory.join("earth").join(file), directory.join(file)];
    let Some(path) = places.iter().find(|p| p.is_file()) else {
        let looked = places.iter().filter_map(|p| p.parent()).map(|p| p.display().to_string()).collect::<Vec<_>>();
        return Err(missing(looked.join(" or ")));
    };
    request.choose(name, read(path, &ReadOptions::default())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        assert_eq!(directory_in(None), None);
        assert_eq!(directory_in(Some("".into())), None);
        assert_eq!(directory_in(Some("data".into())), Some(PathBuf::from("data")));
    }
}
