//! The score of a finished run: what its tables and figures are made from.

use super::job::{Job, TimePoint};
use crate::args::Common;
use crate::commands::eval;
use crate::commands::opened::{Opened, SamplerChoice};
use crate::error::CliError;
use mad_core::Points;
use mad_core::data::generators::{self, so3_mixture::So3Mixture};
use mad_core::manifold::Manifold;
use mad_core::metrics::{Kernel, floor, mmd, total_variation};
use mad_nn::Part;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Subsets over which a floor is averaged.
const FLOOR_DRAWS: usize = 20;

/// Rows of the validation part that a grid is searched by.
const VALIDATION_ROWS: usize = 2048;

/// Points on each side of the MMD on a curve over training time, as in the paper.
const CURVE_SAMPLES: usize = 1000;

/// Samples drawn in all, so that one unlucky draw does not decide: an MMD is also averaged over as many draws as they make.
const ALL_SAMPLES: usize = 10_000;

/// Added to the seed of fresh rows, so that they differ from those of training and from each other.
const TEST_SEED: u64 = 1_000_000_007;
const FLOOR_SEED: u64 = 2_000_000_011;

/// Contents of `score.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The job.
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// Hash of the rows, as in `run.json`.
    pub data_hash: String,
    /// Numbers by name; none where a number is not finite.
    pub values: BTreeMap<String, Option<f64>>,
    /// Names of the numbers that are upper bounds.
    pub bounds: Vec<String>,
    /// The kernels in words, by name of the number.
    pub kernels: BTreeMap<String, String>,
    /// Points on each side of the MMD.
    pub samples: usize,
    /// Time at every checkpoint.
    pub times: Vec<TimePoint>,
    /// Seconds that scoring took.
    pub seconds: f64,
}

impl Score {
    /// The number called `name`, if it is there and finite.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied().flatten()
    }

    /// Seconds of training and scoring.
    pub fn total_seconds(&self) -> f64 {
        self.seconds + self.get("train_seconds").unwrap_or(0.0)
    }
}

/// Scores the run in `folder`.
pub fn score(common: &Common, job: &Job, folder: &Path, times: Vec<TimePoint>) -> Result<Score, CliError> {
    let begun = Instant::now();
    let opened = Opened::new(folder)?;
    let manifold = opened.run.manifold().as_ref();
    let test = match job.score.fresh {
        Some(rows) => fresh(common, job, &opened, rows, TEST_SEED)?,
        None => opened.run.part(Part::Test)?,
    };
    let pool = match job.score.fresh {
        Some(_) => fresh(common, job, &opened, 4 * job.score.samples, FLOOR_SEED)?,
        None => opened.run.part(Part::Train)?,
    };
    let reference = test.head(job.score.samples);
    let size = reference.len();

    let sampling = Instant::now();
    let drawn = size.max(1) * (ALL_SAMPLES / size.max(1)).max(1);
    let (mut samples, sampled) = opened.sample(SamplerChoice::default(), job.seed, drawn)?;
    let sampling_seconds = sampling.elapsed().as_secs_f64() * 1000.0 / drawn as f64;
    samples.rows_mut().for_each(|x| manifold.canonicalise(x));
    let dim = samples.dim();
    let draw = |rows: &[f64]| Points::from_vec(rows.to_vec(), dim);
    let draws: Vec<Points> = samples.as_slice().chunks_exact(size.max(1) * dim).map(draw).collect();

    let mut values = BTreeMap::new();
    let mut kernels = BTreeMap::new();
    let kinds = kernels_of(job, manifold);
    for (index, kernel) in kinds.iter().enumerate() {
        let name = if index == 0 { "mmd".to_owned() } else { format!("mmd_{}", kernel_name(kernel)) };
        let found = draws.iter().map(|draw| mmd(manifold, kernel, draw, &reference)).collect::<Result<Vec<_>, _>>()?;
        let mean = found.iter().map(|found| found.biased_root).sum::<f64>() / found.len() as f64;
        let first = &found[0];
        let level = floor(manifold, kernel, size, &reference, Some(&pool), FLOOR_DRAWS, job.seed)?;
        values.insert(format!("{name}_floor"), level.value);
        if index == 0 {
            values.insert("mmd2_unbiased".into(), first.unbiased_squared);
            values.insert("mmd_mean".into(), mean);
            values.insert("mmd_mean_over_floor".into(), mean / level.value);
        }
        values.insert(name.clone(), first.biased_root);
        kernels.insert(name, first.kernel.clone());
    }
    if job.score.curve.is_some() {
        let reference = curve_reference(job, &opened)?;
        let level = floor(manifold, &kinds[0], reference.len(), &reference, Some(&pool), FLOOR_DRAWS, job.seed)?;
        values.insert("mmd_curve_floor".into(), level.value);
    }
    if manifold.intrinsic_dim() == 0 {
        values.insert("tv".into(), total_variation(manifold, &samples, &test)?);
    }
    let nll = eval::nll(&opened, &test);
    let validation = opened.run.part(Part::Validation)?.head(VALIDATION_ROWS);
    values.insert("nll".into(), nll.value);
    values.insert("nll_validation".into(), eval::nll(&opened, &validation).value);
    if let Some(oracle) = oracle(&job.data.source, job.seed, &test) {
        values.insert("nll_oracle".into(), oracle);
        values.insert("nll_gap".into(), nll.value - oracle);
    }
    let bounds = match nll.name.contains("bound") {
        true => vec!["nll".into(), "nll_validation".into(), "nll_gap".into()],
        false => Vec::new(),
    };
    values.insert("drift_mean".into(), sampled.drift.mean);
    values.insert("drift_far".into(), sampled.drift.far);
    values.insert("sampling_seconds".into(), sampling_seconds);
    values.extend(of_times(&times).into_iter().map(|(name, value)| (name.to_owned(), value)));
    Ok(Score {
        id: job.id.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        data_hash: opened.run.info().data_hash.clone(),
        values: values.into_iter().map(|(name, value)| (name, value.is_finite().then_some(value))).collect(),
        bounds,
        kernels,
        samples: size,
        times,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Seconds of training, and milliseconds per step.
pub fn of_times(times: &[TimePoint]) -> Vec<(&'static str, f64)> {
    let Some(end) = times.last() else { return Vec::new() };
    let mut values = vec![("train_seconds", end.seconds)];
    if end.step > 0 {
        values.push(("step_ms", 1e3 * end.step_seconds / end.step as f64));
    }
    values
}

/// MMD between samples of the weights after `step` steps and training points.
pub fn mmd_at(job: &Job, folder: &Path, step: u64) -> Result<f64, CliError> {
    let opened = Opened::at(folder, step)?;
    let manifold = opened.run.manifold().as_ref();
    let reference = curve_reference(job, &opened)?;
    let (mut samples, _) = opened.sample(SamplerChoice::default(), job.seed, reference.len())?;
    samples.rows_mut().for_each(|x| manifold.canonicalise(x));
    Ok(mmd(manifold, &kernels_of(job, manifold)[0], &samples, &reference)?.biased_root)
}

/// The training points to which the MMD of a curve is measured.
fn curve_reference(job: &Job, opened: &Opened) -> Result<Points, CliError> {
    Ok(opened.run.part(Part::Train)?.head(CURVE_SAMPLES.min(job.score.samples)))
}

fn kernels_of(job: &Job, manifold: &dyn Manifold) -> Vec<Kernel> {
    match job.score.kernels.is_empty() {
        true => vec![manifold.kernel()],
        false => job.score.kernels.clone(),
    }
}

fn kernel_name(kernel: &Kernel) -> &'static str {
    match kernel {
        Kernel::HeatSphere => "heat-sphere",
        Kernel::HeatQuaternion => "heat-quaternion",
        Kernel::HeatRotations => "heat-rotations",
        Kernel::Gaussian { .. } => "gaussian",
    }
}

/// Rows of the job's law that training has not seen.
fn fresh(common: &Common, job: &Job, opened: &Opened, rows: usize, shift: u64) -> Result<Points, CliError> {
    let table =
        generators::make(&job.data.source, Some(rows), job.seed.wrapping_add(shift), job.seed, common.data_dir())?;
    Ok(opened.run.decode(&table)?)
}

/// Mean negative log-density of the true law at `points`, where it is known.
fn oracle(source: &str, seed: u64, points: &Points) -> Option<f64> {
    let (entry, arguments) = generators::dataset(source).ok()?;
    if entry.name != generators::so3_mixture::ENTRY.name {
        return None;
    }
    let law = So3Mixture::new(arguments.whole("k"), seed);
    Some(-points.rows().map(|q| law.log_density(q)).sum::<f64>() / points.len() as f64)
}
