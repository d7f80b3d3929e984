//! A checksum over the pages of the Parquet files that are written here.
//!
//! The format has checksums for pages, which the reader verifies where another program wrote them, but the writer of the `parquet`
//! crate leaves them out. So the footer of our files carries one over everything before it, headers of pages included:
//! its length and its CRC-32, under [`KEY`].

use super::output::Output;
use parquet::{
    errors::ParquetError,
    file::metadata::{FileMetaData, KeyValue},
    file::reader::ChunkReader,
};
use std::io::{self, Read, Write};

/// Name of the checksum among the key-value pairs of the footer.
const KEY: &str = "mad.data_crc32";

/// Bytes read at a time.
const BUFFER: usize = 1 << 16;

/// An output that keeps the checksum of what was written to it.
pub(super) struct Summed {
    output: Output,
    sum: crc32fast::Hasher,
    length: u64,
}

impl Summed {
    pub(super) fn new(output: Output) -> Self {
        Self { output, sum: crc32fast::Hasher::new(), length: 0 }
    }

    /// The entry of the footer for the bytes so far.
    pub(super) fn entry(&self) -> KeyValue {
        KeyValue::new(KEY.into(), format!("{} {:08x}", self.length, self.sum.clone().finalize()))
    }

    pub(super) fn into_output(self) -> Output {
        self.output
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.output.write(bytes)?;
        self.sum.update(&bytes[..count]);
        self.length += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Whether the bytes before the footer are those that were written; files without a checksum pass.
pub(super) fn holds<R: ChunkReader>(source: &R, footer: &FileMetaData) -> Result<bool, ParquetError> {
    let entry = footer.key_value_metadata().and_then(|pairs| pairs.iter().find(|pair| pair.key == KEY));
    let Some(entry) = entry else { return Ok(true) };
    let parsed = entry
        .value
        .as_deref()
        .and_then(|text| text.split_once(' '))
        .and_then(|(length, sum)| Some((length.parse::<u64>().ok()?, u32::from_str_radix(sum, 16).ok()?)));
    let Some((length, expected)) = parsed.filter(|(length, _)| *length <= source.len()) else { return Ok(false) };
    let (mut reader, mut sum) = (source.get_read(0)?.take(length), crc32fast::Hasher::new());
    let mut buffer = vec![0; BUFFER];
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            count => sum.update(&buffer[..count]),
        }
    }
    Ok(sum.finalize() == expected)
}
