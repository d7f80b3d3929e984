//! Methods: what is learned, how it is trained, and how a trained model answers.
//!
//! Denoising methods differ in their anchor alone. Rivals of the MAD paper bring a loss and answers of their own; run folders,
//! optimiser, checkpoints, metrics and commands are the same for all.

mod base_only;
mod denoising;
mod fff;
mod field;
mod field_run;
mod fitted;
mod options;
mod rfm;
mod rows;
mod rsgm;
mod validation;

pub use base_only::MIXTURE;
pub(crate) use denoising::walk;
pub use denoising::{Batch, BatchSource, Denoising, gradient};
pub use field::{FieldNetwork, LearnedField};
pub(crate) use fitted::no_walk;
pub use fitted::{Fitted, Likelihood, SampleRequest, Sampled};
pub use options::{MethodOption, MethodSpec};
pub(crate) use rows::require_law;
pub use rows::{Fresh, Rows};

use crate::{
    condition::Kind,
    config::Config,
    net::Layout,
    pose::{self, PoseModel},
    run::{Run, RunError},
    train::Validation,
};
use burn::tensor::Device;
use mad_core::{manifold::Manifold, noise::Anchor, rotation::Symmetry};

/// The loss of one step with its gradient.
#[derive(Debug, Clone)]
pub struct Graded {
    /// Loss of the batch.
    pub loss: f64,
    /// Its gradient, in the order of the layout.
    pub gradient: Vec<f32>,
    /// Noise levels or times of the batch, for reports of failure; none where a method has no such thing.
    pub levels: Vec<f64>,
}

/// What a run minimises. Step s always sees the same batch, whatever happened before.
pub trait Objective: Send + Sync {
    /// Names and shapes of all weights.
    fn layout(&self) -> &Layout;

    /// Weights to begin with.
    fn initialise(&self, seed: u64) -> Vec<f32>;

    /// Loss and gradient of step `step`. The weights are lent and come back unchanged.
    fn gradient(&self, weights: &mut Vec<f32>, step: u64, device: &Device) -> Graded;

    /// Score of these weights on the validation part, if there is one.
    fn validate(&self, weights: &[f32], step: u64) -> Option<Validation>;
}

/// The anchor of a run.
pub type AnchorOf = fn(&Run) -> Result<Anchor, RunError>;

/// How a kind of model is trained and asked.
pub trait Method: std::fmt::Debug + Send + Sync {
    /// Options of the method, written as `name:option=value,…`.
    fn options(&self) -> &'static [MethodOption] {
        &[]
    }

    /// Settings that suit the method better than the manifold's own, as TOML.
    fn settings(&self) -> &'static str {
        ""
    }

    /// Why the method cannot be used on `manifold`, if so.
    fn refuses(&self, _spec: &MethodSpec, _manifold: &dyn Manifold) -> Option<String> {
        None
    }

    /// Names and shapes of all weights.
    fn layout(&self, run: &Run) -> Layout;

    /// The anchor of a denoiser D = m + σ F; `None` for methods that learn something else. Those build on no base measure.
    fn anchor(&self) -> Option<AnchorOf> {
        None
    }

    /// The conditions it takes.
    fn conditions(&self) -> &'static [Kind] {
        &[Kind::Nothing]
    }

    /// The setting of a run on pictures that it cannot work with, and why.
    fn refuses_settings(&self, _config: &Config) -> Option<(&'static str, String)> {
        None
    }

    /// The model of poses of objects with this symmetry, for methods that see pictures.
    fn poses(&self, _config: &Config, _symmetry: Symmetry) -> Option<Box<dyn PoseModel>> {
        None
    }

    /// The base measure that is the whole model, for methods without a network. Their runs have no steps.
    fn own_base(&self) -> Option<&'static str> {
        None
    }

    /// What a run of this method minimises.
    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError>;

    /// The model with these weights.
    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError>;
}

/// One line of [`METHODS`].
#[derive(Debug, Clone, Copy)]
pub struct MethodEntry {
    /// Name in commands and configs.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The method.
    pub method: &'static dyn Method,
}

/// All methods. The first one is the default.
pub const METHODS: &[MethodEntry] = &[
    denoising::MAD,
    denoising::DSM,
    denoising::SKIP,
    rsgm::ENTRY,
    rfm::ENTRY,
    fff::ENTRY,
    base_only::KDE,
    base_only::MIXTURE,
    pose::EMBEDDING,
    pose::IPDF,
    pose::FLOW,
    pose::BINGHAM,
];

/// The method called `name`, without options.
pub fn lookup(name: &str) -> Option<&'static MethodEntry> {
    METHODS.iter().find(|entry| entry.name == name)
}
