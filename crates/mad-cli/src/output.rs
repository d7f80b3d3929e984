//! Results on standard output, notices on standard error.

use crate::args::Common;
use crate::error::{CliError, Failure};
use crate::printable::{is_obeyed, printable, printable_json};
use crate::version;
use clap::error::ErrorKind;
use comfy_table::{CellAlignment, Table, presets::UTF8_HORIZONTAL_ONLY};
use mad_core::Setting;
use mad_core::table::{DataError, Output};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// Version of the JSON objects that `--json` prints; raised when a key changes its meaning or goes away.
pub const SCHEMA: u32 = 2;

/// A message with flags of the command line in place of the settings that the libraries know.
fn in_flags(message: &str) -> String {
    Setting::reword(message, |setting| format!("--{}", setting.name().replace('_', "-")))
}

/// Writes a line to standard error; a reader that has gone away is no reason to stop.
pub fn say(text: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr(), "{}", printable(&in_flags(text.as_ref())));
}

/// Writes a notice to standard error, unless the user wants quiet.
pub fn notice(common: &Common, text: impl AsRef<str>) {
    if !common.quiet {
        say(text);
    }
}

/// Writes a detail to standard error if the user wants them.
pub fn detail(common: &Common, text: impl AsRef<str>) {
    if common.verbose {
        notice(common, text);
    }
}

/// Writes the result of a command: the JSON object with `--json`, the text otherwise.
pub fn result(common: &Common, command: &str, fields: Value, text: impl FnOnce() -> String) -> Result<(), CliError> {
    match common.json {
        true => line(&object(command, fields)),
        false => line(&printable(&in_flags(&text()))),
    }
}

/// Writes the result of a command that wrote data to `out`: to standard error if the data went to standard output, which
/// [`require_apart_from_json`] refuses with `--json`.
pub fn result_of_data(
    common: &Common,
    command: &str,
    out: &Path,
    fields: Value,
    text: impl FnOnce() -> String,
) -> Result<(), CliError> {
    if is_standard(out) {
        notice(common, text());
        return Ok(());
    }
    result(common, command, fields, text)
}

/// Refuses to mix data with the JSON object on standard output.
pub fn require_apart_from_json(common: &Common, out: &Path) -> Result<(), CliError> {
    match common.json && is_standard(out) {
        true => Err(CliError::Usage(
            "--json takes standard output for its object; write the data to a file: --out FILE".into(),
        )),
        false => Ok(()),
    }
}

fn is_standard(out: &Path) -> bool {
    out.as_os_str() == "-"
}

/// Reports why a command failed, with `--json` as an object on standard output too.
pub fn failure(common: &Common, error: &impl Failure) {
    let advice = error.advice();
    say(format!("error: {error}{}", advice.map_or(String::new(), |words| format!("; {words}"))));
    if common.json {
        failure_object(&error.to_string(), advice, error.exit_code());
    }
}

fn failure_object(error: &str, advice: Option<&str>, exit_code: u8) {
    let object = json!({ "schema": SCHEMA, "error": error, "advice": advice, "exit_code": exit_code });
    // Nobody is left to read it if this fails.
    let _ = line(&printable_json(&in_flags(&object.to_string())));
}

fn object(command: &str, fields: Value) -> String {
    let mut object = json!({ "schema": SCHEMA, "command": command });
    if let (Some(all), Some(more)) = (object.as_object_mut(), fields.as_object()) {
        all.extend(more.clone());
    }
    printable_json(&in_flags(&object.to_string())).into_owned()
}

/// Reports words that are no command, or prints the help or version that was asked for, and ends.
pub fn misunderstood(error: &clap::Error) -> ! {
    let words = || std::env::args_os().skip(1).take_while(|word| word != "--");
    if words().any(|word| word == "--json") {
        match error.kind() {
            ErrorKind::DisplayVersion => {
                let _ = line(&object("version", version::fields()));
                std::process::exit(0);
            }
            ErrorKind::DisplayHelp => {}
            _ => {
                let (message, advice) = explained(error);
                failure_object(&message, advice.as_deref(), u8::try_from(error.exit_code()).unwrap_or(2));
            }
        }
    }
    if std::env::args_os().any(|word| word.to_string_lossy().contains(is_obeyed)) {
        // What clap quotes goes to the terminal as it is, together with its own colours; here it goes without any.
        say(error.to_string().trim_end());
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// The problem and what to do about it, from the paragraphs of clap.
fn explained(error: &clap::Error) -> (String, Option<String>) {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return ("the command line is not complete".into(), Some("--help shows what can follow".into()));
    }
    let text = error.to_string();
    let one_line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.split("\n\n").map(one_line);
    let message = paragraphs.next().unwrap_or_default();
    let tips: Vec<String> = paragraphs.filter_map(|text| Some(text.strip_prefix("tip: ")?.to_owned())).collect();
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    (message, (!tips.is_empty()).then(|| tips.join("; ")))
}

/// A path in a JSON object; one that is not UTF-8 cannot be a JSON string as it is.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn line(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|source| CliError::io("standard output", source))
}

/// Writes a file that appears whole or not at all; an older one stays until the new one is complete. Pipes and devices are
/// written in place.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let mut output = Output::create(path)?;
    output.write_all(bytes).map_err(|source| DataError::Io { path: path.into(), action: "write", source })?;
    output.commit()
}

/// Refuses a place where no file can be written, before the work for it is done.
pub fn require_place(path: &Path) -> Result<(), DataError> {
    match std::fs::metadata(path) {
        // Pipes and devices are opened once.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        _ => Output::create(path).map(drop),
    }
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
