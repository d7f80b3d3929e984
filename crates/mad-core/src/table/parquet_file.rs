//! Tables in Parquet files, read without trust: a decoder that panics is a bad file, and sizes are counted as rows arrive.

use super::{
    DataError, ReadOptions, Table, Time,
    cells::ColumnCells,
    input::{Input, refuse_bomb},
    npy_file::half,
    parquet_checksum,
};
use bytes::Bytes;
use parquet::{
    basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical},
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::DataType,
    errors::ParquetError,
    file::metadata::ParquetMetaDataReader,
    file::reader::{ChunkReader, FileReader, SerializedFileReader},
    schema::types::ColumnDescriptor,
};
use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

/// First and last bytes of every Parquet file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// Rows decoded at a time.
const BATCH: usize = 4096;

/// Most columns of a file.
const MOST_COLUMNS: usize = 10_000;

/// What may be read.
struct Limits {
    file_bytes: u64,
    max_bytes: u64,
}

/// Reads all flat columns of a Parquet file. Columns that are nested or of a type without a number or a text are left out
/// with a word about them; a file of nothing else is refused.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<Table, DataError> {
    let name = input.name.clone();
    let max_bytes = options.max_bytes;
    match (input.file.take(), input.total) {
        (Some(file), Some(total)) if total <= max_bytes => {
            guarded(&name, || table_of(&name, file, Limits { file_bytes: total, max_bytes }))
        }
        (Some(_), _) => Err(DataError::TooLarge { file: name, limit: max_bytes }),
        (None, _) => {
            let bytes = Bytes::from(input.bytes()?);
            let limits = Limits { file_bytes: bytes.len() as u64, max_bytes };
            guarded(&name, || table_of(&name, bytes, limits))
        }
    }
}

thread_local! {
    /// Whether panics of this thread are caught and reported as a fault of a file.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder; a panic in it becomes an error, and prints nothing.
fn guarded<T>(name: &str, decode: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                usual(info);
            }
        }));
    });
    EXPECTED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    EXPECTED.set(false);
    result.unwrap_or_else(|_| Err(bad(name, "the file is damaged")))
}

fn bad(file: &str, problem: impl Into<String>) -> DataError {
    DataError::damaged(file, "Parquet", problem)
}

/// An error of a decoder; only errors of the system are not the file's fault.
fn failed(file: &str, error: ParquetError) -> DataError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) if source.raw_os_error().is_some() => DataError::io(file, "read", *source),
            Ok(source) => bad(file, source.to_string()),
            Err(other) => bad(file, other.to_string()),
        },
        other => match other.to_string().split_once("Disabled feature at compile time: ") {
            Some((_, codec)) => {
                bad(file, format!("it is packed with {codec}, which is not read; write it with snappy, zstd or gzip"))
            }
            None => bad(file, other.to_string()),
        },
    }
}

fn table_of<R: ChunkReader + 'static>(name: &str, source: R, limits: Limits) -> Result<Table, DataError> {
    let failed = |e| failed(name, e);
    let footer = ParquetMetaDataReader::new().parse_and_finish(&source).map_err(failed)?;
    if !parquet_checksum::holds(&source, footer.file_metadata()).map_err(failed)? {
        return Err(bad(name, "the checksum of its data does not match; the file is damaged"));
    }
    let reader = SerializedFileReader::new(source).map_err(failed)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    if schema.num_columns() > MOST_COLUMNS {
        return Err(bad(name, format!("{} columns; at most {MOST_COLUMNS} are read", schema.num_columns())));
    }
    let (mut kept, mut nested, mut odd) = (Vec::new(), Vec::new(), Vec::new());
    for (i, column) in schema.columns().iter().enumerate() {
        let path = column.path().parts().join(".");
        match Kind::of(column) {
            _ if column.path().parts().len() > 1 || column.max_rep_level() > 0 => nested.push(path),
            Some(kind) => kept.push((i, path, kind)),
            None => odd.push(path),
        }
    }
    if kept.is_empty() {
        let what = if nested.is_empty() { odd.join(", ") } else { format!("{} (nested)", nested.join(", ")) };
        return Err(bad(name, format!("no flat column of numbers or text; found {what}. Write one column per number")));
    }
    for (second, (_, column, _)) in kept.iter().enumerate() {
        if let Some(first) = kept[..second].iter().position(|(_, other, _)| other == column) {
            let (file, column) = (name.into(), column.clone());
            return Err(DataError::DuplicateColumn { file, line: 1, column, first: first + 1, second: second + 1 });
        }
    }
    let mut columns: Vec<ColumnCells> = kept.iter().map(|(_, _, kind)| kind.column()).collect();
    let mut bytes = 0;
    for group in 0..metadata.num_row_groups() {
        let rows = metadata.row_group(group).num_rows();
        let rows = usize::try_from(rows).map_err(|_| bad(name, format!("a group of {rows} rows")))?;
        let before = columns[0].len();
        let group = reader.get_row_group(group).map_err(failed)?;
        for ((i, column, kind), cells) in kept.iter().zip(&mut columns) {
            let mut batch = Batch { rows, cells, bytes: &mut bytes, limits: &limits, name, column };
            batch.read(group.get_column_reader(*i).map_err(failed)?, kind)?;
            if cells.len() - before != rows {
                let found = cells.len() - before;
                return Err(bad(name, format!("column `{column}` has {found} rows where {rows} are claimed")));
            }
        }
    }
    let is_time = |kind: &Kind| matches!(kind, Kind::Timestamp(_) | Kind::Date);
    let times: Vec<usize> = (0..kept.len()).filter(|&c| is_time(&kept[c].2)).collect();
    let header = kept.into_iter().map(|(_, path, _)| path).collect();
    let mut table = Table::of_columns(name, header, columns);
    table.recognise(b',');
    table.set_times(&times);
    if !nested.is_empty() {
        table.notices.push(format!("nested columns are not read: {}", nested.join(", ")));
    }
    if !odd.is_empty() {
        table.notices.push(format!("columns that are neither numbers nor text are not read: {}", odd.join(", ")));
    }
    Ok(table)
}

/// How the values of a column become numbers or text.
enum Kind {
    /// Parts of a second since 1970 (UTC), of which there are this many, as ISO 8601 text.
    Timestamp(i64),
    /// Days since 1970, as ISO 8601 text.
    Date,
    /// Signed whole numbers, divided by a power of ten.
    Whole(f64),
    /// Whole numbers whose sign bit is part of the number.
    Unsigned,
    Real,
    Half,
    Truth,
    Text,
}

impl Kind {
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        let decimal = matches!(column.converted_type(), ConvertedType::DECIMAL)
            || matches!(column.logical_type_ref(), Some(LogicalType::Decimal { .. }));
        match column.physical_type() {
            Physical::BOOLEAN => Some(Kind::Truth),
            Physical::FLOAT | Physical::DOUBLE => Some(Kind::Real),
            Physical::INT32 if matches!(column.converted_type(), ConvertedType::DATE) => Some(Kind::Date),
            Physical::INT64 if let Some(per_second) = timestamp(column) => Some(Kind::Timestamp(per_second)),
            Physical::INT32 | Physical::INT64 if decimal => Some(Kind::Whole(10f64.powi(column.type_scale()))),
            Physical::INT32 | Physical::INT64 => match column.converted_type() {
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                    Some(Kind::Unsigned)
                }
                _ => Some(Kind::Whole(1.0)),
            },
            Physical::BYTE_ARRAY if !decimal => Some(Kind::Text),
            Physical::FIXED_LEN_BYTE_ARRAY if matches!(column.logical_type_ref(), Some(LogicalType::Float16)) => {
                Some(Kind::Half)
            }
            _ => None,
        }
    }

    fn column(&self) -> ColumnCells {
        match self {
            Kind::Truth | Kind::Text | Kind::Timestamp(_) | Kind::Date => ColumnCells::default(),
            _ => ColumnCells::numbers(),
        }
    }
}

/// How many units of a column of timestamps make a second.
fn timestamp(column: &ColumnDescriptor) -> Option<i64> {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(time)), _) => Some(match time.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        (_, ConvertedType::TIMESTAMP_MILLIS) => Some(1_000),
        (_, ConvertedType::TIMESTAMP_MICROS) => Some(1_000_000),
        _ => None,
    }
}

/// One column of one group of rows on its way into the table.
struct Batch<'a> {
    rows: usize,
    cells: &'a mut ColumnCells,
    /// Bytes of all values so far.
    bytes: &'a mut u64,
    limits: &'a Limits,
    name: &'a str,
    column: &'a str,
}

impl Batch<'_> {
    fn read(&mut self, reader: ColumnReader, kind: &Kind) -> Result<(), DataError> {
        let unsigned = matches!(kind, Kind::Unsigned);
        let scale = if let Kind::Whole(scale) = kind { *scale } else { 1.0 };
        match reader {
            ColumnReader::BoolColumnReader(r) => self.words(r, |v| Ok(Some(if *v { "true" } else { "false" }))),
            ColumnReader::Int32ColumnReader(r) if matches!(kind, Kind::Date) => {
                self.times(r, |v| Time::since_epoch(i64::from(*v) * 86_400, 1).map(|time| time.to_iso(true)))
            }
            ColumnReader::Int64ColumnReader(r) if let Kind::Timestamp(per_second) = kind => {
                self.times(r, |v| Time::since_epoch(*v, *per_second).map(|time| time.to_iso(false)))
            }
            ColumnReader::Int32ColumnReader(r) if unsigned => self.numbers(r, |v| Some(f64::from(*v as u32))),
            ColumnReader::Int32ColumnReader(r) => self.numbers(r, |v| Some(f64::from(*v) / scale)),
            ColumnReader::Int64ColumnReader(r) if unsigned => self.numbers(r, |v| Some(*v as u64 as f64)),
            ColumnReader::Int64ColumnReader(r) => self.numbers(r, |v| Some(*v as f64 / scale)),
            ColumnReader::FloatColumnReader(r) => self.numbers(r, |v| Some(f64::from(*v))),
            ColumnReader::DoubleColumnReader(r) => self.numbers(r, |v| Some(*v)),
            ColumnReader::FixedLenByteArrayColumnReader(r) => self.numbers(r, |v| match v.data() {
                [low, high] => Some(half(u16::from_le_bytes([*low, *high]))),
                _ => None,
            }),
            ColumnReader::ByteArrayColumnReader(r) => {
                let (name, column) = (self.name, self.column);
                self.words(r, move |v| {
                    let text = std::str::from_utf8(v.data());
                    text.map(Some)
                        .map_err(|_| bad(name, format!("column `{column}` holds bytes that are not UTF-8 text")))
                })
            }
            ColumnReader::Int96ColumnReader(_) => Err(bad(self.name, "times of 96 bits are not read")),
        }
    }

    fn numbers<T: DataType>(
        &mut self,
        reader: ColumnReaderImpl<T>,
        number: impl Fn(&T::T) -> Option<f64>,
    ) -> Result<(), DataError> {
        self.values(reader, |cells, value| {
            cells.push_number(value.and_then(&number));
            Ok(8)
        })
    }

    /// Moments as text; those that no calendar has are shown by their number.
    fn times<T: DataType>(
        &mut self,
        reader: ColumnReaderImpl<T>,
        text: impl Fn(&T::T) -> Option<String>,
    ) -> Result<(), DataError>
    where
        T::T: std::fmt::Debug,
    {
        self.values(reader, |cells, value| {
            let text = value.map(|v| text(v).unwrap_or_else(|| format!("{v:?} since 1970"))).unwrap_or_default();
            cells.push(&text);
            Ok(8 + text.len() as u64)
        })
    }

    fn words<T: DataType>(
        &mut self,
        reader: ColumnReaderImpl<T>,
        word: impl Fn(&T::T) -> Result<Option<&str>, DataError>,
    ) -> Result<(), DataError> {
        self.values(reader, |cells, value| {
            let text = value.map_or(Ok(None), &word)?.unwrap_or("");
            cells.push(text);
            Ok(8 + text.len() as u64)
        })
    }

    /// Reads all values and appends them with `add`, which returns how many bytes each takes; nulls are `None`.
    fn values<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        mut add: impl FnMut(&mut ColumnCells, Option<&T::T>) -> Result<u64, DataError>,
    ) -> Result<(), DataError> {
        let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let mut left = self.rows;
        while left > 0 {
            values.clear();
            levels.clear();
            let read = reader.read_records(left.min(BATCH), Some(&mut levels), None, &mut values);
            let (records, _, _) = read.map_err(|e| failed(self.name, e))?;
            if records == 0 {
                return Ok(());
            }
            let mut present = values.iter();
            for row in 0..records {
                // Flat columns that may be null have the level 1 where they are not; others have no levels.
                let value = if levels.get(row).is_none_or(|level| *level > 0) { present.next() } else { None };
                *self.bytes += add(self.cells, value)?;
            }
            if *self.bytes > self.limits.max_bytes {
                return Err(DataError::TooLarge { file: self.name.into(), limit: self.limits.max_bytes });
            }
            refuse_bomb(self.name, self.limits.file_bytes, *self.bytes)?;
            left -= records.min(left);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::{
        data_type::{Int32Type, Int64Type},
        file::{properties::WriterProperties, writer::SerializedFileWriter},
        schema::parser::parse_message_type,
    };
    use std::sync::Arc;

    #[test]
    fn timestamps_and_dates_are_the_moments_that_iso_texts_are() {
        let schema =
            "message m { required int64 s (TIMESTAMP(MILLIS,true)); required int64 u (TIMESTAMP(MICROS,false));
            required int64 n (TIMESTAMP(NANOS,true)); required int32 d (DATE); required int64 count; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        // 2017-07-02T12:00:00Z is the middle of its year.
        let middle = 1_498_996_800;
        for parts in [Some(1_000), Some(1_000_000), Some(1_000_000_000), None, Some(0)] {
            let mut column = group.next_column().unwrap().unwrap();
            match parts {
                Some(0) => column.typed::<Int64Type>().write_batch(&[7, 8], None, None).map(drop).unwrap(),
                Some(parts) => {
                    let moments = [middle * parts, i64::MIN];
                    column.typed::<Int64Type>().write_batch(&moments, None, None).map(drop).unwrap();
                }
                None => column.typed::<Int32Type>().write_batch(&[17_532, i32::MAX], None, None).map(drop).unwrap(),
            }
            column.close().unwrap();
        }
        group.close().unwrap();
        let bytes = writer.into_inner().unwrap();
        let options = ReadOptions::default();
        let table = read(&mut Input::of_bytes("t.parquet", &bytes), &options).unwrap();
        assert_eq!([0, 1, 2].map(|c| table.number(0, c)), [Ok(2017.5), Ok(2017.5), Ok(2017.5)]);
        assert_eq!((table.cell(0, 0), table.cell(0, 3)), ("2017-07-02T12:00:00Z".into(), "2018-01-01".into()));
        assert_eq!(table.number(0, 4), Ok(7.0));
        // What no calendar has is a bad cell, not another moment.
        assert!([0, 1, 3].iter().all(|&c| table.is_time(c) && table.number(1, c).is_err()), "{table:?}");
    }
}
