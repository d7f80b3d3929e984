//! Files of points as the command line names them.

use crate::args::{AngleUnit, Common, QuatOrder, Reading};
use crate::error::CliError;
use mad_core::data::{self, ColumnOptions, Loaded, QuaternionOrder, ReadOptions, Table};
use std::path::Path;

impl Reading {
    /// How to cut the file into cells.
    pub fn read_options(&self) -> Result<ReadOptions, CliError> {
        let delimiter = match self.delimiter.as_deref() {
            None => None,
            Some("tab" | "\\t") => Some(b'\t'),
            Some(text) if text.len() == 1 => text.bytes().next(),
            Some(text) => return Err(CliError::Usage(format!("--delimiter {text}: give one character, or `tab`"))),
        };
        Ok(ReadOptions { delimiter, ..ReadOptions::default() })
    }

    /// What the names of the columns do not say.
    pub fn column_options(&self) -> ColumnOptions {
        ColumnOptions {
            columns: self.columns.clone(),
            quat_order: self.quat_order.map(|order| match order {
                QuatOrder::Xyzw => QuaternionOrder::Xyzw,
                QuatOrder::Wxyz => QuaternionOrder::Wxyz,
            }),
            angle_unit: self.angle_unit.map(|unit| match unit {
                AngleUnit::Deg => data::AngleUnit::Deg,
                AngleUnit::Rad => data::AngleUnit::Rad,
            }),
            normalize: self.normalize,
            ..ColumnOptions::default()
        }
    }

    /// Reads a file and finds the points of the manifold called `spec` in it.
    pub fn load(&self, path: &Path, spec: &str) -> Result<(Table, Loaded), CliError> {
        let table = data::read(path, &self.read_options()?)?;
        let loaded = data::load(&table, spec, &self.column_options())?;
        Ok((table, loaded))
    }
}

/// A table from a file, from standard input, or from a named data set; the latter knows its manifold.
pub fn table(
    common: &Common,
    reading: &Reading,
    source: &str,
    rows: Option<usize>,
    seed: u64,
) -> Result<(Table, Option<String>), CliError> {
    if source == "-" || Path::new(source).exists() {
        if rows.is_some() {
            return Err(CliError::Usage(format!("--rows is for named data sets; {source} is a file")));
        }
        return Ok((data::read(Path::new(source), &reading.read_options()?)?, None));
    }
    match data::generators::dataset(source) {
        Ok((entry, arguments)) => {
            let table = data::generators::make(source, rows, seed, seed, common.data_dir())?;
            Ok((table, Some((entry.manifold)(&arguments))))
        }
        // A word with an ending or a folder was meant as a file; say that it is not there.
        Err(_) if source.contains(['.', '/']) => Ok((data::read(Path::new(source), &reading.read_options()?)?, None)),
        Err(unknown) => {
            Err(CliError::Usage(format!("{source}: no such file, and no data set of this name; {unknown}")))
        }
    }
}
