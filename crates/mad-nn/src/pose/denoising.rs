//! Denoising poses given an image, with the anchors of MAD and DSM.

use super::{
    PoseBatch, PoseConfig, PoseError, PoseHead, PoseTargets, Turn,
    head::{Equivariant, Head, Modulated, Noised},
    method::{PoseMethod, PoseMethodEntry, PoseModel, PoseSamples},
    space::Space,
};
use crate::{bridge, device, net::Layout, vision::Encoder};
use burn::tensor::{Device, Tensor};
use mad_core::{
    Points,
    base::BaseMeasure,
    manifold::Manifold,
    metrics::Drift,
    noise::{Anchor, LevelDraw},
    pose::Symmetry,
    rng::{Purpose, Rng, stream},
    sample::{BLOCK_ROWS, Denoiser, Generate, SampleError, lookup},
};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::sync::Arc;

/// Noise above which one position of a picture is enough: what others add is far less than the noise.
const COARSE: f64 = 0.1;

/// The sampler of poses.
const SAMPLER: &str = "dpm-sde";

/// The posterior mean of the uniform measure as anchor.
pub(super) const MAD: PoseMethodEntry = PoseMethodEntry {
    name: "mad",
    summary: "manifold aware denoising: the head adds to the posterior mean of the uniform measure",
    method: &Anchored { base: true },
};

/// The noised point as anchor.
pub(super) const DSM: PoseMethodEntry = PoseMethodEntry {
    name: "dsm",
    summary: "denoising score matching: the head adds to the noised point",
    method: &Anchored { base: false },
};

#[derive(Debug)]
struct Anchored {
    base: bool,
}

impl PoseMethod for Anchored {
    fn denoises(&self) -> bool {
        true
    }

    fn refuses(&self, config: &PoseConfig) -> Option<String> {
        let orbit = config.head == PoseHead::Modulated && config.targets == PoseTargets::Orbit;
        orbit.then(|| "head = modulated does not know which poses look the same; set targets = canonical".into())
    }

    fn model(&self, config: &PoseConfig) -> Box<dyn PoseModel> {
        Box::new(Denoising::new(config, self.base))
    }
}

/// D = m + σ F with an image encoder and a head.
struct Denoising {
    config: PoseConfig,
    space: Space,
    manifold: Arc<dyn Manifold>,
    base: Arc<dyn BaseMeasure>,
    anchor: Anchor,
    encoder: Encoder,
    head: Box<dyn Head>,
    layout: Layout,
}

impl Denoising {
    fn new(config: &PoseConfig, based: bool) -> Self {
        let symmetry = config.solid().symmetry();
        let space = Space::new(symmetry, config.targets);
        let range = config.noise_range();
        let (features, width, depth) = (config.features, config.width, config.depth);
        let head: Box<dyn Head> = match (config.head, config.targets) {
            (PoseHead::Modulated, _) => Box::new(Modulated::new(range, features, width, depth)),
            (PoseHead::Equivariant, PoseTargets::Orbit) => {
                Box::new(Equivariant::new(symmetry, &space, range, features, width, depth))
            }
            // A fixed representative is told from all other poses, also from those that look the same.
            (PoseHead::Equivariant, PoseTargets::Canonical) => {
                Box::new(Equivariant::new(Symmetry::Trivial, &space, range, features, width, depth))
            }
        };
        let encoder = config.build_encoder(head.features());
        let layout = Layout::joined([("encoder", encoder.layout()), ("head", head.layout())]);
        let manifold = space.manifold();
        let base = manifold.uniform();
        let anchor = if based { Anchor::Base(base.clone()) } else { Anchor::Ambient };
        Self { config: config.clone(), space, manifold, base, anchor, encoder, head, layout }
    }

    fn split(&self, weights: &Tensor<1>) -> (Tensor<1>, Tensor<1>) {
        let cut = self.encoder.layout().len();
        (weights.clone().narrow(0, 0, cut), weights.clone().narrow(0, cut, self.layout.len() - cut))
    }

    /// Noised points of each clean one, with what F should be.
    fn noised(&self, clean: &[[f64; 4]], rng: &mut Rng) -> (Points, Vec<f64>, Points) {
        let (d, draws) = (self.space.dim(), self.config.draws);
        let rows = clean.len() * draws;
        let sigma = LevelDraw::LogUniform.draw(self.config.noise_range(), rows, rng);
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

    /// What the encoder says of images, on the host.
    fn seen(&self, weights: &[f32], images: &[f32]) -> Vec<f32> {
        self.encoder.encode_host(images, &weights[..self.encoder.layout().len()])
    }
}

impl PoseModel for Denoising {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        let mut weights = self.encoder.initialise(seed);
        weights.extend(self.head.initialise(seed.wrapping_add(1)));
        weights
    }

    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, rng: &mut Rng, device: &Device) -> Tensor<1> {
        let clean: Vec<[f64; 4]> = batch.poses.iter().map(|pose| self.space.clean(pose)).collect();
        let (x, sigma, target) = self.noised(&clean, rng);
        let (encoder, head) = self.split(&weights);
        let pixels = batch.images.len() / batch.poses.len();
        let images = bridge::matrix_f32(batch.images.clone(), [batch.poses.len(), pixels], device);
        let seen = self.encoder.encode(images, encoder);
        let noised = Noised { x: x.as_slice(), sigma: &sigma, draws: self.config.draws };
        let answer = self.head.answer(head, seen.clone(), &noised, device);
        let loss = (answer - bridge::tensor(&target, device)).square().sum() / sigma.len() as f32;
        let flat: Vec<f64> = clean.iter().flat_map(|c| c[..self.space.dim()].to_vec()).collect();
        match self.head.auxiliary(seen, &flat, device) {
            Some(extra) if self.config.auxiliary > 0.0 => loss + extra * self.config.auxiliary,
            _ => loss,
        }
    }

    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, seed: u64) -> Result<PoseSamples, PoseError> {
        let pixels = self.config.size * self.config.size;
        // The fixed representative of a moved pose is not the moved representative: only orbits can be averaged.
        let turns = match self.config.targets {
            PoseTargets::Orbit => self.config.turns(),
            PoseTargets::Canonical => vec![Turn::NONE],
        };
        let device = device::inference();
        let head = bridge::vector_f32(weights[self.encoder.layout().len()..].to_vec(), &device);
        let generate =
            Generate { nfe: self.config.nfe, ..Generate::new(lookup(SAMPLER)?, self.config.noise_range(), seed) };
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
                let views = turns.iter().map(|turn| {
                    let seen = self.seen(weights, &turn.images(images, self.config.size));
                    (*turn, bridge::matrix_f32(seen, [count, self.head.features()], &device))
                });
                let denoiser = Given { model: self, head: &head, views: views.collect(), draws, device: &device };
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
        Ok(PoseSamples { poses, modes: None, drift: Some(drift) })
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
