//! The part of a denoiser that sees the noised point: F(x, σ, image).

use super::space::{Space, StateEmbedding};
use crate::{
    bridge,
    kernel::{Activation, Plan, chain},
    net::Layout,
};
use burn_tensor::{Device, Tensor};
use mad_core::{noise::NoiseRange, rotation::Symmetry};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Width, in the embedding, below which differences are no longer scaled up.
const BLUR: f64 = 0.02;

/// Width of what the image tells, before the head has learned any better.
const FIRST_WIDTH: f64 = 0.3;

/// Noised points, image after image.
pub(super) struct Noised<'a> {
    /// Coordinates, row by row.
    pub x: &'a [f64],
    /// Noise level of each row.
    pub sigma: &'a [f64],
    /// Rows for each image.
    pub draws: usize,
}

impl Noised<'_> {
    fn rows(&self) -> usize {
        self.sigma.len()
    }
}

/// F from noised points and the features of their images.
pub(super) trait Head: Send + Sync {
    /// Numbers it wants from the encoder.
    fn features(&self) -> usize;

    /// Names and shapes of its weights.
    fn layout(&self) -> &Layout;

    /// Weights to begin with.
    fn initialise(&self, seed: u64) -> Vec<f32>;

    /// F of every row. `seen` has one row per image.
    fn answer(&self, weights: Tensor<1>, seen: Tensor<2>, noised: &Noised, device: &Device) -> Tensor<2>;

    /// A loss on the features of the encoder, in addition to that of F: squared error of the embedding of these clean points.
    fn auxiliary(&self, _seen: Tensor<2>, _clean: &[f64], _device: &Device) -> Option<Tensor<1>> {
        None
    }
}

/// Numbers that tell the noise level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    range: NoiseRange,
    count: usize,
}

impl Levels {
    /// This many numbers for levels of this range.
    pub fn new(range: NoiseRange, count: usize) -> Self {
        Self { range, count }
    }

    /// Sines and cosines of multiples of a quarter turn of ℓ, which is ln σ on a scale from −1 to 1; of odd numbers the first is ℓ.
    fn write(&self, sigma: f64, out: &mut [f64]) {
        let middle = 0.5 * (self.range.max.ln() + self.range.min.ln());
        let half = (0.5 * (self.range.max.ln() - self.range.min.ln())).max(1e-9);
        let level = (sigma.ln() - middle) / half;
        let (first, waves) = out.split_at_mut(self.count % 2);
        first.fill(level);
        for (k, wave) in waves.chunks_exact_mut(2).take(self.count / 2).enumerate() {
            let phase = PI * 0.5 * (k + 1) as f64 * level;
            (wave[0], wave[1]) = phase.sin_cos();
        }
    }
}

/// One row for each image to one row for each draw.
pub(super) fn repeated(per_image: Tensor<2>, draws: usize) -> Tensor<2> {
    let [images, width] = per_image.dims();
    per_image.reshape([images, 1, width]).repeat_dim(1, draws).reshape([images * draws, width])
}

/// A head that knows the symmetry: E(x g) = E(x) for the invariant embedding E, so that F(x g) = F(x) g and F(−x) = −F(x).
///
/// # Formula
/// The encoder says Ê and further numbers c. With D = Ê − E(x) and the derivative J of E at x,
///
/// F = Jᵀ (σ/(σ² + τ²) D/k² + v/k) + β s, s = x/√(1 + σ²), (v, ln τ, β) = dense layers of (E, Ê, D/√(σ² + blur²), level, |s|, c),
///
/// where k is the stretch of E. The first term is the whole answer if the image leaves a normal distribution of width τ around Ê.
///
/// # Reference
/// Invariant embeddings of SO(3)/G: Arnold, Jupp, Schaeben (2018); Hielscher, Lippert (2021).
#[derive(Debug, Clone)]
pub(super) struct Equivariant {
    embedding: StateEmbedding,
    dim: usize,
    levels: Levels,
    context: usize,
    plan: Plan,
    layout: Layout,
    stretch: f64,
}

impl Equivariant {
    pub fn new(symmetry: Symmetry, space: &Space, levels: Levels, context: usize, width: usize, depth: usize) -> Self {
        let embedding = StateEmbedding::new(symmetry);
        let m = embedding.dim();
        let plan = Plan::hidden(3 * m + levels.count + 1 + context, width, depth, m + 2, Activation::Silu);
        let stretch = embedding.stretch();
        Self { layout: Layout::chain(&plan), dim: space.dim(), embedding, levels, context, plan, stretch }
    }
}

impl Head for Equivariant {
    fn features(&self) -> usize {
        self.embedding.dim() + self.context
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        self.layout.initialise(Activation::Silu, seed)
    }

    fn answer(&self, weights: Tensor<1>, seen: Tensor<2>, noised: &Noised, device: &Device) -> Tensor<2> {
        let (m, d, rows) = (self.embedding.dim(), self.dim, noised.rows());
        let known = self.levels.count + 1;
        let mut values = vec![0.0; rows * m];
        let mut slopes = vec![0.0; rows * m * d];
        let mut levels = vec![0.0; rows * known];
        let mut scaled = vec![0.0; rows * d];
        values
            .par_chunks_exact_mut(m)
            .zip(slopes.par_chunks_exact_mut(m * d))
            .zip(levels.par_chunks_exact_mut(known))
            .zip(scaled.par_chunks_exact_mut(d))
            .zip(noised.x.par_chunks_exact(d).zip(noised.sigma))
            .with_min_len(64)
            .for_each(|((((value, slope), level), scaled), (x, &sigma))| {
                self.embedding.with_jacobian(x, value, slope);
                self.levels.write(sigma, level);
                let factor = 1.0 / (1.0 + sigma * sigma).sqrt();
                scaled.iter_mut().zip(x).for_each(|(s, x)| *s = factor * x);
                level[known - 1] = scaled.iter().map(|s| s * s).sum::<f64>().sqrt();
            });
        let seen = repeated(seen, noised.draws);
        let guess = seen.clone().narrow(1, 0, m);
        let value = bridge::matrix(&values, m, device);
        let away = guess.clone() - value.clone();
        let column = |of: &dyn Fn(f64) -> f64| {
            let numbers: Vec<f64> = noised.sigma.iter().map(|&sigma| of(sigma)).collect();
            bridge::matrix(&numbers, 1, device)
        };
        let sharp = away.clone() * column(&|sigma| 1.0 / (sigma * sigma + BLUR * BLUR).sqrt());
        let mut parts = vec![value, guess, sharp, bridge::matrix(&levels, known, device)];
        if self.context > 0 {
            parts.push(seen.narrow(1, m, self.context));
        }
        let said = chain(Tensor::cat(parts, 1), weights, &self.plan);
        let width = (said.clone().narrow(1, m, 1) * 2.0).exp() * (FIRST_WIDTH * FIRST_WIDTH);
        let sigma = column(&|sigma| sigma);
        let pull = away * (sigma.clone() / (sigma.square() + width)) / (self.stretch * self.stretch);
        let push = pull + said.clone().narrow(1, 0, m) / self.stretch;
        let slopes = bridge::matrix(&slopes, d, device).reshape([rows, m, d]);
        let along = (slopes * push.reshape([rows, m, 1])).sum_dim(1).reshape([rows, d]);
        along + bridge::matrix(&scaled, d, device) * said.narrow(1, m + 1, 1)
    }

    fn auxiliary(&self, seen: Tensor<2>, clean: &[f64], device: &Device) -> Option<Tensor<1>> {
        let (m, d) = (self.embedding.dim(), self.dim);
        let images = clean.len() / d;
        let (mut values, mut slope) = (vec![0.0; images * m], vec![0.0; m * d]);
        for (value, x) in values.chunks_exact_mut(m).zip(clean.chunks_exact(d)) {
            self.embedding.with_jacobian(x, value, &mut slope);
        }
        let off = seen.narrow(1, 0, m) - bridge::matrix(&values, m, device);
        Some(off.square().sum() / images as f32)
    }
}

/// An odd head without knowledge of the symmetry: residual blocks modulated by the image and the noise level.
///
/// # Formula
/// s = x/√(1 + σ²) enters as u = 4 (sᵢ sⱼ)/(1 + |s|²), which does not change its sign with x. Blocks h ← h + W₂ silu(W₁ h ⊙ (1 + γ) + δ)
/// with (γ, δ) = A(image) + B(level); the last layer gives a matrix M, and F = 2 M s.
#[derive(Debug, Clone)]
pub(super) struct Modulated {
    levels: Levels,
    context: usize,
    width: usize,
    depth: usize,
    layout: Layout,
}

/// Distinct products of four coordinates.
const PRODUCTS: usize = 10;

impl Modulated {
    pub fn new(levels: Levels, context: usize, width: usize, depth: usize) -> Self {
        let mut named: Vec<(String, Vec<usize>)> = Vec::new();
        let mut dense = |name: &str, inputs: usize, outputs: usize| {
            named.push((format!("{name}.weight"), vec![inputs, outputs]));
            named.push((format!("{name}.bias"), vec![outputs]));
        };
        dense("input", PRODUCTS + levels.count, width);
        for i in 0..depth {
            dense(&format!("block{i}.inner"), width, width);
            dense(&format!("block{i}.image"), context, 2 * width);
            dense(&format!("block{i}.level"), levels.count, 2 * width);
            dense(&format!("block{i}.output"), width, width);
        }
        dense("output", width, 16);
        let named: Vec<(&str, &[usize])> = named.iter().map(|(n, s)| (n.as_str(), s.as_slice())).collect();
        Self { levels, context, width, depth, layout: Layout::tensors(&named) }
    }

    /// The dense layer whose weight is slot `index`.
    fn dense(&self, weights: &Tensor<1>, index: usize, x: Tensor<2>) -> Tensor<2> {
        let (weight, bias) = (&self.layout.slots()[index], &self.layout.slots()[index + 1]);
        let shape = [weight.shape[0], weight.shape[1]];
        let matrix = weights.clone().slice([weight.range.clone()]).reshape(shape);
        x.matmul(matrix) + weights.clone().slice([bias.range.clone()]).reshape([1, shape[1]])
    }
}

impl Head for Modulated {
    fn features(&self) -> usize {
        self.context
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        self.layout.initialise(Activation::Silu, seed)
    }

    fn answer(&self, weights: Tensor<1>, seen: Tensor<2>, noised: &Noised, device: &Device) -> Tensor<2> {
        let rows = noised.rows();
        let numbers = PRODUCTS + self.levels.count;
        let mut inputs = vec![0.0; rows * numbers];
        let mut scaled = vec![0.0; rows * 4];
        for (((input, scaled), x), &sigma) in inputs
            .chunks_exact_mut(numbers)
            .zip(scaled.chunks_exact_mut(4))
            .zip(noised.x.chunks_exact(4))
            .zip(noised.sigma)
        {
            let factor = 1.0 / (1.0 + sigma * sigma).sqrt();
            scaled.iter_mut().zip(x).for_each(|(s, x)| *s = factor * x);
            let square: f64 = scaled.iter().map(|s| s * s).sum();
            let pairs = (0..4).flat_map(|i| (i..4).map(move |j| (i, j)));
            for (u, (i, j)) in input.iter_mut().zip(pairs) {
                *u = 4.0 * scaled[i] * scaled[j] / (1.0 + square);
            }
            self.levels.write(sigma, &mut input[PRODUCTS..]);
        }
        let input = bridge::matrix(&inputs, numbers, device);
        let level = input.clone().narrow(1, PRODUCTS, self.levels.count);
        let mut h = self.dense(&weights, 0, input);
        for i in 0..self.depth {
            let first = 2 + 8 * i;
            let by_image = repeated(self.dense(&weights, first + 2, seen.clone()), noised.draws);
            let modulation = by_image + self.dense(&weights, first + 4, level.clone());
            let (scale, shift) =
                (modulation.clone().narrow(1, 0, self.width), modulation.narrow(1, self.width, self.width));
            let inner = self.dense(&weights, first, h.clone()) * (scale + 1.0) + shift;
            h = h + self.dense(&weights, first + 6, Activation::Silu.apply(inner));
        }
        let matrix = self.dense(&weights, 2 + 8 * self.depth, Activation::Silu.apply(h)).reshape([rows, 4, 4]);
        let twice = bridge::matrix(&scaled, 4, device).reshape([rows, 1, 4]) * 2.0;
        (matrix * twice).sum_dim(2).reshape([rows, 4])
    }
}
