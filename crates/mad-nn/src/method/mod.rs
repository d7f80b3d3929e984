//! Methods: how each of [`METHODS`] is trained, and how a trained model answers.
//!
//! Denoising methods differ in their anchor alone. The baselines of the MAD paper have a loss and answers of their own.

mod base_only;
mod denoising;
mod fff;
mod field;
mod field_run;
mod fitted;
pub mod pose;
mod rfm;
mod rows;
mod rsgm;
mod validation;

pub use crate::config::{METHODS, MethodEntry, MethodOption, MethodSpec};
pub use denoising::{Batch, BatchSource, Denoising, gradient};
pub use field::{FieldNetwork, LearnedField};
pub use fitted::{Fitted, Likelihood, SampleRequest, Sampled, Sink};
pub use rows::{Fresh, Rows};
pub use validation::Validation;

use crate::{
    LearnedDenoiser,
    checkpoint::{self, CheckpointError, State},
    config::{Config, Learner},
    net::Layout,
    run::{Run, RunError},
};
use burn_tensor::Device;
use mad_core::{noise::Anchor, rotation::Symmetry};
use pose::PoseModel;

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
    fn validate(&self, _weights: &[f32], _step: u64) -> Option<Validation> {
        None
    }
}

/// How a kind of model is trained and evaluated.
trait Method: Sync {
    /// Names and shapes of all weights.
    fn layout(&self, run: &Run) -> Layout;

    /// What a run of this method minimises.
    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError>;

    /// The model with these weights.
    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError>;

    /// The anchor of a denoiser D = m + σ F; `None` for methods that learn something else.
    fn anchor(&self, _run: &Run) -> Option<Result<Anchor, RunError>> {
        None
    }

    /// The model of poses of objects with this symmetry, for methods that see pictures.
    fn poses(&self, _config: &Config, _symmetry: Symmetry) -> Option<Box<dyn PoseModel>> {
        None
    }
}

/// The implementation that the settings name.
fn method_of(config: &Config) -> &'static dyn Method {
    match config.method.entry.learner {
        Learner::Mad => &denoising::MAD,
        Learner::Dsm => &denoising::DSM,
        Learner::Skip => &denoising::SKIP,
        Learner::Rsgm => &rsgm::Rsgm,
        Learner::FlowMatching => &rfm::FlowMatching,
        Learner::FreeForm => &fff::FreeForm,
        Learner::BaseOnly => &base_only::BaseOnly,
        Learner::Embedding => &pose::EMBEDDING,
        Learner::ImplicitPdf => &pose::IMPLICIT_PDF,
        Learner::RotationFlow => &pose::ROTATION_FLOW,
        Learner::Bingham => &pose::BINGHAM,
    }
}

impl Run {
    /// Names and shapes of all weights.
    pub fn layout(&self) -> Layout {
        method_of(self.config()).layout(self)
    }

    /// What the run minimises.
    pub fn objective(&self) -> Result<Box<dyn Objective + '_>, RunError> {
        method_of(self.config()).objective(self)
    }

    /// The state after `step` steps.
    pub fn state(&self, step: u64) -> Result<State, CheckpointError> {
        checkpoint::load(&self.checkpoints(), step, &self.layout(), &self.identity())
    }

    /// The trained model, with averaged weights of the selected step.
    pub fn fitted(&self) -> Result<Box<dyn Fitted>, RunError> {
        self.fitted_at(self.selected_step()?)
    }

    /// The model with the averaged weights of `step`, of which there must be a checkpoint.
    pub fn fitted_at(&self, step: u64) -> Result<Box<dyn Fitted>, RunError> {
        method_of(self.config()).fitted(self, &self.state(step)?.weights.ema)
    }

    /// The anchor m of a run that learns a denoiser.
    pub fn anchor(&self) -> Result<Anchor, RunError> {
        let anchor = method_of(self.config()).anchor(self).filter(|_| !self.config().is_on_pictures());
        anchor.unwrap_or_else(|| {
            Err(RunError::NoDenoiser { path: self.path().into(), method: self.config().method.to_string() })
        })
    }

    /// The trained denoiser, with averaged weights of the selected step, for samplers and likelihoods of one's own.
    pub fn denoiser(&self) -> Result<LearnedDenoiser, RunError> {
        let (anchor, state) = (self.anchor()?, self.state(self.selected_step()?)?);
        Ok(LearnedDenoiser::new(anchor, self.config().noise_range(), self.model(), &state.weights.ema))
    }

    /// The model of poses, without weights; `None` for runs on points.
    pub fn poses(&self) -> Option<Box<dyn PoseModel>> {
        let method = method_of(self.config());
        self.config().is_on_pictures().then(|| method.poses(self.config(), self.symmetry())).flatten()
    }

    /// The data set that makes new rows for every step, if the settings name one.
    pub(crate) fn fresh(&self) -> Result<Option<Fresh>, RunError> {
        let Config { fresh, seed, .. } = self.config();
        if fresh.is_empty() {
            return Ok(None);
        }
        let made = Fresh::new(fresh, *seed, self.columns().points.clone(), self.manifold().clone());
        made.map(Some).map_err(|e| RunError::Contents { problem: format!("fresh = {fresh}: {e}") })
    }
}
