//! The matrix products of a training step and nothing else: what every other cost is held against.

use super::chain::{Block, ROW_BLOCK, Trace, weight_gradients};
use super::lanes::Lanes;
use super::panels::{Aligned, recycle};
use super::parallel;
use super::plan::{Packed, Plan};
use super::product::multiply;
use super::simd::{Simd, for_each_simd};

/// x W, z Wᵀ and xᵀ z of every layer for a batch, with all factors in place.
#[derive(Debug)]
pub struct Products {
    plan: Plan,
    simd: Simd,
    trace: Trace,
}

impl Products {
    /// The products of one step on `rows` rows, with numbers that do not matter.
    pub fn new(plan: Plan, rows: usize) -> Self {
        let simd = Simd::best();
        let numbers: Vec<f32> = (0..plan.len()).map(|i| ((i * 7919) % 1000) as f32 / 1000.0 - 0.5).collect();
        let packed = Packed::new(simd, &plan, &numbers, true);
        let trace = Trace::take(simd, &plan, packed, rows, 1);
        Self { plan, simd, trace }
    }

    /// Computes them all, on all threads.
    pub fn run(&mut self) {
        let Self { plan, simd, trace } = self;
        let Trace { packed, blocks } = &mut *trace;
        parallel::for_each(blocks.iter_mut(), |block| multiply_block(*simd, plan, packed, block));
        recycle(std::hint::black_box(weight_gradients(*simd, plan, trace)));
    }
}

#[inline(always)]
fn multiply_block_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
    plan: &Plan,
    packed: &Packed,
    block: &mut Block,
) {
    let mut room = Aligned([[0.0; P]; ROW_BLOCK]);
    let target = &mut room.0[..block.rows];
    for index in 0..plan.layers().len() {
        for (weight, _) in packed.panels::<P>(plan, index) {
            multiply::<L, M, P>(&block.values[index], weight, std::hint::black_box(&mut *target));
        }
        let z = block.slopes.get(index).unwrap_or(&block.output);
        for weight in packed.transposed::<P>(plan, index).filter(|_| index > 0) {
            multiply::<L, M, P>(z, weight, std::hint::black_box(&mut *target));
        }
    }
}

for_each_simd! {
    tiled fn multiply_block(plan: &Plan, packed: &Packed, block: &mut Block) = multiply_block_body
}
