//! Denoising score matching and its anchors: MAD, DSM and skip connections.

mod averaging;
mod batch;
mod validator;

pub use batch::{Batch, BatchSource, gradient};

use super::{
    AnchorOf, Fitted, Fresh, Graded, Likelihood, Method, MethodEntry, Objective, Rows, SampleRequest, Sampled,
};
use crate::{
    LearnedDenoiser,
    condition::Kind,
    config::{Config, Head, Targets},
    net::{Layout, Model},
    pose::{self, PoseModel},
    run::{Part, Run, RunError},
    train::Validation,
};
use averaging::{Block, Blocks, law_of, most_averaged};
use burn::tensor::Device;
use mad_core::{
    Points,
    estimate::distinct,
    likelihood::{BoundConfig, DensityModel, NormalisedBound, Normaliser, likelihood_bound},
    manifold::Manifold,
    measure::{BaseMeasure, Finite},
    noise::{Anchor, Schedule},
    rotation::Symmetry,
    sample::{Generate, SampleError, lookup},
};
use rayon::prelude::*;
use std::{
    ops::ControlFlow,
    sync::{Arc, OnceLock},
};
use validator::Validator;

/// Noise levels of the likelihood bound that is reported; more than in training.
const BOUND_LEVELS: usize = 64;

/// The posterior mean of the base measure as anchor.
pub const MAD: MethodEntry = MethodEntry {
    name: "mad",
    summary: "manifold aware denoising: the network adds to the posterior mean of the base measure",
    method: &Anchored { anchor: |run| Ok(Anchor::Base(run.base().clone())), settings: "", based: Some(true) },
};

/// The noised point as anchor.
pub const DSM: MethodEntry = MethodEntry {
    name: "dsm",
    summary: "denoising score matching: the network adds to the noised point",
    method: &Anchored { anchor: |_| Ok(Anchor::Ambient), settings: EVEN_LEVELS, based: Some(false) },
};

/// The noised point, shrunk, as anchor.
///
/// # Formula
/// σ_d² is the mean squared coordinate of the training points about their mean.
pub const SKIP: MethodEntry = MethodEntry {
    name: "skip",
    summary: "skip connection of Karras et al. (2022): the network adds to the shrunk noised point",
    method: &Anchored {
        anchor: |run| Ok(Anchor::Skip { sigma_data: spread(&run.part(Part::Train)?) }),
        settings: EVEN_LEVELS,
        based: None,
    },
};

/// A denoiser D = m + σ F with this anchor m.
struct Anchored {
    anchor: AnchorOf,
    settings: &'static str,
    /// Whether the anchor on pictures is the posterior mean; `None` where there is no such method on pictures.
    based: Option<bool>,
}

/// Without a base measure the network has to learn where the set is, at the smallest levels as much as at any other.
const EVEN_LEVELS: &str = "levels = 'log-uniform'";

impl std::fmt::Debug for Anchored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Anchored")
    }
}

impl Method for Anchored {
    fn settings(&self) -> &'static str {
        self.settings
    }

    fn conditions(&self) -> &'static [Kind] {
        if self.based.is_some() {
            &[Kind::Nothing, Kind::Columns, Kind::Pictures]
        } else {
            &[Kind::Nothing, Kind::Columns]
        }
    }

    fn refuses_settings(&self, config: &Config) -> Option<(&'static str, String)> {
        let orbit = config.head == Head::Modulated && config.targets == Targets::Orbit;
        orbit.then(|| ("head", "modulated does not know which poses look the same; set targets = canonical".into()))
    }

    fn poses(&self, config: &Config, symmetry: Symmetry) -> Option<Box<dyn PoseModel>> {
        Some(Box::new(pose::Denoising::new(config, symmetry, self.based?)))
    }

    fn layout(&self, run: &Run) -> Layout {
        if let Some(model) = run.poses() {
            return model.layout().clone();
        }
        run.model().layout().clone()
    }

    fn anchor(&self) -> Option<AnchorOf> {
        Some(self.anchor)
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
        let config = run.config();
        lookup(&config.sampler)
            .map_err(|e| RunError::Damaged { path: run.path().join("config.toml"), problem: e.to_string() })?;
        let anchor = (self.anchor)(run)?;
        // A mixture as base knows more than the posterior mean at the smallest level shows; others draw nothing.
        let drawn = matches!(anchor, Anchor::Base(_));
        Ok(Box::new(FittedDenoiser {
            denoiser: LearnedDenoiser::new(anchor, config.noise_range(), run.model(), weights),
            base: run.base().clone(),
            manifold: run.manifold().clone(),
            config: config.clone(),
            drawn,
            log_jacobian: run.columns().points.log_jacobian(),
            normalised: OnceLock::new(),
        }))
    }
}

/// How a run samples, as the request wants it.
pub(crate) fn walk(config: &Config, request: &SampleRequest) -> Result<Generate, SampleError> {
    let own = lookup(&config.sampler)?;
    let sampler = request.sampler.map_or(Ok(own), lookup)?;
    // The same sampler keeps the number of calls that suits the run.
    let nfe = if sampler.name == own.name { config.nfe as usize } else { sampler.nfe };
    let schedule = if config.rho > 0.0 { Schedule::Karras { rho: config.rho } } else { sampler.schedule };
    Ok(Generate {
        schedule,
        nfe: request.nfe.unwrap_or(nfe),
        projected: request.projected,
        ..Generate::new(sampler, config.noise_range(), request.seed)
    })
}

impl Run {
    /// The anchor m of a run that learns a denoiser.
    pub fn anchor(&self) -> Result<Anchor, RunError> {
        match self.config().method_spec().entry.method.anchor() {
            Some(anchor) if !self.config().is_on_pictures() => anchor(self),
            _ => Err(RunError::NoDenoiser { path: self.path().into(), method: self.config().method.clone() }),
        }
    }

    /// The trained denoiser, with averaged weights of the selected step, for samplers and likelihoods of one's own.
    pub fn denoiser(&self) -> Result<LearnedDenoiser, RunError> {
        let (anchor, state) = (self.anchor()?, self.state(self.selected_step()?)?);
        Ok(LearnedDenoiser::new(anchor, self.config().noise_range(), self.model(), &state.weights.ema))
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

    fn validate(&self, _weights: &[f32], _step: u64) -> Option<Validation> {
        None
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

/// What a run averages its targets over.
fn averaging(run: &Run, data: &RunData) -> Result<Averaging, RunError> {
    let (config, manifold) = (run.config(), run.manifold());
    if config.targets == Targets::Single || data.conditions.is_some() {
        return Ok(Averaging::No);
    }
    let few = || distinct(&data.points).0.len() <= most_averaged(manifold.as_ref());
    if data.fresh.is_some() || config.targets == Targets::Auto && !few() {
        let blocks = Blocks::new(manifold.clone(), config.batch as usize, config.seed);
        return Ok(blocks.map_or(Averaging::No, Averaging::Blocks));
    }
    let law = law_of(&data.points, manifold.as_ref());
    law.map(Averaging::Train).map_err(|e| RunError::Contents { problem: format!("targets = averaged: {e}") })
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
        let (points, law) = match (block, &self.averaging) {
            (Some(block), _) => (Rows::Kept(&block.points), Some(&block.law)),
            (None, Averaging::Train(law)) => (self.rows(), Some(law)),
            (None, _) => (self.rows(), None),
        };
        let batches = BatchSource {
            points,
            conditions: self.data.conditions.as_ref(),
            dropout: self.config.condition_dropout,
            sign_blocks: self.sign_blocks.clone(),
            rows: self.config.batch as usize,
            levels: self.config.level_draw(),
            range: self.config.noise_range(),
            anchor: &self.anchor,
            law: law.map(|law| law as &dyn BaseMeasure),
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

/// A trained denoiser with what it takes to sample and to score.
struct FittedDenoiser {
    denoiser: LearnedDenoiser,
    base: Arc<dyn BaseMeasure>,
    manifold: Arc<dyn Manifold>,
    config: Config,
    /// Whether the base measure draws the points at the end.
    drawn: bool,
    log_jacobian: f64,
    /// The density, normalised when it is first needed.
    normalised: OnceLock<NormalisedBound>,
}

impl FittedDenoiser {
    fn log_weights(&self, points: &Points) -> Vec<f64> {
        points.par_rows().with_min_len(64).map(|x| self.base.log_weight(x)).collect()
    }

    /// Log-ratios to the base and its log-weights as log-densities.
    fn densities(&self, log_weights: &[f64], ratios: Vec<f64>) -> Vec<f64> {
        ratios.into_iter().zip(log_weights).map(|(ratio, weight)| ratio + weight + self.log_jacobian).collect()
    }

    /// Whether the model is its base measure, because the network adds nothing.
    fn is_base(&self) -> bool {
        self.base.is_proper() && self.denoiser.is_base_alone()
    }

    fn normalised(&self) -> &NormalisedBound {
        self.normalised.get_or_init(|| {
            let model = DensityModel {
                denoiser: &self.denoiser,
                base: self.base.as_ref(),
                manifold: self.manifold.as_ref(),
                range: self.denoiser.range(),
            };
            // Samples that are not finite leave the normaliser unknown.
            NormalisedBound::new(model, &|n| Some(self.draw(&SampleRequest::new(0), n).ok()?.0))
        })
    }
}

impl Fitted for FittedDenoiser {
    fn sample(
        &self,
        request: &SampleRequest,
        n: usize,
        sink: &mut dyn FnMut(Points) -> ControlFlow<()>,
    ) -> Result<Sampled, SampleError> {
        let generate = Generate { drawn: self.drawn, ..walk(&self.config, request)? };
        let drift = generate.run(&self.denoiser, self.base.as_ref(), self.manifold.as_ref(), n, sink)?;
        Ok(Sampled { drift, sampler: generate.sampler.name.into(), nfe: generate.nfe })
    }

    /// # Formula
    /// log dp̂/dvol(x) = log dp̂/dμ(x) + log dμ/dvol(x) − Σ ln scale, the sum over standardised columns, with p̂ the
    /// [normalised bound](NormalisedBound).
    fn log_density(&self, points: &Points, steps: usize) -> Vec<f64> {
        self.log_density_with(points, &self.log_weights(points), steps)
    }

    fn log_density_with(&self, points: &Points, log_weights: &[f64], _steps: usize) -> Vec<f64> {
        let ratios = match self.is_base() {
            _ if !self.has_density() => vec![f64::NAN; points.len()],
            true => vec![0.0; points.len()],
            false => self.normalised().log_ratio(&self.denoiser, self.base.as_ref(), points),
        };
        self.densities(log_weights, ratios)
    }

    /// A quotient has the density of a class of points, which no single representative has.
    fn has_density(&self) -> bool {
        !self.manifold.is_quotient()
    }

    fn normaliser(&self) -> Option<Normaliser> {
        Some(if self.is_base() { Normaliser::ONE } else { self.normalised().normaliser() })
    }

    fn likelihood(&self, points: &Points) -> Likelihood {
        let config = BoundConfig { levels: BOUND_LEVELS, ..BoundConfig::default() };
        let bound = likelihood_bound(&self.denoiser, self.base.as_ref(), self.denoiser.range(), points, &config);
        Likelihood::bound(self.densities(&self.log_weights(points), bound.per_point), bound.level_error)
    }

    fn condition(&mut self, c: Vec<f64>, guidance: f64) {
        self.denoiser = self.denoiser.clone().given(c, guidance);
        self.normalised = OnceLock::new();
    }
}
