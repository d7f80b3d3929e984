//! Bytes of a file as they come: unpacked, counted, and never more than allowed.

use super::{DataError, ReadOptions};
use std::{
    cell::Cell,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    rc::Rc,
};

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

/// A file that unpacks to more than this and to more than [`MOST_RATIO`] times its own size is refused.
pub(super) const FREE_BYTES: u64 = 256 << 20;

/// Largest ratio of unpacked to packed bytes of a large file. Tables of measured numbers stay below 10.
pub(super) const MOST_RATIO: u64 = 250;

/// Largest window of a zstd frame, as a power of two: what `zstd` itself accepts without being asked.
const ZSTD_WINDOW: u32 = 27;

/// Takes bytes done and, where it is known, bytes in all.
pub type Watch<'a> = dyn FnMut(u64, Option<u64>) + 'a;

/// A file opened for reading.
pub(super) struct Input<'a> {
    /// Name for messages.
    pub(super) name: String,
    /// Its bytes, unpacked.
    pub(super) stream: Box<dyn BufRead + 'a>,
    /// The file itself if it can be read in any order: a file on disk that is not packed.
    pub(super) file: Option<File>,
    /// Bytes of the file itself, if known.
    pub(super) total: Option<u64>,
}

impl<'a> Input<'a> {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path, options: &ReadOptions, watch: &'a mut Watch<'a>) -> Result<Self, DataError> {
        if path.as_os_str() == "-" {
            return Self::new("standard input".into(), io::stdin(), None, None, options, watch);
        }
        let failed = |e| DataError::io(path, "open", e);
        let file = File::open(path).map_err(|e| failed(explained(path, e)))?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            let problem = "it is a folder; name a file in it";
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, problem)));
        }
        let total = metadata.is_file().then_some(metadata.len());
        let again = metadata.is_file().then(|| File::open(path)).transpose().map_err(failed)?;
        Self::new(path.display().to_string(), file, again, total, options, watch)
    }

    fn new(
        name: String,
        source: impl Read + 'a,
        file: Option<File>,
        total: Option<u64>,
        options: &ReadOptions,
        watch: &'a mut Watch<'a>,
    ) -> Result<Self, DataError> {
        let packed = Rc::new(Cell::new(0));
        let counted = Counted { source, done: packed.clone(), total, watch };
        let mut bytes = BufReader::with_capacity(BUFFER, counted);
        let start = bytes.fill_buf().map_err(|e| DataError::read(&name, e))?;
        let capped = |inner: Box<dyn Read + 'a>, packed: Option<Rc<Cell<u64>>>| {
            let capped = Capped { inner, name: name.clone(), limit: options.max_bytes, unpacked: 0, packed };
            Box::new(BufReader::with_capacity(BUFFER, capped))
        };
        if start.starts_with(b"\x1f\x8b") {
            let stream = capped(Box::new(flate2::bufread::MultiGzDecoder::new(bytes)), Some(packed));
            return Ok(Self { name, stream, file: None, total });
        }
        if start.starts_with(b"\x28\xb5\x2f\xfd") {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).map_err(|e| unpack(&name, &e))?;
            decoder.window_log_max(ZSTD_WINDOW).map_err(|e| unpack(&name, &e))?;
            let stream = capped(Box::new(decoder), Some(packed));
            return Ok(Self { name, stream, file: None, total });
        }
        let stream = capped(Box::new(bytes), None);
        Ok(Self { name, stream, file, total })
    }

    /// Bytes that are here already.
    pub(super) fn of_bytes(name: &str, bytes: &'a [u8]) -> Self {
        Self { name: name.into(), stream: Box::new(bytes), file: None, total: Some(bytes.len() as u64) }
    }

    /// All bytes at once.
    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).map_err(|e| DataError::read(&self.name, e))?;
        Ok(bytes)
    }
}

/// Names the target of a symbolic link if that is missing, not the link.
fn explained(path: &Path, error: io::Error) -> io::Error {
    match path.read_link() {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => {
            let problem = format!("it is a symbolic link to {}, which does not exist", target.display());
            io::Error::new(io::ErrorKind::NotFound, problem)
        }
        _ => error,
    }
}

/// Counts bytes and calls the watcher.
struct Counted<'a, R> {
    source: R,
    done: Rc<Cell<u64>>,
    total: Option<u64>,
    watch: &'a mut Watch<'a>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.done.set(self.done.get() + count as u64);
        (self.watch)(self.done.get(), self.total);
        Ok(count)
    }
}

/// Ends with an error when more bytes come out than are allowed.
struct Capped<R> {
    inner: R,
    name: String,
    limit: u64,
    unpacked: u64,
    /// Bytes read from a packed file.
    packed: Option<Rc<Cell<u64>>>,
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match (self.inner.read(buffer), &self.packed) {
            // An error of a decoder is a fault of the file, not of the system.
            (Err(e), Some(_)) if e.kind() != io::ErrorKind::Interrupted => {
                return Err(io::Error::other(unpack(&self.name, &e)));
            }
            (result, _) => result?,
        };
        self.unpacked += count as u64;
        if self.unpacked > self.limit {
            return Err(io::Error::other(DataError::TooLarge { file: self.name.clone(), limit: self.limit }));
        }
        if let Some(packed) = &self.packed {
            refuse_bomb(&self.name, packed.get(), self.unpacked).map_err(io::Error::other)?;
        }
        Ok(count)
    }
}

/// Refuses files that unpack to far more than their size.
pub(super) fn refuse_bomb(file: &str, packed: u64, unpacked: u64) -> Result<(), DataError> {
    if unpacked > FREE_BYTES && unpacked > packed.saturating_mul(MOST_RATIO) {
        return Err(DataError::Bomb { file: file.into(), packed, unpacked });
    }
    Ok(())
}

fn unpack(name: &str, error: &io::Error) -> DataError {
    DataError::Unpack { file: name.into(), problem: error.to_string() }
}
