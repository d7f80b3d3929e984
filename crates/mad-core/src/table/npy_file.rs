//! Tables as NumPy arrays (`.npy`), read without trust: sizes are checked before memory is taken, objects are refused.

use super::{
    Cell, DataError, ReadOptions, RowWriter, Table,
    columns::{pose_names, rotation_names},
    input::Input,
    output::Output,
    value::parse_number,
};
use crate::Points;
use std::io::{Read, Write};

/// First bytes of every NPY file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Longest header that is read.
const MAX_HEADER: usize = 1 << 16;

/// Length of the header of a written file, so that the number of rows can be filled in at the end.
const WRITTEN_HEADER: usize = 128;

/// Numbers read at a time.
const BLOCK: usize = 1 << 13;

/// Reads an array of shape (N) or (N, d), of rotations (N, 3, 3) as row-major columns `r00 … r22`, or of poses (N, 3, 4) or
/// (N, 4, 4) as the same columns with `tx`, `ty`, `tz` and the last row among them.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<Table, DataError> {
    table_of(&input.name, &mut input.stream, options.max_bytes)
}

/// The table in the bytes of an NPY file, with at most `limit` bytes of numbers.
pub(super) fn table_of(source: &str, bytes: &mut dyn Read, limit: u64) -> Result<Table, DataError> {
    let (shape, data) = array(source, bytes, limit)?;
    let (columns, names) = match shape[..] {
        [_] => (1, None),
        [_, d] => (d, None),
        [_, 3, 3] => (9, Some(rotation_names())),
        [_, rows @ (3 | 4), 4] => (4 * rows, Some(pose_names(rows))),
        _ => {
            let problem = format!(
                "shape {shape:?}; wanted (rows, columns), (rows, 3, 3) for rotations, or (rows, 4, 4) or (rows, 3, 4) for poses"
            );
            return Err(DataError::damaged(source, "NPY", problem));
        }
    };
    if data.is_empty() {
        return Err(DataError::Empty { file: source.into() });
    }
    let mut table = Table::numbers(source, None, columns, data);
    (table.unit, table.header) = ("row", names);
    Ok(table)
}

/// Points as the bytes of an NPY file.
pub fn points_to_npy(points: &Points) -> Vec<u8> {
    let header = header_bytes("<f8", points.len(), &points.dim().to_string());
    let mut bytes = Vec::with_capacity(header.len() + 8 * points.as_slice().len());
    bytes.extend(header);
    points.as_slice().iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

/// Rows of `columns` numbers of single precision as the bytes of an NPY file.
pub fn singles_to_npy(numbers: &[f32], columns: usize) -> Vec<u8> {
    let mut bytes = header_bytes("<f4", numbers.len() / columns.max(1), &columns.to_string());
    bytes.reserve(4 * numbers.len());
    numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

/// Points from the bytes of an NPY file with two axes; there may be no rows.
pub fn points_from_npy(source: &str, bytes: &[u8]) -> Result<Points, DataError> {
    let (shape, data) = array(source, &mut &*bytes, u64::MAX)?;
    match shape[..] {
        [_, d] if d > 0 => Ok(Points::from_vec(data, d)),
        _ => Err(DataError::damaged(source, "NPY", format!("shape {shape:?}; wanted (rows, columns)"))),
    }
}

/// Shape and row-major numbers of an array.
fn array(source: &str, bytes: &mut dyn Read, limit: u64) -> Result<(Vec<usize>, Vec<f64>), DataError> {
    let bad = |problem: String| DataError::damaged(source, "NPY", problem);
    let header = Header::read(source, bytes)?;
    if header.descr.contains('O') {
        return Err(DataError::Pickle { file: source.into() });
    }
    let decode = Decode::parse(&header.descr)
        .ok_or_else(|| bad(format!("dtype {}; save as float64, e.g. np.save(f, a.astype(float))", header.descr)))?;
    let count = header.shape.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
    let count = count.filter(|c| c.checked_mul(8).is_some());
    let count = count.ok_or_else(|| bad(format!("shape {:?} is too large", header.shape)))?;
    // A header may claim anything: memory is taken as numbers arrive.
    let mut data = Vec::with_capacity(count.min(BLOCK));
    let mut block = vec![0; BLOCK * decode.size];
    while data.len() < count {
        let wanted = (count - data.len()).min(BLOCK) * decode.size;
        let found = fill(source, bytes, &mut block[..wanted])?;
        if found < wanted {
            let found = data.len() * decode.size + found;
            return Err(bad(format!("truncated: {found} bytes of data, {} expected", count * decode.size)));
        }
        if (data.len() * 8) as u64 > limit {
            return Err(DataError::TooLarge { file: source.into(), limit });
        }
        data.extend(block[..wanted].chunks_exact(decode.size).map(|c| decode.number(c)));
    }
    let data = if header.fortran { row_major(&data, &header.shape) } else { data };
    Ok((header.shape, data))
}

/// Reads until `block` is full or the bytes end, and returns the number of bytes read.
fn fill(source: &str, bytes: &mut dyn Read, block: &mut [u8]) -> Result<usize, DataError> {
    let mut found = 0;
    while found < block.len() {
        match bytes.read(&mut block[found..]) {
            Ok(0) => break,
            Ok(count) => found += count,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(DataError::read(source, e)),
        }
    }
    Ok(found)
}

/// The header of an array.
pub(crate) struct Header {
    /// Kind and size of the numbers, such as `<f4`.
    pub(crate) descr: String,
    /// Whether the first index runs fastest.
    pub(crate) fortran: bool,
    /// Length of each axis.
    pub(crate) shape: Vec<usize>,
}

impl Header {
    /// Reads the start of a file up to its numbers.
    pub(crate) fn read(source: &str, bytes: &mut dyn Read) -> Result<Self, DataError> {
        let bad = |problem: &str| DataError::damaged(source, "NPY", problem);
        let mut exactly = |length: usize, part: &str| {
            let mut block = vec![0; length];
            match fill(source, bytes, &mut block)? == length {
                true => Ok(block),
                false => Err(bad(&format!("truncated {part} the header"))),
            }
        };
        let start = exactly(8, "before")?;
        if !start.starts_with(MAGIC) {
            return Err(bad("it does not start like an NPY file"));
        }
        let length = match start[6] {
            1 => exactly(2, "in")?.iter().rev().fold(0, |all, b| 256 * all + usize::from(*b)),
            2 | 3 => exactly(4, "in")?.iter().rev().fold(0, |all, b| 256 * all + usize::from(*b)),
            v => return Err(bad(&format!("version {v} is not known"))),
        };
        if length > MAX_HEADER {
            return Err(bad(&format!("the header claims {length} bytes")));
        }
        let text = exactly(length, "in")?;
        let text = std::str::from_utf8(&text).map_err(|_| bad("the header is not text"))?;
        Self::parse(text).map_err(|problem| bad(&problem))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value = |key: &str| {
            let at = text.find(&format!("'{key}'")).ok_or(format!("the header has no `{key}`"))?;
            let rest = text[at..].split_once(':').ok_or(format!("the header has no `{key}`"))?.1;
            Ok::<_, String>(rest.trim_start())
        };
        let descr = value("descr")?;
        let descr = match descr.strip_prefix('\'').and_then(|d| d.split_once('\'')) {
            Some((d, _)) => d.to_string(),
            None => return Err("structured arrays are not read; save one plain array of numbers".into()),
        };
        let fortran = value("fortran_order")?.starts_with("True");
        let shape = value("shape")?;
        let inner = shape.strip_prefix('(').and_then(|s| s.split_once(')')).ok_or("the header has no shape")?.0;
        let shape = inner
            .split(',')
            .map(str::trim)
            .filter(|s| !s.is_empty())
            .map(|s| s.parse().map_err(|_| format!("the shape has `{s}`")))
            .collect::<Result<_, _>>()?;
        Ok(Self { descr, fortran, shape })
    }
}

/// How the bytes of one number are read.
pub(crate) struct Decode {
    /// Bytes of one number.
    pub(crate) size: usize,
    big: bool,
    kind: u8,
}

impl Decode {
    /// Reads a description such as `<f4`.
    pub(crate) fn parse(descr: &str) -> Option<Self> {
        let (order, kind, size) = match descr.as_bytes() {
            [o @ (b'<' | b'>' | b'|' | b'='), k, s] => (*o, *k, *s),
            [k, s] => (b'<', *k, *s),
            _ => return None,
        };
        let known = matches!(
            (kind, size),
            (b'f', b'2' | b'4' | b'8') | (b'i' | b'u', b'1' | b'2' | b'4' | b'8') | (b'b', b'1')
        );
        known.then(|| Self { size: (size - b'0') as usize, big: order == b'>', kind })
    }

    /// The number in `bytes`, which are `size` long.
    pub(crate) fn number(&self, bytes: &[u8]) -> f64 {
        let mut little = [0u8; 8];
        for (i, b) in bytes.iter().enumerate() {
            little[if self.big { self.size - 1 - i } else { i }] = *b;
        }
        let bits = u64::from_le_bytes(little);
        let unused = 64 - 8 * self.size as u32;
        match (self.kind, self.size) {
            (b'f', 8) => f64::from_bits(bits),
            (b'f', 4) => f64::from(f32::from_bits(bits as u32)),
            (b'f', _) => half(bits as u16),
            (b'i', _) => (((bits << unused) as i64) >> unused) as f64,
            _ => bits as f64,
        }
    }
}

/// A number of half precision: sign, five bits of exponent, ten bits of fraction.
pub(super) fn half(bits: u16) -> f64 {
    let (exponent, fraction) = ((bits >> 10) & 31, f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * (-14f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction) * (f64::from(e) - 15.0).exp2(),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Puts column-major data in row-major order.
fn row_major(data: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut out = vec![0.0; data.len()];
    for (from, value) in data.iter().enumerate() {
        let (mut rest, mut to, mut stride) = (from, 0, data.len());
        for extent in shape {
            stride /= extent;
            to += (rest % extent) * stride;
            rest /= extent;
        }
        out[to] = *value;
    }
    out
}

/// Writes rows as an (N, d) array of little-endian f64, or as an array of matrices.
pub(super) struct NpyWriter {
    output: Output,
    header: Vec<String>,
    rows: usize,
    /// The numbers, where the header cannot be filled in afterwards.
    held: Vec<u8>,
}

impl NpyWriter {
    pub(super) fn create(output: Output, header: &[String]) -> Result<Box<dyn RowWriter>, DataError> {
        let mut writer = Self { output, header: header.to_vec(), rows: 0, held: Vec::new() };
        if writer.output.is_seekable() {
            let header = writer.written_header();
            writer.output.write_all(&header).map_err(|e| writer.output.failed(e))?;
        }
        Ok(Box::new(writer))
    }

    fn written_header(&self) -> Vec<u8> {
        // Matrices are written in the shape in which they are read.
        let columns = match &self.header {
            names if *names == rotation_names() => "3, 3".into(),
            names if *names == pose_names(3) => "3, 4".into(),
            names if *names == pose_names(4) => "4, 4".into(),
            names => names.len().to_string(),
        };
        header_bytes("<f8", self.rows, &columns)
    }
}

/// The first [`WRITTEN_HEADER`] bytes of an array of little-endian numbers; `columns` are the lengths of all axes but the first.
pub(crate) fn header_bytes(descr: &str, rows: usize, columns: &str) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let length = WRITTEN_HEADER - 10;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0, length as u8, 0]);
    bytes.extend(format!("{dict:<width$}\n", width = length - 1).bytes());
    bytes
}

impl RowWriter for NpyWriter {
    fn write(&mut self, rows: &[Vec<Cell>]) -> Result<(), DataError> {
        let mut bytes = Vec::with_capacity(rows.len() * self.header.len() * 8);
        for row in rows {
            for (cell, column) in row.iter().zip(&self.header) {
                match cell {
                    Cell::Number(x) => bytes.extend(x.to_le_bytes()),
                    Cell::Text(text) if let Ok(x) = parse_number(text) => bytes.extend(x.to_le_bytes()),
                    Cell::Text(_) => {
                        return Err(DataError::TextInNpy { file: self.output.name(), column: column.clone() });
                    }
                }
            }
        }
        self.rows += rows.len();
        if self.output.is_seekable() {
            self.output.write_all(&bytes).map_err(|e| self.output.failed(e))
        } else {
            self.held.extend(bytes);
            Ok(())
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(), DataError> {
        let header = self.written_header();
        let written = if self.output.is_seekable() {
            self.output.rewrite_start(&header)
        } else {
            self.output.write_all(&header).and_then(|()| self.output.write_all(&self.held))
        };
        written.map_err(|e| self.output.failed(e))?;
        self.output.commit()
    }
}
