//! `mad info`: what a run is and how its training went. Nothing is sampled, no model is loaded.

use super::facts::facts;
use super::opened::tell_unfinished;
use super::scores::validation_score;
use crate::args::{Common, Info};
use crate::error::CliError;
use crate::input::quoted;
use crate::output;
use crate::report::settings::Settings;
use crate::source::Source;
use mad_core::table::duplicates;
use mad_nn::run::RunError;
use mad_nn::{Part, Run};
use serde_json::{Map, Value, json};
use std::path::Path;

pub fn run(common: &Common, args: &Info) -> Result<(), CliError> {
    let run = Run::open(&args.run)?;
    let source = Source::of(&args.run);
    let status = run.status().map_err(RunError::from)?;
    let score = validation_score(&run)?;
    let facts = facts(&run, source.as_ref())?;
    let chosen = chosen_settings(&run)?;
    let files = files(&args.run)?;
    let (config, info) = (run.config(), run.info());
    let command = source.as_ref().and_then(|source| source.command.clone());
    let fields = json!({
        "run": output::shown(&args.run), "data": source.as_ref().map(|source| &source.data), "rows": info.rows,
        "manifold": config.manifold, "method": config.method, "base": config.base, "network": config.network,
        "width": config.width, "depth": config.depth, "condition": config.condition, "seed": config.seed,
        "settings": chosen.iter().cloned().map(|(key, value)| (key, Value::String(value))).collect::<Map<_, _>>(),
        "training": status, "validation": score.map(|score| score.to_json()),
        "files": files.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes })).collect::<Vec<_>>(),
        "command": command, "version": info.version, "schema": info.schema, "settings_hash": config.hash(),
        "data_hash": info.data_hash,
    });
    tell_unfinished(common, &args.run, status);
    output::result(common, "info", fields, || {
        let training = match (status.finished, status.step < status.steps) {
            _ if status.steps == 0 => "without steps".to_owned(),
            (true, true) => format!("stopped early after {} of {} steps", status.step, status.steps),
            (true, false) => format!("{} steps done", status.step),
            (false, _) => format!("interrupted after {} of {} steps", status.step, status.steps),
        };
        let settings = match chosen.is_empty() {
            true => "all have their defaults".to_owned(),
            false => chosen.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" "),
        };
        let size = |(name, bytes): &(String, u64)| format!("{name} {}", size(*bytes));
        let mut lines: Vec<(&str, String)> = facts;
        lines.push(("Settings", settings));
        lines.push(("Training", training));
        lines.extend(score.map(|score| ("Score", score.to_string())));
        lines.push(("Files", files.iter().map(size).collect::<Vec<_>>().join(", ")));
        lines.push(("Command", command.unwrap_or_else(|| "not recorded".into())));
        lines.push(("Program", format!("mad {}, seed {}", info.version, info.seed)));
        let line = |(name, value): (&str, String)| format!("{name:12}  {value}");
        let name = quoted(&args.run.display().to_string());
        std::iter::once(name).chain(lines.into_iter().map(line)).collect::<Vec<_>>().join("\n")
    })
}

/// The settings that must be given to get the others, with their values.
fn chosen_settings(run: &Run) -> Result<Vec<(String, String)>, CliError> {
    let mut distinct = 0;
    if !run.config().is_on_pictures() {
        let mut all = run.part(Part::Train)?;
        for part in [Part::Validation, Part::Test] {
            run.part(part)?.rows().for_each(|row| all.push(row));
        }
        distinct = duplicates(&all).distinct;
    }
    let settings = Settings::of(run.config(), run.manifold().as_ref(), distinct);
    Ok(settings.chosen.into_iter().map(|(key, value)| (key.name.to_owned(), value)).collect())
}

/// Files and folders of a run with their sizes in bytes, by name.
fn files(run: &Path) -> Result<Vec<(String, u64)>, CliError> {
    let entries = std::fs::read_dir(run).map_err(|source| CliError::io(run, source))?;
    let entry = |path: &Path| Some((path.file_name()?.to_string_lossy().into_owned(), bytes(path)));
    let mut files: Vec<_> = entries.flatten().filter_map(|found| entry(&found.path())).collect();
    files.sort();
    Ok(files)
}

/// The size of a file, or of all files in a folder. Links are not followed.
fn bytes(path: &Path) -> u64 {
    let Ok(found) = path.symlink_metadata() else { return 0 };
    match (found.is_dir(), std::fs::read_dir(path)) {
        (true, Ok(entries)) => entries.flatten().map(|entry| bytes(&entry.path())).sum(),
        _ => found.len(),
    }
}

/// A size for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
