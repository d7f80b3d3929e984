//! Files read without trust, as regular files of at most a limit, and files that are written whole or not at all.

use std::{
    fs::{self, File, FileType},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum ReadError {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A folder, a device or a pipe, possibly behind a symbolic link.
    #[error("{kind} instead of a regular file")]
    NotRegular { kind: &'static str },
    /// More bytes than allowed.
    #[error("larger than the limit of {limit} bytes")]
    TooLarge { limit: u64 },
}

impl ReadError {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io(source) if source.kind() == io::ErrorKind::NotFound)
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(source) => source,
            other => io::Error::other(other),
        }
    }
}

/// All bytes of a regular file of at most `limit` bytes.
///
/// The limit is enforced on the bytes that arrive, not on the size that the file claims to have.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    bounded(open_regular(path)?, limit)
}

/// As [`read_regular`], but pipes and devices are read as well, up to the limit.
pub fn read_any(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path)?;
    match file.metadata()?.is_dir() {
        true => Err(ReadError::NotRegular { kind: "a folder" }),
        false => bounded(file, limit),
    }
}

/// Opens a regular file.
pub(crate) fn open_regular(path: &Path) -> Result<File, ReadError> {
    // Asked first because opening a pipe waits for a writer, and again because the name may stand for another file by then.
    require_regular(fs::metadata(path)?.file_type())?;
    let file = File::open(path)?;
    require_regular(file.metadata()?.file_type())?;
    Ok(file)
}

fn require_regular(kind: FileType) -> Result<(), ReadError> {
    match kind {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(ReadError::NotRegular { kind: "a folder" }),
        _ => Err(ReadError::NotRegular { kind: "a pipe or device" }),
    }
}

fn bounded(file: File, limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ReadError::TooLarge { limit }) } else { Ok(bytes) }
}

/// A file beside its target, whose name it takes when it is complete. Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Sibling {
    /// The file, whose name is temporary.
    pub(crate) file: BufWriter<File>,
    temporary: Option<PathBuf>,
    target: PathBuf,
}

impl Sibling {
    /// A new file beside `target` under a name nobody else has.
    pub(crate) fn create(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy().into_owned();
        for attempt in 0..1000 {
            let sibling = target.with_file_name(format!(".{name}.{}-{attempt}.tmp", std::process::id()));
            match File::create_new(&sibling) {
                Ok(file) => {
                    let (file, temporary, target) = (BufWriter::new(file), Some(sibling), target.to_path_buf());
                    return Ok(Self { file, temporary, target });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the complete file the name of its target; with `sync` when all of it is on the disk. A failure comes with what was
    /// tried.
    pub(crate) fn commit(mut self, sync: bool) -> Result<(), (&'static str, io::Error)> {
        let on_disk = |file: &File| if sync { file.sync_all() } else { Ok(()) };
        self.file.flush().and_then(|()| on_disk(self.file.get_ref())).map_err(|e| ("write", e))?;
        if let Some(from) = &self.temporary {
            fs::rename(from, &self.target).map_err(|e| ("rename", e))?;
            self.temporary = None;
        }
        let directory = self.target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let synced = if sync { File::open(directory).and_then(|d| d.sync_all()) } else { Ok(()) };
        synced.map_err(|e| ("sync the directory of", e))
    }
}

impl Drop for Sibling {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing more can be done about a leftover that cannot be removed.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"12345").unwrap();
        assert_eq!(read_regular(&file, 5).unwrap(), b"12345");
        assert!(matches!(read_regular(&file, 4), Err(ReadError::TooLarge { limit: 4 })));
        assert!(matches!(read_regular(folder.path(), 5), Err(ReadError::NotRegular { kind: "a folder" })));
        assert!(matches!(read_any(folder.path(), 5), Err(ReadError::NotRegular { .. })));
        assert!(read_regular(&folder.path().join("missing"), 5).unwrap_err().is_missing());
    }

    /// A device claims to have no bytes at all and delivers them without end.
    #[cfg(target_os = "linux")]
    #[test]
    fn links_to_devices_do_not_evade_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(matches!(read_regular(&link, 100), Err(ReadError::NotRegular { .. })));
        assert!(matches!(read_any(&link, 100), Err(ReadError::TooLarge { limit: 100 })));
    }
}
