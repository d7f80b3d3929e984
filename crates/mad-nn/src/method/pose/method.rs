//! What a model of poses given pictures can do, and the methods that learn nothing else.

use super::network::PictureNetwork;
use crate::{
    condition::PoseBatch,
    config::Config,
    method::{Fitted, Method, Objective, SampleRequest, fitted::no_walk},
    net::Layout,
    run::{Run, RunError},
};
use burn_tensor::{Device, Tensor};
use mad_core::{
    likelihood::BoundConfig,
    metrics::Drift,
    rng::Rng,
    rotation::{Quaternion, Symmetry},
    sample::SampleError,
};

/// A network with its loss and its samples; the weights are kept elsewhere.
pub trait PoseModel: Send + Sync {
    /// The encoder with what follows it.
    fn network(&self) -> &PictureNetwork;

    /// First weights of what follows the encoder.
    fn initialise_heads(&self, seed: u64) -> Vec<f32>;

    /// The loss of a batch, open to the backward pass.
    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, rng: &mut Rng, device: &Device) -> Tensor<1>;

    /// Poses drawn for each of these pictures, `draws` of each.
    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, request: &SampleRequest) -> PoseResult;

    /// Log-density at each listed pose of each picture with respect to the volume 8π² of the rotations; `None` if the method has
    /// no density.
    fn log_density(&self, _weights: &[f32], _images: &[f32], _poses: &[Vec<Quaternion>]) -> Option<Vec<Vec<f64>>> {
        None
    }

    /// A lower bound on the log-density of the true poses with respect to the base measure, for methods that have one.
    fn log_ratio_bound(&self, _weights: &[f32], _batch: &PoseBatch, _bound: &BoundConfig) -> Option<Vec<f64>> {
        None
    }

    /// Names and shapes of all weights.
    fn layout(&self) -> &Layout {
        self.network().layout()
    }

    /// Weights to begin with.
    fn initialise(&self, seed: u64) -> Vec<f32> {
        let mut weights = self.network().initialise(seed);
        weights.extend(self.initialise_heads(seed));
        weights
    }
}

/// Poses drawn for pictures, or why there are none.
pub type PoseResult = Result<PoseSamples, SampleError>;

/// Poses of the method called `name`, which draws them in one pass with a seed, and leaves no choice of sampler.
pub(super) fn in_one_pass(
    name: &'static str,
    request: &SampleRequest,
    draw: impl FnOnce(u64) -> (Vec<Quaternion>, Vec<Quaternion>),
) -> PoseResult {
    no_walk(name, request)?;
    let (poses, modes) = draw(request.seed);
    Ok(PoseSamples { poses, modes: Some(modes), drift: None, sampler: (name.into(), 1) })
}

/// Poses drawn for pictures.
#[derive(Debug, Clone)]
pub struct PoseSamples {
    /// Picture after picture, as many for each.
    pub poses: Vec<Quaternion>,
    /// For each picture the pose that the method holds for the most likely one, if it knows.
    pub modes: Option<Vec<Quaternion>>,
    /// How far samples stood off the set before projection, for methods that walk in ambient space.
    pub drift: Option<Drift>,
    /// The sampler, and its network calls per sample; the method's name and 1 where there is no choice.
    pub sampler: (String, usize),
}

/// A method that learns poses from pictures and nothing else, by its model of a run on objects with this symmetry.
pub(in crate::method) struct PoseMethod(pub fn(&Config, Symmetry) -> Box<dyn PoseModel>);

impl Method for PoseMethod {
    fn poses(&self, config: &Config, symmetry: Symmetry) -> Option<Box<dyn PoseModel>> {
        Some((self.0)(config, symmetry))
    }

    fn layout(&self, run: &Run) -> Layout {
        (self.0)(run.config(), run.symmetry()).layout().clone()
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        super::objective(run, (self.0)(run.config(), run.symmetry()))
    }

    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        Ok(super::fitted(run, (self.0)(run.config(), run.symmetry()), weights))
    }
}
