//! Members of ZIP archives, read without trust: nothing is unpacked under its name, and sizes are known before bytes are read.

use std::io::{self, Read, Seek};
use zip::{CompressionMethod, ZipArchive, result::ZipError};

/// An archive of which the list of members has been read.
#[derive(Debug)]
pub struct Archive<R>(ZipArchive<R>);

/// A member, as the list at the archive's end describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its whole name, which is no path that may be trusted.
    pub name: String,
    /// Bytes when unpacked.
    pub size: u64,
    /// Bytes in the archive.
    pub packed: u64,
    /// Whether it is a file, not a folder or a link.
    pub is_file: bool,
    /// Whether its bytes are not packed.
    pub is_stored: bool,
    /// Its place in the list.
    pub number: usize,
}

/// Why an archive or a member was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The operating system refused.
    #[error(transparent)]
    Io(io::Error),
    /// The archive is damaged, or beyond what is read.
    #[error("{0}")]
    Damaged(String),
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        // What a decoder makes up about its input is a fault of the file.
        if error.raw_os_error().is_some() { Self::Io(error) } else { Self::Damaged(error.to_string()) }
    }
}

impl From<ZipError> for ArchiveError {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => error.into(),
            other => Self::Damaged(other.to_string()),
        }
    }
}

impl<R: Read + Seek> Archive<R> {
    /// Reads the list of members, of which there may be `most`.
    pub fn open(source: R, most: usize) -> Result<Self, ArchiveError> {
        let zip = ZipArchive::new(source)?;
        match zip.len() {
            found if found > most => {
                Err(ArchiveError::Damaged(format!("the archive has {found} members; at most {most} are read")))
            }
            _ => Ok(Self(zip)),
        }
    }

    /// All members.
    pub fn members(&self) -> impl Iterator<Item = Result<Member, ArchiveError>> {
        (0..self.0.len()).map(|number| self.member(number))
    }

    /// The member of this name.
    pub fn named(&self, name: &str) -> Option<Result<Member, ArchiveError>> {
        self.0.index_for_name(name).map(|number| self.member(number))
    }

    /// The member with this place in the list.
    pub fn member(&self, number: usize) -> Result<Member, ArchiveError> {
        let entry = self.0.by_index_data(number)?;
        Ok(Member {
            name: entry.name()?.into_owned(),
            size: entry.size(),
            packed: entry.compressed_size(),
            is_file: !entry.is_dir() && !entry.is_symlink(),
            is_stored: entry.compression() == CompressionMethod::Stored,
            number,
        })
    }

    /// The bytes of a member, no more than it claims to have. The last read compares the checksum.
    pub fn read(&mut self, member: &Member) -> Result<impl Read + use<'_, R>, ArchiveError> {
        let entry = self.0.by_index_data(member.number)?;
        let refuse = |problem: String| Err(ArchiveError::Damaged(problem));
        match entry.compression() {
            _ if entry.encrypted() => refuse("the member is encrypted; save it without a password".into()),
            CompressionMethod::Stored | CompressionMethod::Deflated => {
                Ok(Claimed { bytes: self.0.by_index(member.number)?, left: member.size })
            }
            other => refuse(format!("compression method {} is not known; save it with deflate", method(other))),
        }
    }

    /// The bytes of a stored member in any order.
    pub fn seek(&mut self, member: &Member) -> Result<impl Read + Seek + use<'_, R>, ArchiveError> {
        Ok(self.0.by_index_seek(member.number)?)
    }
}

/// Bytes of a member, as many as are left of what it claims.
struct Claimed<B> {
    bytes: B,
    left: u64,
}

impl<B: Read> Read for Claimed<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| io::Error::other("it unpacks to more bytes than it claims"))?;
        Ok(count)
    }
}

/// The number of a compression method.
#[allow(deprecated, reason = "the only way to the number of a method that the crate does not read")]
fn method(method: CompressionMethod) -> u16 {
    method.to_u16()
}
