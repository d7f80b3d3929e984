//! Denoising poses given an image, with the anchors of MAD and DSM.

use super::{
    head::{self, Equivariant, Levels, Modulated, Noised},
    method::{PoseModel, PoseResult, PoseSamples},
    network::PictureNetwork,
    space::{Space, positions},
};
use crate::{
    bridge,
    condition::{PoseBatch, Turn},
    config::{Config, Head, Targets},
    device,
    method::{SampleRequest, denoising::walk},
};
use burn_tensor::{Device, Tensor};
use mad_core::{
    Points,
    likelihood::{BoundConfig, likelihood_bound},
    manifold::Manifold,
    measure::BaseMeasure,
    metrics::Drift,
    noise::Anchor,
    rng::{Purpose, Rng, stream},
    rotation::Symmetry,
    sample::{BLOCK_ROWS, Denoiser, Generate, SampleError},
};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::sync::Arc;

/// Noise above which one position of a picture is enough: what others add is far less than the noise.
const COARSE: f64 = 0.1;

/// D = m + σ F with an image encoder and a head.
pub(crate) struct Denoising {
    config: Config,
    space: Space,
    manifold: Arc<dyn Manifold>,
    base: Arc<dyn BaseMeasure>,
    anchor: Anchor,
    network: PictureNetwork,
    head: Box<dyn head::Head>,
}

impl Denoising {
    /// The denoiser of poses of objects with this symmetry, whose anchor is the posterior mean of the uniform measure or the
    /// noised point.
    pub fn new(config: &Config, symmetry: Symmetry, based: bool) -> Self {
        let space = Space::new(symmetry, config.targets);
        let range = config.noise_range();
        let (features, width, depth) = (config.features, config.width as usize, config.depth as usize);
        let levels = Levels::new(range, config.level_features);
        let head: Box<dyn head::Head> = match (config.head, config.targets) {
            (Head::Modulated, _) => Box::new(Modulated::new(levels, features, width, depth)),
            (Head::Equivariant, Targets::Orbit) => {
                Box::new(Equivariant::new(symmetry, &space, levels, features, width, depth))
            }
            // A fixed representative is distinguished from all other poses, also from those that look the same.
            (Head::Equivariant, _) => {
                Box::new(Equivariant::new(Symmetry::Trivial, &space, levels, features, width, depth))
            }
        };
        let network = PictureNetwork::new(config.build_encoder(head.features()), &[("head", head.layout())]);
        let manifold = space.manifold();
        let base = manifold.uniform();
        let anchor = if based { Anchor::Base(base.clone()) } else { Anchor::Ambient };
        Self { config: config.clone(), space, manifold, base, anchor, network, head }
    }

    /// Noised points of each clean one, with what F should be.
    fn noised(&self, clean: &[[f64; 4]], rng: &mut Rng) -> (Points, Vec<f64>, Points) {
        let (d, draws) = (self.space.dim(), self.config.draws);
        let rows = clean.len() * draws;
        let sigma = self.config.levels.draw(self.config.noise_range(), rows, rng);
        let mut x = Points::zeros(rows, d);
        for (i, (x, sigma)) in x.rows_mut().zip(&sigma).enumerate() {
            for (x, u) in x.iter_mut().zip(&clean[i / draws]) {
                let z: f64 = StandardNormal.sample(rng);
                *x = u + sigma * z;
            }
        }
        let mut target = self.anchor.means(&x, &sigma);
        let rows = target.par_rows_mut().zip(x.par_rows()).zip(&sigma).enumerate();
        rows.with_min_len(64).for_each(|(i, ((target, x), &sigma))| {
            let mean = self.space.mean(&clean[i / draws], x, sigma);
            target.iter_mut().zip(mean).for_each(|(t, mean)| *t = (mean - *t) / sigma);
        });
        (x, sigma, target)
    }

    /// The positions in which a picture is evaluated. The fixed representative of a moved pose is not the moved
    /// representative, so that only orbits can be averaged.
    fn turns(&self) -> Vec<Turn> {
        match self.config.targets {
            Targets::Orbit => positions(&self.config),
            _ => vec![Turn::NONE],
        }
    }

    /// Features of pictures in each position.
    fn views(&self, weights: &[f32], images: &[f32], turns: &[Turn], device: &Device) -> Vec<(Turn, Tensor<2>)> {
        let view = |turn: &Turn| {
            let seen = self.network.features_on_host(weights, &turn.images(images, self.config.size));
            let count = seen.len() / self.head.features();
            (*turn, bridge::matrix_f32(seen, [count, self.head.features()], device))
        };
        turns.iter().map(view).collect()
    }
}

impl PoseModel for Denoising {
    fn network(&self) -> &PictureNetwork {
        &self.network
    }

    fn initialise_heads(&self, seed: u64) -> Vec<f32> {
        self.head.initialise(seed.wrapping_add(1))
    }

    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, rng: &mut Rng, device: &Device) -> Tensor<1> {
        let clean: Vec<[f64; 4]> = batch.poses.iter().map(|pose| self.space.clean(pose)).collect();
        let (x, sigma, target) = self.noised(&clean, rng);
        let (seen, head) = (self.network.features(&weights, batch, device), self.network.heads(weights));
        let noised = Noised { x: x.as_slice(), sigma: &sigma, draws: self.config.draws };
        let answer = self.head.answer(head, seen.clone(), &noised, device);
        let loss = (answer - bridge::tensor(&target, device)).square().sum() / sigma.len() as f32;
        let flat: Vec<f64> = clean.iter().flat_map(|c| c[..self.space.dim()].to_vec()).collect();
        match self.head.auxiliary(seen, &flat, device) {
            Some(extra) if self.config.auxiliary > 0.0 => loss + extra * self.config.auxiliary,
            _ => loss,
        }
    }

    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, request: &SampleRequest) -> PoseResult {
        let pixels = self.config.size * self.config.size;
        let turns = self.turns();
        let device = device::inference();
        let head = bridge::vector_f32(self.network.heads_on_host(weights).to_vec(), &device);
        let generate = walk(&self.config, request)?;
        let seed = request.seed;
        // Rows of one walk stay together in one block, since each belongs to an image.
        let most = draws.clamp(1, BLOCK_ROWS);
        let group = BLOCK_ROWS / most;
        let pieces: Vec<(&[f32], usize)> = images
            .chunks(group * pixels)
            .flat_map(|images| (0..draws).step_by(most).map(move |from| (images, most.min(draws - from))))
            .collect();
        let drawn: Vec<Result<(Points, Drift), SampleError>> = pieces
            .into_par_iter()
            .enumerate()
            .with_max_len(1)
            .map(|(piece, (images, draws))| {
                let count = images.len() / pixels;
                let views = self.views(weights, images, &turns, &device);
                let denoiser = Given { model: self, head: &head, views, draws, device: &device };
                let generate = Generate { seed: seed.wrapping_add(piece as u64), ..generate };
                let n = count * draws;
                let samples = generate.collect(&denoiser, self.base.as_ref(), self.manifold.as_ref(), n)?;
                Ok((samples.points, samples.drift))
            })
            .collect();
        let (mut poses, mut drift) = (Vec::new(), Drift::default());
        for (piece, block) in drawn.into_iter().enumerate() {
            let (points, moved) = block?;
            let mut rng = stream(seed, Purpose::Sample, (1 << 40) + piece as u64);
            poses.extend(points.rows().map(|x| self.space.pose(x, &mut rng)));
            drift = drift.merge(moved);
        }
        let sampler = (generate.sampler.name.into(), generate.nfe);
        Ok(PoseSamples { poses, modes: None, drift: Some(drift), sampler })
    }

    fn log_ratio_bound(&self, weights: &[f32], batch: &PoseBatch, bound: &BoundConfig) -> Option<Vec<f64>> {
        let (pixels, turns, device) = (self.config.size * self.config.size, self.turns(), device::inference());
        let head = bridge::vector_f32(self.network.heads_on_host(weights).to_vec(), &device);
        let pieces = batch.images.chunks(BLOCK_ROWS * pixels).zip(batch.poses.chunks(BLOCK_ROWS));
        let bounds = pieces.enumerate().flat_map(|(piece, (images, poses))| {
            let views = self.views(weights, images, &turns, &device);
            let denoiser = Given { model: self, head: &head, views, draws: 1, device: &device };
            let clean = poses.iter().flat_map(|pose| self.space.clean(pose)[..self.space.dim()].to_vec()).collect();
            let clean = Points::from_vec(clean, self.space.dim());
            let bound = BoundConfig { seed: bound.seed.wrapping_add(piece as u64), ..*bound };
            likelihood_bound(&denoiser, self.base.as_ref(), self.config.noise_range(), &clean, &bound).per_point
        });
        Some(bounds.collect())
    }
}

/// The denoiser given some images, each seen in one or several positions.
struct Given<'a> {
    model: &'a Denoising,
    head: &'a Tensor<1>,
    views: Vec<(Turn, Tensor<2>)>,
    draws: usize,
    device: &'a Device,
}

impl Denoiser for Given<'_> {
    fn ambient_dim(&self) -> usize {
        self.model.space.dim()
    }

    /// # Formula
    /// F is the mean over moves T of the picture of T⁻¹ F(T x | T image), which the true F equals; under coarse noise it is taken
    /// at one of them.
    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        let (space, d) = (&self.model.space, x.dim());
        let levels = vec![sigma; x.len()];
        let mut denoised = self.model.anchor.means(x, &levels);
        let views = if sigma > COARSE { &self.views[..1] } else { &self.views };
        let share = sigma / views.len() as f64;
        for (turn, seen) in views {
            let moved: Vec<f64> = x.rows().flat_map(|x| space.turned(*turn, x)[..d].to_vec()).collect();
            let noised = Noised { x: &moved, sigma: &levels, draws: self.draws };
            let answer = self.model.head.answer(self.head.clone(), seen.clone(), &noised, self.device);
            for (m, f) in denoised.rows_mut().zip(bridge::numbers_f64(answer).chunks_exact(d)) {
                let back = space.unturned(*turn, f);
                m.iter_mut().zip(back).for_each(|(m, f)| *m += share * f);
            }
        }
        denoised
    }
}
