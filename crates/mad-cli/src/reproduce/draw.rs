//! Figures from finished jobs. Another figure is a function and a line in [`FIGURES`].

use super::{
    Score, Summary,
    expand::Place,
    figures::{base_s2, discrete, earth, grid::GridSet, intro, loss, mmd_vs_time, seeds::MethodCurves, so3, symsol},
    job::TimePoint,
};
use crate::error::CliError;
use crate::plot::Figure;
use mad_nn::Run;
use mad_nn::pose::PoseRun;
use std::path::{Path, PathBuf};

/// Most points of one panel.
const MOST_POINTS: usize = 4000;

/// Samples of the base score alone.
const BASE_SAMPLES: usize = 2000;

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
    fn of(&self, data: &str, method: &str) -> impl Iterator<Item = &Finished<'a>> {
        self.finished.iter().filter(move |job| job.place.data == data && job.place.method == method)
    }

    /// Methods with a finished job on every data set; a figure has no gaps.
    fn complete(&self) -> Vec<&'a str> {
        let everywhere = |method: &&&str| self.data.iter().all(|(data, _)| self.of(data, method).next().is_some());
        self.methods.iter().filter(everywhere).copied().collect()
    }

    /// The runs of the first seed on a data set, by method.
    fn first_runs(&self, data: &str) -> Result<Vec<(&'a str, Run)>, CliError> {
        let first = |method: &'a str| self.of(data, method).next().map(|job| Ok((method, job.open()?)));
        self.complete().into_iter().filter_map(first).collect()
    }

    /// Data beside samples of the first seed, for every data set.
    fn grid(&self) -> Result<Vec<GridSet>, CliError> {
        let set = |(data, title): &(&str, &str)| {
            let runs = self.first_runs(data)?;
            let runs: Vec<(&str, &Run)> = runs.iter().map(|(label, run)| (*label, run)).collect();
            let rows = runs.iter().map(|(_, run)| run.info().rows.train).min().unwrap_or(0).min(MOST_POINTS);
            let mut set = GridSet::from_runs(title, &runs, rows, 0)?;
            set.data = set.data.head(rows);
            for method in &mut set.methods {
                let mmd = self.of(data, &method.label).next().and_then(|job| job.score.get("mmd"));
                method.note = mmd.map_or(String::new(), |mmd| format!("MMD {mmd:.4}"));
            }
            Ok(set)
        };
        self.data.iter().map(set).collect()
    }
}

/// Takes finished figures.
pub trait Easel {
    /// Keeps a figure under a name.
    fn keep(&mut self, name: &str, figure: &Figure) -> Result<(), CliError>;
}

/// Draws the figures of an experiment; gives back sentences to print beside them.
pub type Draw = fn(&Drawing, &mut dyn Easel) -> Result<Vec<String>, CliError>;

/// Figures by name of the experiment.
pub const FIGURES: &[(&str, Draw)] = &[
    ("figure-intro", draw_intro),
    ("figure-earth", draw_earth),
    ("figure-so3", draw_so3),
    ("figure-mmd-vs-time", draw_mmd_vs_time),
    ("figure-discrete", draw_discrete),
    ("figure-base-s2", draw_base_s2),
    ("figure-loss", draw_loss),
    ("figure-symsol", draw_symsol),
    ("figure-symsol-training", draw_symsol_training),
];

/// Whether the figures of an experiment are drawn from run folders, so that scores alone are not enough.
pub fn needs_runs(name: &str) -> bool {
    FIGURES.iter().any(|(figure, _)| *figure == name)
}

/// Draws what belongs to an experiment, if anything does.
pub fn draw(summary: &Summary, out: &Path, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let experiment = &summary.plan.experiment;
    let Some((_, draw)) = FIGURES.iter().find(|(name, _)| *name == experiment.name) else {
        return Ok(Vec::new());
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
    if !drawing.data.is_empty() && drawing.complete().is_empty() {
        return Ok(vec!["Not drawn: no method has a finished run on every data set.".into()]);
    }
    draw(&drawing, easel)
}

fn draw_intro(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let runs = drawing.first_runs(drawing.data.first().map_or("", |data| data.0))?;
    let runs: Vec<(&str, &Run)> = runs.iter().map(|(label, run)| (*label, run)).collect();
    easel.keep("intro", &intro::draw(&intro::Input::from_runs(&runs)?)?)?;
    Ok(Vec::new())
}

fn draw_base_s2(_: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    easel.keep("base-s2", &base_s2::draw(&base_s2::Input::sampled(BASE_SAMPLES, 0)?)?)?;
    Ok(Vec::new())
}

fn draw_earth(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let volcano = drawing.data.iter().position(|(data, _)| *data == "volcano");
    let close_up = volcano.map(|place| (place, earth::PACIFIC_NORTH));
    let input = earth::Input { title: drawing.title.to_owned(), sets: drawing.grid()?, close_up };
    easel.keep("earth", &earth::draw(&input)?)?;
    Ok(Vec::new())
}

fn draw_so3(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let input = so3::Input { title: drawing.title.to_owned(), sets: drawing.grid()? };
    easel.keep("so3", &so3::draw(&input)?)?;
    Ok(Vec::new())
}

/// MMD over training time, and how much sooner MAD reaches what DSM ends with, for every pair of labels that differ in this
/// word only.
fn draw_mmd_vs_time(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let mut notes = Vec::new();
    for (data, _) in &drawing.data {
        let curve = |job: &Finished| -> Vec<(f64, f64)> {
            job.score.times.iter().filter_map(|time| Some((time.step_seconds, time.mmd?))).collect()
        };
        let curves = |method: &&str| MethodCurves {
            label: (*method).to_owned(),
            seeds: drawing.of(data, method).map(curve).filter(|curve| curve.len() > 1).collect(),
        };
        let methods: Vec<MethodCurves> = drawing.methods.iter().map(curves).filter(|m| !m.seeds.is_empty()).collect();
        let floors: Vec<f64> = drawing.finished.iter().filter_map(|job| job.score.get("mmd_curve_floor")).collect();
        let floor = (!floors.is_empty()).then(|| floors.iter().sum::<f64>() / floors.len() as f64);
        let input = mmd_vs_time::Input::new(drawing.title, methods, floor);
        for slow in input.methods.iter().map(|m| &m.label).filter(|label| label.contains("DSM")) {
            let fast = slow.replace("DSM", "MAD");
            if input.methods.iter().any(|m| m.label == fast) {
                let pair = mmd_vs_time::Input { fast, slow: slow.clone(), ..input.clone() };
                let times =
                    pair.crossing().map_or(String::new(), |c| format!(": {:.1} s against {:.1} s", c.fast, c.slow));
                notes.push(format!("{}{times}.", pair.crossing_text()));
            }
        }
        easel.keep(&format!("mmd-vs-time-{data}"), &mmd_vs_time::draw(&input)?)?;
    }
    Ok(notes)
}

fn draw_discrete(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let (uniform, skewed) = (drawing.first_runs("uniform")?, drawing.first_runs("skewed")?);
    let uniform: Vec<(&str, &Run)> = uniform.iter().map(|(label, run)| (*label, run)).collect();
    let skewed: Vec<(&str, &Run)> = skewed.iter().map(|(label, run)| (*label, run)).collect();
    easel.keep("discrete", &discrete::draw(&discrete::Input::from_runs(&uniform, &skewed, MOST_POINTS, 0)?)?)?;
    Ok(Vec::new())
}

fn draw_loss(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    for (data, _) in &drawing.data {
        let mut methods: Vec<(&str, Vec<Run>)> = Vec::new();
        for method in drawing.complete() {
            let runs = drawing.of(data, method).map(Finished::open).collect::<Result<_, _>>()?;
            methods.push((method, runs));
        }
        let methods: Vec<(&str, &[Run])> = methods.iter().map(|(label, runs)| (*label, runs.as_slice())).collect();
        easel.keep(&format!("loss-{data}"), &loss::draw(&loss::Input::from_runs(drawing.title, &methods)?)?)?;
    }
    Ok(Vec::new())
}

fn draw_symsol(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let mut rows = Vec::new();
    for (data, title) in &drawing.data {
        let first = |method: &&'_ str| drawing.of(data, method).next().map(|job| PoseRun::open(&job.folder));
        let mut runs = Vec::new();
        for method in drawing.complete() {
            if let Some(run) = first(&method) {
                runs.push((method, run?));
            }
        }
        rows.push(symsol::Row { title, runs });
    }
    easel.keep("symsol", &symsol::draw(drawing.title, &rows)?)?;
    Ok(Vec::new())
}

fn draw_symsol_training(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, CliError> {
    let curves = |data: &str, value: fn(&TimePoint) -> Option<f64>| -> Vec<MethodCurves> {
        let seed = |job: &Finished| -> Vec<(f64, f64)> {
            job.score.times.iter().filter_map(|time| Some((time.step as f64, value(time)?))).collect()
        };
        let method = |label: &&str| MethodCurves {
            label: (*label).to_owned(),
            seeds: drawing.of(data, label).map(seed).filter(|curve| curve.len() > 1).collect(),
        };
        drawing.methods.iter().map(method).filter(|m| !m.seeds.is_empty()).collect()
    };
    let solids: Vec<symsol::Curves> = drawing
        .data
        .iter()
        .map(|(data, title)| symsol::Curves {
            title: (*title).to_owned(),
            drift: curves(data, |time| time.drift),
            spread: curves(data, |time| time.spread),
        })
        .collect();
    easel.keep("symsol-training", &symsol::draw_training(drawing.title, &solids)?)?;
    Ok(Vec::new())
}
