//! Rows as a Parquet file: numbers as doubles, everything else as strings, Snappy-compressed groups of rows.

use super::{Cell, DataError, RowWriter, cells::styled, output::Output, parquet_checksum::Summed};
use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    data_type::{ByteArray, ByteArrayType, DoubleType},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        writer::SerializedFileWriter,
    },
    schema::types::Type,
};
use std::{io, sync::Arc};

/// Rows of one group, which are held in memory.
const GROUP: usize = 1 << 16;

/// Writes rows in groups. The first group decides which columns hold numbers.
pub(super) struct ParquetWriter {
    name: String,
    header: Vec<String>,
    state: State,
    held: Vec<Vec<Cell>>,
}

enum State {
    /// Nothing is written yet.
    Waiting(Output),
    Open {
        writer: Box<SerializedFileWriter<Summed>>,
        numeric: Vec<bool>,
    },
    /// A failed write.
    Lost,
}

impl ParquetWriter {
    pub(super) fn create(output: Output, header: &[String]) -> Result<Box<dyn RowWriter>, DataError> {
        let name = output.name();
        Ok(Box::new(Self { name, header: header.to_vec(), state: State::Waiting(output), held: Vec::new() }))
    }

    /// Writes the rows that are held as one group.
    fn flush(&mut self) -> Result<(), DataError> {
        let name = self.name.clone();
        let failed = |e| failed(&name, e);
        if let State::Waiting(_) = self.state
            && let State::Waiting(output) = std::mem::replace(&mut self.state, State::Lost)
        {
            let numeric: Vec<bool> =
                (0..self.header.len()).map(|c| self.held.iter().all(|row| number(&row[c]).is_some())).collect();
            let schema = schema(&self.header, &numeric).map_err(failed)?;
            // Without indexes of pages, which would stand between the data and the footer.
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true)
                .build();
            let writer = SerializedFileWriter::new(Summed::new(output), schema, Arc::new(properties));
            let writer = writer.map_err(failed)?;
            self.state = State::Open { writer: Box::new(writer), numeric };
        }
        let State::Open { writer, numeric } = &mut self.state else { return Err(self.lost()) };
        if self.held.is_empty() {
            return Ok(());
        }
        let mut group = writer.next_row_group().map_err(failed)?;
        for (c, numeric) in numeric.iter().enumerate() {
            let Some(mut column) = group.next_column().map_err(failed)? else { break };
            if *numeric {
                let mut values = Vec::with_capacity(self.held.len());
                for row in &self.held {
                    values.push(number(&row[c]).ok_or_else(|| DataError::MixedColumn {
                        file: name.clone(),
                        column: self.header[c].clone(),
                        text: row[c].to_string().chars().take(40).collect(),
                    })?);
                }
                column.typed::<DoubleType>().write_batch(&values, None, None).map_err(failed)?;
            } else {
                let values: Vec<ByteArray> =
                    self.held.iter().map(|row| row[c].to_string().into_bytes().into()).collect();
                column.typed::<ByteArrayType>().write_batch(&values, None, None).map_err(failed)?;
            }
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.held.clear();
        Ok(())
    }

    fn lost(&self) -> DataError {
        DataError::io(&self.name, "write", io::Error::other("an earlier write failed"))
    }
}

impl RowWriter for ParquetWriter {
    fn write(&mut self, rows: &[Vec<Cell>]) -> Result<(), DataError> {
        for rows in rows.chunks(GROUP) {
            self.held.extend_from_slice(rows);
            if self.held.len() >= GROUP {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), DataError> {
        self.flush()?;
        match std::mem::replace(&mut self.state, State::Lost) {
            State::Open { mut writer, .. } => {
                writer.flush().map_err(|e| DataError::io(&self.name, "write", e))?;
                let checksum = writer.inner().entry();
                writer.append_key_value_metadata(checksum);
                writer.into_inner().map_err(|e| failed(&self.name, e))?.into_output().commit()
            }
            _ => Err(self.lost()),
        }
    }
}

/// A cell that is a number, or is written just like one.
fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(x) => Some(*x),
        Cell::Text(text) => styled(text).map(|(x, _)| x),
    }
}

fn schema(header: &[String], numeric: &[bool]) -> Result<Arc<Type>, ParquetError> {
    let field = |(name, numeric): (&String, &bool)| {
        let physical = if *numeric { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        builder.with_logical_type((!numeric).then_some(LogicalType::String)).build().map(Arc::new)
    };
    let fields = header.iter().zip(numeric).map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields).build()?))
}

/// A failed write; errors of the system keep their kind.
fn failed(name: &str, error: ParquetError) -> DataError {
    let source = match error {
        ParquetError::External(source) => source.downcast().map_or_else(io::Error::other, |e: Box<io::Error>| *e),
        other => io::Error::other(other.to_string()),
    };
    DataError::io(name, "write", source)
}
