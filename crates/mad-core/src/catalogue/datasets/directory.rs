//! Files of the data directory.

use super::Request;
use crate::table::DataError;
use std::{env, ffi::OsString, path::PathBuf};

/// Environment variable that names the data directory.
const VARIABLE: &str = "MAD_DATA";

impl Request<'_> {
    /// Path of a data set's file, which lies in `folder` of the data directory or in the directory itself.
    pub(super) fn file(&self, name: &str, folder: &str, file: &str) -> Result<PathBuf, DataError> {
        let directory = self.directory.map(PathBuf::from).or_else(|| directory_in(env::var_os(VARIABLE)));
        let missing = |looked: String| DataError::MissingData { name: name.into(), file: file.into(), looked };
        let Some(directory) = directory else { return Err(missing("any directory: none was given".into())) };
        let places = [directory.join(folder).join(file), directory.join(file)];
        let looked = || places.iter().filter_map(|p| p.parent()).map(|p| p.display().to_string()).collect::<Vec<_>>();
        places.iter().find(|p| p.is_file()).cloned().ok_or_else(|| missing(looked().join(" or ")))
    }
}

/// The directory that the variable names; empty counts as unset.
fn directory_in(variable: Option<OsString>) -> Option<PathBuf> {
    variable.filter(|value| !value.is_empty()).map(PathBuf::from)
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
