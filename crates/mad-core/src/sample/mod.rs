//! Samplers: from noise to points, asking a [`Denoiser`] only one question.

mod ancestral;
mod dpm;
mod edm;
mod error;
mod euler_maruyama;
mod finish;
mod generate;
mod heun;
mod registry;
mod step;

pub use ancestral::Ancestral;
pub use dpm::DpmSolver;
pub use edm::Edm;
pub use error::SampleError;
pub use euler_maruyama::EulerMaruyama;
pub use finish::Finish;
pub use generate::{BLOCK_ROWS, Generate, Samples, in_blocks};
pub use heun::Heun;
pub use registry::{SAMPLERS, SamplerEntry, lookup};

use crate::{Points, measure::BaseMeasure, rng::Rng};
use std::sync::Arc;

/// Answers "which point was x before noise of level σ was added?" with its best mean guess D(x, σ).
pub trait Denoiser: Send + Sync {
    /// Number of ambient coordinates.
    fn ambient_dim(&self) -> usize;

    /// D(x, σ) for every row of `x`, all at the same noise level.
    fn denoise(&self, x: &Points, sigma: f64) -> Points;

    /// (D − m)/σ with m the posterior mean of `base`, if D starts from this very base and so need not ask it.
    fn remainder_over(&self, _base: &dyn BaseMeasure, _x: &Points, _sigma: f64) -> Option<Points> {
        None
    }
}

/// The posterior mean of a base measure as a denoiser: exact when the data are distributed as the base.
#[derive(Debug, Clone)]
pub struct BaseDenoiser(pub Arc<dyn BaseMeasure>);

impl Denoiser for BaseDenoiser {
    fn ambient_dim(&self) -> usize {
        self.0.ambient_dim()
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        crate::measure::posterior_means(self.0.as_ref(), x, &vec![sigma; x.len()])
    }
}

/// One way of walking x from the first noise level to the last.
pub trait Sampler: Send + Sync {
    /// Moves every row of `x` from noise level `levels[0]` to the last one; levels fall strictly and stay positive.
    fn walk(&self, denoiser: &dyn Denoiser, levels: &[f64], x: &mut Points, rng: &mut Rng);

    /// How often a step between two levels asks the denoiser.
    fn calls_per_step(&self) -> usize {
        1
    }

    /// How often a walk over this many levels asks the denoiser.
    fn calls(&self, levels: usize) -> usize {
        levels.saturating_sub(1) * self.calls_per_step()
    }

    /// The largest number of levels with which [`Sampler::walk`] and one last denoising ask at most `nfe` questions.
    fn levels_for(&self, nfe: usize) -> usize {
        match nfe {
            0 => 0,
            _ => (nfe - 1) / self.calls_per_step() + 1,
        }
    }
}
