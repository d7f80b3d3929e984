//! Tables: files in and out, which columns hold points, and how rows are divided.
//!
//! A file is read into a [`Table`]; [`Columns`] finds points in it and writes points back in the same columns and units;
//! [`Split`] divides the rows.

mod cells;
pub(crate) mod columns;
mod csv_file;
mod encoding;
mod error;
mod format;
mod geojson_file;
mod geojson_reader;
mod input;
mod layout;
mod lines;
mod notation;
pub(crate) mod npy_file;
mod npz_file;
mod output;
mod parquet_checksum;
mod parquet_file;
mod parquet_writer;
mod record;
pub(crate) mod row_error;
mod rows;
mod split;
mod style;
mod support;
mod text_lines;
mod time;
pub(crate) mod value;

pub use columns::{
    AngleUnit, ColumnOptions, Columns, Decoded, EulerSequence, QuaternionOrder, RotationForm, UnusedHemisphere,
};
pub(crate) use csv_file::read_bytes;
pub use error::DataError;
pub use format::{Format, ReadOptions, read, read_watched, write_table, writer, writer_like};
pub use input::Watch;
pub use layout::Layout;
pub use npy_file::{points_from_npy, points_to_npy, singles_to_npy};
pub use output::{Output, RowWriter};
pub use row_error::{RowError, RowErrors, RowFault, RowGroup};
pub use rows::Table;
pub use split::{Distance, Duplicates, FRACTIONS, Split, SplitError, SplitKind, SplitRule, SplitSummary, duplicates};
pub use style::TextStyle;
pub use support::support;
pub use time::Time;
pub use value::Cell;
