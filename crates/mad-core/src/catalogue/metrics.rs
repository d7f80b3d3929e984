//! Metrics by name.

use super::manifolds;
use crate::metrics::{
    Drift, FloorSource, MetricError, check, distinct, floor, mmd, nearest_neighbour, subset, total_variation,
};
use crate::registry::{Named, find};
use crate::{Points, manifold::Manifold};
use serde::{Deserialize, Serialize};

/// Most points per sample in metrics that look at all pairs; larger samples are thinned at random.
const MOST_POINTS: usize = 5000;

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The space both samples live on.
    pub manifold: &'a dyn Manifold,
    /// The sample that is judged.
    pub samples: &'a Points,
    /// Further samples of the same size, over which the discrepancy is averaged: one draw moves it by a quarter of its floor.
    pub further: &'a [Points],
    /// The sample it is held against.
    pub reference: &'a Points,
    /// Training points, from which the floor of the discrepancy is drawn.
    pub training: Option<&'a Points>,
    /// Number of draws for the floor.
    pub draws: usize,
    /// Seed of subsets.
    pub seed: u64,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name, such as `mmd_floor`.
    pub name: String,
    /// Value.
    pub value: f64,
    /// What belongs to it: kernel, bandwidth, standard error. May be empty.
    pub note: String,
}

/// One metric.
pub struct MetricEntry {
    /// Name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether it means something on this manifold.
    pub applies: fn(&dyn Manifold) -> bool,
    /// Its numbers.
    pub measure: fn(&Comparison) -> Result<Vec<Measurement>, MetricError>,
}

/// All metrics that need two samples and nothing else.
pub const METRICS: &[MetricEntry] = &[
    MetricEntry {
        name: "mmd",
        summary: "maximum mean discrepancy: biased root with its floor, and unbiased square; on distinct points as well if rows repeat",
        applies: |_| true,
        measure: measure_mmd,
    },
    MetricEntry {
        name: "drift",
        summary: "distance of the samples from the manifold: mean, largest, share beyond 0.05",
        applies: |_| true,
        measure: |c| {
            check("drift", c.manifold, c.samples, "given", 1)?;
            let d = Drift::of(c.manifold, c.samples);
            Ok(drift_measurements(&d))
        },
    },
    MetricEntry {
        name: "tv",
        summary: "total variation between frequencies on a finite set, joint over categories, with its floor",
        applies: |manifold| manifold.intrinsic_dim() == 0,
        measure: measure_tv,
    },
    MetricEntry {
        name: "two-sample",
        summary: "accuracy of a nearest-neighbour classifier of distinct samples and distinct reference points; 0.5 is indistinguishable",
        applies: |_| true,
        measure: |c| {
            let t = nearest_neighbour(c.manifold, c.samples, c.reference, MOST_POINTS, c.seed)?;
            let distinct = if t.repeated > 0 { "distinct points" } else { "points" };
            let note = format!("± {:.4}, {} {distinct} each; 0.5 is indistinguishable", t.standard_error, t.points);
            Ok(vec![number("nn_accuracy", t.accuracy, &note)])
        },
    },
];

impl Named for MetricEntry {
    const KIND: &'static str = "metric";

    fn name(&self) -> &'static str {
        self.name
    }
}

/// Finds a metric by its name.
pub fn metric(name: &str) -> Result<&'static MetricEntry, MetricError> {
    Ok(find(METRICS, name)?)
}

/// A random subset of at most [`MOST_POINTS`] points.
fn at_most(points: &Points, seed: u64, draw: usize) -> Points {
    points.select(&subset(points.len(), points.len().min(MOST_POINTS), seed, draw))
}

/// The discrepancy as papers compute it, over all rows; where rows repeat, over distinct points as well.
fn measure_mmd(c: &Comparison) -> Result<Vec<Measurement>, MetricError> {
    let mut measured = measure_mmd_of(c, ["mmd", "mmd_floor", "mmd2_unbiased"], "points")?;
    let [samples, reference] = [c.samples, c.reference].map(|points| distinct(c.manifold, points));
    let repeats = samples.len() < c.samples.len() || reference.len() < c.reference.len();
    if repeats {
        let training = c.training.map(|points| distinct(c.manifold, points));
        let further: Vec<Points> = c.further.iter().map(|points| distinct(c.manifold, points).into_owned()).collect();
        let training = training.as_deref();
        let c = Comparison { samples: &samples, further: &further, reference: &reference, training, ..*c };
        let names = ["mmd_distinct", "mmd_distinct_floor", "mmd2_distinct_unbiased"];
        measured.extend(measure_mmd_of(&c, names, "distinct points")?);
    }
    Ok(measured)
}

fn measure_mmd_of(c: &Comparison, names: [&str; 3], points: &str) -> Result<Vec<Measurement>, MetricError> {
    let kernel = manifolds::kernel(c.manifold);
    let (samples, reference) = (at_most(c.samples, c.seed, 0), at_most(c.reference, c.seed, 1));
    let found = mmd(c.manifold, &kernel, &samples, &reference)?;
    let (mut root, mut unbiased) = (found.biased_root, found.unbiased_squared);
    for further in c.further {
        let other = mmd(c.manifold, &kernel, &at_most(further, c.seed, 0), &reference)?;
        root += other.biased_root;
        unbiased += other.unbiased_squared;
    }
    let draws = 1 + c.further.len();
    let averaged = if draws > 1 { format!("mean over {draws} draws; ") } else { String::new() };
    let level = floor(c.manifold, &kernel, samples.len(), &reference, c.training, c.draws, c.seed)?;
    let source = match (level.source, level.deviation) {
        (FloorSource::Training, Some(sd)) => format!("± {sd:.4}, subsets of the training points"),
        (FloorSource::Training, None) => "one subset of the training points".into(),
        (FloorSource::Expectation, _) => "expectation over the reference".into(),
    };
    Ok(vec![
        number(
            names[0],
            root / draws as f64,
            &format!(
                "{averaged}biased, root; {} against {} {points}; {}",
                samples.len(),
                reference.len(),
                found.kernel
            ),
        ),
        number(names[1], level.value, &source),
        number(names[2], unbiased / draws as f64, "squared; zero on average for equal distributions"),
    ])
}

/// The floor is that of as many training points as there are samples, or of all if there are fewer.
fn measure_tv(c: &Comparison) -> Result<Vec<Measurement>, MetricError> {
    let found = total_variation(c.manifold, c.samples, c.reference)?;
    let note = format!("0 to 1; {} against {} points", c.samples.len(), c.reference.len());
    let mut measured = vec![number("tv", found, &note)];
    if let Some(training) = c.training.filter(|training| !training.is_empty()) {
        let size = c.samples.len().min(training.len());
        let draw = |draw| {
            let rows = training.select(&subset(training.len(), size, c.seed, draw));
            total_variation(c.manifold, &rows, c.reference)
        };
        // All of them are the same draw every time.
        let draws = if size == training.len() { 1 } else { c.draws.max(1) };
        let values = (0..draws).map(draw).collect::<Result<Vec<_>, _>>()?;
        let mean = values.iter().sum::<f64>() / draws as f64;
        measured.push(number("tv_floor", mean, &format!("{size} training points in place of the samples")));
    }
    Ok(measured)
}

/// The numbers of a drift, as they are reported.
pub fn drift_measurements(drift: &Drift) -> Vec<Measurement> {
    vec![
        number("drift_mean", drift.mean, "mean distance from the manifold before projection"),
        number("drift_max", drift.max, ""),
        number("drift_far", drift.far, "share farther than 0.05 from the manifold"),
    ]
}

fn number(name: &str, value: f64, note: &str) -> Measurement {
    Measurement { name: name.into(), value, note: note.into() }
}
