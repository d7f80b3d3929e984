//! Results on standard output, talk on standard error.

use crate::args::Common;
use crate::error::CliError;
use comfy_table::{CellAlignment, Table, presets::UTF8_HORIZONTAL_ONLY};
use serde_json::{Value, json};
use std::io::Write;

/// Version of the JSON objects that `--json` prints; raised when a key changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// Says something on standard error, unless the user wants quiet.
pub fn notice(common: &Common, text: impl AsRef<str>) {
    if !common.quiet {
        eprintln!("{}", text.as_ref());
    }
}

/// Says something on standard error if the user wants to hear more.
pub fn detail(common: &Common, text: impl AsRef<str>) {
    if common.verbose && !common.quiet {
        eprintln!("{}", text.as_ref());
    }
}

/// Writes the result of a command: the JSON object with `--json`, the text otherwise.
pub fn result(common: &Common, command: &str, fields: Value, text: impl FnOnce() -> String) -> Result<(), CliError> {
    if common.json {
        let mut object = json!({ "schema": SCHEMA, "command": command });
        if let (Some(all), Some(more)) = (object.as_object_mut(), fields.as_object()) {
            all.extend(more.clone());
        }
        line(&object.to_string())
    } else {
        let text = text();
        if text.is_empty() { Ok(()) } else { line(&text) }
    }
}

/// Writes a result that went to standard output already as data: JSON goes to standard error then.
pub fn result_beside_data(common: &Common, command: &str, fields: Value, text: impl FnOnce() -> String) {
    if common.json {
        let mut object = json!({ "schema": SCHEMA, "command": command });
        if let (Some(all), Some(more)) = (object.as_object_mut(), fields.as_object()) {
            all.extend(more.clone());
        }
        eprintln!("{object}");
    } else {
        notice(common, text());
    }
}

fn line(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|source| CliError::io("standard output", source))
}

/// A table with a header; numbers should come formatted.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
