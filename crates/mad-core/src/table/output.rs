//! Output that appears whole or not at all.

use super::{Cell, DataError};
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
    /// A file under a temporary name; `None` once committed.
    Sibling { file: BufWriter<File>, temporary: Option<PathBuf>, target: PathBuf },
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
            let (temporary, file) = open_sibling(&target).map_err(failed)?;
            Kind::Sibling { file: BufWriter::new(file), temporary: Some(temporary), target }
        };
        Ok(Self { path: path.to_path_buf(), kind })
    }

    /// Whether [`Output::rewrite_start`] works.
    pub(super) fn is_seekable(&self) -> bool {
        matches!(self.kind, Kind::Sibling { .. })
    }

    /// Replaces the first bytes of the file.
    pub(super) fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.kind {
            Kind::Sibling { file, .. } => {
                file.seek(SeekFrom::Start(0))?;
                file.write_all(bytes)?;
                file.seek(SeekFrom::End(0)).map(drop)
            }
            _ => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Makes the written bytes appear under the final name.
    pub fn commit(mut self) -> Result<(), DataError> {
        let path = self.path.clone();
        let failed = |action| move |e| DataError::io(path, action, e);
        match &mut self.kind {
            Kind::Standard(out) => out.flush().map_err(failed("write")),
            Kind::Direct(out) => out.flush().map_err(failed("write")),
            Kind::Sibling { file, temporary, target } => {
                file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed.clone()("write"))?;
                if let Some(from) = temporary.as_ref() {
                    fs::rename(from, &*target).map_err(failed.clone()("rename"))?;
                    *temporary = None;
                }
                let directory = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                File::open(directory).and_then(|d| d.sync_all()).map_err(failed("sync the directory of"))
            }
        }
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
            Kind::Direct(file) | Kind::Sibling { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Standard(out) => out.flush(),
            Kind::Direct(file) | Kind::Sibling { file, .. } => file.flush(),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Kind::Sibling { temporary: Some(temporary), .. } = &self.kind {
            // Nothing more can be done about a leftover that cannot be removed.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A new file beside `target` under a name nobody else has.
fn open_sibling(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy().into_owned();
    for attempt in 0..1000 {
        let sibling = target.with_file_name(format!(".{name}.{}-{attempt}.tmp", std::process::id()));
        match File::create_new(&sibling) {
            Ok(file) => return Ok((sibling, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
