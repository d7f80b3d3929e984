//! Evaluation of a chain of dense layers without tensors, on the calling thread.

use super::activation::{activate, activate_slope};
use super::chain::{ROW_BLOCK, scale};
use super::lanes::Lanes;
use super::panels::{self, Buffer, pack, unpack};
use super::plan::{Packed, Plan};
use super::product::multiply;
use super::simd::{Simd, for_each_simd};

/// A chain with its weights, ready to answer.
#[derive(Clone, Debug)]
pub struct Forward {
    plan: Plan,
    packed: Packed,
    simd: Simd,
}

/// Buffers of an evaluation. They grow on first use; later calls of the same size allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    current: Buffer,
    next: Buffer,
    slopes: Buffer,
    /// Values and tangents of a block, row by row.
    gathered: Buffer,
}

/// Makes room for `length` numbers and returns them, whatever they are.
fn room(buffer: &mut Buffer, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        *buffer = Buffer::take(length);
    }
    &mut buffer[..length]
}

impl Forward {
    /// A chain with these weights, in the order of the plan.
    ///
    /// # Panics
    /// When the number of weights is not that of the plan.
    pub fn new(plan: Plan, weights: &[f32]) -> Self {
        Self::with(Simd::best(), plan, weights)
    }

    pub(super) fn with(simd: Simd, plan: Plan, weights: &[f32]) -> Self {
        Self { packed: Packed::new(simd, &plan, weights, false), plan, simd }
    }

    /// Sizes of the chain.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Evaluates `rows` rows of input.
    ///
    /// # Panics
    /// When the lengths do not fit.
    pub fn eval(&self, input: &[f32], rows: usize, scratch: &mut Scratch, out: &mut [f32]) {
        self.eval_tangents(input, &[], 0, rows, scratch, out, &mut []);
    }

    /// Evaluates the chain and its derivatives along `directions` tangents per row.
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
        let (inputs, outputs) = (self.plan.inputs(), self.plan.outputs());
        assert_eq!(input.len(), rows * inputs, "input of {rows} rows of {inputs}");
        assert_eq!(tangents.len(), directions * rows * inputs, "{directions} tangents of {rows} rows of {inputs}");
        assert_eq!(out.len(), rows * outputs, "output of {rows} rows of {outputs}");
        assert_eq!(out_tangents.len(), directions * rows * outputs, "{directions} output tangents of {rows} rows");
        let parts = 1 + directions;
        let block = (ROW_BLOCK / parts).max(1);
        let mut gathered = std::mem::take(&mut scratch.gathered);
        for first in (0..rows).step_by(block) {
            let count = block.min(rows - first);
            // The block starts with its values, followed by its tangents, one direction after the other.
            let numbers = room(&mut gathered, parts * count * inputs.max(outputs));
            for (part, target) in numbers[..parts * count * inputs].chunks_exact_mut(count * inputs).enumerate() {
                let source = match part {
                    0 => &input[first * inputs..],
                    _ => &tangents[((part - 1) * rows + first) * inputs..],
                };
                target.copy_from_slice(&source[..count * inputs]);
            }
            eval_block(self.simd, self, count, parts, scratch, numbers);
            for (part, source) in numbers[..parts * count * outputs].chunks_exact(count * outputs).enumerate() {
                let target = match part {
                    0 => &mut out[first * outputs..],
                    _ => &mut out_tangents[((part - 1) * rows + first) * outputs..],
                };
                target[..count * outputs].copy_from_slice(source);
            }
        }
        scratch.gathered = gathered;
    }
}

/// Replaces the inputs of `count` rows and their tangents, `parts` matrices in all, by the outputs.
#[inline(always)]
fn eval_block_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    forward: &Forward,
    count: usize,
    parts: usize,
    scratch: &mut Scratch,
    numbers: &mut [f32],
) {
    let Forward { plan, packed, .. } = forward;
    let rows = parts * count;
    let inputs = plan.inputs();
    let x = room(&mut scratch.current, panels::length(rows, inputs, P));
    pack::<P>(&numbers[..rows * inputs], inputs, x);
    let slopes = room(&mut scratch.slopes, count * P).as_chunks_mut::<P>().0;
    for (index, layer) in plan.layers().iter().enumerate() {
        let x = &scratch.current[..panels::length(rows, layer.inputs, P)];
        let y = room(&mut scratch.next, panels::length(rows, layer.outputs, P));
        let targets = y.as_chunks_mut::<P>().0.chunks_exact_mut(rows);
        for ((weight, bias), target) in packed.panels::<P>(plan, index).zip(targets) {
            multiply::<L, M, P>(x, weight, target);
            let (values, tangents) = target.split_at_mut(count);
            if parts == 1 {
                activate::<P, FMA>(plan.activation(index), values, bias);
                continue;
            }
            activate_slope::<P, FMA>(plan.activation(index), values, bias, slopes);
            for tangent in tangents.chunks_exact_mut(count) {
                scale(tangent, slopes);
            }
        }
        std::mem::swap(&mut scratch.current, &mut scratch.next);
    }
    let outputs = plan.outputs();
    unpack::<P>(&scratch.current[..panels::length(rows, outputs, P)], outputs, &mut numbers[..rows * outputs]);
}

for_each_simd! {
    tiled fn eval_block(forward: &Forward, count: usize, parts: usize, scratch: &mut Scratch, numbers: &mut [f32])
        = eval_block_body
}
