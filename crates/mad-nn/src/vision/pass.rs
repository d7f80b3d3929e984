//! The steps of an encoder forward, on all threads.
//!
//! Images are cut into blocks, and blocks into groups. A group passes all convolutions before the next one starts, so that its
//! maps stay in the cache; the dense layers take a whole block, so that their weights are read seldom. Sizes of blocks and the
//! order of all sums depend on the encoder and the number of images alone.

use super::graph::{Graph, Layer, Step};
use super::pool;
use super::tables::Phase;
use crate::kernel::convolution::{Finish, Rectifier, Rows, Windows, convolve, pack_rows, pack_slices};
use crate::kernel::panels::{self, Buffer};
use crate::kernel::{Simd, parallel};

/// The weights of an encoder in panels, ready for products.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// W and b of each layer, by step.
    layers: Vec<Option<(Buffer, Buffer)>>,
    /// Parts of Wᵀ of each layer, by step and phase, if there is a backward pass.
    pub(super) phases: Vec<Vec<Buffer>>,
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
    pub(super) images: usize,
    /// All maps, one image after the other.
    pub(super) values: Vec<Buffer>,
    /// act'(z) of the layers where it cannot be told from the values, by step.
    pub(super) slopes: Vec<Option<Buffer>>,
}

impl Block {
    /// Scratch for this many images; slopes only if there is a backward pass.
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
pub(super) fn stages(graph: &Graph, images: usize) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let groups = (0..images).step_by(graph.group).map(|first| first..images.min(first + graph.group));
    let mut stages: Vec<_> = groups.map(|images| (0..graph.trunk, images)).collect();
    stages.push((graph.trunk..graph.steps.len(), 0..images));
    stages
}

/// The features of all images, and the blocks that the backward pass needs.
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
pub(super) fn windows<'a>(
    layer: &'a Layer,
    numbers: &'a [f32],
    row_stride: usize,
    graph: &Graph,
    pixels: usize,
) -> Windows<'a> {
    let run = layer.kernel * graph.maps[layer.from].channels;
    Windows { numbers, starts: &layer.tables.windows[..pixels], rows: layer.kernel, run, row_stride }
}
