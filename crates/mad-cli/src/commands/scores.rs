//! The scores of a run on rows that it has not been trained on.

use super::opened::{Opened, SamplerChoice};
use crate::error::CliError;
use crate::number::significant;
use crate::output;
use mad_core::{
    Moments, Points, Unit,
    catalogue::{Comparison, METRICS, Measurement, drift_measurements},
    copies,
    manifold::Manifold,
    metrics::{Closest, QUANTILES, closest},
};
use mad_nn::run::RunError;
use mad_nn::{Part, Run};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;

/// The discrepancy is averaged over this many draws, unless they would be more than [`MOST_SAMPLES`] samples in all.
const DRAWS: usize = 10;

/// See [`DRAWS`].
const MOST_SAMPLES: usize = 10_000;

/// Subsets of the training points over which the floor of a metric is averaged.
pub const FLOOR_DRAWS: usize = 20;

/// Scores that need a run: name and meaning.
pub const OF_RUNS: [(&str, &str); 2] = [
    ("nll", "negative log-likelihood or a bound on it; apart for copies of training rows and for other rows"),
    ("closest", "distance of samples to the closest training row, compared with that of the reference"),
];

/// Everything that is reported about a run.
pub struct Scores {
    /// Numbers by name, in the order of the table.
    pub measurements: Vec<Measurement>,
    pub likelihood: Option<LikelihoodScore>,
    pub closest: Option<Closest>,
}

/// The negative log-likelihood of rows, in nats with respect to volume and per unit of the file.
#[derive(Debug, Clone)]
pub struct LikelihoodScore {
    /// Whether the values are upper bounds.
    pub is_bound: bool,
    /// Share of rows with the density of another point, because the model could not be solved for theirs.
    pub unsolved_share: f64,
    /// All rows.
    pub all: MeanNll,
    /// Rows equal to a training row; on finite sets, where all rows are, there is no such difference.
    pub copies: Option<MeanNll>,
    /// All other rows.
    pub new: Option<MeanNll>,
}

/// The name of a negative log-likelihood, or of an upper bound on it, in tables and in `--json`.
pub fn nll_name(is_bound: bool) -> &'static str {
    if is_bound { "nll_bound" } else { "nll" }
}

/// Whether the likelihood in a line of `metrics.jsonl` is a bound. Older runs have no record of it; those of mad and dsm were scored by one.
pub fn is_bound(line: &Value) -> bool {
    line["is_bound"] != false
}

/// The score of the weights that a run answers with, on its validation part.
#[derive(Debug, Clone, Copy)]
pub struct ValidationScore {
    step: u64,
    nll: f64,
    is_bound: bool,
}

impl ValidationScore {
    /// As an object of `--json`.
    pub fn to_json(self) -> Value {
        json!({ "step": self.step, (nll_name(self.is_bound)): self.nll })
    }
}

impl fmt::Display for ValidationScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = if self.is_bound { " bound" } else { "" };
        write!(f, "validation NLL{bound} {} nats", significant(self.nll))
    }
}

/// The last score in `metrics.jsonl` of the selected step, if there is one.
pub fn validation_score(run: &Run) -> Result<Option<ValidationScore>, CliError> {
    let step = run.selected_step().map_err(RunError::from)?;
    let metrics = run.metrics()?;
    let line = metrics.iter().rfind(|line| line["step"] == step && line["nll"].is_number());
    Ok(line.and_then(|line| Some(ValidationScore { step, nll: line["nll"].as_f64()?, is_bound: is_bound(line) })))
}

/// A mean over rows; no value if there are none.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MeanNll {
    /// Number of rows.
    pub n: usize,
    /// The mean.
    #[serde(rename = "mean")]
    pub nll: Option<f64>,
    /// Its standard error, from two rows on.
    pub standard_error: Option<f64>,
}

impl MeanNll {
    /// Of these rows; `shared_error` is the part of the standard error that does not fall with their number.
    fn of(log_likelihoods: &[f64], shared_error: f64) -> Self {
        let moments = Moments::of(log_likelihoods);
        let n = log_likelihoods.len();
        let error = (n > 1).then(|| moments.standard_error().hypot(shared_error));
        Self { n, nll: (n > 0).then_some(-moments.mean), standard_error: error }
    }

    fn error(&self) -> String {
        self.standard_error.map_or_else(String::new, |error| format!("± {} ", significant(error)))
    }
}

impl LikelihoodScore {
    /// The likelihood of `points`, which are compared with the training rows.
    pub fn of(opened: &Opened, points: &Points) -> Result<Self, CliError> {
        let found = opened.model.likelihood(points);
        let (mut known, mut new) = (Vec::new(), Vec::new());
        let continuous = opened.run.manifold().intrinsic_dim() > 0;
        if continuous {
            let copied = copies(points, &opened.run.part(Part::Train)?);
            let values = found.per_point.iter().zip(copied);
            values.for_each(|(value, copied)| if copied { known.push(*value) } else { new.push(*value) });
        }
        Ok(Self {
            is_bound: found.is_bound,
            unsolved_share: found.unsolved_share(),
            all: MeanNll::of(&found.per_point, found.shared_error),
            copies: continuous.then(|| MeanNll::of(&known, found.shared_error)),
            new: continuous.then(|| MeanNll::of(&new, found.shared_error)),
        })
    }

    /// The name of the values, wherever they are reported: `nll_bound` or `nll`.
    pub fn name(&self) -> &'static str {
        nll_name(self.is_bound)
    }

    /// As an object of `--json`.
    pub fn to_json(&self) -> Value {
        let Self { unsolved_share, all, copies, new, .. } = self;
        json!({ "name": self.name(), "unsolved_share": unsolved_share, "all": all, "copies": copies, "new": new })
    }

    /// As lines of a table: the mean over all rows and, if some rows are copies, the means over both kinds.
    pub fn measurements(&self) -> Vec<Measurement> {
        let (name, kind) = (self.name(), if self.is_bound { "upper bound, " } else { "" });
        let elsewhere = match self.unsolved_share {
            0.0 => String::new(),
            share => format!("; {:.1} % of the points have the density of another one", 100.0 * share),
        };
        let none =
            if self.copies.is_some_and(|copies| copies.n == 0) { "; no row is a copy of a training row" } else { "" };
        let error = self.all.error();
        let note = format!("{error}nats w.r.t. volume; {kind}lower is better{none}{elsewhere}");
        let mut lines = vec![Measurement { name: name.into(), value: self.all.nll.unwrap_or(f64::NAN), note }];
        if let (Some(copies), Some(new)) = (self.copies, self.new)
            && copies.n > 0
        {
            for (kind, mean, text) in
                [("copies", copies, "rows equal to a training row"), ("new", new, "rows not equal to a training row")]
            {
                let Some(value) = mean.nll else { continue };
                let note = format!("{}over {} {text}", mean.error(), mean.n);
                lines.push(Measurement { name: format!("{name}_{kind}"), value, note });
            }
        }
        lines
    }
}

impl Scores {
    /// All scores of a run at `reference` that apply, or those named, from `n` samples or as many as the reference has.
    pub fn of(
        opened: &Opened,
        reference: &Points,
        names: &[String],
        choice: SamplerChoice<'_>,
        n: Option<usize>,
        seed: u64,
    ) -> Result<Self, CliError> {
        let manifold = opened.run.manifold().as_ref();
        let wanted = |name: &str| names.is_empty() || names.iter().any(|m| m == name);
        let likelihood = wanted("nll").then(|| LikelihoodScore::of(opened, reference)).transpose()?;
        let measurements = likelihood.as_ref().map(LikelihoodScore::measurements).unwrap_or_default();
        let mut scores = Self { measurements, likelihood, closest: None };
        if names.iter().all(|m| m == "nll") && !names.is_empty() {
            return Ok(scores);
        }
        let n = n.unwrap_or(reference.len());
        let (samples, sampled) = opened.sample(choice, seed, n * (MOST_SAMPLES / n.max(1)).clamp(1, DRAWS))?;
        let training = opened.run.part(Part::Train)?;
        let draws = draws(&samples, n);
        let found = compare(manifold, &draws, reference, Some(&training), names, seed)?;
        // These samples were projected; what counts is how far they stood off before.
        scores.measurements.extend(found.into_iter().filter(|m| !m.name.starts_with("drift")));
        if wanted("drift") {
            scores.measurements.extend(drift_measurements(&sampled.drift));
        }
        // On a finite set every sample is a training row.
        if wanted("closest") && manifold.intrinsic_dim() > 0 {
            let places = opened.columns().roles().iter().any(|(_, role)| role.contains("latitude"));
            let unit = Unit::natural(manifold, places);
            scores.closest = Some(closest(manifold, unit, &draws[0], reference, &training, seed)?);
        }
        Ok(scores)
    }
}

/// Divides samples into draws of `size`; an incomplete one at the end is left out.
pub fn draws(samples: &Points, size: usize) -> Vec<Points> {
    let dim = samples.dim();
    let rows = samples.as_slice().chunks_exact(size.max(1) * dim);
    rows.map(|rows| Points::from_vec(rows.to_vec(), dim)).collect()
}

/// All metrics that compare samples with a reference, or those named; the discrepancy is the mean over the draws.
pub fn compare(
    manifold: &dyn Manifold,
    draws: &[Points],
    reference: &Points,
    training: Option<&Points>,
    names: &[String],
    seed: u64,
) -> Result<Vec<Measurement>, CliError> {
    let none = Points::new(reference.dim());
    let (samples, further) = draws.split_first().unwrap_or((&none, &[]));
    let comparison = Comparison { manifold, samples, further, reference, training, draws: FLOOR_DRAWS, seed };
    let mut measurements = Vec::new();
    for entry in METRICS {
        let wanted = match names {
            [] => (entry.applies)(manifold),
            _ => names.iter().any(|name| name == entry.name),
        };
        if wanted {
            measurements.extend((entry.measure)(&comparison)?);
        }
    }
    Ok(measurements)
}

/// The heading of a table of distances to the closest training row.
pub fn closest_heading(closest: &Closest) -> String {
    let unit = match closest.unit {
        Unit::Kilometre => ", km",
        Unit::Degree => ", degrees",
        Unit::Plain => "",
    };
    format!("distance to the closest training row{unit}")
}

/// The distances of samples and reference to their closest training rows, as cells.
pub fn closest_rows(closest: &Closest, number: impl Fn(f64) -> String) -> Vec<Vec<String>> {
    let Closest { unit, radii, samples, reference } = closest;
    let row = |name: String, a: String, b: String| vec![name, a, b];
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut rows = vec![row("points".into(), samples.n.to_string(), reference.n.to_string())];
    for (i, q) in QUANTILES.iter().enumerate() {
        let name = if *q == 0.5 { "median".into() } else { format!("{:.0} % quantile", 100.0 * q) };
        rows.push(row(name, number(samples.quantiles[i]), number(reference.quantiles[i])));
    }
    rows.push(row("equal to a training row".into(), percent(samples.equal), percent(reference.equal)));
    for (i, radius) in radii.iter().enumerate() {
        let unit = if *unit == Unit::Plain { String::new() } else { format!(" {}", unit.symbol()) };
        rows.push(row(format!("within {radius}{unit}"), percent(samples.within[i]), percent(reference.within[i])));
    }
    rows
}

/// A text table of distances to the closest training row.
pub fn closest_table(closest: &Closest, reference: &str) -> String {
    output::table(&[&closest_heading(closest), "samples", reference], closest_rows(closest, significant))
}
