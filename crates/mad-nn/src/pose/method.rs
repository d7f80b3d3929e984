//! Ways of learning poses from images.

use super::{PoseBatch, PoseConfig, PoseError};
use crate::net::Layout;
use burn::tensor::{Device, Tensor};
use mad_core::{manifold::Quaternion, metrics::Drift, rng::Rng};

/// A network with its loss and its answers; the weights are kept elsewhere.
pub trait PoseModel: Send + Sync {
    /// Names and shapes of all weights.
    fn layout(&self) -> &Layout;

    /// Weights to begin with.
    fn initialise(&self, seed: u64) -> Vec<f32>;

    /// The loss of a batch, open to the backward pass.
    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, rng: &mut Rng, device: &Device) -> Tensor<1>;

    /// Poses drawn for each of these images.
    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, seed: u64) -> Result<PoseSamples, PoseError>;

    /// Log-density at each listed pose of each image with respect to the volume 8π² of the rotations; `None` if the method has
    /// no density.
    fn log_density(&self, _weights: &[f32], _images: &[f32], _poses: &[Vec<Quaternion>]) -> Option<Vec<Vec<f64>>> {
        None
    }
}

/// Poses drawn for images.
#[derive(Debug, Clone)]
pub struct PoseSamples {
    /// Image after image, as many for each.
    pub poses: Vec<Quaternion>,
    /// For each image the pose that the method holds for the most likely one, if it knows.
    pub modes: Option<Vec<Quaternion>>,
    /// How far samples stood off the set before projection, for methods that walk in ambient space.
    pub drift: Option<Drift>,
}

/// How a kind of model is made.
pub trait PoseMethod: std::fmt::Debug + Send + Sync {
    /// Settings that suit the method better than the general ones, as TOML.
    fn settings(&self) -> &'static str {
        ""
    }

    /// Whether it learns to take noise away, so that noise levels, targets and heads mean something.
    fn denoises(&self) -> bool {
        false
    }

    /// Why the settings cannot be, if so.
    fn refuses(&self, _config: &PoseConfig) -> Option<String> {
        None
    }

    /// The model of a run.
    fn model(&self, config: &PoseConfig) -> Box<dyn PoseModel>;
}

/// One line of [`POSE_METHODS`].
#[derive(Debug, Clone, Copy)]
pub struct PoseMethodEntry {
    /// Name in commands and configs.
    pub name: &'static str,
    /// One line for `mad list pose-methods`.
    pub summary: &'static str,
    /// The method.
    pub method: &'static dyn PoseMethod,
}

/// All methods. The first one is the default.
pub const POSE_METHODS: &[PoseMethodEntry] = &[
    super::denoising::MAD,
    super::denoising::DSM,
    super::regression::ENTRY,
    super::ipdf::ENTRY,
    super::flow::ENTRY,
    super::bingham::ENTRY,
];

/// Why a method that asks once about each picture cannot be, if so.
pub(super) fn asks_once(config: &PoseConfig) -> Option<String> {
    config.symmetrised.then(|| "it asks once about each picture; set symmetrised = false".into())
}

/// The method called `name`.
pub fn lookup(name: &str) -> Result<&'static PoseMethodEntry, PoseError> {
    POSE_METHODS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = POSE_METHODS.iter().map(|entry| entry.name).collect();
        PoseError::Setting { problem: format!("method = {name}: known are {}", known.join(", ")) }
    })
}
