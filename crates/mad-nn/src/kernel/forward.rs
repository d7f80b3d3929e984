//! Evaluation of a multilayer perceptron without tensors, on the calling thread.

use super::activation::{Activation, activate, activate_slope, scale};
use super::matrix::{Matrix, as_unwritten, multiply};
use super::simd::Simd;

/// Rows evaluated together, so that the activations of a wide layer stay in the cache.
const ROW_BLOCK: usize = 256;

/// Weights and biases of one layer, y = x W + b.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerWeights {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// W, `inputs` rows of `outputs` numbers.
    pub weight: Vec<f32>,
    /// b, `outputs` numbers.
    pub bias: Vec<f32>,
}

impl LayerWeights {
    /// A layer; the number of outputs is that of the biases.
    pub fn new(weight: Vec<f32>, bias: Vec<f32>) -> Self {
        let outputs = bias.len();
        assert!(outputs > 0 && weight.len().is_multiple_of(outputs), "a layer needs whole rows of weights");
        Self { inputs: weight.len() / outputs, outputs, weight, bias }
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix::new(&self.weight, self.inputs, self.outputs)
    }
}

/// A multilayer perceptron: `activation` after every layer but the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Forward {
    layers: Vec<LayerWeights>,
    activation: Activation,
}

/// Buffers of an evaluation. They grow on first use; later calls of the same size allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    current: Vec<f32>,
    next: Vec<f32>,
    slopes: Vec<f32>,
}

impl Scratch {
    fn reserve(&mut self, length: usize, slopes: usize) {
        for (buffer, length) in [(&mut self.current, length), (&mut self.next, length), (&mut self.slopes, slopes)] {
            if buffer.len() < length {
                buffer.resize(length, 0.0);
            }
        }
    }
}

impl Forward {
    /// A network of layers whose sizes fit together.
    ///
    /// # Panics
    /// When there is no layer, or neighbours do not fit.
    pub fn new(layers: Vec<LayerWeights>, activation: Activation) -> Self {
        assert!(!layers.is_empty(), "a network needs a layer");
        for pair in layers.windows(2) {
            assert_eq!(pair[0].outputs, pair[1].inputs, "neighbouring layers must fit");
        }
        Self { layers, activation }
    }

    /// The layers, first to last.
    pub fn layers(&self) -> &[LayerWeights] {
        &self.layers
    }

    /// Number of inputs of the first layer.
    pub fn inputs(&self) -> usize {
        self.layers[0].inputs
    }

    /// Number of outputs of the last layer.
    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }

    fn width(&self) -> usize {
        self.layers.iter().map(|layer| layer.outputs).max().unwrap_or(0).max(self.inputs())
    }

    /// Evaluates `rows` rows of `input` into `out`, on the calling thread.
    pub fn eval(&self, input: &[f32], rows: usize, scratch: &mut Scratch, out: &mut [f32]) {
        self.eval_tangents(input, &[], 0, rows, scratch, out, &mut []);
    }

    /// Evaluates the network and its derivatives along `directions` tangents per row.
    ///
    /// `tangents` and `out_tangents` hold one whole batch for each direction: element (direction, row, column).
    ///
    /// # Formula
    /// ẏ = act'(x W + b) ⊙ (ẋ W), layer by layer, with one matrix product for the values and all tangents of a block.
    #[allow(clippy::too_many_arguments)]
    pub fn eval_tangents(
        &self,
        input: &[f32],
        tangents: &[f32],
        directions: usize,
        rows: usize,
        scratch: &mut Scratch,
        out: &mut [f32],
        out_tangents: &mut [f32],
    ) {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        assert_eq!(input.len(), rows * inputs, "input of {rows} rows of {inputs}");
        assert_eq!(tangents.len(), directions * rows * inputs, "{directions} tangents of {rows} rows of {inputs}");
        assert_eq!(out.len(), rows * outputs, "output of {rows} rows of {outputs}");
        assert_eq!(out_tangents.len(), directions * rows * outputs, "{directions} output tangents of {rows} rows");
        let block = (ROW_BLOCK / (1 + directions)).max(1);
        for first in (0..rows).step_by(block) {
            let count = block.min(rows - first);
            scratch.reserve((1 + directions) * count * self.width(), count * self.width());
            // The block starts with its values, followed by its tangents, one direction after the other.
            for part in 0..=directions {
                let source = match part {
                    0 => &input[first * inputs..],
                    _ => &tangents[((part - 1) * rows + first) * inputs..],
                };
                let size = count * inputs;
                scratch.current[part * size..(part + 1) * size].copy_from_slice(&source[..size]);
            }
            self.eval_block(count, directions, scratch);
            for part in 0..=directions {
                let size = count * outputs;
                let target = match part {
                    0 => &mut out[first * outputs..],
                    _ => &mut out_tangents[((part - 1) * rows + first) * outputs..],
                };
                target[..size].copy_from_slice(&scratch.current[part * size..(part + 1) * size]);
            }
        }
    }

    /// Replaces the values and tangents in `scratch.current` by those of the output.
    fn eval_block(&self, count: usize, directions: usize, scratch: &mut Scratch) {
        let simd = Simd::best();
        let parts = 1 + directions;
        for (index, layer) in self.layers.iter().enumerate() {
            let x = Matrix::new(&scratch.current[..parts * count * layer.inputs], parts * count, layer.inputs);
            let size = count * layer.outputs;
            let next = &mut scratch.next[..parts * size];
            multiply(next, x, layer.matrix());
            let (values, tangents) = next.split_at_mut(size);
            if index + 1 == self.layers.len() {
                activate(simd, Activation::Identity, values, &layer.bias);
            } else if directions == 0 {
                activate(simd, self.activation, values, &layer.bias);
            } else {
                let slopes = &mut scratch.slopes[..size];
                activate_slope(simd, self.activation, values, &layer.bias, as_unwritten(slopes));
                for tangent in tangents.chunks_exact_mut(size) {
                    scale(simd, tangent, slopes);
                }
            }
            std::mem::swap(&mut scratch.current, &mut scratch.next);
        }
    }
}
