//! The members of a zip archive, read by name. Nothing is ever unpacked to disk, so names cannot lead anywhere.

use std::io::{self, Read, Seek, SeekFrom};

/// Most members of an archive.
const MOST_MEMBERS: u64 = 1024;

/// Largest list of members, in bytes.
const LARGEST_LIST: u64 = 1 << 20;

/// Longest end of an archive: its fixed part and a comment.
const LONGEST_END: u64 = 22 + 65_535;

/// An archive of which only the list of members has been read.
pub(super) struct Archive<R> {
    source: R,
    pub(super) members: Vec<Member>,
}

/// One file in an archive, as the list at the archive's end describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    /// Bytes in the archive.
    pub(super) packed: u64,
    /// Bytes when unpacked.
    pub(super) size: u64,
    method: u16,
    encrypted: bool,
    checksum: u32,
    start: u64,
}

/// Little-endian numbers in a block of bytes.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| bad("the archive is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> io::Result<u64> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |all, b| all << 8 | u64::from(*b)))
    }
}

fn bad(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

impl<R: Read + Seek> Archive<R> {
    /// Reads the list of members.
    pub(super) fn open(mut source: R) -> io::Result<Self> {
        let length = source.seek(SeekFrom::End(0))?;
        let tail = length.min(LONGEST_END);
        let end = block(&mut source, length - tail, tail)?;
        let at = (0..end.len().saturating_sub(21)).rev().find(|&i| end[i..].starts_with(b"PK\x05\x06"));
        let at = at.ok_or_else(|| bad("the list of members at its end is missing"))?;
        let mut fields = Fields(&end[at + 10..]);
        let (mut count, mut size, mut start) = (fields.number(2)?, fields.number(4)?, fields.number(4)?);
        if count == 0xffff || start == 0xffff_ffff || size == 0xffff_ffff {
            let place = length - tail + at as u64;
            let locator = place.checked_sub(20).map(|p| block(&mut source, p, 20)).transpose()?;
            if let Some(locator) = locator.filter(|l| l.starts_with(b"PK\x06\x07")) {
                let record = block(&mut source, Fields(&locator[8..]).number(8)?, 56)?;
                if !record.starts_with(b"PK\x06\x06") {
                    return Err(bad("the list of members at its end is damaged"));
                }
                let mut fields = Fields(&record[32..]);
                (count, size, start) = (fields.number(8)?, fields.number(8)?, fields.number(8)?);
            }
        }
        if count > MOST_MEMBERS || size > LARGEST_LIST {
            return Err(bad(&format!("{count} members; at most {MOST_MEMBERS} are read")));
        }
        let list = block(&mut source, start, size)?;
        let mut fields = Fields(&list);
        let members = (0..count).map(|_| Member::read(&mut fields)).collect::<io::Result<_>>()?;
        Ok(Self { source, members })
    }

    /// The unpacked bytes of a member. The last read compares the checksum.
    pub(super) fn read<'a>(&'a mut self, member: &Member) -> io::Result<impl Read + use<'a, R>> {
        if member.encrypted {
            return Err(bad("the member is encrypted; save it without a password"));
        }
        let header = block(&mut self.source, member.start, 30)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(bad("a member does not stand where the list says"));
        }
        let mut lengths = Fields(&header[26..]);
        let skip = 30 + lengths.number(2)? + lengths.number(2)?;
        let start = member.start.checked_add(skip).ok_or_else(|| bad("the archive is damaged"))?;
        self.source.seek(SeekFrom::Start(start))?;
        let packed = (&mut self.source).take(member.packed);
        let bytes: Box<dyn Read + 'a> = match member.method {
            0 => Box::new(packed),
            8 => Box::new(flate2::read::DeflateDecoder::new(packed)),
            method => return Err(bad(&format!("compression method {method} is not known; save it with deflate"))),
        };
        Ok(Checked {
            bytes: bytes.take(member.size),
            checksum: member.checksum,
            size: member.size,
            crc: flate2::Crc::new(),
        })
    }
}

impl Member {
    fn read(list: &mut Fields) -> io::Result<Self> {
        if list.take(4)? != b"PK\x01\x02" {
            return Err(bad("the list of members is damaged"));
        }
        list.take(4)?;
        let (flags, method) = (list.number(2)?, list.number(2)? as u16);
        list.take(4)?;
        let (checksum, mut packed, mut size) = (list.number(4)? as u32, list.number(4)?, list.number(4)?);
        let (name, extra, comment) = (list.number(2)?, list.number(2)?, list.number(2)?);
        list.take(8)?;
        let mut start = list.number(4)?;
        let name = String::from_utf8_lossy(list.take(name as usize)?).into_owned();
        let mut extra = Fields(list.take(extra as usize)?);
        list.take(comment as usize)?;
        // Large archives keep long numbers in a field of their own.
        while extra.0.len() >= 4 {
            let (kind, length) = (extra.number(2)?, extra.number(2)?);
            let mut content = Fields(extra.take(length as usize)?);
            if kind == 1 {
                for value in [&mut size, &mut packed, &mut start] {
                    if *value == 0xffff_ffff {
                        *value = content.number(8)?;
                    }
                }
            }
        }
        Ok(Self { name, packed, size, method, encrypted: flags & 1 == 1, checksum, start })
    }
}

/// Reads `length` bytes from `start` on.
fn block(source: &mut (impl Read + Seek), start: u64, length: u64) -> io::Result<Vec<u8>> {
    source.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    source.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(bad("the archive is cut off")) }
}

/// Compares a checksum at the end.
struct Checked<R> {
    bytes: R,
    checksum: u32,
    size: u64,
    crc: flate2::Crc,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.crc.update(&buffer[..count]);
        let amount = u64::from(self.crc.amount());
        if count == 0 && !buffer.is_empty() && (self.crc.sum() != self.checksum || amount != self.size & 0xffff_ffff) {
            return Err(bad("the checksum is wrong; the file is damaged"));
        }
        Ok(count)
    }
}
