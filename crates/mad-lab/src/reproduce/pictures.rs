//! Jobs on pictures of solids: the same folders and scores, another kind of run.

use super::job::{Job, Watcher};
use super::score::Score;
use crate::error::LabError;
use mad_nn::pose::{PoseConfig, PoseError, PoseReport, PoseRun, TEST_DRAWS, fit_pose, score_pose};
use mad_nn::train::Outcome;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The settings of a run.
pub fn resolve(solid: &str, settings: &toml::Table, seed: u64) -> Result<PoseConfig, PoseError> {
    let mut table = settings.clone();
    table.insert("seed".into(), (seed as i64).into());
    PoseConfig::new(solid, &table)
}

/// Trains the run of a job; whether it got to the end.
pub fn train(
    job: &Job,
    solid: &str,
    run: &Path,
    watcher: &mut Watcher,
    stop: &AtomicBool,
) -> Result<Option<u64>, LabError> {
    let settings = job.settings.parse().map_err(|e: toml::de::Error| LabError::usage(e.message().to_owned()))?;
    let fit = fit_pose(&resolve(solid, &settings, job.seed)?, run, true, watcher, stop)?;
    Ok((fit.outcome == Outcome::Finished).then_some(fit.step))
}

/// Scores the weights after some steps, for a curve over training.
pub fn score_at(job: &Job, folder: &Path, step: u64) -> Result<PoseReport, LabError> {
    Ok(score_pose(&PoseRun::open(folder)?, Some(step), CURVE_PICTURES.min(job.score.samples), TEST_DRAWS, job.seed)?)
}

/// Test pictures of one point on a curve.
const CURVE_PICTURES: usize = 200;

/// Scores the finished run in `folder`.
pub fn score(job: &Job, folder: &Path) -> Result<Score, LabError> {
    let begun = Instant::now();
    let run = PoseRun::open(folder)?;
    let report = score_pose(&run, None, job.score.samples, TEST_DRAWS, job.seed)?;
    Ok(Score {
        id: job.id.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        data_hash: String::new(),
        values: values(&report).into_iter().map(|(name, v)| (name.into(), v.filter(|v| v.is_finite()))).collect(),
        bounds: Vec::new(),
        kernels: BTreeMap::new(),
        samples: report.images,
        draws: None,
        times: Vec::new(),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

fn values(report: &PoseReport) -> Vec<(&'static str, Option<f64>)> {
    let score = &report.score;
    vec![
        ("spread", Some(score.spread)),
        ("spread_error", Some(score.spread_error)),
        ("spread_median", Some(score.median)),
        ("spread_95", Some(score.percentile95)),
        ("spread_far", Some(100.0 * score.misses)),
        ("mode_error", score.mode_error),
        ("recall", Some(score.recall)),
        ("evenness", score.modes.as_ref().map(|modes| modes.within)),
        ("drift_mean", report.drift.as_ref().map(|drift| drift.mean)),
        ("nll", report.log_likelihood.map(|value| -value)),
        ("sampling_seconds", Some(report.seconds_per_thousand)),
    ]
}
