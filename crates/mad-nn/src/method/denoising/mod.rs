//! Denoising score matching and its anchors: MAD, DSM and skip connections.

mod averaging;
mod batch;
mod fitted;
mod validator;

pub use batch::{Batch, BatchSource, gradient};
pub(super) use fitted::walk;

use super::{Fitted, Fresh, Graded, Method, Objective, Rows, Validation, pose};
use crate::{
    LearnedDenoiser,
    config::{Config, Targets},
    net::{Layout, Model},
    parts::Part,
    run::{Run, RunError},
};
use averaging::{Block, Blocks, distribution_of, most_averaged};
use burn_tensor::Device;
use fitted::FittedDenoiser;
use mad_core::{
    Points,
    estimate::distinct,
    measure::{BaseMeasure, Finite},
    noise::Anchor,
    rotation::Symmetry,
};
use pose::PoseModel;
use validator::Validator;

/// The posterior mean of the base measure as anchor.
pub(super) const MAD: Anchored = Anchored { anchor: |run| Ok(Anchor::Base(run.base().clone())), based: Some(true) };

/// The noised point as anchor.
pub(super) const DSM: Anchored = Anchored { anchor: |_| Ok(Anchor::Ambient), based: Some(false) };

/// The noised point, shrunk, as anchor.
///
/// # Formula
/// σ_d² is the mean squared coordinate of the training points about their mean.
pub(super) const SKIP: Anchored =
    Anchored { anchor: |run| Ok(Anchor::Skip { sigma_data: spread(&run.part(Part::Train)?) }), based: None };

/// A denoiser D = m + σ F with this anchor m.
pub(super) struct Anchored {
    anchor: fn(&Run) -> Result<Anchor, RunError>,
    /// Whether the anchor on pictures is the posterior mean; `None` where there is no such method on pictures.
    based: Option<bool>,
}

impl Method for Anchored {
    fn poses(&self, config: &Config, symmetry: Symmetry) -> Option<Box<dyn PoseModel>> {
        Some(Box::new(pose::Denoising::new(config, symmetry, self.based?)))
    }

    fn layout(&self, run: &Run) -> Layout {
        if let Some(model) = run.poses() {
            return model.layout().clone();
        }
        run.model().layout().clone()
    }

    fn anchor(&self, run: &Run) -> Option<Result<Anchor, RunError>> {
        Some((self.anchor)(run))
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        if let Some(model) = run.poses() {
            return pose::objective(run, model);
        }
        let (config, model) = (run.config(), run.model());
        let sign_blocks = if model.entry().odd { Vec::new() } else { run.manifold().odd_blocks() };
        let data =
            RunData { points: run.part(Part::Train)?, conditions: run.conditions(Part::Train)?, fresh: run.fresh()? };
        let averaging = averaging(run, &data)?;
        let (validation, conditions) = (run.part(Part::Validation)?, run.conditions(Part::Validation)?);
        let validator = Validator::new(config, run.base().as_ref(), &validation, conditions);
        let anchor = (self.anchor)(run)?;
        Ok(Box::new(RunObjective { config, model, sign_blocks, anchor, averaging, data, validator }))
    }

    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        if let Some(model) = run.poses() {
            return Ok(pose::fitted(run, model, weights));
        }
        Ok(Box::new(FittedDenoiser::new(run, (self.anchor)(run)?, weights)?))
    }
}

/// Root mean squared coordinate about the mean; 1 for a single repeated point.
fn spread(points: &Points) -> f64 {
    let (n, d) = (points.len() as f64, points.dim());
    let mean: Vec<f64> = (0..d).map(|k| points.rows().map(|row| row[k]).sum::<f64>() / n).collect();
    let square =
        points.rows().map(|row| row.iter().zip(&mean).map(|(x, m)| (x - m) * (x - m)).sum::<f64>()).sum::<f64>();
    let spread = (square / (n * d as f64)).sqrt();
    if spread > 0.0 { spread } else { 1.0 }
}

/// The regression of F on (x₀ − m)/σ, without validation.
#[derive(Debug, Clone)]
pub struct Denoising<'a> {
    /// The network.
    pub model: &'a Model,
    /// Where batches come from.
    pub batches: BatchSource<'a>,
}

impl Objective for Denoising<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        self.model.initialise(seed)
    }

    fn gradient(&self, weights: &mut Vec<f32>, step: u64, device: &Device) -> Graded {
        let batch = self.batches.draw(step);
        let (loss, gradient) = gradient(self.model, weights, &batch, device);
        Graded { loss, gradient, levels: batch.noised.sigma }
    }
}

/// Rows that a run learns from.
struct RunData {
    points: Points,
    conditions: Option<Points>,
    fresh: Option<Fresh>,
}

/// What targets are averaged over.
enum Averaging {
    /// Nothing: each is that of one point.
    No,
    /// All training points.
    Train(Finite),
    /// The rows of a block.
    Blocks(Blocks),
}

/// What a run averages its targets over; equal rows are found once.
fn averaging(run: &Run, data: &RunData) -> Result<Averaging, RunError> {
    let (config, manifold) = (run.config(), run.manifold());
    if config.targets == Targets::Single || data.conditions.is_some() {
        return Ok(Averaging::No);
    }
    let kept = data.fresh.is_none().then(|| distinct(&data.points));
    let few = |(points, _): &(Points, _)| points.len() <= most_averaged(manifold.as_ref());
    let Some(kept) = kept.filter(|kept| config.targets != Targets::Auto || few(kept)) else {
        let blocks = Blocks::new(manifold.clone(), config.batch as usize, config.seed);
        return Ok(blocks.map_or(Averaging::No, Averaging::Blocks));
    };
    let distribution = distribution_of(kept, manifold.as_ref());
    distribution.map(Averaging::Train).map_err(|e| RunError::Contents { problem: format!("targets = averaged: {e}") })
}

/// The objective of a run folder.
struct RunObjective<'a> {
    config: &'a Config,
    model: Model,
    sign_blocks: Vec<std::ops::Range<usize>>,
    anchor: Anchor,
    averaging: Averaging,
    data: RunData,
    validator: Option<Validator<'a>>,
}

impl RunObjective<'_> {
    fn rows(&self) -> Rows<'_> {
        match &self.data.fresh {
            Some(fresh) => Rows::Fresh(fresh),
            None => Rows::Kept(&self.data.points),
        }
    }

    /// The regression of a step; `block` are its rows if they come in blocks.
    fn training<'b>(&'b self, block: Option<&'b Block>) -> Denoising<'b> {
        let (points, distribution) = match (block, &self.averaging) {
            (Some(block), _) => (Rows::Kept(&block.points), Some(&block.distribution)),
            (None, Averaging::Train(distribution)) => (self.rows(), Some(distribution)),
            (None, _) => (self.rows(), None),
        };
        let batches = BatchSource {
            points,
            conditions: self.data.conditions.as_ref(),
            dropout: self.config.condition_dropout,
            sign_blocks: self.sign_blocks.clone(),
            rows: self.config.batch as usize,
            levels: self.config.levels.0,
            range: self.config.noise_range(),
            anchor: &self.anchor,
            distribution: distribution.map(|finite| finite as &dyn BaseMeasure),
            seed: self.config.seed,
        };
        Denoising { model: &self.model, batches }
    }
}

impl Objective for RunObjective<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        self.model.initialise(seed)
    }

    fn gradient(&self, weights: &mut Vec<f32>, step: u64, device: &Device) -> Graded {
        let block = match &self.averaging {
            Averaging::Blocks(blocks) => Some(blocks.of(step, &self.rows())),
            _ => None,
        };
        self.training(block.as_deref()).gradient(weights, step, device)
    }

    fn validate(&self, weights: &[f32], step: u64) -> Option<Validation> {
        let validator = self.validator.as_ref()?;
        let range = self.config.noise_range();
        let denoiser = LearnedDenoiser::new(self.anchor.clone(), range, self.model.clone(), weights);
        Some(validator.score(&denoiser, step))
    }
}
