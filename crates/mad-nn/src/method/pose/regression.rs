//! Regression of the invariant embedding, with a normal distribution of learned width.

use super::{
    method::{PoseMethod, PoseModel, PoseResult, in_one_pass},
    network::PictureNetwork,
    space::positions,
};
use crate::{bridge, condition::PoseBatch, config::Config, method::SampleRequest};
use burn_tensor::{Device, Tensor};
use mad_core::{
    rng::{Purpose, Rng, stream},
    rotation,
    rotation::{Embedding, Quaternion, Symmetry, multiply},
};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Weight of the likelihood of the width: it must not hinder the regression.
const WIDTH_WEIGHT: f64 = 0.01;

/// Name in errors and reports.
const NAME: &str = "embedding";

/// The normal distribution on the orbit around a regressed embedding.
pub(in crate::method) const EMBEDDING: PoseMethod = PoseMethod(model);

fn model(config: &Config, symmetry: Symmetry) -> Box<dyn PoseModel> {
    let embedding = Embedding::new(symmetry);
    let network = PictureNetwork::new(config.build_encoder(embedding.dim() + 1), &[]);
    let stretch = stretch(&embedding, &symmetry);
    Box::new(Embedded { config: config.clone(), symmetry, embedding, network, stretch })
}

/// Dimension of the set of poses that look different.
fn dimension(symmetry: &Symmetry) -> f64 {
    3.0 - symmetry.dimension() as f64
}

/// Root mean square change of the embedding per radian of a rotation that matters.
fn stretch(embedding: &Embedding, symmetry: &Symmetry) -> f64 {
    let (q, h) = ([0.2, -0.4, 0.4, 0.8], 1e-5);
    let at = |rotation: [f64; 3]| {
        let mut value = vec![0.0; embedding.dim()];
        embedding.value(&multiply(&rotation::by(&rotation), &q), &mut value);
        value
    };
    let square: f64 = (0..3)
        .map(|k| {
            let along = |h: f64| {
                let mut rotation = [0.0; 3];
                rotation[k] = h;
                at(rotation)
            };
            let (up, down) = (along(h), along(-h));
            up.iter().zip(down).map(|(u, d)| ((u - d) / (2.0 * h)).powi(2)).sum::<f64>()
        })
        .sum();
    (square / dimension(symmetry)).sqrt()
}

struct Embedded {
    config: Config,
    symmetry: Symmetry,
    embedding: Embedding,
    network: PictureNetwork,
    stretch: f64,
}

/// What the network says of one image.
struct Guess {
    pose: Quaternion,
    /// Standard deviation of the rotation along each axis, in radians.
    width: f64,
}

impl Embedded {
    /// The guesses for images, averaged over moves of the picture if the settings say so.
    fn guesses(&self, weights: &[f32], images: &[f32]) -> Vec<Guess> {
        let (size, m) = (self.config.size, self.embedding.dim());
        let pixels = size * size;
        let turns = positions(&self.config);
        let count = images.len() / pixels;
        let mut sums = vec![0.0; count * m];
        let mut widths = vec![0.0; count];
        for turn in &turns {
            let said = self.network.features_on_host(weights, &turn.images(images, size));
            let rows = sums.par_chunks_exact_mut(m).zip(&mut widths).zip(said.par_chunks_exact(m + 1));
            rows.for_each(|((sum, width), said)| {
                let wide: Vec<f64> = said[..m].iter().map(|&v| f64::from(v)).collect();
                *width += f64::from(said[m]) / turns.len() as f64;
                if turns.len() == 1 {
                    sum.copy_from_slice(&wide);
                    return;
                }
                let mut value = vec![0.0; m];
                self.embedding.value(&turn.undo(&self.embedding.decode(&wide)), &mut value);
                sum.iter_mut().zip(value).for_each(|(sum, v)| *sum += v);
            });
        }
        let rows = sums.par_chunks_exact(m).zip(&widths);
        rows.map(|(sum, width)| Guess { pose: self.embedding.decode(sum), width: width.exp() / self.stretch }).collect()
    }
}

impl PoseModel for Embedded {
    fn network(&self) -> &PictureNetwork {
        &self.network
    }

    fn initialise_heads(&self, _seed: u64) -> Vec<f32> {
        Vec::new()
    }

    /// # Formula
    /// |Ê − E|² + w (|Ê − E|²/(2s²) + k ln s), where the second term moves the width s alone.
    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, _rng: &mut Rng, device: &Device) -> Tensor<1> {
        let (n, m) = (batch.poses.len(), self.embedding.dim());
        let mut values = vec![0.0; n * m];
        let rows = values.par_chunks_exact_mut(m).zip(&batch.poses);
        rows.with_min_len(64).for_each(|(value, pose)| self.embedding.value(pose, value));
        let said = self.network.features(&weights, batch, device);
        let off = (said.clone().narrow(1, 0, m) - bridge::matrix(&values, m, device)).square().sum_dim(1);
        let log_width = said.narrow(1, m, 1);
        let likelihood =
            off.clone().detach() * (log_width.clone() * -2.0).exp() * 0.5 + log_width * dimension(&self.symmetry);
        (off + likelihood * WIDTH_WEIGHT).sum() / n as f32
    }

    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, request: &SampleRequest) -> PoseResult {
        in_one_pass(NAME, request, |seed| {
            let guesses = self.guesses(weights, images);
            let mut poses = Vec::with_capacity(guesses.len() * draws);
            for (i, guess) in guesses.iter().enumerate() {
                let mut rng = stream(seed, Purpose::Sample, i as u64);
                for _ in 0..draws {
                    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
                    let rotation = [normal(), normal(), normal()].map(|z| guess.width * z);
                    let moved = multiply(&rotation::by(&rotation), &guess.pose);
                    poses.push(self.symmetry.lift(&moved, &mut rng));
                }
            }
            (poses, guesses.into_iter().map(|guess| guess.pose).collect())
        })
    }

    /// # Formula
    /// −d²/(2s²) − (k/2) ln(2πs²) − ln|G|, with the distance d to the nearest pose of the orbit; |G| is 2π or 4π for continuous
    /// groups.
    fn log_density(&self, weights: &[f32], images: &[f32], poses: &[Vec<Quaternion>]) -> Option<Vec<Vec<f64>>> {
        let size = match &self.symmetry {
            Symmetry::Axial => 2.0 * PI,
            Symmetry::AxialFlip => 4.0 * PI,
            symmetry => symmetry.elements().map_or(1, <[_]>::len) as f64,
        };
        let k = dimension(&self.symmetry);
        let density = |guess: &Guess, pose: &Quaternion| {
            let (d, s) = (self.symmetry.distance(pose, &guess.pose), guess.width);
            -0.5 * (d / s).powi(2) - 0.5 * k * (2.0 * PI * s * s).ln() - size.ln()
        };
        let rows = self.guesses(weights, images).into_iter().zip(poses);
        Some(rows.map(|(guess, poses)| poses.iter().map(|pose| density(&guess, pose)).collect()).collect())
    }
}
