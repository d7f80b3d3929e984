//! The plain network: dense layers on the scaled point.

use super::{
    Chain, Dual, Network, Question, Shape,
    input::{Features, assemble},
};
use burn_tensor::Device;

/// F = chain(gain · x/√(1 + σ²), log(σ)/4, c).
#[derive(Debug, Clone, Copy)]
pub struct Mlp;

/// The scaled point itself.
pub(super) fn coordinates(dim: usize) -> Features {
    Features {
        len: dim,
        value: |s, out| out.copy_from_slice(s),
        tangent: |_, k, out| {
            out.fill(0.0);
            out[k] = 1.0;
        },
    }
}

impl Network for Mlp {
    fn features(&self, dim: usize) -> usize {
        dim
    }

    fn outputs(&self, dim: usize) -> usize {
        dim
    }

    fn answer(&self, shape: &Shape, chain: &Chain, question: &Question, device: &Device) -> Dual {
        chain.run(assemble(shape, &coordinates(shape.dim), question, device))
    }
}
