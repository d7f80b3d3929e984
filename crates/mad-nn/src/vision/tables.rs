//! Where the windows of a layer are, forward and backward.

use super::graph::{Layer, Map};

/// Places of windows and pixels for the images that pass together.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerTables {
    /// Windows in the values of `from`.
    pub(super) windows: Vec<u32>,
    /// Pixels in the values of `to`.
    pub(super) outputs: Vec<u32>,
    /// Pixels in the gradients of `to`.
    pub(super) gradients: Vec<u32>,
    /// Pixels in the values of the shortcut.
    pub(super) shortcut: Vec<u32>,
    /// How gradients go back.
    pub(super) phases: Vec<Phase>,
}

/// Pixels of the input that meet the same part of the kernel.
///
/// # Formula
/// Output pixel v sees input pixel u through kernel row k = u + padding − stride v. Pixels u that are equal modulo the stride meet
/// the same rows k, and neighbouring v: their gradient is a convolution of the gradients of the output, without stride.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    /// Windows in the gradients of the output.
    pub(super) windows: Vec<u32>,
    /// Pixels in the gradients of the input.
    pub(super) targets: Vec<u32>,
    /// Rows of the windows.
    pub(super) rows: usize,
    /// Where the matrices inputs × outputs that a window meets begin in W, in the order of its pixels.
    pub(super) slices: Vec<usize>,
    /// Inputs of these matrices.
    pub(super) inputs: usize,
}

/// Whether the window is the whole map.
fn is_dense(layer: &Layer, size: usize) -> bool {
    layer.padding == 0 && layer.kernel == size
}

/// Rows of the kernel that input row `u` meets, last first, and the output row that sees it through the last of them.
fn met(layer: &Layer, u: usize) -> (Vec<usize>, isize) {
    let shifted = u + layer.padding;
    let rows: Vec<usize> = (0..layer.kernel).rev().filter(|k| k % layer.stride == shifted % layer.stride).collect();
    let first = rows.first().map_or(0, |&k| (shifted as isize - k as isize) / layer.stride as isize);
    (rows, first)
}

/// Pixels around the gradients of the output that the windows of [`Phase`] reach.
pub(super) fn gradient_margin(layer: &Layer, inputs: usize, outputs: usize) -> usize {
    if layer.from == 0 || is_dense(layer, inputs) {
        return 0;
    }
    let beyond = |u| {
        let (rows, first) = met(layer, u);
        let last = first + rows.len() as isize - 1;
        if rows.is_empty() { 0 } else { (-first).max(last + 1 - outputs as isize).max(0) as usize }
    };
    (0..inputs).map(beyond).max().unwrap_or(0)
}

pub(super) fn tables(layer: &Layer, maps: &[Map], images: usize) -> LayerTables {
    let (from, to) = (&maps[layer.from], &maps[layer.to]);
    let corner = |v: isize| v * layer.stride as isize - layer.padding as isize;
    let outputs = to.frame(false).pixels();
    let windows = from.frame(false).places(outputs.clone().map(|(y, x)| (corner(y), corner(x))), images);
    let shortcut = layer.shortcut.map(|shortcut| maps[shortcut].frame(false).places(outputs.clone(), images));
    let phases = match layer.from {
        0 => Vec::new(),
        _ if is_dense(layer, from.size) => dense_phases(from, to, images),
        _ => phases(layer, from, to, images),
    };
    LayerTables {
        windows,
        outputs: to.frame(false).places(outputs.clone(), images),
        gradients: to.frame(true).places(outputs, images),
        shortcut: shortcut.unwrap_or_default(),
        phases,
    }
}

fn phases(layer: &Layer, from: &Map, to: &Map, images: usize) -> Vec<Phase> {
    let (input, output) = (from.frame(true), to.frame(true));
    let matrix = from.channels * to.channels;
    let residues = || 0..layer.stride.min(from.size);
    let pairs = residues().flat_map(|y| residues().map(move |x| (y, x)));
    let phase = |(py, px)| {
        let (rows, columns) = (met(layer, py).0, met(layer, px).0);
        let at = |k: usize, l: usize| (k * layer.kernel + l) * matrix;
        let slices: Vec<usize> = rows.iter().flat_map(|&k| columns.iter().map(move |&l| at(k, l))).collect();
        let along = move |first| (first..from.size).step_by(layer.stride);
        let pixels = along(py).flat_map(move |y| along(px).map(move |x| (y, x)));
        let first = |u: usize| if slices.is_empty() { 0 } else { met(layer, u).1 };
        Phase {
            windows: output.places(pixels.clone().map(|(y, x)| (first(y), first(x))), images),
            targets: input.places(pixels.map(|(y, x)| (y as isize, x as isize)), images),
            rows: if slices.is_empty() { 0 } else { rows.len() },
            slices,
            inputs: from.channels,
        }
    };
    pairs.map(phase).collect()
}

/// A dense layer gives gradients to whole rows of a map at a time.
fn dense_phases(from: &Map, to: &Map, images: usize) -> Vec<Phase> {
    let inputs = from.size * from.channels;
    let phase = |y: usize| Phase {
        windows: to.frame(true).places(std::iter::once((0, 0)), images),
        targets: from.frame(true).places(std::iter::once((y as isize, 0)), images),
        rows: 1,
        slices: vec![y * inputs * to.channels],
        inputs,
    };
    (0..from.size).map(phase).collect()
}
