//! What a practitioner would use: kernel density estimates and mixtures fitted by expectation maximisation, without a network.

use super::{
    Fitted, Graded, Likelihood, Method, MethodEntry, Objective, SampleRequest, Sampled, fitted::no_walk,
    validation::summary,
};
use crate::{
    net::Layout,
    run::{Part, Run, RunError},
    train::Validation,
};
use burn::tensor::Device;
use mad_core::{
    Points,
    manifold::Manifold,
    measure::BaseMeasure,
    metrics::Drift,
    sample::{SampleError, Samples, in_blocks},
};
use rayon::prelude::*;
use std::{ops::ControlFlow, sync::Arc};

/// A kernel density estimate.
pub const KDE: MethodEntry = MethodEntry {
    name: "kde",
    summary: "kernel density estimate: a von Mises-Fisher kernel at every training point, bandwidth by cross-validation",
    method: &BaseOnly { name: "kde", settings: "base = 'kde'" },
};

/// A mixture by expectation maximisation.
pub const MIXTURE: MethodEntry = MethodEntry {
    name: "mixture",
    summary: "mixture of von Mises-Fisher densities by expectation maximisation, size by validation; no network",
    method: &BaseOnly { name: "mixture", settings: "base = 'mixture'" },
};

/// The base measure of a run is all there is.
#[derive(Debug)]
struct BaseOnly {
    /// Of the method and of its base.
    name: &'static str,
    settings: &'static str,
}

impl Method for BaseOnly {
    fn settings(&self) -> &'static str {
        self.settings
    }

    fn own_base(&self) -> Option<&'static str> {
        Some(self.name)
    }

    fn layout(&self, _run: &Run) -> Layout {
        Layout::empty()
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        let validation = run.part(Part::Validation)?;
        Ok(Box::new(NothingToLearn { layout: Layout::empty(), model: self.model(run), validation }))
    }

    fn fitted(&self, run: &Run, _weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        Ok(Box::new(self.model(run)))
    }
}

impl BaseOnly {
    fn model(&self, run: &Run) -> BaseModel {
        BaseModel {
            name: self.name,
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
        let base = self.model.base.as_ref();
        let log_density: Vec<f64> = self.validation.par_rows().map(|x| base.log_weight(x)).collect();
        Some(summary(step, &log_density, &self.validation, base))
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
    fn sample(
        &self,
        request: &SampleRequest,
        n: usize,
        sink: &mut dyn FnMut(Points) -> ControlFlow<()>,
    ) -> Result<Sampled, SampleError> {
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
        points.par_rows().map(|x| self.base.log_weight(x) + self.log_jacobian).collect()
    }

    fn log_density_with(&self, _points: &Points, log_weights: &[f64], _steps: usize) -> Vec<f64> {
        log_weights.iter().map(|weight| weight + self.log_jacobian).collect()
    }

    fn likelihood(&self, points: &Points) -> Likelihood {
        Likelihood::exact(self.log_density(points, 0))
    }
}
