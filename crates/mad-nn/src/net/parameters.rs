//! The numbers of a network on the host, each tensor under a name that never changes.

use super::dense::{Chain, Layer};
use crate::{
    bridge,
    kernel::{
        Activation,
        forward::{Forward, LayerWeights},
    },
};
use burn::tensor::Device;
use mad_core::rng::{Purpose, stream};
use rand::RngExt as _;
use std::ops::Range;

/// Name and shape of one tensor and its place in the flat list of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Stable name, such as `layer0.weight`.
    pub name: String,
    /// Row-major shape.
    pub shape: Vec<usize>,
    /// Where its numbers are.
    pub range: Range<usize>,
}

/// Names and shapes of all tensors of a network, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    slots: Vec<Slot>,
    len: usize,
}

impl Layout {
    /// A chain of dense layers; layer i maps `widths[i]` numbers to `widths[i + 1]`, and the last one is called `output`.
    pub fn chain(widths: &[usize]) -> Self {
        let mut layout = Self { slots: Vec::new(), len: 0 };
        for (i, pair) in widths.windows(2).enumerate() {
            let layer = if i + 2 == widths.len() { "output".to_string() } else { format!("layer{i}") };
            layout.push(format!("{layer}.weight"), vec![pair[0], pair[1]]);
            layout.push(format!("{layer}.bias"), vec![pair[1]]);
        }
        layout
    }

    fn push(&mut self, name: String, shape: Vec<usize>) {
        let end = self.len + shape.iter().product::<usize>();
        self.slots.push(Slot { name, shape, range: self.len..end });
        self.len = end;
    }

    /// All tensors in order: weight and bias of each layer in turn.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Number of numbers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Initial numbers under `seed`.
    ///
    /// # Formula
    /// W uniform on ±√(3/inputs), so that Var(Wᵢⱼ) = 1/inputs (LeCun; the scale of Haiku's default). Sines need phases: their
    /// biases are uniform on ±π; other biases are zero. The output layer is zero, so that training starts at the anchor.
    ///
    /// Layer i draws from its own stream, so that the numbers do not depend on the engine or on other layers.
    pub fn initialise(&self, activation: Activation, seed: u64) -> Vec<f32> {
        let mut numbers = vec![0.0; self.len];
        let hidden = self.slots.len() / 2 - 1;
        for (i, pair) in self.slots.chunks_exact(2).take(hidden).enumerate() {
            let mut rng = stream(seed, Purpose::Init, i as u64);
            let bound = (3.0 / pair[0].shape[0] as f64).sqrt();
            for v in &mut numbers[pair[0].range.clone()] {
                *v = (bound * (2.0 * rng.random::<f64>() - 1.0)) as f32;
            }
            if activation == Activation::Sin {
                for v in &mut numbers[pair[1].range.clone()] {
                    *v = (std::f64::consts::PI * (2.0 * rng.random::<f64>() - 1.0)) as f32;
                }
            }
        }
        numbers
    }

    /// The layers as tensors; they collect gradients if `device` does.
    pub fn on_tensors(&self, numbers: &[f32], activation: Activation, device: &Device) -> Chain {
        let last = self.slots.len() / 2 - 1;
        let layers = self.pairs(numbers).enumerate().map(|(i, (shape, weight, bias))| {
            let weight = bridge::matrix_f32(weight.to_vec(), shape, device);
            let bias = bridge::vector_f32(bias.to_vec(), device);
            let activation = if i == last { Activation::Identity } else { activation };
            match device.is_autodiff() {
                true => Layer { weight: weight.require_grad(), bias: bias.require_grad(), activation },
                false => Layer { weight, bias, activation },
            }
        });
        Chain::Tensors(layers.collect())
    }

    /// The layers on the host.
    pub fn on_host(&self, numbers: &[f32], activation: Activation) -> Chain {
        let layers = self.pairs(numbers).map(|(_, weight, bias)| LayerWeights::new(weight.to_vec(), bias.to_vec()));
        Chain::Host(Forward::new(layers.collect(), activation))
    }

    /// Shape and numbers of every layer.
    fn pairs<'a>(&'a self, numbers: &'a [f32]) -> impl Iterator<Item = ([usize; 2], &'a [f32], &'a [f32])> {
        assert_eq!(numbers.len(), self.len, "numbers of this network");
        self.slots.chunks_exact(2).map(|pair| {
            let shape = [pair[0].shape[0], pair[0].shape[1]];
            (shape, &numbers[pair[0].range.clone()], &numbers[pair[1].range.clone()])
        })
    }
}
