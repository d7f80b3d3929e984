//! The steps of an encoder forward and backward, on all threads.
//!
//! Images are cut into blocks, and blocks into groups. A group passes all convolutions before the next one starts, so that its
//! maps stay in the cache; the dense layers take a whole block, so that their weights are read seldom. Sizes of blocks and the
//! order of all sums depend on the encoder and the number of images alone.

use super::graph::{Graph, Layer, Phase, Step};
use super::pool;
use crate::kernel::convolution::{
    Finish, Rectifier, Rows, SLACK, Windows, convolve, correlate, gate, pack_rows, pack_slices, total,
};
use crate::kernel::panels::{self, Buffer};
use crate::kernel::{Simd, parallel};

/// Parts into which a weight gradient is divided at most; as many threads can work on it.
const MOST_PARTS: usize = 8;

/// Numbers that all parts of a weight gradient may hold together, unless two of them are more.
const PARTS_NUMBERS: usize = 64 << 20;

/// The weights of an encoder in panels, ready for products.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// W and b of each layer, by step.
    layers: Vec<Option<(Buffer, Buffer)>>,
    /// Parts of Wᵀ of each layer, by step and phase, if there is a backward pass.
    phases: Vec<Vec<Buffer>>,
}

impl Packed {
    pub(super) fn new(simd: Simd, graph: &Graph, weights: &[f32], backward: bool) -> Self {
        assert_eq!(weights.len(), graph.layout.len(), "weights of another encoder");
        let columns = simd.panel_columns();
        let take = |rows: usize, outputs: usize| Buffer::take(panels::length(rows, outputs, columns));
        let mut packed = Self { layers: Vec::new(), phases: Vec::new() };
        for step in &graph.steps {
            let Step::Layer(layer) = step else {
                packed.layers.push(None);
                packed.phases.push(Vec::new());
                continue;
            };
            let outputs = layer.bias.len();
            packed.layers.push(Some((take(layer.weight.len() / outputs, outputs), take(1, outputs))));
            let phases = if backward { &layer.tables.phases[..] } else { &[] };
            let taken = phases.iter().map(|phase| take(phase.slices.len() * outputs, phase.inputs));
            packed.phases.push(taken.collect());
        }
        enum Job<'a> {
            Plain(&'a Layer, &'a mut (Buffer, Buffer)),
            Phase(&'a Layer, &'a Phase, &'a mut Buffer),
        }
        let mut jobs = Vec::new();
        let places = packed.layers.iter_mut().zip(&mut packed.phases);
        for (step, (plain, phases)) in graph.steps.iter().zip(places) {
            if let (Step::Layer(layer), Some(plain)) = (step, plain) {
                jobs.push(Job::Plain(layer, plain));
                jobs.extend(layer.tables.phases.iter().zip(phases).map(|(phase, to)| Job::Phase(layer, phase, to)));
            }
        }
        parallel::for_each(jobs.into_iter(), |job| match job {
            Job::Plain(layer, (weight, bias)) => {
                pack_rows(simd, &weights[layer.weight.clone()], layer.bias.len(), weight);
                pack_rows(simd, &weights[layer.bias.clone()], layer.bias.len(), bias);
            }
            Job::Phase(layer, phase, target) => {
                let shape = [phase.inputs, layer.bias.len()];
                pack_slices(simd, &weights[layer.weight.clone()], &phase.slices, shape, target);
            }
        });
        packed
    }
}

/// A block of images on its way.
#[derive(Clone, Debug)]
pub(super) struct Block {
    images: usize,
    /// All maps, one image after the other.
    values: Vec<Buffer>,
    /// act'(z) of the layers where it cannot be told from the values, by step.
    slopes: Vec<Option<Buffer>>,
}

impl Block {
    /// Room for so many images; slopes only if there is a backward pass.
    fn take(graph: &Graph, images: usize, backward: bool) -> Self {
        let values = graph.maps.iter().map(|map| {
            let frame = map.frame(false);
            let mut values = Buffer::take(images * frame.len());
            values.chunks_exact_mut(frame.len()).for_each(|image| frame.clear_margins(image));
            values
        });
        let slopes = graph.steps.iter().map(|step| match step {
            Step::Layer(layer) if backward && layer.rectifier == Rectifier::Silu => {
                let map = &graph.maps[layer.to];
                Some(Buffer::take(images * map.size * map.size * map.channels))
            }
            _ => None,
        });
        Self { images, values: values.collect(), slopes: slopes.collect() }
    }
}

/// Where the steps of a block are done: ranges of steps and of images, in the order of the forward pass.
fn stages(graph: &Graph, images: usize) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let groups = (0..images).step_by(graph.group).map(|first| first..images.min(first + graph.group));
    let mut stages: Vec<_> = groups.map(|images| (0..graph.trunk, images)).collect();
    stages.push((graph.trunk..graph.steps.len(), 0..images));
    stages
}

/// The features of all images, and the blocks that [`backward`] needs.
pub(super) fn forward(simd: Simd, graph: &Graph, packed: &Packed, images: &[f32]) -> (Vec<f32>, Vec<Block>) {
    let count = images.len() / graph.inputs();
    let mut features = vec![0.0; count * graph.features()];
    let mut blocks: Vec<Option<Block>> = (0..count.div_ceil(graph.block)).map(|_| None).collect();
    let images = images.chunks(graph.block * graph.inputs());
    let jobs: Vec<_> = images.zip(features.chunks_mut(graph.block * graph.features())).zip(&mut blocks).collect();
    parallel::for_each(jobs.into_iter(), |((images, features), block)| {
        *block = Some(forward_block(simd, graph, packed, images, features, true));
    });
    (features, blocks.into_iter().flatten().collect())
}

/// The features of all images.
pub(super) fn answer(simd: Simd, graph: &Graph, packed: &Packed, images: &[f32]) -> Vec<f32> {
    let mut features = vec![0.0; images.len() / graph.inputs() * graph.features()];
    let images = images.chunks(graph.block * graph.inputs());
    let jobs: Vec<_> = images.zip(features.chunks_mut(graph.block * graph.features())).collect();
    parallel::for_each(jobs.into_iter(), |(images, features)| {
        forward_block(simd, graph, packed, images, features, false);
    });
    features
}

fn forward_block(
    simd: Simd,
    graph: &Graph,
    packed: &Packed,
    images: &[f32],
    features: &mut [f32],
    backward: bool,
) -> Block {
    let count = images.len() / graph.inputs();
    let mut block = Block::take(graph, count, backward);
    let frame = graph.maps[0].frame(false);
    for (image, target) in images.chunks_exact(graph.inputs()).zip(block.values[0].chunks_exact_mut(frame.len())) {
        for (row, place) in image.chunks_exact(frame.size * frame.channels).zip(frame.rows()) {
            target[place].copy_from_slice(row);
        }
    }
    for (steps, images) in stages(graph, count) {
        for index in steps {
            forward_step(simd, graph, packed, index, &mut block, images.start, images.len());
        }
    }
    features.copy_from_slice(&block.values[graph.maps.len() - 1]);
    block
}

fn forward_step(
    simd: Simd,
    graph: &Graph,
    packed: &Packed,
    index: usize,
    block: &mut Block,
    first: usize,
    count: usize,
) {
    let step = &graph.steps[index];
    let (from_frame, to_frame) = (graph.maps[step.from()].frame(false), graph.maps[step.to()].frame(false));
    let (before, after) = block.values.split_at_mut(step.to());
    let from = &before[step.from()][first * from_frame.len()..];
    let to = &mut after[0][first * to_frame.len()..(first + count) * to_frame.len()];
    match step {
        Step::Layer(layer) => {
            let (weights, bias) = packed.layers[index].as_ref().expect("every layer has weights");
            let pixels = count * to_frame.size * to_frame.size;
            let outputs = to_frame.channels;
            let shortcut = layer.shortcut.map(|shortcut| {
                let start = first * graph.maps[shortcut].frame(false).len();
                (&before[shortcut][start..], &layer.tables.shortcut[..pixels])
            });
            let slopes = block.slopes[index].as_deref_mut().map(|slopes| {
                let start = first * to_frame.size * to_frame.size * outputs;
                &mut slopes[start..start + pixels * outputs]
            });
            let finish = Finish::Activate { bias, shortcut, rectifier: layer.rectifier, slopes };
            let target = Rows { numbers: to, starts: &layer.tables.outputs[..pixels], outputs };
            convolve(simd, windows(layer, from, from_frame.row_stride(), graph, pixels), weights, target, finish);
        }
        Step::MaxPool { kernel, stride, padding, .. } => {
            let window = pool::Window { kernel: *kernel, stride: *stride, padding: *padding };
            pool::max(window, from, from_frame, to, to_frame);
        }
        Step::MeanPool { .. } => pool::mean(from, from_frame, to, to_frame),
    }
}

/// Windows of a layer in its input.
fn windows<'a>(layer: &'a Layer, numbers: &'a [f32], row_stride: usize, graph: &Graph, pixels: usize) -> Windows<'a> {
    let run = layer.kernel * graph.maps[layer.from].channels;
    Windows { numbers, starts: &layer.tables.windows[..pixels], rows: layer.kernel, run, row_stride }
}

/// The gradient of all weights, given that of the features.
///
/// Blocks are divided into parts, each of which adds up its own gradient in order; then the parts are added in order.
///
/// # Formula
/// With z = x ⋆ W + b, y = act(z) and the gradient ȳ: z̄ = ȳ ⊙ act'(z), W̄ = Σ_pixels windowᵀ z̄, b̄ = Σ_pixels z̄, and x̄ as in
/// [`Phase`], from the last step to the first.
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
        let mut room = Room::new(graph, blocks.iter().map(|block| block.images).max().unwrap_or(0));
        for (block, gradient) in blocks.iter().zip(gradients.chunks(graph.block * graph.features())) {
            backward_block(simd, graph, packed, &writes, block, gradient, &mut room, sums);
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
struct Room(Vec<Vec<f32>>);

impl Room {
    fn new(graph: &Graph, images: usize) -> Self {
        let room = |(index, map): (usize, &super::graph::Map)| {
            let images = if map.whole_block { images } else { images.min(graph.group) };
            if index == 0 { Vec::new() } else { vec![0.0; images * map.frame(true).len() + SLACK] }
        };
        Self(graph.maps.iter().enumerate().map(room).collect())
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
    room: &mut Room,
    sums: &mut [f32],
) {
    room.0[graph.maps.len() - 1][..gradient.len()].copy_from_slice(gradient);
    for (steps, images) in stages(graph, block.images).into_iter().rev() {
        for index in steps.rev() {
            let pass = Pass { simd, graph, packed, block, first: images.start, count: images.len() };
            pass.back(index, writes[index], room, sums);
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

    fn back(&self, index: usize, (sets_shortcut, sets_input): (bool, bool), room: &mut Room, sums: &mut [f32]) {
        let step = &self.graph.steps[index];
        if let Step::Layer(layer) = step {
            return self.back_layer(index, layer, sets_shortcut, sets_input, room, sums);
        }
        let (from_map, to_map) = (&self.graph.maps[step.from()], &self.graph.maps[step.to()]);
        let (before, after) = room.0.split_at_mut(step.to());
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
        room: &mut Room,
        sums: &mut [f32],
    ) {
        let Self { simd, graph, packed, block, first, count } = *self;
        let (from_map, to_map) = (&graph.maps[layer.from], &graph.maps[layer.to]);
        let outputs = to_map.channels;
        let (before, after) = room.0.split_at_mut(layer.to);
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
