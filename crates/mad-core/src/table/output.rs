//! Output that appears whole or not at all.

use super::{Cell, DataError};
use crate::files::Sibling;
use std::{
    fs::{self, File},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Takes rows block by block; [`RowWriter::finish`] makes the file appear under its name.
pub trait RowWriter {
    /// Appends rows.
    fn write(&mut self, rows: &[Vec<Cell>]) -> Result<(), DataError>;

    /// Ends the file. Without this call nothing appears under the final name.
    fn finish(self: Box<Self>) -> Result<(), DataError>;
}

/// A place for bytes: a file that is written beside its final name and renamed at the end, or standard output (`-`).
///
/// [`Output::commit`] flushes, syncs the data to disk, renames, and syncs the directory. An output that is dropped without
/// it leaves nothing behind.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Standard output.
    Standard(BufWriter<io::Stdout>),
    /// A pipe or device, written in place.
    Direct(BufWriter<File>),
    /// A file under a temporary name.
    Sibling(Sibling),
}

impl Output {
    /// Opens `path` for writing; `-` is standard output.
    pub fn create(path: &Path) -> Result<Self, DataError> {
        let failed = |e| DataError::io(path, "create", e);
        let kind = if path.as_os_str() == "-" {
            Kind::Standard(BufWriter::new(io::stdout()))
        } else if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            Kind::Direct(BufWriter::new(File::options().write(true).open(path).map_err(failed)?))
        } else {
            // A link keeps pointing to the file that is written.
            let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
            if target.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            Kind::Sibling(Sibling::create(&target).map_err(failed)?)
        };
        Ok(Self { path: path.to_path_buf(), kind })
    }

    /// Whether [`Output::rewrite_start`] works.
    pub(super) fn is_seekable(&self) -> bool {
        matches!(self.kind, Kind::Sibling(_))
    }

    /// Replaces the first bytes of the file.
    pub(super) fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.kind {
            Kind::Sibling(Sibling { file, .. }) => {
                file.seek(SeekFrom::Start(0))?;
                file.write_all(bytes)?;
                file.seek(SeekFrom::End(0)).map(drop)
            }
            _ => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Makes the written bytes appear under the final name.
    pub fn commit(self) -> Result<(), DataError> {
        let committed = match self.kind {
            Kind::Standard(mut out) => out.flush().map_err(|e| ("write", e)),
            Kind::Direct(mut out) => out.flush().map_err(|e| ("write", e)),
            Kind::Sibling(sibling) => sibling.commit(true),
        };
        committed.map_err(|(action, e)| DataError::io(self.path, action, e))
    }

    /// A write error of this output.
    pub(super) fn failed(&self, source: io::Error) -> DataError {
        DataError::io(&self.path, "write", source)
    }

    /// Name for messages.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Standard(out) => out.write(bytes),
            Kind::Direct(file) | Kind::Sibling(Sibling { file, .. }) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Standard(out) => out.flush(),
            Kind::Direct(file) | Kind::Sibling(Sibling { file, .. }) => file.flush(),
        }
    }
}
