//! Jobs on pictures of solids: the same folders and scores, another kind of run.

use super::job::{Job, Watcher};
use super::score::Score;
use crate::error::LabError;
use mad_core::manifold::Rotations;
use mad_nn::condition::Condition;
use mad_nn::config::{Config, ConfigError, Partial};
use mad_nn::method::SampleRequest;
use mad_nn::pose::{PoseReport, TEST_DRAWS, score_pose};
use mad_nn::train::Outcome;
use mad_nn::{Contents, Fit, Run};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Settings of a run.
fn asked(solid: &str, settings: &str, seed: u64) -> Result<Partial, ConfigError> {
    let mut asked = Partial::from_toml(settings, "settings")?;
    asked.put("condition", Condition::of_solid(solid), "experiment")?;
    asked.put("seed", seed as i64, "experiment")?;
    Ok(asked)
}

/// The settings of a run.
pub fn resolve(solid: &str, settings: &toml::Table, seed: u64) -> Result<Config, ConfigError> {
    Config::resolve(&asked(solid, &settings.to_string(), seed)?, &Rotations::new(None))
}

/// Trains the run of a job; whether it got to the end.
pub fn train(
    job: &Job,
    solid: &str,
    run: &Path,
    watcher: &mut Watcher,
    stop: &AtomicBool,
) -> Result<Option<u64>, LabError> {
    let contents = Contents::of_solid(&asked(solid, &job.settings, job.seed)?)?;
    let fit = Fit::new(&contents).out(run).resume(true).observer(watcher).stop(stop).train()?;
    Ok((fit.outcome == Outcome::Finished).then_some(fit.step))
}

/// Scores the weights after some steps, for a curve over training.
pub fn score_at(job: &Job, folder: &Path, step: u64) -> Result<PoseReport, LabError> {
    report(job, folder, Some(step), CURVE_PICTURES.min(job.score.samples))
}

/// Test pictures of one point on a curve.
const CURVE_PICTURES: usize = 200;

/// Scores the run in `folder` after some steps, or its final weights.
fn report(job: &Job, folder: &Path, step: Option<u64>, pictures: usize) -> Result<PoseReport, LabError> {
    let report = score_pose(&Run::open(folder)?, step, pictures, TEST_DRAWS, &SampleRequest::new(job.seed))?;
    report.ok_or_else(|| LabError::usage("a score needs at least one picture"))
}

/// Scores the finished run in `folder`.
pub fn score(job: &Job, folder: &Path) -> Result<Score, LabError> {
    let begun = Instant::now();
    let report = report(job, folder, None, job.score.samples)?;
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
