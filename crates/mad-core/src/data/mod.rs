//! Files of points and what they mean: tables in and out, columns, splits, and data sets that can be made.
//!
//! A file is read into a [`Table`]; [`Columns`] finds the points of a manifold in it and writes points back in the same
//! columns and units; [`Split`] divides the rows. [`generators`] makes tables like those a user would hand in.

mod base_file;
mod cells;
mod check;
mod columns;
mod csv_file;
mod encoding;
mod error;
mod format;
pub mod generators;
mod geojson_file;
mod geojson_reader;
mod input;
mod layout;
mod lines;
mod load;
mod notation;
pub(crate) mod npy_file;
mod npz_file;
mod output;
mod parquet_checksum;
mod parquet_file;
mod parquet_writer;
mod record;
mod row_error;
mod split;
mod style;
mod support;
mod table;
mod text_lines;
mod time;
mod zip;

pub use base_file::read_base;
pub use check::{BadRows, CheckReport, ColumnReport, Suggestion, check, describe, suggest, unusable};
pub use columns::{
    AngleUnit, ColumnOptions, Columns, Decoded, EulerSequence, QuaternionOrder, RotationForm, UnusedHemisphere,
};
pub use error::DataError;
pub use format::{FORMATS, Format, ReadOptions, read, read_watched, write_table, writer, writer_like};
pub use input::Watch;
pub use layout::Layout;
pub use load::{
    LoadError, Loaded, condition_columns, decode_skipping, load, load_skipping, manifold_named, names_file,
};
pub use npy_file::{points_from_npy, points_to_npy, singles_to_npy};
pub use output::{Output, RowWriter};
pub use row_error::{LISTED_ROWS, RowError, RowErrors, RowFault, RowGroup};
pub use split::{Distance, Duplicates, FRACTIONS, Split, SplitError, SplitKind, SplitRule, SplitSummary, duplicates};
pub use style::TextStyle;
pub use support::support;
pub use table::{Cell, Table};
pub use time::Time;
