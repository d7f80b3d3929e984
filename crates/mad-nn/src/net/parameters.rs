//! The numbers of a network on the host, each tensor under a name that never changes.

use crate::kernel::{Activation, Plan};
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
    /// The numbers of a chain of dense layers; the last one is called `output`.
    pub fn chain(plan: &Plan) -> Self {
        let mut slots = Vec::new();
        for (i, place) in plan.layers().iter().enumerate() {
            let layer = if i + 1 == plan.layers().len() { "output".to_string() } else { format!("layer{i}") };
            let shape = vec![place.inputs, place.outputs];
            slots.push(Slot { name: format!("{layer}.weight"), shape, range: place.weight.clone() });
            slots.push(Slot { name: format!("{layer}.bias"), shape: vec![place.outputs], range: place.bias.clone() });
        }
        Self { slots, len: plan.len() }
    }

    /// Tensors of these names and shapes.
    pub fn tensors(named: &[(&str, &[usize])]) -> Self {
        let mut layout = Self::empty();
        for (name, shape) in named {
            let range = layout.len..layout.len + shape.iter().product::<usize>();
            layout.len = range.end;
            layout.slots.push(Slot { name: (*name).into(), shape: shape.to_vec(), range });
        }
        layout
    }

    /// No numbers at all.
    pub fn empty() -> Self {
        Self { slots: Vec::new(), len: 0 }
    }

    /// The tensors of several networks one after the other, each under a prefix.
    pub fn joined<'a>(parts: impl IntoIterator<Item = (&'a str, &'a Layout)>) -> Self {
        let mut joined = Self::empty();
        for (prefix, part) in parts {
            let shifted = part.slots.iter().map(|slot| Slot {
                name: format!("{prefix}.{}", slot.name),
                shape: slot.shape.clone(),
                range: joined.len + slot.range.start..joined.len + slot.range.end,
            });
            joined.slots.extend(shifted);
            joined.len += part.len;
        }
        joined
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
    /// W uniform on ±√(3/inputs), so that Var(Wᵢⱼ) = 1/inputs (LeCun; Haiku cuts a normal distribution of this variance at two
    /// deviations, which leaves 0.77 of it). Sines need phases: their biases are uniform on ±π; other biases are zero. Output
    /// layers are zero, so that training starts at the anchor, and residual blocks as the identity.
    ///
    /// Layer i draws from its own stream, so that the numbers do not depend on the engine or on other layers.
    pub fn initialise(&self, activation: Activation, seed: u64) -> Vec<f32> {
        self.draw(activation == Activation::Sin, true, seed)
    }

    /// As [`Layout::initialise`], but with all biases zero and an output layer like the others, as Haiku does by default.
    pub(crate) fn initialise_plainly(&self, seed: u64) -> Vec<f32> {
        self.draw(false, false, seed)
    }

    fn draw(&self, phases: bool, zero_outputs: bool, seed: u64) -> Vec<f32> {
        let mut numbers = vec![0.0; self.len];
        for (i, pair) in self.slots.chunks_exact(2).enumerate() {
            if zero_outputs && pair[0].name.ends_with("output.weight") {
                continue;
            }
            let mut rng = stream(seed, Purpose::Init, i as u64);
            let bound = (3.0 / pair[0].shape[0] as f64).sqrt();
            for v in &mut numbers[pair[0].range.clone()] {
                *v = (bound * (2.0 * rng.random::<f64>() - 1.0)) as f32;
            }
            if phases {
                for v in &mut numbers[pair[1].range.clone()] {
                    *v = (std::f64::consts::PI * (2.0 * rng.random::<f64>() - 1.0)) as f32;
                }
            }
        }
        numbers
    }
}
