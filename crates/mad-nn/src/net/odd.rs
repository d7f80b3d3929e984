//! Odd by construction, in one evaluation.

use super::{
    Chain, Dual, Network, Question, Shape,
    input::{Features, assemble, scale},
};
use crate::bridge;
use burn_tensor::Device;

/// F = 2 M(u, σ, c) s with the even features u = 4 (sᵢ sⱼ, i ≤ j)/(1 + |s|²) of the scaled point s = x/√(1 + σ²).
///
/// u does not change when x turns into −x, so neither does the matrix M, and F changes its sign. u tells all points but ±x
/// apart. It is bounded, so that F grows no faster than x far from the data, where a probability flow may pass.
#[derive(Debug, Clone, Copy)]
pub struct OddMlp;

fn products(dim: usize) -> Features {
    Features {
        len: dim * (dim + 1) / 2,
        value: |s, out| {
            let square: f64 = s.iter().map(|s| s * s).sum();
            let pairs = (0..s.len()).flat_map(|i| (i..s.len()).map(move |j| (i, j)));
            for (u, (i, j)) in out.iter_mut().zip(pairs) {
                *u = 4.0 * s[i] * s[j] / (1.0 + square);
            }
        },
        tangent: |s, k, out| {
            let square: f64 = s.iter().map(|s| s * s).sum();
            let pairs = (0..s.len()).flat_map(|i| (i..s.len()).map(move |j| (i, j)));
            for (u, (i, j)) in out.iter_mut().zip(pairs) {
                let product = (if i == k { s[j] } else { 0.0 }) + (if j == k { s[i] } else { 0.0 });
                *u = 4.0 * (product - 2.0 * s[i] * s[j] * s[k] / (1.0 + square)) / (1.0 + square);
            }
        },
    }
}

impl Network for OddMlp {
    fn features(&self, dim: usize) -> usize {
        dim * (dim + 1) / 2
    }

    fn outputs(&self, dim: usize) -> usize {
        dim * dim
    }

    /// # Formula
    /// Fᵢ = 2 Σⱼ Mᵢⱼ sⱼ and ∂Fᵢ/∂xₖ = 2 Σⱼ (∂Mᵢⱼ/∂xₖ) sⱼ + 2 Mᵢₖ/√(1 + σ²).
    fn answer(&self, shape: &Shape, chain: &Chain, question: &Question, device: &Device) -> Dual {
        let (n, d) = (question.x.len(), shape.dim);
        let matrix = chain.run(assemble(shape, &products(d), question, device));
        let factors: Vec<f64> = question.sigma.iter().map(|&sigma| 2.0 * scale(sigma)).collect();
        let rows = question.x.rows().zip(&factors);
        let twice: Vec<f64> = rows.flat_map(|(x, factor)| x.iter().map(move |x| factor * x)).collect();
        let twice = bridge::matrix(&twice, d, device);
        let m = matrix.value.reshape([n, d, d]);
        let value = (m.clone() * twice.clone().reshape([n, 1, d])).sum_dim(2).reshape([n, d]);
        let tangent = matrix.tangent.map(|t| {
            let through_matrix = (t.reshape([d, n, d, d]) * twice.reshape([1, n, 1, d])).sum_dim(3).reshape([d, n, d]);
            let factors = bridge::matrix(&factors, 1, device).reshape([n, 1, 1]);
            // [n, i, k] to [k, n, i]
            through_matrix + (m * factors).permute([2, 0, 1])
        });
        Dual { value, tangent }
    }
}
