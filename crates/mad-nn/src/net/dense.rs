//! A chain of dense layers y = a(x W + b), on tensors for training or on the host for answers.

use crate::{
    bridge,
    kernel::{
        self, Plan,
        forward::{Forward, Scratch},
    },
};
use burn_tensor::{Device, Tensor};
use std::cell::RefCell;

/// Values and, where asked for, their derivatives along every coordinate of x.
#[derive(Debug, Clone)]
pub struct Dual {
    /// `n × w`.
    pub value: Tensor<2>,
    /// ∂value/∂xₖ, `d × n × w`, row block k for coordinate k.
    pub tangent: Option<Tensor<3>>,
}

/// The layers of a network with their weights.
#[derive(Debug, Clone)]
pub enum Chain {
    /// On tensors, recorded for the backward pass if their device does so. Gives no derivatives along x.
    Tensors {
        /// All weights in the order of the network's layout.
        weights: Tensor<1>,
        /// What they are.
        plan: Plan,
    },
    /// On the host, on the calling thread, with derivatives along x.
    Host(Forward),
}

impl Chain {
    /// The output of the last layer. This is the only place where layers are evaluated.
    ///
    /// # Shapes
    /// `n × inputs` to `n × outputs`; tangents `d × n × inputs` to `d × n × outputs`.
    ///
    /// # Formula
    /// y = a(x W + b) and ẏ = a′(x W + b) (ẋ W), layer by layer.
    pub fn run(&self, input: Dual) -> Dual {
        match self {
            Chain::Tensors { weights, plan } => {
                assert!(input.tangent.is_none(), "derivatives along x are computed on the host");
                Dual { value: kernel::chain(input.value, weights.clone(), plan), tangent: None }
            }
            Chain::Host(forward) => evaluate(forward, input),
        }
    }
}

thread_local! {
    /// Buffers of this thread's evaluations: a sampler asks thousands of times.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

fn evaluate(forward: &Forward, input: Dual) -> Dual {
    let device: Device = input.value.device();
    let (rows, outputs) = (input.value.dims()[0], forward.plan().outputs());
    let directions = input.tangent.as_ref().map_or(0, |tangent| tangent.dims()[0]);
    let value = bridge::numbers_f32(input.value);
    let tangent = input.tangent.map(bridge::numbers_f32).unwrap_or_default();
    let mut out = vec![0.0; rows * outputs];
    let mut out_tangent = vec![0.0; directions * rows * outputs];
    SCRATCH.with_borrow_mut(|scratch| {
        forward.eval_tangents(&value, &tangent, directions, rows, scratch, &mut out, &mut out_tangent);
    });
    let tangent = (directions > 0).then(|| {
        bridge::matrix_f32(out_tangent, [directions * rows, outputs], &device).reshape([directions, rows, outputs])
    });
    Dual { value: bridge::matrix_f32(out, [rows, outputs], &device), tangent }
}
