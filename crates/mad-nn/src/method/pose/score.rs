//! The score of a pose model on images it has not seen.

use super::{IDENTITY, PoseSamples};
use crate::{
    method::SampleRequest,
    parts::Part,
    run::{Run, RunError},
};
use mad_core::{
    metrics::Drift,
    rotation::{Quaternion, Symmetry},
    sample::SampleError,
    solids::{Answer, PoseScore, score},
};
use rayon::prelude::*;
use serde::Serialize;

/// Samples for each test image by default.
pub const TEST_DRAWS: usize = 16;

/// Members of an orbit at which the log-density is taken, and images: each pair costs an evaluation.
const MOST_LISTED: usize = 24;
const MOST_DENSITIES: usize = 1000;

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoseReport {
    /// Images of the test.
    pub images: usize,
    /// Samples of each.
    pub draws: usize,
    /// Distances, in degrees.
    #[serde(flatten)]
    pub score: PoseScore,
    /// Mean distance of samples from the set before projection; only for methods that walk in ambient space.
    pub drift: Option<Drift>,
    /// Mean log-density of the true poses with respect to the volume 8π² of the rotations, over the first 1000 images.
    pub log_likelihood: Option<f64>,
    /// Seconds for 1000 samples.
    pub seconds_per_thousand: f64,
}

/// Why a run on pictures cannot be scored.
#[derive(Debug, thiserror::Error)]
pub enum PoseError {
    /// The run folder or its pictures cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Sampling failed.
    #[error(transparent)]
    Sample(#[from] SampleError),
}

/// Scores the selected weights, or those after `step` steps, on at most `count` test pictures with `draws` samples each. `None` for
/// a run on points, and where there are no pictures or no draws.
pub fn score_pose(
    run: &Run,
    step: Option<u64>,
    count: usize,
    draws: usize,
    request: &SampleRequest,
) -> Result<Option<PoseReport>, PoseError> {
    let Some(model) = run.poses() else { return Ok(None) };
    let step = step.map_or_else(|| run.selected_step(), Ok).map_err(RunError::from)?;
    let weights = run.state(step).map_err(RunError::from)?.weights.ema;
    let test = run.pictures(Part::Test, count)?;
    let symmetry = run.symmetry();
    let begun = std::time::Instant::now();
    let PoseSamples { poses, modes, drift, .. } = model.sample(&weights, &test.images, draws, request)?;
    let seconds = begun.elapsed().as_secs_f64();
    let modes = modes.unwrap_or_else(|| medoids(&symmetry, &poses, draws));
    let samples = poses.chunks(draws.max(1)).map(<[Quaternion]>::to_vec);
    let answers: Vec<Answer> =
        test.poses.iter().zip(samples).map(|(truth, samples)| Answer { truth: *truth, samples, mode: None }).collect();
    let Some(mut score) = score(symmetry, &answers) else { return Ok(None) };
    let off = test.poses.iter().zip(&modes).map(|(truth, mode)| symmetry.distance(mode, truth).to_degrees());
    score.mode_error = Some(off.sum::<f64>() / modes.len().max(1) as f64);
    let listed = symmetry.some(MOST_LISTED);
    let orbits: Vec<Vec<Quaternion>> = test
        .poses
        .iter()
        .take(MOST_DENSITIES)
        .map(|q| listed.iter().map(|g| mad_core::rotation::multiply(q, g)).collect())
        .collect();
    let pixels = test.images.len() / test.poses.len().max(1);
    let seen = &test.images[..orbits.len() * pixels];
    let log_likelihood = model.log_density(&weights, seen, &orbits).map(|densities| {
        let per_image = densities.iter().map(|image| image.iter().sum::<f64>() / image.len() as f64);
        per_image.sum::<f64>() / densities.len().max(1) as f64
    });
    let images = test.poses.len();
    let seconds_per_thousand = 1e3 * seconds / (images * draws).max(1) as f64;
    Ok(Some(PoseReport { images, draws, score, drift, log_likelihood, seconds_per_thousand }))
}

/// For each image the sample that is nearest to the others.
fn medoids(symmetry: &Symmetry, poses: &[Quaternion], draws: usize) -> Vec<Quaternion> {
    let central = |samples: &[Quaternion]| {
        let total = |a: &Quaternion| samples.iter().map(|b| symmetry.distance(a, b)).sum::<f64>();
        let best = samples.iter().map(|a| (total(a), a)).min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or(IDENTITY, |(_, pose)| *pose)
    };
    poses.par_chunks(draws.max(1)).map(central).collect()
}
