//! Log-densities on the manifold from a model of ambient space.

mod bound;
mod design;
mod flow;
mod normalised;
mod normaliser;
mod proposal;

pub use bound::{BoundConfig, BoundPoints, LikelihoodBound, likelihood_bound};
pub use design::BoundDesign;
pub use flow::{FlowConfig, StepDoubling, log_ratio, step_doubling};
pub use normalised::{DensityModel, NormalisedBound};
pub use normaliser::{Effort, Normaliser};
pub use proposal::Proposal;

use crate::{Points, noise::Anchor, sample::Denoiser};

/// The learned part F of a denoiser D = m + σ F together with its divergence in x.
#[derive(Debug, Clone)]
pub struct Remainder {
    /// F(x, σ), `n × d`.
    pub value: Points,
    /// Σᵢ ∂Fᵢ/∂xᵢ for each row.
    pub divergence: Vec<f64>,
}

/// A denoiser D = m + σ F whose remainder F can be differentiated exactly.
pub trait FlowModel: Denoiser {
    /// The anchor m.
    fn anchor(&self) -> &Anchor;

    /// F and its exact divergence at one noise level.
    fn remainder(&self, x: &Points, sigma: f64) -> Remainder;
}

/// The rows of `x` in blocks of `rows`, the last one shorter; fixed cuts keep results free of the number of threads.
fn blocks(x: &Points, rows: usize) -> Vec<Points> {
    x.as_slice().chunks(rows * x.dim()).map(|chunk| Points::from_vec(chunk.to_vec(), x.dim())).collect()
}
