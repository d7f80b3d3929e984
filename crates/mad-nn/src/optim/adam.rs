//! Adam and AdamW with clipping and averaged weights, in one pass over the numbers.

use crate::{
    kernel::adam::{self, clip_scale, gradient_norm},
    net::Layout,
};
use std::ops::Range;

/// How weights follow gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// Memory of the mean gradient.
    pub beta1: f64,
    /// Memory of the mean squared gradient.
    pub beta2: f64,
    /// Added to the root of the mean squared gradient.
    pub epsilon: f64,
    /// Shrinks weights (never biases) by this share of the rate in each step.
    pub weight_decay: f64,
    /// Largest global norm of a gradient; larger ones are shortened. 0 for no limit.
    pub clip: f64,
    /// Memory of the averaged weights; 0 for no average.
    pub ema: f64,
    /// Whether that memory grows from a short one, so that the start is forgotten quickly.
    pub warm_start: bool,
}

/// Weights with everything the optimiser remembers, each list in the order of the network's [`Layout`].
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The weights θ.
    pub model: Vec<f32>,
    /// Their running average, which answers questions.
    pub ema: Vec<f32>,
    /// Mean gradient.
    pub first: Vec<f32>,
    /// Mean squared gradient.
    pub second: Vec<f32>,
    /// Steps taken.
    pub step: u64,
}

/// Largest norm of a gradient: squares of larger numbers may be infinite in f32.
const LARGEST: f64 = 1e19;

impl Weights {
    /// The state before the first step.
    pub fn new(model: Vec<f32>) -> Self {
        let n = model.len();
        Self { ema: model.clone(), model, first: vec![0.0; n], second: vec![0.0; n], step: 0 }
    }
}

impl Adam {
    /// Moves the weights by one step and returns the norm the gradient had before clipping. If it is not finite, nothing moves;
    /// infinite also stands for one whose squares would be.
    ///
    /// # Formula
    /// g ← g min(1, clip/|g|), m ← β₁ m + (1 − β₁) g, v ← β₂ v + (1 − β₂) g²,
    /// θ ← θ (1 − rate λ) − rate m̂/(√v̂ + ε) with m̂ = m/(1 − β₁ⁿ), v̂ = v/(1 − β₂ⁿ),
    /// average ← d average + (1 − d) θ with d = min(ema, (1 + n)/(10 + n)) if the start is warm, else d = ema.
    ///
    /// # Reference
    /// Kingma, Ba (2015); Loshchilov, Hutter (2019).
    pub fn step(&self, layout: &Layout, weights: &mut Weights, gradient: &[f32], rate: f64) -> f64 {
        assert_eq!(gradient.len(), weights.model.len(), "one gradient per weight");
        let norm = gradient_norm(&[gradient]);
        let scale = if self.clip > 0.0 { clip_scale(norm, self.clip) } else { 1.0 };
        if !norm.is_finite() || norm * scale > LARGEST {
            return if norm.is_nan() { norm } else { f64::INFINITY };
        }
        weights.step += 1;
        let n = weights.step as f64;
        let decay = if self.warm_start { self.ema.min((1.0 + n) / (10.0 + n)) } else { self.ema };
        let mut step = |range: Range<usize>, weight_decay| {
            let constants = adam::Adam { beta1: self.beta1, beta2: self.beta2, epsilon: self.epsilon, weight_decay };
            adam::step(
                &mut weights.model[range.clone()],
                &gradient[range.clone()],
                &mut weights.first[range.clone()],
                &mut weights.second[range.clone()],
                &mut weights.ema[range],
                &constants.sizes(weights.step, rate, scale, decay),
            );
        };
        if self.weight_decay == 0.0 {
            step(0..layout.len(), 0.0);
        } else {
            for slot in layout.slots() {
                let is_bias = slot.shape.len() < 2;
                step(slot.range.clone(), if is_bias { 0.0 } else { self.weight_decay });
            }
        }
        norm
    }
}
