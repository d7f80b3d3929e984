//! A trained denoiser with what it takes to sample and to score.

use crate::{
    LearnedDenoiser,
    config::Config,
    method::{Fitted, Likelihood, SampleRequest, Sampled, Sink, validation::log_weights},
    run::{Run, RunError},
};
use mad_core::{
    Points,
    likelihood::{BoundConfig, DensityModel, NormalisedBound, Normaliser, likelihood_bound},
    manifold::Manifold,
    measure::BaseMeasure,
    noise::{Anchor, Schedule},
    sample::{Generate, SampleError, lookup},
};
use std::sync::{Arc, OnceLock};

/// Noise levels of the likelihood bound that is reported; more than in training.
const BOUND_LEVELS: usize = 64;

/// How a run samples, as the request wants it.
pub(in crate::method) fn walk(config: &Config, request: &SampleRequest) -> Result<Generate, SampleError> {
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

/// A trained denoiser.
pub(super) struct FittedDenoiser {
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
    pub(super) fn new(run: &Run, anchor: Anchor, weights: &[f32]) -> Result<Self, RunError> {
        let config = run.config();
        lookup(&config.sampler)
            .map_err(|e| RunError::Damaged { path: run.path().join("config.toml"), problem: e.to_string() })?;
        Ok(Self {
            // A mixture as base knows more than the posterior mean at the smallest level shows; others draw nothing.
            drawn: matches!(anchor, Anchor::Base(_)),
            denoiser: LearnedDenoiser::new(anchor, config.noise_range(), run.model(), weights),
            base: run.base().clone(),
            manifold: run.manifold().clone(),
            config: config.clone(),
            log_jacobian: run.columns().points.log_jacobian(),
            normalised: OnceLock::new(),
        })
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
    fn sample(&self, request: &SampleRequest, n: usize, sink: Sink) -> Result<Sampled, SampleError> {
        let generate = Generate { drawn: self.drawn, ..walk(&self.config, request)? };
        let drift = generate.run(&self.denoiser, self.base.as_ref(), self.manifold.as_ref(), n, sink)?;
        Ok(Sampled { drift, sampler: generate.sampler.name.into(), nfe: generate.nfe })
    }

    /// # Formula
    /// log dp̂/dvol(x) = log dp̂/dμ(x) + log dμ/dvol(x) − Σ ln scale, the sum over standardised columns, with p̂ the
    /// [normalised bound](NormalisedBound).
    fn log_density(&self, points: &Points, steps: usize) -> Vec<f64> {
        self.log_density_with(points, &log_weights(self.base.as_ref(), points), steps)
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
        Likelihood::bound(self.densities(&log_weights(self.base.as_ref(), points), bound.per_point), bound.level_error)
    }

    fn condition(&mut self, c: Vec<f64>, guidance: f64) {
        self.denoiser = self.denoiser.clone().given(c, guidance);
        self.normalised = OnceLock::new();
    }
}
