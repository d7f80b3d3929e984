//! Where the rows of a run came from, as it was typed: kept in the run folder from which a report repeats it.

use crate::error::CliError;
use crate::input::quoted;
use crate::output;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file in the run folder.
const FILE: &str = "source.json";

/// Largest such file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The solid of whose pictures data are, if they are named like `symsol:cube`.
pub fn solid_of(data: &str) -> Option<&str> {
    data.strip_prefix("symsol:")
}

/// The words of `mad fit` that are not settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// File or named data set; `-` for standard input.
    pub data: String,
    /// The set, if it was given.
    pub manifold: Option<String>,
    /// Number of rows of a named data set.
    pub rows: Option<usize>,
    /// Flags on how to read the file, each with a blank before it.
    pub flags: String,
    /// The whole command that began the run; runs of version 0.1 have none.
    #[serde(default)]
    pub command: Option<String>,
}

impl Source {
    /// These words, and the command line of this program.
    pub fn new(data: String, manifold: Option<String>, rows: Option<usize>, flags: String) -> Self {
        let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
        let command = std::iter::once("mad".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
        Self { data, manifold, rows, flags, command: Some(command) }
    }

    /// Writes the words into the folder of the run; those of its first command stay.
    pub fn keep(&self, run: &Path) -> Result<(), CliError> {
        let path = run.join(FILE);
        if path.exists() {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(self).map_err(|e| CliError::io(&path, e.into()))? + "\n";
        Ok(output::write_whole(&path, text.as_bytes())?)
    }

    /// What is kept in the folder of a run; `None` if nothing there can be read.
    pub fn of(run: &Path) -> Option<Self> {
        let text = mad_core::files::read_regular(&run.join(FILE), MAX_BYTES).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The data without folders: `quakes.csv`, or the name of the data set.
    pub fn name(&self) -> String {
        match Path::new(&self.data).file_name() {
            _ if self.data == "-" => "standard input".into(),
            Some(name) => name.to_string_lossy().into_owned(),
            None => self.data.clone(),
        }
    }

    /// The words of `mad fit` up to the settings.
    pub fn words(&self) -> String {
        let mut words = quoted(&self.data);
        if let Some(spec) = &self.manifold {
            words += &format!(" --manifold {}", quoted(spec));
        }
        if let Some(rows) = self.rows {
            words += &format!(" --rows {rows}");
        }
        words + &self.flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_once_and_quoted() {
        let folder = tempfile::TempDir::new().expect("a temporary folder");
        let source = Source {
            data: "my data.csv".into(),
            manifold: Some("product(so3,euclid:3)".into()),
            rows: Some(7),
            flags: " --normalize".into(),
            command: Some("mad fit".into()),
        };
        assert_eq!(Source::of(folder.path()), None);
        source.keep(folder.path()).expect("written");
        Source { data: "other".into(), ..source.clone() }.keep(folder.path()).expect("nothing to do");
        assert_eq!(Source::of(folder.path()), Some(source.clone()));
        assert_eq!(source.words(), "'my data.csv' --manifold 'product(so3,euclid:3)' --rows 7 --normalize");
        std::fs::write(folder.path().join(FILE), "{").expect("written");
        assert_eq!(Source::of(folder.path()), None);
    }
}
