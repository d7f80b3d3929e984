//! How well sampled poses explain pictures.

use crate::moments::{Moments, quantile};
use crate::rotation::{Quaternion, Symmetry, angle, conjugate, multiply};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// An error above this many degrees counts as a miss.
const MISS: f64 = 10.0;

/// The estimate of a model for one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// A pose that the picture was drawn from.
    pub truth: Quaternion,
    /// Sampled poses, unit quaternions.
    pub samples: Vec<Quaternion>,
    /// Which of the samples the model finds most likely, if it ranks them.
    pub mode: Option<usize>,
}

/// Scores over a set of pictures of one solid; angles in degrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoseScore {
    /// Number of pictures.
    pub images: usize,
    /// Number of samples in all.
    pub samples: usize,
    /// Mean over pictures of the mean distance of samples to the orbit of the truth.
    pub spread: f64,
    /// Standard error of `spread`, over pictures.
    pub spread_error: f64,
    /// Median distance, over all samples.
    pub median: f64,
    /// The distance that 95 of 100 samples stay below.
    pub percentile95: f64,
    /// Share of samples more than 10 degrees away.
    pub misses: f64,
    /// Mean distance of the most likely sample to the orbit, if each picture has one.
    pub mode_error: Option<f64>,
    /// Mean over pictures and over the listed poses of the truth's orbit of the distance to the nearest sample. The spread does
    /// not see modes that are never sampled; this does. It depends on the number of samples.
    pub recall: f64,
    /// How evenly samples fall on the members of the orbit; finite groups only.
    pub modes: Option<ModeCounts>,
}

/// How evenly samples fall on the members of finite orbits.
///
/// # Formula
/// χ² = Σ_g (n_g − n/|G|)²/(n/|G|), n_g the samples nearest to member g. Over all pictures together, members are counted from the
/// representative of the orbit: a model that prefers one region of poses shows. Picture by picture with n samples each, χ² has mean
/// |G| − 1 and variance 2 (|G| − 1)(n − 1)/n if members are drawn evenly and independently: a model that keeps to one
/// member for each picture shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModeCounts {
    /// |G| − 1.
    pub degrees: usize,
    /// χ² over all pictures together.
    pub chi_square: f64,
    /// Mean over pictures of the χ² of each, divided by |G| − 1: about 1 if all members are drawn evenly.
    pub within: f64,
    /// By how many of its standard errors `within` exceeds 1.
    pub within_excess: f64,
    /// Share of (picture, member) pairs that no sample is nearest to.
    pub empty: f64,
}

/// Scores estimates; `None` if there is no sample. Pictures without samples are left out.
pub fn score(symmetry: Symmetry, answers: &[Answer]) -> Option<PoseScore> {
    let answers: Vec<&Answer> = answers.iter().filter(|answer| !answer.samples.is_empty()).collect();
    if answers.is_empty() {
        return None;
    }
    let listed = symmetry.listed();
    let images = answers.len();
    let rows: Vec<(Vec<f64>, f64)> = answers
        .par_iter()
        .map(|answer| {
            let distance = |q: &Quaternion| symmetry.distance(q, &answer.truth).to_degrees();
            (answer.samples.iter().map(distance).collect(), coverage(&listed, answer).to_degrees())
        })
        .collect();
    let means: Vec<f64> = rows.iter().map(|(row, _)| Moments::of(row).mean).collect();
    let spread = Moments::of(&means);
    let mut all: Vec<f64> = rows.iter().flat_map(|(row, _)| row.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let modes: Option<Vec<f64>> =
        answers.iter().zip(&rows).map(|(answer, (row, _))| row.get(answer.mode?).copied()).collect();
    Some(PoseScore {
        images,
        samples: all.len(),
        spread: spread.mean,
        spread_error: spread.standard_error(),
        median: quantile(&all, 0.5),
        percentile95: quantile(&all, 0.95),
        misses: all.iter().filter(|d| **d > MISS).count() as f64 / all.len() as f64,
        mode_error: modes.map(|list| Moments::of(&list).mean),
        recall: rows.iter().map(|(_, recall)| recall).sum::<f64>() / images as f64,
        modes: symmetry
            .elements()
            .filter(|list| list.len() > 1)
            .map(|list| mode_counts(symmetry, list.len(), &answers)),
    })
}

/// Mean over the listed members of the truth's orbit of the angle to the nearest sample.
fn coverage(listed: &[Quaternion], answer: &Answer) -> f64 {
    let inverse = conjugate(&answer.truth);
    let relative: Vec<Quaternion> = answer.samples.iter().map(|q| multiply(&inverse, q)).collect();
    let nearest = |g: &Quaternion| {
        let product = |p: &Quaternion| (g[0] * p[0] + g[1] * p[1] + g[2] * p[2] + g[3] * p[3]).abs();
        let best = relative.iter().max_by(|a, b| product(a).total_cmp(&product(b)));
        best.map_or(0.0, |p| angle(g, p))
    };
    listed.iter().map(nearest).sum::<f64>() / listed.len() as f64
}

fn mode_counts(symmetry: Symmetry, size: usize, answers: &[&Answer]) -> ModeCounts {
    let chi_square = |counts: &[usize]| {
        let expected = counts.iter().sum::<usize>() as f64 / size as f64;
        counts.iter().map(|n| (*n as f64 - expected).powi(2)).sum::<f64>() / expected
    };
    let degrees = (size - 1) as f64;
    let (mut pooled, mut sum, mut variance, mut empty) = (vec![0; size], 0.0, 0.0, 0);
    for answer in answers {
        let representative = symmetry.canonical(&answer.truth);
        let mut counts = vec![0; size];
        for q in &answer.samples {
            counts[symmetry.mode(q, &representative).unwrap_or(0)] += 1;
        }
        sum += chi_square(&counts);
        let n = answer.samples.len() as f64;
        variance += 2.0 * degrees * (n - 1.0) / n;
        empty += counts.iter().filter(|n| **n == 0).count();
        pooled.iter_mut().zip(&counts).for_each(|(total, n)| *total += n);
    }
    let images = answers.len() as f64;
    let within_excess = if variance > 0.0 { (sum - images * degrees) / variance.sqrt() } else { 0.0 };
    ModeCounts {
        degrees: size - 1,
        chi_square: chi_square(&pooled),
        within: sum / (images * degrees),
        within_excess,
        empty: empty as f64 / (images * size as f64),
    }
}
