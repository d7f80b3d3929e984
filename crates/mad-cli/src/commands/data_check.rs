//! `mad data check`: what a file holds, what is odd about it, and the next command.

use crate::args::{Common, Reading};
use crate::error::CliError;
use crate::input::quoted;
use crate::number::trimmed;
use crate::output;
use mad_core::load::{self, CheckReport, ColumnReport, Suggestion};
use mad_core::table::Table;
use serde_json::json;
use std::path::Path;

/// Most columns shown in the table of a report.
const SHOWN_COLUMNS: usize = 40;

pub fn run(common: &Common, file: &Path, spec: Option<&str>, reading: &Reading) -> Result<(), CliError> {
    let table = reading.read(common, file)?;
    let options = reading.column_options();
    options.require_in(&table)?;
    let (spec, why) = match spec {
        Some(spec) => (spec.to_owned(), "as given".to_owned()),
        None => {
            let suggestions = load::suggest(&table, &options);
            match suggestions.first() {
                Some(first) if first.certain => {
                    (first.spec.clone(), format!("{}; --manifold chooses another", first.reason))
                }
                _ => return undecided(common, file, &table, reading, &suggestions),
            }
        }
    };
    let report = load::check(&table, &spec, &options)?;
    let bad = report.bad_rows.as_ref().map_or(0, |bad| bad.total);
    let flags = if bad > 0 && !reading.skip_bad_rows { "--skip-bad-rows" } else { "" };
    let next = report.can_fit.then(|| command(file, &spec, flags, reading));
    let counts = report.duplicates;
    let repeated = counts.rows - counts.distinct;
    let fields = json!({
        "file": output::shown(file), "manifold": report.manifold, "manifold_why": why, "rows": report.rows, "distinct": counts.distinct,
        "duplicates": repeated, "most_frequent": counts.most, "columns": report.written, "all_columns": table.header(),
        "column_reports": report.columns, "bad_rows": report.bad_rows, "notices": report.notices,
        "suggestions": report.suggestions, "next": next, "ambient_dim": report.ambient_dim, "mean": report.mean,
    });
    output::result(common, "data check", fields, || text(file, &report, &why, next.as_deref()))?;
    if bad > 0 && !reading.skip_bad_rows {
        return Err(CliError::BadRows { file: file.display().to_string(), total: bad });
    }
    Ok(())
}

/// The command that trains on the file.
fn command(file: &Path, spec: &str, more: &str, reading: &Reading) -> String {
    let more = if more.is_empty() { String::new() } else { format!(" {more}") };
    let file = quoted(&file.display().to_string());
    format!("mad fit {file} --manifold {}{more}{} -o run", quoted(spec), reading.flags())
}

fn text(file: &Path, report: &CheckReport, why: &str, next: Option<&str>) -> String {
    let mut lines = vec![
        format!("{}: {} rows, {} columns", file.display(), report.rows, report.columns.len()),
        format!("manifold {} ({why})", report.manifold),
        columns(&report.columns),
    ];
    let counts = report.duplicates;
    let repeated = counts.rows - counts.distinct;
    lines.push(match repeated {
        0 => format!("{} good points, all different", counts.rows),
        _ => format!(
            "{} good points, {} different: {repeated} ({:.1} %) repeat an earlier one, and one occurs {} times",
            counts.rows,
            counts.distinct,
            100.0 * repeated as f64 / counts.rows as f64,
            counts.most
        ),
    });
    if let Some(bad) = &report.bad_rows {
        let kinds = bad.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ");
        lines.push(format!("{} bad rows: {kinds}", bad.total));
        lines.extend(bad.lines.iter().map(|line| format!("  {line}")));
        lines.extend(bad.hint.iter().map(|hint| format!("  {hint}")));
    }
    lines.extend(report.notices.iter().map(|notice| format!("note: {notice}")));
    lines.extend(report.suggestions.iter().map(|suggestion| format!("suggestion: {suggestion}")));
    lines.extend(next.map(|next| format!("next: {next}")));
    lines.join("\n")
}

/// A report on a file whose columns leave open what they hold.
fn undecided(
    common: &Common,
    file: &Path,
    table: &Table,
    reading: &Reading,
    suggestions: &[Suggestion],
) -> Result<(), CliError> {
    let reports = load::describe(table);
    let unusable = load::unusable(table, &reading.column_options());
    // A suggestion that is a question has no command yet.
    let next = |s: &Suggestion| s.complete.then(|| command(file, &s.spec, &s.settings_in_words(), reading));
    let commands: Vec<String> = suggestions.iter().filter_map(next).collect();
    let listed: Vec<_> = suggestions
        .iter()
        .map(|s| {
            let flags = s.settings_in_words();
            json!({ "spec": s.spec, "flags": flags, "reason": s.reason, "certain": s.certain, "complete": s.complete })
        })
        .collect();
    let fields = json!({
        "file": output::shown(file), "manifold": null, "rows": table.len(), "all_columns": table.header(), "column_reports": reports,
        "notices": table.notices(), "unusable": unusable, "suggestions": listed, "next": commands,
    });
    output::result(common, "data check", fields, || {
        let mut lines = vec![
            format!("{}: {} rows, {} columns", file.display(), table.len(), table.width()),
            columns(&reports),
            "the columns leave the manifold open; --manifold checks them as points of it".into(),
        ];
        lines.extend(table.notices().iter().map(|notice| format!("note: {notice}")));
        lines.extend(unusable.iter().map(|column| format!("note: {column}")));
        if suggestions.is_empty() {
            lines.push("no manifold is proposed: no columns are left that could hold points".into());
        }
        for suggestion in suggestions {
            lines.push(format!("possible: {}: {}", suggestion.spec, suggestion.reason));
            lines.extend(next(suggestion).map(|command| format!("  {command}")));
        }
        lines.push("all manifolds: mad list manifolds".into());
        lines.join("\n")
    })
}

/// The columns of a file as a table.
fn columns(reports: &[ColumnReport]) -> String {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| trimmed(x, 6));
    let rows = reports.iter().take(SHOWN_COLUMNS).map(|c| {
        let used = c.role.clone().unwrap_or_else(|| "not used".into());
        let content = match (c.kind, c.values) {
            ("numbers", _) => format!("{} numbers", c.filled),
            ("dates", _) => format!("{} dates, as decimal years", c.filled),
            (_, Some(values)) => {
                let common: Vec<_> =
                    c.common.iter().map(|(word, count)| format!("{} ({count})", short(word))).collect();
                format!("{values} values: {}", common.join(", "))
            }
            _ => format!("{} texts", c.filled),
        };
        let missing = match (c.missing, c.not_numbers) {
            (0, 0) => String::new(),
            (missing, 0) => format!("{missing} blank"),
            (0, odd) => format!("{odd} not numbers"),
            (missing, odd) => format!("{missing} blank, {odd} not numbers"),
        };
        vec![
            short(&c.name),
            used,
            c.why.unwrap_or_default().into(),
            content,
            missing,
            number(c.min),
            number(c.max),
            number(c.mean),
        ]
    });
    let mut text =
        output::table(&["column", "used as", "why", "content", "missing", "smallest", "largest", "mean"], rows);
    if reports.len() > SHOWN_COLUMNS {
        text.push_str(&format!("\nand {} more columns", reports.len() - SHOWN_COLUMNS));
    }
    text
}

/// A text that fits in a table.
fn short(text: &str) -> String {
    match text.char_indices().nth(30) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
