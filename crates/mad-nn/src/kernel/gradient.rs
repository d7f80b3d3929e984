//! Loss and gradients of a whole multilayer perceptron, without a graph.

use std::ops::Range;

use super::activation::{Activation, activate, activate_slope, column_sums, scale};
use super::dense::{ROW_BLOCK, WEIGHT_BLOCK};
use super::matrix::{Matrix, as_unwritten, multiply};
use super::parallel;
use super::simd::Simd;

/// Weights (rows of outputs, one for each input) and biases of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// W.
    pub weight: &'a [f32],
    /// b.
    pub bias: &'a [f32],
}

/// Where the gradients of a layer go, in the layout of [`Layer`].
#[derive(Debug)]
pub struct LayerGradient<'a> {
    /// W̄.
    pub weight: &'a mut [f32],
    /// b̄.
    pub bias: &'a mut [f32],
}

/// A perceptron's gradients, with the buffers they need: `activation` after every layer but the last.
///
/// The whole network runs forward and backward on one block of rows before the next: threads meet only once, before the
/// gradients of the weights, which are products over the whole batch.
#[derive(Clone, Debug)]
pub struct MlpGrad {
    sizes: Vec<usize>,
    activation: Activation,
    rows: usize,
    /// Outputs of each layer.
    values: Vec<Vec<f32>>,
    /// act'(z) of each layer, then z̄; the last layer has z̄ alone.
    slopes: Vec<Vec<f32>>,
    /// Gradients of a layer's input on their way to the layer before.
    passing: Vec<f32>,
}

/// The parts of the buffers that belong to one block of rows.
struct Block<'a> {
    rows: Range<usize>,
    values: Vec<&'a mut [f32]>,
    slopes: Vec<&'a mut [f32]>,
    passing: &'a mut [f32],
    loss: &'a mut f64,
}

enum Job<'a> {
    Weight { layer: usize, first: usize, target: &'a mut [f32] },
    Bias { layer: usize, target: &'a mut [f32] },
}

impl MlpGrad {
    /// A network with these numbers of units: inputs, hidden layers, outputs.
    ///
    /// # Panics
    /// When there are fewer than two sizes or one of them is zero.
    pub fn new(sizes: &[usize], activation: Activation) -> Self {
        assert!(sizes.len() >= 2 && !sizes.contains(&0), "a network needs inputs, outputs and no empty layer");
        let layers = sizes.len() - 1;
        Self {
            sizes: sizes.to_vec(),
            activation,
            rows: 0,
            values: vec![Vec::new(); layers],
            slopes: vec![Vec::new(); layers],
            passing: Vec::new(),
        }
    }

    /// Sums the losses of all rows and writes the gradients of the sum.
    ///
    /// `loss` gets a range of rows and the outputs of these rows; it writes the gradients of the outputs and returns the loss
    /// of the range. It runs on several threads, once for each fixed block of rows.
    ///
    /// # Panics
    /// When the lengths do not fit the sizes of the network.
    pub fn gradients(
        &mut self,
        layers: &[Layer],
        input: &[f32],
        loss: impl Fn(Range<usize>, &[f32], &mut [f32]) -> f64 + Sync,
        gradients: &mut [LayerGradient],
    ) -> f64 {
        let rows = input.len() / self.sizes[0];
        assert_eq!(input.len(), rows * self.sizes[0], "the input needs whole rows of {}", self.sizes[0]);
        assert!(layers.len() == self.values.len() && gradients.len() == layers.len(), "one entry for each layer");
        for ((pair, layer), gradient) in self.sizes.windows(2).zip(layers).zip(gradients.iter()) {
            let (weights, biases) = (pair[0] * pair[1], pair[1]);
            assert!(layer.weight.len() == weights && layer.bias.len() == biases, "weights of another size");
            assert!(gradient.weight.len() == weights && gradient.bias.len() == biases, "gradients of another size");
        }
        self.resize(rows);
        let mut losses = vec![0.0; rows.div_ceil(ROW_BLOCK)];
        self.propagate(layers, input, loss, &mut losses);
        self.collect(input, gradients);
        losses.iter().sum()
    }

    fn resize(&mut self, rows: usize) {
        if rows == self.rows {
            return;
        }
        self.rows = rows;
        for (buffers, &size) in self.values.iter_mut().zip(&mut self.slopes).zip(&self.sizes[1..]) {
            buffers.0.resize(rows * size, 0.0);
            buffers.1.resize(rows * size, 0.0);
        }
        let widest = self.sizes[1..].iter().copied().max().unwrap_or(0);
        self.passing.resize(rows * widest, 0.0);
    }

    /// Forward and backward, block by block; leaves z̄ of every layer in `slopes`.
    fn propagate(
        &mut self,
        layers: &[Layer],
        input: &[f32],
        loss: impl Fn(Range<usize>, &[f32], &mut [f32]) -> f64 + Sync,
        losses: &mut [f64],
    ) {
        let (simd, sizes, activation, rows) = (Simd::best(), &self.sizes, self.activation, self.rows);
        let widest = sizes[1..].iter().copied().max().unwrap_or(0);
        let mut values: Vec<_> =
            self.values.iter_mut().zip(&sizes[1..]).map(|(v, size)| v.chunks_mut(ROW_BLOCK * size)).collect();
        let mut slopes: Vec<_> =
            self.slopes.iter_mut().zip(&sizes[1..]).map(|(s, size)| s.chunks_mut(ROW_BLOCK * size)).collect();
        let blocks: Vec<Block> = (0..rows)
            .step_by(ROW_BLOCK)
            .zip(self.passing.chunks_mut(ROW_BLOCK * widest))
            .zip(losses)
            .map(|((first, passing), loss)| Block {
                rows: first..rows.min(first + ROW_BLOCK),
                values: values.iter_mut().filter_map(Iterator::next).collect(),
                slopes: slopes.iter_mut().filter_map(Iterator::next).collect(),
                passing,
                loss,
            })
            .collect();
        parallel::for_each(blocks.into_iter(), |mut block: Block| {
            let count = block.rows.len();
            let last = layers.len() - 1;
            for (index, layer) in layers.iter().enumerate() {
                let (before, after) = block.values.split_at_mut(index);
                let x = match before.last() {
                    Some(x) => &**x,
                    None => &input[block.rows.start * sizes[0]..block.rows.end * sizes[0]],
                };
                let weight = Matrix::new(layer.weight, sizes[index], sizes[index + 1]);
                let z = &mut *after[0];
                multiply(z, Matrix::new(x, count, sizes[index]), weight);
                if index == last {
                    activate(simd, Activation::Identity, z, layer.bias);
                } else {
                    activate_slope(simd, activation, z, layer.bias, as_unwritten(block.slopes[index]));
                }
            }
            *block.loss = loss(block.rows.clone(), block.values[last], block.slopes[last]);
            for index in (1..=last).rev() {
                let (before, after) = block.slopes.split_at_mut(index);
                let weight = Matrix::new(layers[index].weight, sizes[index], sizes[index + 1]);
                let passing = &mut block.passing[..count * sizes[index]];
                multiply(passing, Matrix::new(after[0], count, sizes[index + 1]), weight.transposed());
                scale(simd, before[index - 1], passing);
            }
        });
    }

    /// W̄ = xᵀ z̄ and b̄ = Σ z̄ of every layer.
    fn collect(&self, input: &[f32], gradients: &mut [LayerGradient]) {
        let (simd, rows) = (Simd::best(), self.rows);
        let mut jobs = Vec::new();
        for (layer, gradient) in gradients.iter_mut().enumerate() {
            let block = WEIGHT_BLOCK * self.sizes[layer + 1];
            for (index, target) in gradient.weight.chunks_mut(block).enumerate() {
                jobs.push(Job::Weight { layer, first: index * WEIGHT_BLOCK, target });
            }
            jobs.push(Job::Bias { layer, target: gradient.bias });
        }
        // Large jobs first, so that no thread is left with one at the end.
        jobs.sort_by_key(|job| match job {
            Job::Weight { target, .. } => std::cmp::Reverse(target.len()),
            Job::Bias { .. } => std::cmp::Reverse(0),
        });
        parallel::for_each(jobs.into_iter(), |job| match job {
            Job::Weight { layer, first, target } => {
                let (inputs, outputs) = (self.sizes[layer], self.sizes[layer + 1]);
                let x = if layer == 0 { input } else { &self.values[layer - 1] };
                let x = Matrix::new(x, rows, inputs).columns(first, target.len() / outputs);
                multiply(target, x.transposed(), Matrix::new(&self.slopes[layer], rows, outputs));
            }
            Job::Bias { layer, target } => column_sums(simd, &self.slopes[layer], target),
        });
    }
}
