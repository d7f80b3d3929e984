//! Tables in archives of NumPy arrays (`.npz`): one array, by name.

use super::{
    DataError, ReadOptions, Table,
    input::{Input, refuse_bomb},
    npy_file,
    zip::Archive,
};
use std::io::{Cursor, Read, Seek};

/// First bytes of every zip archive that is not empty.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

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
    let bad = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::InvalidData => DataError::Npz { file: file.clone(), problem: e.to_string() },
        _ => DataError::read(file, e),
    };
    let mut archive = Archive::open(source).map_err(bad)?;
    let arrays: Vec<_> = archive.members.iter().filter(|m| m.name.ends_with(".npy")).cloned().collect();
    let known = || arrays.iter().map(|m| short(&m.name)).collect::<Vec<_>>().join(", ");
    let choose = |problem| DataError::Array { file: file.clone(), problem, known: known() };
    let chosen = match (&options.array, &arrays[..]) {
        (_, []) => return Err(DataError::Npz { file: file.clone(), problem: "it holds no arrays".into() }),
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
    std::io::copy(&mut bytes, &mut std::io::sink()).map_err(|e| DataError::read(&name, e))?;
    Ok(table)
}

/// Name of an array as NumPy says it.
fn short(name: &str) -> &str {
    name.strip_suffix(".npy").unwrap_or(name)
}

/// Turns what a decoder says about its input into a fault of the file.
struct Unpacking<R> {
    bytes: R,
    name: String,
}

impl<R: Read> Read for Unpacking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.bytes.read(buffer).map_err(|e| match e.kind() {
            std::io::ErrorKind::Interrupted => e,
            _ => std::io::Error::other(DataError::Npz { file: self.name.clone(), problem: e.to_string() }),
        })
    }
}
