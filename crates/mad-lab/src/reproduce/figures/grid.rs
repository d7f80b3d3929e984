//! Data sets times methods, as a grid of panels.

use crate::error::LabError;
use mad_cli::plot::{Figure, Panel, PlotError, Rgb};
use mad_core::Points;
use mad_nn::{Part, Run, method::SampleRequest};

use super::colours;

/// A set of points with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// Name of the method.
    pub label: String,
    /// A remark on it, such as its MMD; may be empty.
    pub note: String,
    /// Points in ambient coordinates.
    pub points: Points,
}

/// One data set with samples of each method.
#[derive(Debug, Clone, PartialEq)]
pub struct GridSet {
    /// Name of the data set.
    pub title: String,
    /// Its points.
    pub data: Points,
    /// Samples of the methods.
    pub methods: Vec<Labelled>,
}

impl GridSet {
    /// The training points of the first run, and `n` samples of each run.
    pub fn from_runs(title: &str, runs: &[(&str, &Run)], n: usize, seed: u64) -> Result<Self, LabError> {
        let (_, first) = runs.first().ok_or_else(|| PlotError::Empty { title: title.to_owned(), what: "runs" })?;
        let data = first.part(Part::Train)?;
        let methods = runs.iter().map(|(label, run)| {
            let points = run.fitted()?.draw(&SampleRequest::new(seed), n)?.0;
            Ok(Labelled { label: (*label).to_owned(), note: String::new(), points })
        });
        Ok(Self { title: title.to_owned(), data, methods: methods.collect::<Result<_, LabError>>()? })
    }
}

/// One panel to be made.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// Name of the data set.
    pub set: &'a str,
    /// Name of the method, or `data`.
    pub label: &'a str,
    /// Further remarks.
    pub note: &'a str,
    /// The points.
    pub points: &'a Points,
    /// Colour of the method.
    pub colour: Rgb,
}

impl Cell<'_> {
    /// Data set and method.
    pub fn title(&self) -> String {
        format!("{}: {}", self.set, self.label)
    }
}

/// More panels than this do not go into one row.
const WIDEST: usize = 4;

/// Panels in a row if there is one data set only, with many methods.
const WRAPPED: usize = 3;

/// Lays out panels made by `panel`, data first, and puts `end` after every row.
///
/// Rows are data sets as in the paper; with many methods the methods become the rows, and a single data set is wrapped. Methods have the same place
/// everywhere: the order in which they are first named.
pub fn lay_out<'a>(
    title: &str,
    sets: &'a [GridSet],
    dim: usize,
    panel: impl Fn(Cell<'a>) -> Box<dyn Panel + 'a>,
    end: impl Fn() -> Option<Box<dyn Panel + 'a>>,
) -> Result<Figure<'a>, PlotError> {
    if sets.is_empty() {
        return Err(PlotError::Empty { title: title.to_owned(), what: "data sets" });
    }
    let mut labels: Vec<&str> = Vec::new();
    for method in sets.iter().flat_map(|set| &set.methods) {
        if !labels.contains(&method.label.as_str()) {
            labels.push(&method.label);
        }
    }
    let colours = colours::of_methods(labels.iter().copied());
    let mut lines: Vec<Vec<Cell<'a>>> = Vec::new();
    for set in sets {
        let mut line =
            vec![Cell { set: &set.title, label: "data", note: "", points: &set.data, colour: colours::DATA }];
        for (label, &colour) in labels.iter().zip(&colours) {
            let Some(method) = set.methods.iter().find(|m| m.label == *label) else {
                let what = "samples of every method for every data set";
                return Err(PlotError::Empty { title: format!("{}: {label}", set.title), what });
            };
            line.push(Cell { set: &set.title, label, note: &method.note, points: &method.points, colour });
        }
        if let Some(cell) = line.iter().find(|cell| cell.points.dim() != dim) {
            return Err(PlotError::Coordinates { title: cell.title(), expected: dim, found: cell.points.dim() });
        }
        lines.push(line);
    }
    let across = labels.len() + 1;
    let lines = if across > WIDEST && sets.len() == 1 {
        lines.concat().chunks(WRAPPED).map(<[Cell]>::to_vec).collect()
    } else if across > WIDEST && sets.len() < across {
        (0..across).map(|i| lines.iter().map(|line| line[i]).collect()).collect()
    } else {
        lines
    };
    let mut figure = Figure::new(title);
    for line in lines {
        figure.push_row(line.into_iter().map(&panel).chain(end()).collect());
    }
    Ok(figure)
}
