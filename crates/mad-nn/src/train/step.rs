//! One step: a batch, its loss, its gradient.

use crate::{
    kernel,
    method::{Graded, Objective},
    optim::{Adam, Weights},
};
use burn_tensor::Device;

/// What a run does over and over.
pub struct Trainer<'a> {
    /// What is minimised.
    pub objective: &'a dyn Objective,
    /// How weights follow gradients.
    pub adam: Adam,
    /// Where gradients are computed.
    pub device: Device,
}

/// What came of a step.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// Loss before the step.
    pub loss: f64,
    /// Norm of the gradient before clipping. If it is not finite, the weights did not move.
    pub gradient_norm: f64,
    /// Noise levels or times of the batch, if there is such a thing.
    pub levels: Vec<f64>,
}

impl Trainer<'_> {
    /// Draws the batch of step `index` and moves the weights by one step of this learning rate.
    pub fn step(&self, weights: &mut Weights, index: u64, learning_rate: f64) -> Stepped {
        let Graded { loss, gradient, levels } = self.objective.gradient(&mut weights.model, index, &self.device);
        let gradient_norm = match loss.is_finite() {
            true => self.adam.step(self.objective.layout(), weights, &gradient, learning_rate),
            false => f64::NAN,
        };
        kernel::recycle(gradient);
        Stepped { loss, gradient_norm, levels }
    }
}
