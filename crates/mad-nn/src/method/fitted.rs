//! What a trained model does, whatever it was trained by.

use mad_core::{Moments, Points, Setting, likelihood::Normaliser, metrics::Drift, sample::SampleError};
use std::ops::ControlFlow;

/// How samples are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRequest<'a> {
    /// Name of a sampler; the model's own if absent.
    pub sampler: Option<&'a str>,
    /// Network calls per sample; the model's own number if absent.
    pub nfe: Option<usize>,
    /// Seed of all chance.
    pub seed: u64,
    /// Whether to put samples onto the manifold.
    pub projected: bool,
}

impl SampleRequest<'_> {
    /// Samples as the model makes them by default.
    pub fn new(seed: u64) -> Self {
        Self { sampler: None, nfe: None, seed, projected: true }
    }
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// How far samples stood off the manifold before projection.
    pub drift: Drift,
    /// The sampler used.
    pub sampler: String,
    /// Network calls per sample.
    pub nfe: usize,
}

/// Log-likelihoods of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    /// Log-density with respect to volume, in nats; or a lower bound that holds on average.
    pub per_point: Vec<f64>,
    /// Whether it is such a bound.
    pub is_bound: bool,
    /// How many of the points have the density of another one, because the model could not be solved for theirs.
    pub unsolved: usize,
    /// Standard error of the mean that all points have in common, whatever their number; for bounds that of the noise levels.
    pub shared_error: f64,
}

impl Likelihood {
    /// Log-densities.
    pub fn exact(per_point: Vec<f64>) -> Self {
        Self { per_point, is_bound: false, unsolved: 0, shared_error: 0.0 }
    }

    /// Lower bounds, and the standard error that all of them share.
    pub fn bound(per_point: Vec<f64>, shared_error: f64) -> Self {
        Self { per_point, is_bound: true, unsolved: 0, shared_error }
    }

    /// Which part of the points has the density of another one.
    pub fn unsolved_share(&self) -> f64 {
        self.unsolved as f64 / self.per_point.len().max(1) as f64
    }

    /// Mean negative log-likelihood and its standard error.
    pub fn negative_mean(&self) -> (f64, f64) {
        let moments = Moments::of(&self.per_point);
        (-moments.mean, moments.standard_error().hypot(self.shared_error))
    }
}

/// Where blocks of samples go; it may break off.
pub type Sink<'a> = &'a mut dyn FnMut(Points) -> ControlFlow<()>;

/// A trained model.
pub trait Fitted: Send + Sync {
    /// Draws `n` points block by block, in an order that does not depend on the number of threads. `sink` may break off.
    fn sample(&self, request: &SampleRequest, n: usize, sink: Sink) -> Result<Sampled, SampleError>;

    /// Log-density with respect to volume (the counting measure on finite sets) and per original unit of real columns, in
    /// nats; not a number without [a density](Fitted::has_density). `steps` is the number of steps where a flow must be followed.
    fn log_density(&self, points: &Points, steps: usize) -> Vec<f64>;

    /// As [`Fitted::log_density`], given log dμ/dvol of the run's base at the points, which need not be computed again.
    fn log_density_with(&self, points: &Points, _log_weights: &[f64], steps: usize) -> Vec<f64> {
        self.log_density(points, steps)
    }

    /// The normaliser that densities are divided by, for methods that have to estimate it.
    fn normaliser(&self) -> Option<Normaliser> {
        None
    }

    /// The score to report on unseen points: as [`Fitted::log_density`], or a bound where that is sharper or cheaper.
    fn likelihood(&self, points: &Points) -> Likelihood;

    /// Whether the model, with the condition that it has, has a density on its manifold.
    fn has_density(&self) -> bool {
        true
    }

    /// Answers from now on given this picture, whose pixels are those of the run.
    fn see(&mut self, _picture: Vec<f32>) {
        panic!("only models that were trained on pictures are given one");
    }

    /// Answers from now on given the condition `c`, with guidance weight `guidance`.
    fn condition(&mut self, _c: Vec<f64>, _guidance: f64) {
        panic!("only models that were trained with a condition are given one");
    }

    /// Draws `n` points into memory.
    fn draw(&self, request: &SampleRequest, n: usize) -> Result<(Points, Sampled), SampleError> {
        let mut points: Option<Points> = None;
        let sampled = self.sample(request, n, &mut |block| {
            match &mut points {
                Some(points) => points.extend(&block),
                None => points = Some(block),
            }
            ControlFlow::Continue(())
        })?;
        Ok((points.unwrap_or_else(|| Points::new(1)), sampled))
    }
}

/// Refuses a sampler where there is no choice.
pub(super) fn no_choice(method: &'static str, request: &SampleRequest) -> Result<(), SampleError> {
    match request.sampler {
        None => Ok(()),
        Some(name) => Err(SampleError::NoChoice { method, choice: format!("{} {name}", Setting::Sampler) }),
    }
}

/// Refuses a sampler and a number of calls where a sample takes one call or none.
pub(crate) fn no_walk(method: &'static str, request: &SampleRequest) -> Result<(), SampleError> {
    no_choice(method, request)?;
    match request.nfe {
        None => Ok(()),
        Some(nfe) => Err(SampleError::NoChoice { method, choice: format!("{} {nfe}", Setting::Nfe) }),
    }
}
