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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Activation, Plan};

    const ADAM: Adam =
        Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0, clip: 0.0, ema: 0.99, warm_start: true };

    fn layout() -> Layout {
        Layout::chain(&Plan::new(&[2, 1], Activation::Identity))
    }

    /// Three steps written out by hand in `f64`.
    #[test]
    fn follows_the_textbook() {
        let layout = layout();
        let mut weights = Weights::new(vec![1.0, -2.0, 0.5]);
        let gradients = [[0.3f32, -0.1, 2.0], [0.1, 0.4, -1.0], [-0.2, 0.05, 0.0]];
        let mut expected = [(1.0f64, 0.0f64, 0.0f64), (-2.0, 0.0, 0.0), (0.5, 0.0, 0.0)];
        for (n, gradient) in gradients.iter().enumerate() {
            ADAM.step(&layout, &mut weights, gradient, 0.01);
            for ((w, m, v), &g) in expected.iter_mut().zip(gradient) {
                let g = f64::from(g);
                *m = 0.9 * *m + 0.1 * g;
                *v = 0.999 * *v + 0.001 * g * g;
                let n = (n + 1) as i32;
                *w -= 0.01 * (*m / (1.0 - 0.9f64.powi(n))) / ((*v / (1.0 - 0.999f64.powi(n))).sqrt() + 1e-8);
            }
        }
        for (w, (expected, _, _)) in weights.model.iter().zip(expected) {
            assert!((f64::from(*w) - expected).abs() < 1e-6, "{w} {expected}");
        }
    }

    #[test]
    fn gradients_with_infinite_squares_move_nothing() {
        let (mut weights, gradient) = (Weights::new(vec![1.0; 3]), [1e25; 3]);
        let before = weights.clone();
        assert_eq!(ADAM.step(&layout(), &mut weights, &gradient, 0.1), f64::INFINITY);
        assert_eq!(weights, before);
        let norm = Adam { clip: 1.0, ..ADAM }.step(&layout(), &mut weights, &gradient, 0.1);
        assert!(norm.is_finite() && weights.second.iter().all(|v| v.is_finite()) && weights != before);
    }

    #[test]
    fn clips_by_the_global_norm() {
        let layout = layout();
        let adam = Adam { clip: 1.0, ..ADAM };
        let mut weights = Weights::new(vec![0.0; 3]);
        let norm = adam.step(&layout, &mut weights, &[3.0, 0.0, 4.0], 0.0);
        assert_eq!(norm, 5.0);
        assert!((weights.first[0] - 0.06).abs() < 1e-7 && (weights.first[2] - 0.08).abs() < 1e-7);
    }

    #[test]
    fn stands_still_without_a_finite_gradient() {
        let mut weights = Weights::new(vec![1.0; 3]);
        let before = weights.clone();
        assert!(!ADAM.step(&layout(), &mut weights, &[1.0, f32::NAN, 0.0], 0.5).is_finite());
        assert_eq!(weights, before);
    }

    #[test]
    fn decays_weights_but_not_biases() {
        let layout = layout();
        let adam = Adam { weight_decay: 0.1, ..ADAM };
        let mut weights = Weights::new(vec![1.0; 3]);
        adam.step(&layout, &mut weights, &[0.0; 3], 0.5);
        assert_eq!(weights.model, [0.95, 0.95, 1.0]);
    }

    #[test]
    fn average_starts_warm() {
        let layout = layout();
        let mut weights = Weights::new(vec![0.0; 3]);
        ADAM.step(&layout, &mut weights, &[1.0; 3], 1.0);
        // d = 2/11 in the first step, so 9/11 of the new weight −1.
        assert!((weights.ema[0] + 9.0 / 11.0).abs() < 1e-6, "{}", weights.ema[0]);
        let mut weights = Weights::new(vec![0.0; 3]);
        Adam { warm_start: false, ..ADAM }.step(&layout, &mut weights, &[1.0; 3], 1.0);
        assert!((weights.ema[0] + 0.01).abs() < 1e-6, "{}", weights.ema[0]);
    }
}
