//! Sizes of a chain of dense layers, and its weights in panels.

use std::ops::Range;

use super::activation::Activation;
use super::lanes::Lanes;
use super::panels::{self, Buffer, pack, pack_transposed};
use super::parallel;
use super::simd::{Simd, for_each_simd};

/// Sizes of a chain y = act(x W + b) … W + b: the activation follows every layer but the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) layers: Vec<Place>,
    pub(super) activation: Activation,
}

/// Sizes of one layer and the places of its numbers in the flat list of all weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Numbers it takes.
    pub inputs: usize,
    /// Numbers it gives.
    pub outputs: usize,
    /// W, `inputs` rows of `outputs` numbers.
    pub weight: Range<usize>,
    /// b, `outputs` numbers.
    pub bias: Range<usize>,
}

impl Plan {
    /// A chain with these numbers of units: inputs, hidden layers, outputs. W and b of each layer follow one another.
    ///
    /// # Panics
    /// When there are fewer than two sizes or one of them is zero.
    pub fn new(sizes: &[usize], activation: Activation) -> Self {
        assert!(sizes.len() >= 2 && !sizes.contains(&0), "a chain needs inputs, outputs and no empty layer");
        let mut end = 0;
        let mut next = |count| {
            end += count;
            end - count..end
        };
        let place = |pair: &[usize]| Place {
            inputs: pair[0],
            outputs: pair[1],
            weight: next(pair[0] * pair[1]),
            bias: next(pair[1]),
        };
        Self { layers: sizes.windows(2).map(place).collect(), activation }
    }

    /// A chain with `depth` hidden layers of `width` units.
    pub fn hidden(inputs: usize, width: usize, depth: usize, outputs: usize, activation: Activation) -> Self {
        let sizes = [&[inputs][..], &vec![width; depth], &[outputs]].concat();
        Self::new(&sizes, activation)
    }

    /// The layers, first to last.
    pub fn layers(&self) -> &[Place] {
        &self.layers
    }

    /// What follows layer `index`.
    pub fn activation(&self, index: usize) -> Activation {
        if index + 1 == self.layers.len() { Activation::Identity } else { self.activation }
    }

    /// Numbers in the flat list of all weights.
    pub fn len(&self) -> usize {
        self.layers[self.layers.len() - 1].bias.end
    }

    /// Never true: a chain has a layer.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Numbers a row of input has.
    pub fn inputs(&self) -> usize {
        self.layers[0].inputs
    }

    /// Numbers a row of output has.
    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }
}

/// The weights of a chain in panels, ready for products.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// W of each layer.
    weights: Vec<Buffer>,
    /// b of each layer, filled up with zeros.
    biases: Vec<Buffer>,
    /// Wᵀ of each layer, if there is a backward pass.
    transposed: Vec<Buffer>,
}

impl Packed {
    pub(super) fn new(simd: Simd, plan: &Plan, numbers: &[f32], backward: bool) -> Self {
        assert_eq!(numbers.len(), plan.len(), "weights of another chain");
        let columns = simd.panel_columns();
        let take = |rows: usize, outputs: usize| Buffer::take(panels::length(rows, outputs, columns));
        let layers = plan.layers.iter();
        let turned = if backward { &plan.layers[..] } else { &[] };
        let mut packed = Self {
            weights: layers.clone().map(|l| take(l.inputs, l.outputs)).collect(),
            biases: layers.map(|l| take(1, l.outputs)).collect(),
            transposed: turned.iter().map(|l| take(l.outputs, l.inputs)).collect(),
        };
        enum Job<'a> {
            Plain(&'a Place, &'a mut [f32], &'a mut [f32]),
            Transposed(&'a Place, &'a mut [f32]),
        }
        let turned = turned.iter().zip(&mut packed.transposed);
        let mut jobs: Vec<Job> = turned.map(|(layer, target)| Job::Transposed(layer, target)).collect();
        let plain = plan.layers.iter().zip(packed.weights.iter_mut().zip(&mut packed.biases));
        jobs.extend(plain.map(|(layer, (weight, bias))| Job::Plain(layer, weight, bias)));
        parallel::for_each(jobs.into_iter(), |job| match job {
            Job::Plain(layer, weight, bias) => {
                pack_layer(simd, &numbers[layer.weight.clone()], layer.outputs, weight);
                pack_layer(simd, &numbers[layer.bias.clone()], layer.outputs, bias);
            }
            Job::Transposed(layer, target) => {
                pack_layer_transposed(simd, &numbers[layer.weight.clone()], layer.outputs, target);
            }
        });
        packed
    }

    /// Panels of W and b of a layer.
    #[inline(always)]
    pub(super) fn panels<'a, const P: usize>(
        &'a self,
        plan: &Plan,
        layer: usize,
    ) -> impl Iterator<Item = (&'a [[f32; P]], &'a [f32; P])> {
        let weights = self.weights[layer].as_chunks::<P>().0.chunks_exact(plan.layers[layer].inputs);
        weights.zip(self.biases[layer].as_chunks::<P>().0)
    }

    /// Panels of Wᵀ of a layer.
    #[inline(always)]
    pub(super) fn transposed<'a, const P: usize>(
        &'a self,
        plan: &Plan,
        layer: usize,
    ) -> impl Iterator<Item = &'a [[f32; P]]> {
        self.transposed[layer].as_chunks::<P>().0.chunks_exact(plan.layers[layer].outputs)
    }
}

#[inline(always)]
fn pack_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    matrix: &[f32],
    columns: usize,
    target: &mut [f32],
) {
    pack::<P>(matrix, columns, target);
}

#[inline(always)]
fn pack_transposed_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    matrix: &[f32],
    columns: usize,
    target: &mut [f32],
) {
    pack_transposed::<P>(matrix, columns, target);
}

for_each_simd! {
    tiled fn pack_layer(matrix: &[f32], columns: usize, target: &mut [f32]) = pack_body
}

for_each_simd! {
    tiled fn pack_layer_transposed(matrix: &[f32], columns: usize, target: &mut [f32]) = pack_transposed_body
}
