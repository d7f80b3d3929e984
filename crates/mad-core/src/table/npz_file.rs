//! Tables in archives of NumPy arrays (`.npz`): one array, by name.

use super::{
    DataError, ReadOptions, Table,
    input::{Input, refuse_bomb},
    npy_file,
};
use crate::archive::{Archive, ArchiveError, Member};
use std::io::{self, Cursor, Read, Seek};

/// First bytes of every zip archive that is not empty.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// Most members of an archive.
const MOST_MEMBERS: usize = 1024;

/// Anything that can be read in any order.
trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// Reads the only array of an archive, or the one that the options name.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<Table, DataError> {
    let source: Box<dyn ReadSeek> = match input.file.take() {
        Some(file) => Box::new(file),
        None => Box::new(Cursor::new(input.bytes()?)),
    };
    let file = &input.name;
    let bad = |e: ArchiveError| match e {
        ArchiveError::Io(e) => DataError::read(file, e),
        other => DataError::damaged(file, "NPZ", other.to_string()),
    };
    let mut archive = Archive::open(source, MOST_MEMBERS).map_err(bad)?;
    let members = archive.members().collect::<Result<Vec<Member>, _>>().map_err(bad)?;
    let arrays: Vec<_> = members.into_iter().filter(|m| m.name.ends_with(".npy")).collect();
    let known = || arrays.iter().map(|m| short(&m.name)).collect::<Vec<_>>().join(", ");
    let choose = |problem| DataError::Array { file: file.clone(), problem, known: known() };
    let chosen = match (&options.array, &arrays[..]) {
        (_, []) => return Err(DataError::damaged(file, "NPZ", "it holds no arrays")),
        (None, [only]) => only,
        (None, several) => return Err(choose(format!("there are {} arrays", several.len()))),
        (Some(name), all) => {
            let found = all.iter().find(|m| short(&m.name) == name || m.name == *name);
            found.ok_or_else(|| choose(format!("there is no array `{name}`")))?
        }
    };
    if chosen.size > options.max_bytes {
        return Err(DataError::TooLarge { file: file.clone(), limit: options.max_bytes });
    }
    refuse_bomb(file, chosen.packed, chosen.size)?;
    let name = format!("{file}: array {}", short(&chosen.name));
    let mut bytes = Unpacking { bytes: archive.read(chosen).map_err(bad)?, name: name.clone() };
    let table = npy_file::table_of(&name, &mut bytes, options.max_bytes)?;
    // The rest is read for its checksum.
    io::copy(&mut bytes, &mut io::sink()).map_err(|e| DataError::read(&name, e))?;
    Ok(table)
}

/// Name of an array as NumPy has it.
fn short(name: &str) -> &str {
    name.strip_suffix(".npy").unwrap_or(name)
}

/// Turns what a decoder reports about its input into a fault of the file.
struct Unpacking<R> {
    bytes: R,
    name: String,
}

impl<R: Read> Read for Unpacking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => e,
            _ => io::Error::other(DataError::damaged(&self.name, "NPZ", e.to_string())),
        })
    }
}
