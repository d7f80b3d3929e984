//! Files for tests of reading and writing.
#![allow(dead_code, reason = "each test file uses its own part")]

use mad_core::{
    Points,
    load::{LoadError, Loaded, load},
    table::{ColumnOptions, DataError, ReadOptions, Table, read},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file of `tests/files`, which `tests/files/make.py` made.
pub fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

/// The folder with the earth and torus files, for tests that are ignored unless they are asked for.
pub fn data_dir() -> PathBuf {
    let named = std::env::var_os("MAD_DATA").filter(|name| !name.is_empty());
    named.expect("MAD_DATA names the folder with earth/ and torus/").into()
}

pub fn read_made(name: &str) -> Result<Table, DataError> {
    read(&made(name), &ReadOptions::default())
}

/// A folder of files for one test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str, content: impl AsRef<[u8]>) -> Result<Table, DataError> {
        read(&self.write(name, content), &ReadOptions::default())
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        fs::read_dir(self.0.path()).unwrap().count()
    }

    /// The refusal of a file, which must name the file and all of `parts`.
    pub fn refusal(&self, name: &str, content: impl AsRef<[u8]>, parts: &[&str]) -> DataError {
        let error = self.read(name, content).expect_err(name);
        contains(&error.to_string(), &[&[name], parts].concat());
        error
    }
}

pub fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

/// Numbers of these columns, row by row.
pub fn cells(table: &Table, columns: &[usize]) -> Vec<Vec<f64>> {
    (0..table.len()).map(|r| columns.iter().map(|&c| table.number(r, c).unwrap()).collect()).collect()
}

pub fn on(table: &Table, spec: &str, options: &ColumnOptions) -> Loaded {
    load(table, spec, options).unwrap_or_else(|e| panic!("{e}"))
}

pub fn refused(table: &Table, spec: &str, options: &ColumnOptions, parts: &[&str]) -> DataError {
    match load(table, spec, options) {
        Err(LoadError::Data(error)) => {
            contains(&error.to_string(), parts);
            error
        }
        other => panic!("{other:?}"),
    }
}

/// An NPY file with this header text and body.
pub fn npy(descr: &str, fortran: &str, shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(body);
    bytes
}

/// Largest difference of the rotations in `points` from those of `scipy.csv`.
pub fn off_scipy(points: &Points) -> f64 {
    let reference = on(&read_made("scipy.csv").unwrap(), "so3", &ColumnOptions::default()).points;
    assert_eq!(points.len(), reference.len());
    points.as_slice().iter().zip(reference.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
