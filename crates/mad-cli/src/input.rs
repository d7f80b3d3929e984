//! Files of points as the command line names them.

use crate::args::{AngleUnit, Common, Header, QuatOrder, Reading, RotationForm};
use crate::error::CliError;
use crate::output;
use crate::progress::Meter;
use clap::ValueEnum;
use mad_core::Points;
use mad_core::catalogue::datasets;
use mad_core::load::{self, Loaded, names_file};
use mad_core::manifold::Manifold;
use mad_core::table::{self, ColumnOptions, Columns, QuaternionOrder, ReadOptions, RowErrors, Table};
use std::ffi::OsStr;
use std::path::Path;

/// Files larger than this are read with progress shown.
const LARGE_FILE: u64 = 32 << 20;

impl Reading {
    /// How to cut the file into cells.
    pub fn read_options(&self) -> Result<ReadOptions, CliError> {
        let delimiter = match self.delimiter.as_deref() {
            None => None,
            Some("tab" | "\\t") => Some(b'\t'),
            Some("space" | " ") => Some(b' '),
            Some(text) if text.len() == 1 => text.bytes().next(),
            Some(text) => {
                return Err(CliError::Usage(format!("--delimiter {text}: give one character, `tab` or `space`")));
            }
        };
        let header = self.header.map(|header| header == Header::Yes);
        Ok(ReadOptions { delimiter, header, array: self.array.clone(), ..ReadOptions::default() })
    }

    /// What the names of the columns leave open.
    pub fn column_options(&self) -> ColumnOptions {
        ColumnOptions {
            columns: self.columns.clone(),
            quat_order: self.quat_order.map(|order| match order {
                QuatOrder::Xyzw => QuaternionOrder::Xyzw,
                QuatOrder::Wxyz => QuaternionOrder::Wxyz,
            }),
            angle_unit: self.angle_unit.map(|unit| match unit {
                AngleUnit::Deg => table::AngleUnit::Deg,
                AngleUnit::Rad => table::AngleUnit::Rad,
            }),
            rotation: self.rotation.map(|form| match form {
                RotationForm::Rotvec => table::RotationForm::Rotvec,
                RotationForm::Euler => table::RotationForm::Euler,
            }),
            euler: self.euler,
            normalize: self.normalize,
            ..ColumnOptions::default()
        }
    }

    /// Reads a table, with progress shown if it is large.
    pub fn read(&self, common: &Common, path: &Path) -> Result<Table, CliError> {
        let options = self.read_options()?;
        let mut meter: Option<Meter> = None;
        let table = table::read_watched(path, &options, &mut |done, total| {
            let Some(total) = total.filter(|total| *total > LARGE_FILE) else { return };
            let label = format!("reading {}, MB", path.display());
            let meter = meter.get_or_insert_with(|| Meter::start(common, &label, 0, total >> 20));
            meter.advance(done >> 20, String::new);
        });
        if let Some(meter) = meter {
            meter.finish();
        }
        Ok(table?)
    }

    /// Finds the points of the manifold called `spec` in a table. Bad rows are left out of the table if the user said so; then
    /// the columns in `condition` must hold numbers as well.
    pub fn points(&self, common: &Common, table: &mut Table, spec: &str, condition: &str) -> Result<Loaded, CliError> {
        let options = self.column_options();
        if !self.skip_bad_rows {
            return Ok(load::load(table, spec, &options)?);
        }
        let (loaded, skipped) = load::load_skipping(table, spec, &options, condition)?;
        tell_skipped(common, table, skipped);
        Ok(loaded)
    }

    /// The points in a table, in the columns of `known` unless options choose others.
    pub fn points_of(
        &self,
        common: &Common,
        table: &mut Table,
        known: &Columns,
        manifold: &dyn Manifold,
    ) -> Result<Points, CliError> {
        let asked = self.column_options();
        let columns = if asked == ColumnOptions::default() { known.clone() } else { known.found_in(table, &asked)? };
        let mut points = match self.skip_bad_rows {
            false => columns.decode_on(table, manifold)?.points,
            true => {
                let (points, skipped) = load::decode_skipping(table, &columns, Some(manifold))?;
                tell_skipped(common, table, skipped);
                points
            }
        };
        points.rows_mut().for_each(|x| manifold.canonicalise(x));
        Ok(points)
    }

    /// Refuses flags where there is no file to read.
    pub fn require_none(&self, why: &str) -> Result<(), CliError> {
        match self.flags().as_str() {
            "" => Ok(()),
            flags => {
                Err(CliError::Usage(format!("{}: a flag on how to read a file, but {why}; leave it out", flags.trim())))
            }
        }
    }

    /// Reads a file and finds the points of the manifold called `spec` in it.
    pub fn load(&self, common: &Common, path: &Path, spec: &str) -> Result<(Table, Loaded), CliError> {
        let mut table = self.read(common, path)?;
        let loaded = self.points(common, &mut table, spec, "")?;
        Ok((table, loaded))
    }

    /// The flags as they were typed, each with a blank before it.
    pub fn flags(&self) -> String {
        let mut words = String::new();
        let mut add = |flag: &str, value: Option<String>| {
            if let Some(value) = value {
                words.push_str(&format!(" --{flag} {}", quoted(&value)));
            }
        };
        let name = |value: Option<clap::builder::PossibleValue>| value.map(|v| v.get_name().to_owned());
        add("columns", self.columns.clone());
        add("angle-unit", self.angle_unit.and_then(|v| name(v.to_possible_value())));
        add("quat-order", self.quat_order.and_then(|v| name(v.to_possible_value())));
        add("rotation", self.rotation.and_then(|v| name(v.to_possible_value())));
        add("euler", self.euler.map(|v| v.to_string()));
        add("delimiter", self.delimiter.clone());
        add("header", self.header.and_then(|v| name(v.to_possible_value())));
        add("array", self.array.clone());
        for (flag, on) in [("skip-bad-rows", self.skip_bad_rows), ("normalize", self.normalize)] {
            words.push_str(&if on { format!(" --{flag}") } else { String::new() });
        }
        words
    }
}

/// Reports which rows were left out of a table.
pub fn tell_skipped(common: &Common, table: &Table, skipped: Option<RowErrors>) {
    let Some(skipped) = skipped else { return };
    let (total, all) = (skipped.total, skipped.total + table.len());
    output::notice(common, format!("{}: skipped {total} of {all} rows: {}", table.source(), skipped.summary()));
    skipped.listed.iter().take(3).for_each(|row| output::notice(common, format!("  {row}")));
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A table from a file, from standard input, or from a named data set; the latter knows its manifold.
pub fn table_of(
    common: &Common,
    reading: &Reading,
    source: &OsStr,
    rows: Option<usize>,
    seed: u64,
) -> Result<(Table, Option<String>), CliError> {
    let (path, shown) = (Path::new(source), source.to_string_lossy());
    if source == "-" || names_file(path) {
        if rows.is_some() {
            return Err(CliError::Usage(format!("--rows is for named data sets; {shown} is a file")));
        }
        return Ok((reading.read(common, path)?, None));
    }
    // Only text names a data set, and what is not text does not look like one.
    let source = source.to_str().unwrap_or("/");
    match datasets::dataset(source) {
        Ok((entry, arguments)) => {
            let table = datasets::make(source, rows, seed, seed, common.data_dir())?;
            Ok((table, Some((entry.manifold)(&arguments))))
        }
        // A folder, a link that leads nowhere, a word with an ending: meant as a file, so that reading it gives the error.
        Err(_) if path.is_symlink() || path.is_dir() || source.contains(['.', '/']) => {
            Ok((reading.read(common, path)?, None))
        }
        Err(unknown) => Err(CliError::Usage(format!("{shown}: no such file, and no data set of this name; {unknown}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_a_shell_where_they_must_be() {
        assert_eq!(quoted("data/ü-1.csv"), "data/ü-1.csv");
        assert_eq!(quoted("product(so3,euclid:3)"), "'product(so3,euclid:3)'");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
        assert_eq!(quoted(""), "''");
    }
}
