//! What a practitioner would use: kernel density estimates and mixtures fitted by expectation maximisation, without a network.

use super::{
    Fitted, Graded, Likelihood, Method, Objective, SampleRequest, Sampled, Sink, Validation,
    fitted::no_walk,
    validation::{log_weights, of_ratios},
};
use crate::{
    net::Layout,
    parts::Part,
    run::{Run, RunError},
};
use burn_tensor::Device;
use mad_core::{
    Points,
    manifold::Manifold,
    measure::BaseMeasure,
    metrics::Drift,
    sample::{SampleError, Samples, in_blocks},
};
use std::sync::Arc;

/// The base measure of a run is all there is.
pub(super) struct BaseOnly;

impl Method for BaseOnly {
    fn layout(&self, _run: &Run) -> Layout {
        Layout::empty()
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        let validation = run.part(Part::Validation)?;
        Ok(Box::new(NothingToLearn { layout: Layout::empty(), model: BaseModel::of(run), validation }))
    }

    fn fitted(&self, run: &Run, _weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        Ok(Box::new(BaseModel::of(run)))
    }
}

impl BaseModel {
    fn of(run: &Run) -> Self {
        Self {
            name: run.config().method.entry.name,
            base: run.base().clone(),
            manifold: run.manifold().clone(),
            log_jacobian: run.columns().points.log_jacobian(),
        }
    }
}

/// No loss and no weights.
struct NothingToLearn {
    layout: Layout,
    model: BaseModel,
    validation: Points,
}

impl Objective for NothingToLearn {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initialise(&self, _seed: u64) -> Vec<f32> {
        Vec::new()
    }

    fn gradient(&self, _weights: &mut Vec<f32>, _step: u64, _device: &Device) -> Graded {
        Graded { loss: 0.0, gradient: Vec::new(), levels: Vec::new() }
    }

    fn validate(&self, _weights: &[f32], step: u64) -> Option<Validation> {
        if self.validation.is_empty() {
            return None;
        }
        let weights = log_weights(self.model.base.as_ref(), &self.validation);
        Some(Validation { is_bound: false, ..of_ratios(step, &vec![0.0; weights.len()], &weights) })
    }
}

/// A base measure as a model.
struct BaseModel {
    name: &'static str,
    base: Arc<dyn BaseMeasure>,
    manifold: Arc<dyn Manifold>,
    log_jacobian: f64,
}

impl Fitted for BaseModel {
    fn sample(&self, request: &SampleRequest, n: usize, sink: Sink) -> Result<Sampled, SampleError> {
        no_walk(self.name, request)?;
        let drift = in_blocks(n, request.seed, sink, |_, rows, rng| {
            let mut points = Points::zeros(rows, self.manifold.ambient_dim());
            for x in points.rows_mut() {
                self.base.sample(rng, x);
                self.manifold.lift(x, rng);
            }
            let drift = Drift::of(self.manifold.as_ref(), &points);
            Ok(Samples { points, drift })
        })?;
        Ok(Sampled { drift, sampler: "exact".into(), nfe: 0 })
    }

    fn log_density(&self, points: &Points, _steps: usize) -> Vec<f64> {
        self.log_density_with(points, &log_weights(self.base.as_ref(), points), 0)
    }

    fn log_density_with(&self, _points: &Points, log_weights: &[f64], _steps: usize) -> Vec<f64> {
        log_weights.iter().map(|weight| weight + self.log_jacobian).collect()
    }

    fn likelihood(&self, points: &Points) -> Likelihood {
        Likelihood::exact(self.log_density(points, 0))
    }
}
