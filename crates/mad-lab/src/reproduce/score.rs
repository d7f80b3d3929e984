//! The score of a finished run: what its tables and figures are made from.

use super::job::{Job, TimePoint};
use crate::error::LabError;
use mad_cli::Common;
use mad_cli::{FLOOR_DRAWS, LikelihoodScore, draws};
use mad_cli::{Opened, SamplerChoice};
use mad_core::Moments;
use mad_core::Points;
use mad_core::catalogue::datasets::{self, so3_mixture::So3Mixture};
use mad_core::manifold::Manifold;
use mad_core::metrics::{Kernel, Mmd, floor, mmd, total_variation};
use mad_nn::Part;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Rows of the validation part that a grid is searched by.
const VALIDATION_ROWS: usize = 2048;

/// Points on each side of the MMD on a curve over training time, as in the paper.
const CURVE_SAMPLES: usize = 1000;

/// Draws that every point of such a curve is the mean of. Part of the ids of runs with a curve.
pub const CURVE_DRAWS: usize = 4;

/// An MMD is the mean over as many draws as this many samples make, and over this many draws at least: a single draw moves it by a
/// quarter of its floor.
const ALL_SAMPLES: usize = 10_000;
const LEAST_DRAWS: usize = 10;

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
    /// Draws that mean MMDs are over; `None` in scores that have no MMD or were kept without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<usize>,
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

    /// Whether its mean MMDs are over fewer draws than they should be.
    pub fn has_few_draws(&self) -> bool {
        self.draws.is_some_and(|draws| draws < LEAST_DRAWS)
    }

    /// Seconds of training and scoring; `None` if they were not kept, as in some ledgers.
    pub fn total_seconds(&self) -> Option<f64> {
        self.get("train_seconds").filter(|_| self.seconds > 0.0).map(|training| training + self.seconds)
    }
}

/// Scores the run in `folder`.
pub fn score(common: &Common, job: &Job, folder: &Path, times: Vec<TimePoint>) -> Result<Score, LabError> {
    let begun = Instant::now();
    let opened = Opened::new(folder)?;
    let manifold = opened.run.manifold().as_ref();
    let test = match job.score.fresh {
        Some(rows) => fresh(common, job, &opened, rows, TEST_SEED)?,
        None => opened.run.part(Part::Test)?,
    };
    let pool = match job.score.fresh {
        Some(_) => fresh(common, job, &opened, FLOOR_DRAWS * job.score.samples, FLOOR_SEED)?,
        None => opened.run.part(Part::Train)?,
    };
    let reference = test.head(job.score.samples);
    let size = reference.len();

    let sampling = Instant::now();
    let drawn = size.max(1) * draws_of(size);
    let (samples, sampled) = opened.sample(SamplerChoice::default(), job.seed, drawn)?;
    let sampling_seconds = sampling.elapsed().as_secs_f64() * 1000.0 / drawn as f64;
    let draws = draws(&samples, size);

    let mut values = BTreeMap::new();
    let mut kernels = BTreeMap::new();
    let kinds = kernels_of(job, manifold);
    for (index, kernel) in kinds.iter().enumerate() {
        let name = if index == 0 { "mmd".to_owned() } else { format!("mmd_{}", kernel_name(kernel)) };
        let found = draws.iter().map(|draw| mmd(manifold, kernel, draw, &reference)).collect::<Result<Vec<_>, _>>()?;
        let mean = |value: fn(&Mmd) -> f64| Moments::of(&found.iter().map(value).collect::<Vec<_>>()).mean;
        let (first, mean_root) = (&found[0], mean(|found| found.biased_root));
        let level = floor(manifold, kernel, size, &reference, Some(&pool), FLOOR_DRAWS, job.seed)?;
        values.insert(format!("{name}_floor"), level.value);
        if index == 0 {
            values.insert("mmd2_unbiased".into(), mean(|found| found.unbiased_squared));
            values.insert("mmd_mean".into(), mean_root);
            values.insert("mmd_mean_over_floor".into(), mean_root / level.value);
        }
        values.insert(name.clone(), first.biased_root);
        kernels.insert(name, first.kernel.clone());
    }
    if job.score.curve.is_some() {
        let reference = curve_reference(job, &opened)?;
        let others = match job.score.fresh {
            Some(_) => Some(pool),
            None => after(&pool, reference.len()),
        };
        if let Some(others) = others {
            let level = floor(manifold, &kinds[0], reference.len(), &reference, Some(&others), FLOOR_DRAWS, job.seed)?;
            values.insert("mmd_curve_floor".into(), level.value);
        }
    }
    if manifold.intrinsic_dim() == 0 {
        values.insert("tv".into(), total_variation(manifold, &samples.head(ALL_SAMPLES), &test)?);
    }
    let likelihood = LikelihoodScore::of(&opened, &test)?;
    let nll = likelihood.all.nll.unwrap_or(f64::NAN);
    let validation = opened.run.part(Part::Validation)?.head(VALIDATION_ROWS);
    values.insert("nll".into(), nll);
    if let (Some(copies), Some(new)) = (likelihood.copies, likelihood.new) {
        values.insert("copies".into(), copies.n as f64 / likelihood.all.n.max(1) as f64);
        let parts = [("nll_copies", copies), ("nll_new", new)];
        values.extend(parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part.nll?))));
    }
    if likelihood.unsolved_share > 0.0 {
        values.insert("nll_unsolved".into(), likelihood.unsolved_share);
    }
    values.insert("nll_validation".into(), opened.model.likelihood(&validation).negative_mean().0);
    if let Some(oracle) = oracle(&job.data.source, job.seed, &test) {
        values.insert("nll_oracle".into(), oracle);
        values.insert("nll_gap".into(), nll - oracle);
    }
    let bounds = bounded(likelihood.is_bound);
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
        draws: Some(draws.len()),
        times,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// How many draws of `size` samples an MMD is averaged over.
fn draws_of(size: usize) -> usize {
    (ALL_SAMPLES / size.max(1)).max(LEAST_DRAWS)
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

/// MMD between samples of the weights after `step` steps and training points, mean over draws.
pub fn mmd_at(job: &Job, folder: &Path, step: u64) -> Result<f64, LabError> {
    let opened = Opened::at(folder, step)?;
    let manifold = opened.run.manifold().as_ref();
    let reference = curve_reference(job, &opened)?;
    let (samples, _) = opened.sample(SamplerChoice::default(), job.seed, CURVE_DRAWS * reference.len())?;
    let kernel = &kernels_of(job, manifold)[0];
    let draws = draws(&samples, reference.len());
    let found = draws.iter().map(|draw| Ok(mmd(manifold, kernel, draw, &reference)?.biased_root));
    Ok(Moments::of(&found.collect::<Result<Vec<_>, LabError>>()?).mean)
}

/// Names of the numbers that are upper bounds if the likelihood is a lower one.
fn bounded(is_bound: bool) -> Vec<String> {
    let names: &[&str] = if is_bound { &["nll", "nll_copies", "nll_new", "nll_validation", "nll_gap"] } else { &[] };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The points after the first `reference` of them, if there are as many again: a floor between points and themselves is none.
fn after(points: &Points, reference: usize) -> Option<Points> {
    let rest: Vec<usize> = (reference..points.len()).collect();
    (rest.len() >= reference.max(2)).then(|| points.select(&rest))
}

/// The training points to which the MMD of a curve is measured.
fn curve_reference(job: &Job, opened: &Opened) -> Result<Points, LabError> {
    Ok(opened.run.part(Part::Train)?.head(CURVE_SAMPLES.min(job.score.samples)))
}

fn kernels_of(job: &Job, manifold: &dyn Manifold) -> Vec<Kernel> {
    match job.score.kernels.is_empty() {
        true => vec![mad_core::catalogue::kernel(manifold)],
        false => job.score.kernels.clone(),
    }
}

/// Name of a kernel in names of numbers; kernels of the same name are the same.
fn kernel_name(kernel: &Kernel) -> String {
    match kernel {
        Kernel::HeatSphere => "heat-sphere".into(),
        Kernel::HeatQuaternion => "heat-quaternion".into(),
        Kernel::HeatRotations => "heat-rotations".into(),
        Kernel::Gaussian { bandwidth: None } => "gaussian".into(),
        Kernel::Gaussian { bandwidth: Some(width) } => format!("gaussian-{width}"),
    }
}

/// Rows of the job's distribution that training has not seen.
fn fresh(common: &Common, job: &Job, opened: &Opened, rows: usize, shift: u64) -> Result<Points, LabError> {
    let table =
        datasets::make(&job.data.source, Some(rows), job.seed.wrapping_add(shift), job.seed, common.data_dir())?;
    Ok(opened.run.decode(&table)?)
}

/// Mean negative log-density of the true distribution at `points`, where it is known.
fn oracle(source: &str, seed: u64, points: &Points) -> Option<f64> {
    let (entry, arguments) = datasets::dataset(source).ok()?;
    if entry.name != datasets::so3_mixture::ENTRY.name {
        return None;
    }
    let truth = So3Mixture::new(arguments.whole("k"), seed);
    Some(-points.rows().map(|q| truth.log_density(q)).sum::<f64>() / points.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_of_curves_come_from_points_after_the_reference() {
        let points = Points::from_vec((0..10).map(f64::from).collect(), 1);
        let floor = |reference| after(&points, reference).map(Points::into_vec);
        assert_eq!(floor(4), Some(vec![4.0, 5.0, 6.0, 7.0, 8.0, 9.0]));
        assert_eq!(floor(5), Some(vec![5.0, 6.0, 7.0, 8.0, 9.0]));
        assert_eq!((floor(6), floor(10), after(&points.head(1), 0)), (None, None, None));
    }

    #[test]
    fn large_draws_are_repeated_as_well() {
        assert_eq!([82, 612, 1000, 5000].map(draws_of), [121, 16, 10, 10]);
    }

    #[test]
    fn gaussian_kernels_have_names_of_their_own() {
        let name = |bandwidth| kernel_name(&Kernel::Gaussian { bandwidth });
        assert_eq!([name(None), name(Some(0.5)), name(Some(2.0))], ["gaussian", "gaussian-0.5", "gaussian-2"]);
    }

    #[test]
    fn bounds_are_what_the_likelihood_says() {
        assert_eq!(bounded(true), ["nll", "nll_copies", "nll_new", "nll_validation", "nll_gap"]);
        assert!(bounded(false).is_empty());
    }

    #[test]
    fn times_that_were_not_kept_are_not_zero() {
        let score = crate::reproduce::testing::score("a", &[("train_seconds", 8.0)]);
        assert_eq!(score.total_seconds(), None);
        let score = Score { seconds: 2.0, ..score };
        assert_eq!(score.total_seconds(), Some(10.0));
        let score = Score { values: BTreeMap::new(), ..score };
        assert_eq!(score.total_seconds(), None);
    }
}
