//! The report of an experiment: text for the terminal, Markdown, CSV and JSON.

use super::{Cost, Easel, Planned, Score, Summary, draw, machine, quantity::Quantity, summary::Cell};
use crate::error::LabError;
use mad_cli::output;
use mad_cli::output::write_whole;
use mad_cli::plot::Figure;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// A finished experiment, ready to be printed.
#[derive(Debug, Clone)]
pub struct Report {
    /// Name of the experiment's folder.
    pub name: String,
    /// For a terminal.
    pub text: String,
    /// For a document; figures are named relative to the folder of the experiment.
    pub markdown: String,
    /// Files of its figures, in its folder.
    pub pictures: Vec<String>,
    pub json: Value,
}

/// A table of one quantity.
struct Grid {
    title: String,
    how: String,
    header: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    method: String,
    source: &'static str,
    cells: Vec<String>,
    /// Columns in which it is the best.
    best: Vec<bool>,
}

impl Report {
    /// Draws the figures and writes `report.md`, `values.csv` and `report.json` into the experiment's folder.
    pub fn write(summary: &Summary, command: &str, out: &Path) -> Result<Self, LabError> {
        let experiment = &summary.plan.experiment;
        let folder = out.join(experiment.output());
        std::fs::create_dir_all(&folder).map_err(|e| LabError::io(&folder, e))?;
        let mut wall = Wall { folder: &folder, pictures: Vec::new() };
        let drawn = draw(summary, out, &mut wall)?;
        let pictures = wall.pictures;
        let grids = grids(summary);
        let notes: Vec<String> = drawn.into_iter().chain(notes(summary)).collect();
        let report = Self {
            name: experiment.output(),
            text: text(summary, &grids, &notes, &folder),
            markdown: markdown(summary, &grids, &notes, &pictures, command),
            json: object(summary, &notes, &pictures, command),
            pictures,
        };
        write_whole(&folder.join("report.md"), report.markdown.as_bytes())?;
        write_whole(&folder.join("values.csv"), values(summary).as_bytes())?;
        write_whole(&folder.join("report.json"), format!("{:#}\n", report.json).as_bytes())?;
        Ok(report)
    }
}

/// Writes figures into a folder.
struct Wall<'a> {
    folder: &'a Path,
    pictures: Vec<String>,
}

impl Easel for Wall<'_> {
    fn keep(&mut self, name: &str, figure: &Figure) -> Result<(), LabError> {
        for ending in ["svg", "png"] {
            figure.save(&self.folder.join(format!("{name}.{ending}")))?;
        }
        self.pictures.push(format!("{name}.png"));
        Ok(())
    }
}

/// Keys, titles and use of the paper's values of all protocols.
fn protocols<'a>(summary: &Summary<'a>) -> Vec<(&'a str, &'a str, bool)> {
    let protocols = &summary.plan.experiment.protocols;
    match protocols.is_empty() {
        true => vec![("", "", true)],
        false => protocols.iter().map(|p| (p.key.as_str(), p.title.as_str(), p.paper)).collect(),
    }
}

/// All tables: for every protocol, one for each quantity that has values.
fn grids(summary: &Summary) -> Vec<(String, Vec<Grid>)> {
    let experiment = &summary.plan.experiment;
    let quantities: Vec<&Quantity> = experiment.tables.iter().filter_map(|name| Quantity::lookup(name)).collect();
    let of = |(key, title, paper): (&str, &str, bool)| {
        let grids = quantities.iter().map(|quantity| grid(summary, key, paper, quantity));
        (title.to_owned(), grids.filter(|grid| !grid.rows.is_empty()).collect())
    };
    protocols(summary).into_iter().map(of).collect()
}

/// The values, and their mean behind them where it is wanted; it is `None` if any of them is.
fn with_mean(asked: bool, quantity: &Quantity, mut values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    if asked {
        values.push(quantity.mean(&values));
    }
    values
}

/// What the paper prints; values without a deviation have zero for it.
fn printed_value(quantity: &Quantity, (mean, deviation): (f64, f64)) -> String {
    match deviation == 0.0 {
        true => quantity.show(mean),
        false => format!("{} ± {}", quantity.show(mean), quantity.show(deviation)),
    }
}

fn grid(summary: &Summary, protocol: &str, paper: bool, quantity: &Quantity) -> Grid {
    let experiment = &summary.plan.experiment;
    let keys: Vec<&str> = experiment.data.iter().map(|data| data.key.as_str()).collect();
    let ours: Vec<Vec<Cell>> = experiment
        .methods
        .iter()
        .map(|m| keys.iter().map(|data| summary.cell(protocol, data, &m.label, quantity.name)).collect())
        .collect();
    let means = |of: fn(&Cell) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
        ours.iter().map(|row| with_mean(experiment.mean, quantity, row.iter().map(of).collect())).collect()
    };
    let (means, ranked) = (means(Cell::mean), means(Cell::complete_mean));
    let columns = keys.len() + usize::from(experiment.mean);
    // One value alone is not the best of anything.
    let least = |column: usize| {
        let values: Vec<f64> = ranked.iter().filter_map(|row| row[column]).collect();
        values.iter().copied().min_by(f64::total_cmp).filter(|_| values.len() > 1)
    };
    let best: Vec<Option<f64>> = (0..columns).map(|column| least(column).filter(|_| quantity.ranks)).collect();
    let mut rows = Vec::new();
    for (((method, cells), means), ranked) in experiment.methods.iter().zip(&ours).zip(&means).zip(&ranked) {
        let row = |source, mut cells: Vec<String>, mean: Option<Option<f64>>, best| {
            cells.extend(mean.map(|mean| mean.map_or(String::new(), |mean| quantity.show(mean))));
            Row { method: method.label.clone(), source, cells, best }
        };
        let printed: Vec<_> = keys.iter().map(|data| method.paper(quantity.name, data).filter(|_| paper)).collect();
        if printed.iter().any(Option::is_some) {
            let mean = with_mean(experiment.mean, quantity, printed.iter().map(|v| v.map(|v| v.0)).collect());
            let cells = printed.iter().map(|v| v.map_or(String::new(), |v| printed_value(quantity, v))).collect();
            rows.push(row("paper", cells, mean.get(keys.len()).copied(), vec![false; columns]));
        }
        if cells.iter().any(|cell| !cell.values.is_empty() || cell.failed > 0) {
            let marked = ranked.iter().zip(&best).map(|(mean, best)| mean.is_some() && mean == best).collect();
            let cells = cells.iter().map(|cell| cell.show(quantity)).collect();
            rows.push(row("ours", cells, means.get(keys.len()).copied(), marked));
        }
    }
    if let Some((title, name)) = quantity.ideal {
        let cells: Vec<Cell> = keys.iter().map(|data| summary.common(protocol, data, name)).collect();
        if cells.iter().any(|cell| cell.mean().is_some()) {
            // The same number for every method.
            let show = |mean: Option<f64>| mean.map_or("–".into(), |mean| quantity.show(mean));
            let means = with_mean(experiment.mean, quantity, cells.iter().map(Cell::mean).collect());
            let cells = means.into_iter().map(show).collect();
            rows.push(Row { method: title.into(), source: "", cells, best: vec![false; columns] });
        }
    }
    // A quantity that no run has is left out, unless the paper has it.
    let empty = ours.iter().flatten().all(|cell| cell.values.is_empty() && cell.failed == 0);
    if empty && rows.iter().all(|row| row.source != "paper") {
        rows.clear();
    }
    let kernel = summary.plan.runs.iter().find_map(|run| summary.score(run)?.kernels.get(quantity.name));
    let how = match kernel {
        Some(kernel) => format!("{}; {kernel}", quantity.how),
        None => quantity.how.to_owned(),
    };
    let mut header = vec!["method".to_owned(), String::new()];
    header.extend(experiment.data.iter().map(|data| data.title().to_owned()));
    header.extend(experiment.mean.then(|| "Mean".to_owned()));
    Grid { title: quantity.title.into(), how, header, rows }
}

/// Remarks below the tables: choices, failures, times.
fn notes(summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let experiment = &summary.plan.experiment;
    for (protocol, ..) in protocols(summary) {
        for data in &experiment.data {
            for method in &experiment.methods {
                if let Some(grid) = summary.choice(protocol, &data.key, &method.label) {
                    notes.push(format!("{} on {}: {grid}, chosen on the validation part.", method.label, data.key));
                }
                if summary.undecided(protocol, &data.key, &method.label) {
                    let why = "nothing chosen, as no point of its grid has all seeds";
                    notes.push(format!("{} on {}: {why}.", method.label, data.key));
                }
                let runs = summary.runs(protocol, &data.key, &method.label).into_iter();
                let few = runs.filter(|run| summary.score(run).is_some_and(Score::has_few_draws));
                let seeds: Vec<String> = few.map(|run| run.place.seed.to_string()).collect();
                if !seeds.is_empty() {
                    let (place, seeds) = (format!("{} on {}", method.label, data.key), seeds.join(", "));
                    notes.push(format!(
                        "{place}, seeds {seeds}: mean MMDs are over fewer than ten draws and vary more."
                    ));
                }
            }
        }
    }
    for Planned { place, job } in &summary.plan.runs {
        if let Some(words) = summary.outcomes.failures.get(&job.id) {
            notes.push(format!("Failed: {place}: {}", words.lines().last().unwrap_or_default()));
        }
    }
    for run in &summary.plan.runs {
        let share = summary.score(run).and_then(|score| *score.values.get("nll_unsolved")?);
        if let Some(percent) = share.map(|share| 100.0 * share) {
            let place = &run.place;
            notes.push(format!("{place}: {percent:.2} % of its test points have the density of the nearest point that the decoder reaches."));
        }
    }
    if !summary.plan.runs.is_empty() {
        let seeds: BTreeSet<u64> = summary.plan.runs.iter().map(|run| run.place.seed).collect();
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let time = cost(summary).words().map_or(String::new(), |words| format!(": {words}"));
        let (all, done) =
            (summary.plan.runs.len(), summary.plan.runs.iter().filter_map(|run| summary.score(run)).count());
        let runs = if done < all { format!("{done} of {all} runs") } else { format!("{all} runs") };
        notes.push(format!("{runs}, seeds {}{time}.", seeds.join(", ")));
    }
    notes
}

/// How long its runs took.
fn cost(summary: &Summary) -> Cost {
    summary.plan.runs.iter().filter_map(|run| summary.score(run)).collect()
}

fn text(summary: &Summary, grids: &[(String, Vec<Grid>)], notes: &[String], folder: &Path) -> String {
    let mut parts = vec![summary.plan.experiment.title.clone()];
    for (protocol, grids) in grids {
        if !protocol.is_empty() && !grids.is_empty() {
            parts.push(format!("\n{protocol}"));
        }
        for grid in grids {
            let header: Vec<&str> = grid.header.iter().map(String::as_str).collect();
            let rows = grid.rows.iter().map(|row| {
                let mark = |(cell, best): (&String, &bool)| if *best { format!("*{cell}") } else { cell.clone() };
                [row.method.clone(), row.source.into()]
                    .into_iter()
                    .chain(row.cells.iter().zip(&row.best).map(mark))
                    .collect()
            });
            let marks = if grid.rows.iter().any(|row| row.best.contains(&true)) { "; * least" } else { "" };
            parts.push(format!("\n{} ({}{marks})\n{}", grid.title, grid.how, output::table(&header, rows)));
        }
    }
    parts.push(String::new());
    parts.extend(notes.iter().cloned());
    parts.push(format!("written to {}", folder.display()));
    parts.join("\n")
}

fn markdown(
    summary: &Summary,
    grids: &[(String, Vec<Grid>)],
    notes: &[String],
    pictures: &[String],
    command: &str,
) -> String {
    let experiment = &summary.plan.experiment;
    let written = format!("Written by `{command}`, version {}, on {}.", env!("CARGO_PKG_VERSION"), machine());
    let mut parts = vec![format!("## {}", experiment.title), written];
    parts.extend(
        [&experiment.about, &experiment.source].into_iter().filter(|s| !s.is_empty()).map(|s| s.trim().to_owned()),
    );
    for picture in pictures {
        parts.push(format!("![{}]({picture})", experiment.title));
    }
    for (protocol, grids) in grids {
        if !protocol.is_empty() && !grids.is_empty() {
            parts.push(format!("### {protocol}"));
        }
        for grid in grids {
            let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
            let mut lines = vec![line(&grid.header), format!("|{}", "---|".repeat(grid.header.len()))];
            for row in &grid.rows {
                let mark = |(cell, best): (&String, &bool)| if *best { format!("**{cell}**") } else { cell.clone() };
                let mut cells = vec![row.method.clone(), row.source.to_owned()];
                cells.extend(row.cells.iter().zip(&row.best).map(mark));
                lines.push(line(&cells));
            }
            parts.push(format!("**{}** ({})", grid.title, grid.how));
            parts.push(lines.join("\n"));
        }
    }
    if !notes.is_empty() {
        parts.push(notes.iter().map(|note| format!("- {note}")).collect::<Vec<_>>().join("\n"));
    }
    parts.join("\n\n") + "\n"
}

/// One line per run and number.
fn values(summary: &Summary) -> String {
    let quoted = |text: &str| match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let mut lines = vec!["experiment,protocol,data,method,grid,seed,metric,value".to_owned()];
    for run in &summary.plan.runs {
        let Some(score) = summary.score(run) else { continue };
        let place = &run.place;
        let names = [&summary.plan.experiment.name, &place.protocol, &place.data, &place.method, &place.grid];
        let start = names.map(|name| quoted(name)).join(",");
        for (name, value) in &score.values {
            lines.push(format!("{start},{},{name},{}", place.seed, value.map_or(String::new(), |v| v.to_string())));
        }
    }
    lines.join("\n") + "\n"
}

fn object(summary: &Summary, notes: &[String], pictures: &[String], command: &str) -> Value {
    let experiment = &summary.plan.experiment;
    let mut cells = Vec::new();
    for (protocol, _, paper) in protocols(summary) {
        for data in &experiment.data {
            for method in &experiment.methods {
                for quantity in &experiment.tables {
                    let cell = summary.cell(protocol, &data.key, &method.label, quantity);
                    let written = method.paper(quantity, &data.key).filter(|_| paper);
                    if cell.runs == 0 && written.is_none() {
                        continue;
                    }
                    let ideal = Quantity::lookup(quantity).and_then(|q| q.ideal);
                    let floor = ideal.and_then(|(_, name)| summary.common(protocol, &data.key, name).mean());
                    cells.push(json!({
                        "protocol": protocol, "data": data.key, "method": method.label, "metric": quantity,
                        "mean": cell.mean(), "deviation": cell.deviation(), "runs": cell.runs, "scored": cell.scored,
                        "bound": cell.bound, "paper": written, "ideal": floor,
                        "grid": summary.choice(protocol, &data.key, &method.label),
                    }));
                }
            }
        }
    }
    let jobs = summary.plan.runs.iter().map(|run| {
        let place = &run.place;
        json!({
            "id": run.job.id, "protocol": place.protocol, "data": place.data, "method": place.method,
            "grid": place.grid, "seed": place.seed, "score": summary.score(run),
            "failure": summary.outcomes.failures.get(&run.job.id),
        })
    });
    json!({
        "experiment": experiment.name, "quick": experiment.hurried, "title": experiment.title, "command": command,
        "cells": cells, "jobs": jobs.collect::<Vec<_>>(), "notes": notes, "figures": pictures,
        "seconds": cost(summary).seconds(), "timed": cost(summary).known(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{Outcomes, testing};

    #[test]
    fn notes_say_of_how_many_runs_the_time_is_and_what_could_not_be_chosen() {
        let plan = testing::plan(
            "
            title = 't'
            seeds = [0, 1]
            [[data]]
            key = 'd'
            [[method]]
            label = 'A'
            [[method]]
            label = 'B'
            settings = { learning_rate = [1e-3, 1e-4] }
            ",
        );
        let mut outcomes = Outcomes::default();
        // Both seeds of A and one run of B; the time of one of them was kept.
        let first = plan.runs.iter().position(|run| run.place.method == "B").unwrap();
        let both = plan.runs.iter().filter(|run| run.place.method == "A");
        for (run, seconds) in both.chain([&plan.runs[first]]).zip([10.0, 0.0, 0.0]) {
            let score = testing::score(&run.job.id, &[("nll", 1.0), ("train_seconds", 50.0)]);
            outcomes.scores.insert(run.job.id.clone(), Score { seconds, ..score });
        }
        let summary = Summary::new(&plan, &outcomes);
        let notes = notes(&summary);
        assert_eq!(notes[0], "B on d: nothing chosen, as no point of its grid has all seeds.");
        assert_eq!(notes[1], "3 of 6 runs, seeds 0, 1: 60 s of one core for the 1 of 3 runs whose time is known.");
        let object = object(&summary, &notes, &[], "");
        assert_eq!((&object["seconds"], &object["timed"]), (&60.0.into(), &1.into()));

        let run = &plan.runs[first];
        let score = testing::score(&run.job.id, &[("nll", 1.0), ("nll_unsolved", 0.015)]);
        outcomes.scores.insert(run.job.id.clone(), score);
        let said = format!(
            "{}: 1.50 % of its test points have the density of the nearest point that the decoder reaches.",
            run.place
        );
        assert!(super::notes(&Summary::new(&plan, &outcomes)).contains(&said));

        let few = Score { draws: Some(2), ..testing::score(&plan.runs[0].job.id, &[]) };
        outcomes.scores.insert(few.id.clone(), few);
        let said = "A on d, seeds 0: mean MMDs are over fewer than ten draws and vary more.".to_owned();
        assert!(super::notes(&Summary::new(&plan, &outcomes)).contains(&said));

        let none = Outcomes::default();
        let summary = Summary::new(&plan, &none);
        assert_eq!(super::notes(&summary).last().unwrap(), "0 of 6 runs, seeds 0, 1.");
        assert!(super::object(&summary, &[], &[], "")["seconds"].is_null());
    }
}
