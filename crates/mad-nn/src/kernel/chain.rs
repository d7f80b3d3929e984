//! A chain of dense layers forward and backward, on all threads.
//!
//! The batch is cut into blocks of rows. A block runs through all layers before the next one starts, so its numbers stay in the
//! cache and threads meet only three times in a step: before the first layer, before the backward pass, and before the gradients
//! of the weights, which are products over the whole batch.
//!
//! A row may bring tangents ẋ along which the chain is differentiated. They are further rows of its block: values first, then one
//! direction after the other. Products treat all rows alike; only biases and activations tell them apart.

use std::borrow::Cow;

use super::activation::{Activation, activate, activate_curved, activate_slope};
use super::lanes::Lanes;
use super::panels::{self, Aligned, Buffer, pack, unpack};
use super::parallel;
use super::plan::{Packed, Plan};
use super::product::{multiply, multiply_transposed};
use super::simd::{Simd, for_each_simd};

/// Rows of the batch in one job. Fixed, so that sums do not depend on the number of threads.
pub(super) const ROW_BLOCK: usize = 64;

/// Rows of a weight gradient in one job; a multiple of every panel's width.
const WEIGHT_BLOCK: usize = 64;

/// Blocks of rows that a weight gradient takes at once: their panels fit into the second cache together, and what is read and
/// written between two such groups is worth more than the nearest one.
const BLOCKS_AT_ONCE: usize = 8;

/// What the backward pass needs of the forward pass, block by block.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) packed: Packed,
    pub(super) blocks: Vec<Block>,
}

impl Trace {
    /// Room for `items` values, each with `parts` - 1 tangents.
    pub(super) fn take(simd: Simd, plan: &Plan, packed: Packed, items: usize, parts: usize) -> Self {
        let most = block_items(parts);
        let counts = (0..items).step_by(most).map(|first| most.min(items - first));
        let blocks = counts.map(|items| Block::take(plan, items, parts, simd.panel_columns())).collect();
        Self { packed, blocks }
    }
}

/// Values in one block if each comes in `parts` parts, itself and its tangents.
///
/// # Panics
/// When they do not fit into a block.
fn block_items(parts: usize) -> usize {
    assert!((1..=ROW_BLOCK).contains(&parts), "at most {} tangents", ROW_BLOCK - 1);
    ROW_BLOCK / parts
}

/// Brings rows from the order (part, item) into the order of blocks, or back. Nothing to do without tangents.
fn reorder(numbers: Cow<'_, [f32]>, width: usize, parts: usize, into_blocks: bool) -> Cow<'_, [f32]> {
    if parts == 1 {
        return numbers;
    }
    let (items, most) = (numbers.len() / width / parts, block_items(parts));
    let mut reordered = vec![0.0; numbers.len()];
    for first in (0..items).step_by(most) {
        let count = most.min(items - first);
        for part in 0..parts {
            let (plain, blocked) = ((part * items + first) * width, (first * parts + part * count) * width);
            let (from, to) = if into_blocks { (plain, blocked) } else { (blocked, plain) };
            reordered[to..to + count * width].copy_from_slice(&numbers[from..from + count * width]);
        }
    }
    Cow::Owned(reordered)
}

/// One block of rows, in panels.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Rows in all.
    pub(super) rows: usize,
    /// Rows that are values; the others are tangents.
    items: usize,
    /// Inputs of each layer.
    pub(super) values: Vec<Buffer>,
    /// For each layer but the last: act'(z) in the rows of values and ż in those of tangents. The backward pass turns it into z̄.
    pub(super) slopes: Vec<Buffer>,
    /// act''(z) of each layer but the last, if there are tangents.
    curvatures: Vec<Buffer>,
    /// Outputs of the last layer, and then their gradients.
    pub(super) output: Buffer,
}

impl Block {
    fn take(plan: &Plan, items: usize, parts: usize, columns: usize) -> Self {
        let rows = items * parts;
        let take = |rows: usize, size: usize| Buffer::take(panels::length(rows, size, columns));
        let (last, hidden) = plan.layers.split_last().expect("a chain has a layer");
        let curved = if parts > 1 { hidden } else { &[] };
        Self {
            rows,
            items,
            values: plan.layers.iter().map(|layer| take(rows, layer.inputs)).collect(),
            slopes: hidden.iter().map(|layer| take(rows, layer.outputs)).collect(),
            curvatures: curved.iter().map(|layer| take(items, layer.outputs)).collect(),
            output: take(rows, last.outputs),
        }
    }

    /// The panel of the inputs of a layer that begins with column `first`.
    fn input<const P: usize>(&self, layer: usize, first: usize) -> &[f32] {
        &self.values[layer][first * self.rows..(first + P) * self.rows]
    }

    /// The panel of z̄ of a layer that begins with column `first`, after the backward pass.
    fn gradient<const P: usize>(&self, layer: usize, first: usize) -> &[f32] {
        &self.slopes.get(layer).unwrap_or(&self.output)[first * self.rows..(first + P) * self.rows]
    }
}

/// The output of every row of `input`, and what [`backward`] needs.
///
/// `input` and the output hold `parts` matrices of as many rows: the values, and tangents along `parts` - 1 directions.
///
/// # Formula
/// x₀ = input, xᵢ₊₁ = act(xᵢ Wᵢ + bᵢ) and ẋᵢ₊₁ = act'(xᵢ Wᵢ + bᵢ) ⊙ (ẋᵢ Wᵢ), without act in the last layer.
pub(super) fn forward(simd: Simd, plan: &Plan, numbers: &[f32], input: &[f32], parts: usize) -> (Vec<f32>, Trace) {
    let (inputs, outputs) = (plan.inputs(), plan.outputs());
    let rows = input.len() / inputs;
    let packed = Packed::new(simd, plan, numbers, true);
    let mut trace = Trace::take(simd, plan, packed, rows / parts, parts);
    let input = reorder(input.into(), inputs, parts, true);
    let mut output = vec![0.0; rows * outputs];
    let height = block_items(parts) * parts;
    let chunks = input.chunks(height * inputs).zip(output.chunks_mut(height * outputs));
    let Trace { packed, blocks } = &mut trace;
    let jobs: Vec<_> = blocks.iter_mut().zip(chunks).collect();
    parallel::for_each(jobs.into_iter(), |(block, (input, output))| {
        forward_block(simd, plan, packed, input, block, output);
    });
    (reorder(output.into(), outputs, parts, false).into_owned(), trace)
}

#[inline(always)]
fn forward_block_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    plan: &Plan,
    packed: &Packed,
    input: &[f32],
    block: &mut Block,
    output: &mut [f32],
) {
    let Block { rows, items, values, slopes, curvatures, output: last } = block;
    pack::<P>(input, plan.inputs(), &mut values[0]);
    for index in 0..plan.layers.len() {
        let (x, y) = values[index..].split_first_mut().expect("every layer has an input");
        let y = y.first_mut().unwrap_or(last);
        let mut slopes = slopes.get_mut(index).map(|slopes| slopes.as_chunks_mut::<P>().0.chunks_exact_mut(*rows));
        let mut curvatures = curvatures.get_mut(index).map(|c| c.as_chunks_mut::<P>().0.chunks_exact_mut(*items));
        let targets = y.as_chunks_mut::<P>().0.chunks_exact_mut(*rows);
        for ((weight, bias), target) in packed.panels::<P>(plan, index).zip(targets) {
            multiply::<L, M, P>(x, weight, target);
            let (target, tangents) = target.split_at_mut(*items);
            let slopes = slopes.as_mut().and_then(Iterator::next);
            let curvatures = curvatures.as_mut().and_then(Iterator::next);
            match (slopes, curvatures) {
                (Some(slopes), None) => activate_slope::<P, FMA>(plan.activation, target, bias, slopes),
                (Some(slopes), Some(curvatures)) => {
                    let (slopes, kept) = slopes.split_at_mut(*items);
                    activate_curved::<P, FMA>(plan.activation, target, bias, slopes, curvatures);
                    kept.copy_from_slice(tangents);
                    for tangent in tangents.chunks_exact_mut(*items) {
                        scale(tangent, slopes);
                    }
                }
                (None, _) => activate::<P, FMA>(Activation::Identity, target, bias),
            }
        }
    }
    unpack::<P>(last, plan.outputs(), output);
}

for_each_simd! {
    tiled fn forward_block(plan: &Plan, packed: &Packed, input: &[f32], block: &mut Block, output: &mut [f32])
        = forward_block_body
}

/// The gradients of all weights, in the order of the plan, and of the input if `with_input`.
///
/// # Formula
/// With z = x W + b and the gradient ȳ: z̄ = ȳ ⊙ act'(z), W̄ = xᵀ z̄, b̄ = Σ_rows z̄, x̄ = z̄ Wᵀ, from the last layer to the first.
/// With tangents ż = ẋ W also their gradients: z̄ = ȳ ⊙ act'(z) + act''(z) ⊙ Σ ż ⊙ ẏ̄ and ż̄ = ẏ̄ ⊙ act'(z); W̄ sums over all rows.
pub(super) fn backward(
    simd: Simd,
    plan: &Plan,
    mut trace: Trace,
    output_gradient: &[f32],
    parts: usize,
    with_input: bool,
) -> (Vec<f32>, Option<Vec<f32>>) {
    let (inputs, outputs) = (plan.inputs(), plan.outputs());
    let rows = output_gradient.len() / outputs;
    let height = block_items(parts) * parts;
    let mut input_gradient = with_input.then(|| vec![0.0; rows * inputs]);
    let targets = input_gradient.as_deref_mut().map(|all| all.chunks_mut(height * inputs));
    let targets = targets.into_iter().flatten().map(Some).chain(std::iter::repeat_with(|| None));
    let output_gradient = reorder(output_gradient.into(), outputs, parts, true);
    let gradients = output_gradient.chunks(height * outputs);
    let Trace { packed, blocks } = &mut trace;
    let jobs: Vec<_> = blocks.iter_mut().zip(gradients.zip(targets)).collect();
    parallel::for_each(jobs.into_iter(), |(block, (gradient, target))| {
        backward_block(simd, plan, packed, gradient, block, target);
    });
    let input_gradient = input_gradient.map(|all| reorder(all.into(), inputs, parts, false).into_owned());
    (weight_gradients(simd, plan, &trace), input_gradient)
}

#[inline(always)]
fn backward_block_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    plan: &Plan,
    packed: &Packed,
    output_gradient: &[f32],
    block: &mut Block,
    input_gradient: Option<&mut [f32]>,
) {
    let Block { rows, items, values, slopes, curvatures, output } = block;
    pack::<P>(output_gradient, plan.outputs(), output);
    let mut room = Aligned([[0.0; P]; ROW_BLOCK]);
    let passing = &mut room.0[..*rows];
    for index in (1..plan.layers.len()).rev() {
        let (before, after) = slopes.split_at_mut(index);
        let z = after.first().unwrap_or(output);
        let weights = packed.transposed::<P>(plan, index);
        let mut curvatures = curvatures.get(index - 1).map(|c| c.as_chunks::<P>().0.chunks_exact(*items));
        for (weight, slopes) in weights.zip(before[index - 1].as_chunks_mut::<P>().0.chunks_exact_mut(*rows)) {
            multiply::<L, M, P>(z, weight, passing);
            match curvatures.as_mut().and_then(Iterator::next) {
                None => scale(slopes, passing),
                Some(curvatures) => curve(slopes, curvatures, passing),
            }
        }
    }
    if let Some(target) = input_gradient {
        // The input itself is needed for the gradient of the first weights, so this takes a place of its own.
        let z = slopes.first().unwrap_or(output);
        let mut found = Buffer::take(values[0].len());
        for (weight, target) in
            packed.transposed::<P>(plan, 0).zip(found.as_chunks_mut::<P>().0.chunks_exact_mut(*rows))
        {
            multiply::<L, M, P>(z, weight, target);
        }
        unpack::<P>(&found, plan.inputs(), target);
    }
}

for_each_simd! {
    tiled fn backward_block(
        plan: &Plan,
        packed: &Packed,
        output_gradient: &[f32],
        block: &mut Block,
        input_gradient: Option<&mut [f32]>,
    ) = backward_block_body
}

/// Multiplies `target` by `factors`, element by element.
#[inline(always)]
pub(super) fn scale<const P: usize>(target: &mut [[f32; P]], factors: &[[f32; P]]) {
    for (target, factors) in target.iter_mut().zip(factors) {
        for (target, factor) in target.iter_mut().zip(factors) {
            *target *= factor;
        }
    }
}

/// Replaces act'(z) and ż, the tangents, by z̄ and ż̄, given act''(z) and the gradients of a layer's outputs.
#[inline(always)]
fn curve<const P: usize>(slopes: &mut [[f32; P]], curvatures: &[[f32; P]], passing: &[[f32; P]]) {
    let items = curvatures.len();
    let (slopes, tangents) = slopes.split_at_mut(items);
    let (passing, passing_tangents) = passing.split_at(items);
    let mut sums = [[0.0; P]; ROW_BLOCK];
    for (tangents, passing) in tangents.chunks_exact_mut(items).zip(passing_tangents.chunks_exact(items)) {
        for (((tangent, passing), slope), sum) in tangents.iter_mut().zip(passing).zip(&*slopes).zip(&mut sums) {
            for j in 0..P {
                sum[j] += tangent[j] * passing[j];
                tangent[j] = slope[j] * passing[j];
            }
        }
    }
    for (((slope, curvature), passing), sum) in slopes.iter_mut().zip(curvatures).zip(passing).zip(&sums) {
        for j in 0..P {
            slope[j] = slope[j] * passing[j] + curvature[j] * sum[j];
        }
    }
}

/// W̄ and b̄ of every layer in the order of the plan.
pub(super) fn weight_gradients(simd: Simd, plan: &Plan, trace: &Trace) -> Vec<f32> {
    let mut gradients = panels::lend(plan.len());
    let mut jobs = Vec::new();
    let mut rest = &mut gradients[..];
    for (index, layer) in plan.layers.iter().enumerate() {
        let (weight, after) = rest.split_at_mut(layer.weight.len());
        let (bias, after) = after.split_at_mut(layer.bias.len());
        rest = after;
        let blocks = weight.chunks_mut(WEIGHT_BLOCK * layer.outputs).enumerate();
        jobs.extend(blocks.map(|(block, target)| Job { layer: index, first: block * WEIGHT_BLOCK, target }));
        jobs.push(Job { layer: index, first: layer.inputs, target: bias });
    }
    // Large jobs first, so that no thread is left with one at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.target.len()));
    parallel::for_each(jobs.into_iter(), |job| weight_gradient(simd, plan, trace, job));
    gradients
}

/// Rows of W̄ of a layer from row `first` on, or b̄, which follows the last row.
struct Job<'a> {
    layer: usize,
    first: usize,
    target: &'a mut [f32],
}

#[inline(always)]
fn weight_gradient_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    plan: &Plan,
    trace: &Trace,
    job: Job,
) {
    let Job { layer: index, first, target } = job;
    let layer = &plan.layers[index];
    let is_bias = first == layer.inputs;
    if is_bias || trace.blocks.is_empty() {
        target.fill(0.0);
    }
    let height = target.len() / layer.outputs;
    for (part, blocks) in trace.blocks.chunks(BLOCKS_AT_ONCE).enumerate() {
        for column in (0..layer.outputs).step_by(P) {
            let width = P.min(layer.outputs - column);
            if is_bias {
                let values = |block| &Block::gradient::<P>(block, index, column).as_chunks::<P>().0[..block.items];
                let mut sums = [0.0; P];
                sums[..width].copy_from_slice(&target[column..column + width]);
                for row in blocks.iter().flat_map(values) {
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum += value;
                    }
                }
                target[column..column + width].copy_from_slice(&sums[..width]);
                continue;
            }
            for row in (0..height).step_by(P) {
                let panels =
                    |block| (Block::input::<P>(block, index, first + row), Block::gradient::<P>(block, index, column));
                let factors = blocks.iter().map(panels);
                let target = &mut target[row * layer.outputs + column..];
                let height = P.min(height - row);
                multiply_transposed::<L, M, P>(factors, height, width, layer.outputs, part > 0, target);
            }
        }
    }
}

for_each_simd! {
    tiled fn weight_gradient(plan: &Plan, trace: &Trace, job: Job) = weight_gradient_body
}
