//! The steps of an encoder backward, on all threads.

use super::graph::{Graph, Layer, Step};
use super::pass::{Block, Packed, stages, windows};
use super::pool;
use crate::kernel::convolution::{Finish, Rectifier, Rows, SLACK, Windows, convolve, correlate, gate, total};
use crate::kernel::panels::{self, Buffer};
use crate::kernel::{Simd, parallel};

/// Parts into which a weight gradient is divided at most; as many threads can work on it.
const MOST_PARTS: usize = 8;

/// Numbers that all parts of a weight gradient may hold together, unless two of them are more.
const PARTS_NUMBERS: usize = 64 << 20;

/// The gradient of all weights, given that of the features.
///
/// Blocks are divided into parts, each of which adds up its own gradient in order; then the parts are added in order.
///
/// # Formula
/// With z = x ⋆ W + b, y = act(z) and the gradient ȳ: z̄ = ȳ ⊙ act'(z), W̄ = Σ_pixels windowᵀ z̄, b̄ = Σ_pixels z̄, and x̄ as in
/// [`Phase`](super::tables::Phase), from the last step to the first.
pub(super) fn backward(
    simd: Simd,
    graph: &Graph,
    packed: &Packed,
    blocks: &[Block],
    feature_gradient: &[f32],
) -> Vec<f32> {
    let length = graph.layout.len();
    let most = (PARTS_NUMBERS / length).clamp(2, MOST_PARTS);
    let per_part = blocks.len().div_ceil(most).max(1);
    let writes = first_writes(graph);
    let mut parts: Vec<Buffer> = (0..blocks.len().div_ceil(per_part)).map(|_| Buffer::take(length)).collect();
    let gradients = feature_gradient.chunks(per_part * graph.block * graph.features());
    let jobs: Vec<_> = blocks.chunks(per_part).zip(gradients).zip(&mut parts).collect();
    parallel::for_each(jobs.into_iter(), |((blocks, gradients), sums)| {
        sums.fill(0.0);
        let mut scratch = Scratch::new(graph, blocks.iter().map(|block| block.images).max().unwrap_or(0));
        for (block, gradient) in blocks.iter().zip(gradients.chunks(graph.block * graph.features())) {
            backward_block(simd, graph, packed, &writes, block, gradient, &mut scratch, sums);
        }
    });
    let mut sum = panels::lend(length);
    const CHUNK: usize = 1 << 14;
    parallel::for_each(sum.chunks_mut(CHUNK).enumerate(), |(index, sum)| {
        sum.fill(0.0);
        for part in &parts {
            for (sum, value) in sum.iter_mut().zip(&part[index * CHUNK..]) {
                *sum += value;
            }
        }
    });
    sum
}

/// Gradients of all maps, with margins of zeros that nobody writes to.
struct Scratch(Vec<Vec<f32>>);

impl Scratch {
    fn new(graph: &Graph, images: usize) -> Self {
        let take = |(index, map): (usize, &super::graph::Map)| {
            let images = if map.whole_block { images } else { images.min(graph.group) };
            if index == 0 { Vec::new() } else { vec![0.0; images * map.frame(true).len() + SLACK] }
        };
        Self(graph.maps.iter().enumerate().map(take).collect())
    }
}

/// Of each step: whether it is the first one on the way back to write to its shortcut, and to its input.
fn first_writes(graph: &Graph) -> Vec<(bool, bool)> {
    let mut written = vec![false; graph.maps.len()];
    let mut write = |map: usize| !std::mem::replace(&mut written[map], true);
    let mut writes: Vec<_> = graph
        .steps
        .iter()
        .rev()
        .map(|step| {
            let shortcut = match step {
                Step::Layer(layer) => layer.shortcut.is_some_and(&mut write),
                _ => false,
            };
            (shortcut, write(step.from()))
        })
        .collect();
    writes.reverse();
    writes
}

#[allow(clippy::too_many_arguments)]
fn backward_block(
    simd: Simd,
    graph: &Graph,
    packed: &Packed,
    writes: &[(bool, bool)],
    block: &Block,
    gradient: &[f32],
    scratch: &mut Scratch,
    sums: &mut [f32],
) {
    scratch.0[graph.maps.len() - 1][..gradient.len()].copy_from_slice(gradient);
    for (steps, images) in stages(graph, block.images).into_iter().rev() {
        for index in steps.rev() {
            let pass = Pass { simd, graph, packed, block, first: images.start, count: images.len() };
            pass.back(index, writes[index], scratch, sums);
        }
    }
}

/// A step back for some images of a block.
struct Pass<'a> {
    simd: Simd,
    graph: &'a Graph,
    packed: &'a Packed,
    block: &'a Block,
    first: usize,
    count: usize,
}

impl Pass<'_> {
    /// Where the gradients of the first image of a map begin.
    fn start(&self, map: usize) -> usize {
        let map = &self.graph.maps[map];
        if map.whole_block { self.first * map.frame(true).len() } else { 0 }
    }

    fn back(&self, index: usize, (sets_shortcut, sets_input): (bool, bool), scratch: &mut Scratch, sums: &mut [f32]) {
        let step = &self.graph.steps[index];
        if let Step::Layer(layer) = step {
            return self.back_layer(index, layer, sets_shortcut, sets_input, scratch, sums);
        }
        let (from_map, to_map) = (&self.graph.maps[step.from()], &self.graph.maps[step.to()]);
        let (before, after) = scratch.0.split_at_mut(step.to());
        if step.from() == 0 {
            return;
        }
        let length = self.count * from_map.frame(true).len();
        let from = &mut before[step.from()][self.start(step.from())..][..length];
        let to = &after[0][self.start(step.to())..];
        if sets_input {
            from.fill(0.0);
        }
        match step {
            Step::MaxPool { kernel, stride, padding, .. } => {
                let window = pool::Window { kernel: *kernel, stride: *stride, padding: *padding };
                let frame = from_map.frame(false);
                let values = &self.block.values[step.from()][self.first * frame.len()..];
                pool::max_back(window, values, frame, to, to_map.frame(true), from, from_map.frame(true));
            }
            Step::MeanPool { .. } => pool::mean_back(to, to_map.frame(true), from, from_map.frame(true)),
            Step::Layer(_) => {}
        }
    }

    fn back_layer(
        &self,
        index: usize,
        layer: &Layer,
        sets_shortcut: bool,
        sets_input: bool,
        scratch: &mut Scratch,
        sums: &mut [f32],
    ) {
        let Self { simd, graph, packed, block, first, count } = *self;
        let (from_map, to_map) = (&graph.maps[layer.from], &graph.maps[layer.to]);
        let outputs = to_map.channels;
        let (before, after) = scratch.0.split_at_mut(layer.to);
        let gradient = &mut after[0][self.start(layer.to)..];
        self.gate(index, layer, gradient, &mut sums[layer.bias.clone()]);
        if let Some(shortcut) = layer.shortcut {
            let (here, there) = (to_map.frame(true), graph.maps[shortcut].frame(true));
            let target = &mut before[shortcut][self.start(shortcut)..];
            for image in 0..count {
                for (here_row, there_row) in here.rows().zip(there.rows()) {
                    let source = &gradient[image * here.len()..][here_row];
                    let target = &mut target[image * there.len()..][there_row];
                    match sets_shortcut {
                        true => target.copy_from_slice(source),
                        false => target.iter_mut().zip(source).for_each(|(target, value)| *target += value),
                    }
                }
            }
        }
        let pixels = count * to_map.size * to_map.size;
        let frame = from_map.frame(false);
        let windows =
            windows(layer, &block.values[layer.from][first * frame.len()..], frame.row_stride(), graph, pixels);
        let starts = &layer.tables.gradients[..pixels];
        correlate(simd, windows, gradient, starts, outputs, &mut sums[layer.weight.clone()]);
        for (phase, weights) in layer.tables.phases.iter().zip(&packed.phases[index]) {
            // The tables hold as many images as pass together at most.
            let images = if index < graph.trunk { graph.group } else { graph.block };
            let rows = phase.targets.len() / images * count;
            if phase.slices.is_empty() && !sets_input {
                continue;
            }
            let windows = Windows {
                numbers: gradient,
                starts: &phase.windows[..rows],
                rows: phase.rows,
                run: phase.slices.len() / phase.rows.max(1) * outputs,
                row_stride: to_map.frame(true).row_stride(),
            };
            let numbers = &mut before[layer.from][self.start(layer.from)..];
            let target = Rows { numbers, starts: &phase.targets[..rows], outputs: phase.inputs };
            convolve(simd, windows, weights, target, if sets_input { Finish::Set } else { Finish::Add });
        }
    }

    /// ȳ ⊙ act'(z) in place, and its sums over all pixels.
    fn gate(&self, index: usize, layer: &Layer, gradient: &mut [f32], sums: &mut [f32]) {
        let map = &self.graph.maps[layer.to];
        let (there, here) = (map.frame(true), map.frame(false));
        let row = map.size * map.channels;
        for image in 0..self.count {
            let gradient = &mut gradient[image * there.len()..];
            let values = &self.block.values[layer.to][(self.first + image) * here.len()..];
            for (y, (place, value)) in there.rows().zip(here.rows()).enumerate() {
                let gradient = &mut gradient[place];
                match (layer.rectifier, &self.block.slopes[index]) {
                    (Rectifier::Silu, Some(slopes)) => {
                        let start = ((self.first + image) * map.size + y) * row;
                        gate(self.simd, gradient, &slopes[start..start + row], true, sums);
                    }
                    (Rectifier::Identity, _) => total(self.simd, gradient, sums),
                    _ => gate(self.simd, gradient, &values[value], false, sums),
                }
            }
        }
    }
}
