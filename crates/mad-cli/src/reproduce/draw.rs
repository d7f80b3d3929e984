//! Figures from finished jobs. Another figure is a function and a line in [`FIGURES`].

use super::{Score, Summary, expand::Place};
use crate::error::CliError;
use crate::plot::{CurvePanel, Figure, Scale, Series, curves};
use mad_nn::Run;
use std::path::{Path, PathBuf};

/// A job that has a score.
pub struct Finished<'a> {
    /// Protocol, data set, method, seed.
    pub place: &'a Place,
    /// The run folder.
    pub folder: PathBuf,
    pub score: &'a Score,
}

impl Finished<'_> {
    /// Opens its run.
    pub fn open(&self) -> Result<Run, CliError> {
        Ok(Run::open(&self.folder)?)
    }
}

/// What a figure is drawn from: the experiment, and its finished jobs in the order of the plan.
pub struct Drawing<'a> {
    pub title: &'a str,
    /// Keys and titles of the data sets.
    pub data: Vec<(&'a str, &'a str)>,
    /// Labels of the methods that were run.
    pub methods: Vec<&'a str>,
    pub finished: Vec<Finished<'a>>,
}

impl<'a> Drawing<'a> {
    /// Jobs of a method on a data set, by seed.
    pub fn of(&self, data: &str, method: &str) -> impl Iterator<Item = &Finished<'a>> {
        self.finished.iter().filter(move |job| job.place.data == data && job.place.method == method)
    }
}

/// Figures with the names of their files, and sentences to print beside them.
#[derive(Default)]
pub struct Drawn {
    pub figures: Vec<(String, Figure<'static>)>,
    pub notes: Vec<String>,
}

/// Draws the figures of an experiment.
pub type Draw = fn(&Drawing) -> Result<Drawn, CliError>;

/// Figures by name of the experiment.
pub const FIGURES: &[(&str, Draw)] = &[("figure-mmd-vs-time", mmd_over_time), ("figure-loss", loss)];

/// Draws what belongs to an experiment, if anything does.
pub fn draw(summary: &Summary, out: &Path) -> Result<Drawn, CliError> {
    let experiment = &summary.plan.experiment;
    let Some((_, draw)) = FIGURES.iter().find(|(name, _)| *name == experiment.name) else {
        return Ok(Drawn::default());
    };
    let chosen = |run: &&super::Planned| {
        let choice = summary.choice(&run.place.protocol, &run.place.data, &run.place.method);
        choice.is_none_or(|grid| grid == run.place.grid)
    };
    let finished = summary.plan.runs.iter().filter(chosen).filter_map(|run| {
        let folder = run.job.folder(out).join("run");
        Some(Finished { place: &run.place, folder, score: summary.score(run)? })
    });
    let drawing = Drawing {
        title: &experiment.title,
        data: experiment.data.iter().map(|data| (data.key.as_str(), data.title())).collect(),
        methods: experiment.methods.iter().filter(|m| m.run).map(|m| m.label.as_str()).collect(),
        finished: finished.collect(),
    };
    draw(&drawing)
}

/// MMD over training time, and how much sooner MAD reaches what DSM ends with.
fn mmd_over_time(drawing: &Drawing) -> Result<Drawn, CliError> {
    let mut drawn = Drawn::default();
    let mut panels = Vec::new();
    for (data, title) in &drawing.data {
        let mut series = Vec::new();
        for method in &drawing.methods {
            let lines = drawing.of(data, method).map(|job| {
                let times = job.score.times.iter();
                times.filter_map(|t| Some((t.step as f64, [t.step_seconds, t.mmd?]))).collect()
            });
            series.extend(band(method, &over_seeds(lines.collect()), |[seconds, mmd]| (seconds, mmd)));
        }
        drawn.notes.extend(speed_ups(&series));
        panels.push(CurvePanel {
            title: (*title).to_owned(),
            x: ("seconds of training steps".into(), Scale::Linear),
            y: ("MMD to training points".into(), Scale::Log),
            series,
        });
    }
    drawn.figures.push(("mmd-vs-time".into(), curves(drawing.title, panels)));
    Ok(drawn)
}

/// When MAD reaches the end of DSM, against when DSM does so itself, for every pair of labels that differ in this word only.
fn speed_ups(series: &[Series]) -> Vec<String> {
    let reached = |line: &Series, level: f64| line.points.iter().find(|p| p.1 <= level).map(|p| p.0);
    let sentence = |other: &Series| {
        let partner = other.label.replace("DSM", "MAD");
        let ours = series.iter().find(|line| line.label == partner && line.label != other.label)?;
        let &(_, end) = other.points.last()?;
        let (a, b) = (&ours.label, &other.label);
        Some(match (reached(ours, end), reached(other, end)) {
            (Some(ours), Some(theirs)) => format!(
                "{a} reaches the final MMD of {b} ({end:.4}) after {ours:.1} s, {b} itself after {theirs:.1} s: a factor of {:.2}.",
                theirs / ours
            ),
            _ => format!("{a} does not reach the final MMD of {b} ({end:.4})."),
        })
    };
    series.iter().filter_map(sentence).collect()
}

/// Training loss over steps.
fn loss(drawing: &Drawing) -> Result<Drawn, CliError> {
    let mut panels = Vec::new();
    for (data, title) in &drawing.data {
        let mut series = Vec::new();
        for method in &drawing.methods {
            let mut lines = Vec::new();
            for job in drawing.of(data, method) {
                let metrics = job.open()?.metrics()?;
                let points = metrics.iter().filter_map(|line| {
                    let step = line["step"].as_f64()?;
                    Some((step, [step, line["loss"].as_f64()?]))
                });
                lines.push(points.collect());
            }
            series.extend(band(method, &over_seeds(lines), |[step, loss]| (step, loss)));
        }
        panels.push(CurvePanel {
            title: (*title).to_owned(),
            x: ("step".into(), Scale::Linear),
            y: ("training loss".into(), Scale::Log),
            series,
        });
    }
    Ok(Drawn { figures: vec![("loss".into(), curves(drawing.title, panels))], notes: Vec::new() })
}

/// Values of all seeds at the places that every seed has.
fn over_seeds(lines: Vec<Vec<(f64, [f64; 2])>>) -> Vec<Vec<[f64; 2]>> {
    let Some(first) = lines.first() else { return Vec::new() };
    let at = |place: f64| -> Option<Vec<[f64; 2]>> {
        lines.iter().map(|line| line.iter().find(|p| p.0 == place).map(|p| p.1)).collect()
    };
    first.iter().filter_map(|(place, _)| at(*place)).collect()
}

/// A line through the means with a band of one standard deviation; none without points.
fn band(label: &str, groups: &[Vec<[f64; 2]>], point: impl Fn([f64; 2]) -> (f64, f64)) -> Option<Series> {
    let mut series = Series { label: label.to_owned(), ..Series::default() };
    for group in groups {
        let n = group.len() as f64;
        let mean = point([0, 1].map(|k| group.iter().map(|v| v[k]).sum::<f64>() / n));
        let square = group.iter().map(|v| (point(*v).1 - mean.1).powi(2)).sum::<f64>();
        let sd = if n > 1.0 { (square / (n - 1.0)).sqrt() } else { 0.0 };
        series.points.push(mean);
        // A logarithmic axis has no room for a band that goes below zero.
        series.band.push(((mean.1 - sd).max(0.5 * mean.1), mean.1 + sd));
    }
    (!series.points.is_empty()).then_some(series)
}
