//! An encoder as a list of steps between maps of numbers, with the places of all of them worked out beforehand.

use std::ops::Range;

use super::EncoderError;
use super::tables::{LayerTables, gradient_margin, tables};
use crate::kernel::convolution::Rectifier;
use crate::net::Layout;

/// Images that pass the dense layers together at most: enough rows for each read of their weights.
const MOST_IN_BLOCK: usize = 32;

/// Numbers that the maps of a block may hold.
const BLOCK_NUMBERS: usize = 2 << 20;

/// Numbers that the maps of a group may hold: those of neighbouring layers fit into the second cache.
const GROUP_NUMBERS: usize = 128 << 10;

/// A square map of `channels` numbers per pixel, channels side by side, in margins of zeros.
#[derive(Clone, Debug)]
pub struct Map {
    /// Pixels along a side.
    pub(super) size: usize,
    /// Numbers of a pixel.
    pub(super) channels: usize,
    /// Pixels of margin around the values, for the windows of later layers.
    pub(super) margin: usize,
    /// Pixels of margin around the gradients, for the windows of the layer that made the map.
    pub(super) gradient_margin: usize,
    /// Whether the dense layers read it, so that its gradients are kept for a whole block.
    pub(super) whole_block: bool,
}

impl Map {
    fn new(size: usize, channels: usize) -> Self {
        Self { size, channels, margin: 0, gradient_margin: 0, whole_block: false }
    }

    /// Values, or gradients, of one image.
    pub(super) fn frame(&self, gradient: bool) -> Frame {
        let margin = if gradient { self.gradient_margin } else { self.margin };
        Frame { margin, side: self.size + 2 * margin, size: self.size, channels: self.channels }
    }
}

/// How the pixels of a map lie in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) margin: usize,
    pub(super) side: usize,
    pub(super) size: usize,
    pub(super) channels: usize,
}

impl Frame {
    /// Numbers of one image, margins included.
    pub(super) fn len(&self) -> usize {
        self.side * self.side * self.channels
    }

    /// Numbers from one row to the next.
    pub(super) fn row_stride(&self) -> usize {
        self.side * self.channels
    }

    /// Where a pixel of the map begins; the margins have places below zero and from `size` on.
    pub(super) fn place(&self, y: isize, x: isize) -> usize {
        let (y, x) = (y + self.margin as isize, x + self.margin as isize);
        let inside = |v: isize| (0..self.side as isize).contains(&v);
        assert!(inside(y) && inside(x), "the window lies inside the margins");
        (y as usize * self.side + x as usize) * self.channels
    }

    /// Where each row of an image begins, and how many numbers it has, margins left out.
    pub(super) fn rows(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let frame = *self;
        (0..frame.size as isize).map(move |y| {
            let start = frame.place(y, 0);
            start..start + frame.size * frame.channels
        })
    }

    /// Writes zeros into the margins of one image.
    pub(super) fn clear_margins(&self, image: &mut [f32]) {
        if self.margin == 0 {
            return;
        }
        let mut end = 0;
        for row in self.rows() {
            image[end..row.start].fill(0.0);
            end = row.end;
        }
        image[end..].fill(0.0);
    }

    /// The places of these pixels in this many images one after the other.
    pub(super) fn places(&self, pixels: impl Iterator<Item = (isize, isize)> + Clone, images: usize) -> Vec<u32> {
        let place = |image: usize, (y, x)| (image * self.len() + self.place(y, x)) as u32;
        (0..images).flat_map(|image| pixels.clone().map(move |pixel| place(image, pixel))).collect()
    }

    /// Every pixel, row by row.
    pub(super) fn pixels(&self) -> impl Iterator<Item = (isize, isize)> + Clone + use<> {
        let size = self.size as isize;
        (0..size).flat_map(move |y| (0..size).map(move |x| (y, x)))
    }
}

/// A convolution, or a dense layer, which is one whose window is the whole map.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) name: String,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) padding: usize,
    pub(super) rectifier: Rectifier,
    /// A map that is added before the rectifier.
    pub(super) shortcut: Option<usize>,
    /// Whether the weights start at zero.
    pub(super) starts_at_zero: bool,
    /// W: rows, columns and channels of the window, then outputs.
    pub(super) weight: Range<usize>,
    /// b.
    pub(super) bias: Range<usize>,
    pub(super) tables: LayerTables,
}

/// One step of an encoder.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Layer(Box<Layer>),
    /// The largest number in each window; places outside the map do not count.
    MaxPool {
        from: usize,
        to: usize,
        kernel: usize,
        stride: usize,
        padding: usize,
    },
    /// The mean over all pixels.
    MeanPool {
        from: usize,
        to: usize,
    },
}

impl Step {
    pub(super) fn to(&self) -> usize {
        match self {
            Step::Layer(layer) => layer.to,
            Step::MaxPool { to, .. } | Step::MeanPool { to, .. } => *to,
        }
    }

    pub(super) fn from(&self) -> usize {
        match self {
            Step::Layer(layer) => layer.from,
            Step::MaxPool { from, .. } | Step::MeanPool { from, .. } => *from,
        }
    }
}

/// All steps of an encoder and the maps between them. Map 0 is the image.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(super) maps: Vec<Map>,
    pub(super) steps: Vec<Step>,
    /// Steps that run group by group; the others, dense layers, run on a block at once.
    pub(super) trunk: usize,
    /// Images in a group.
    pub(super) group: usize,
    /// Images in a block, a multiple of `group`.
    pub(super) block: usize,
    /// Names and shapes of all weights.
    pub(super) layout: Layout,
}

impl Graph {
    /// Numbers of an image.
    pub(super) fn inputs(&self) -> usize {
        self.maps[0].size * self.maps[0].size * self.maps[0].channels
    }

    /// Numbers of a feature vector.
    pub(super) fn features(&self) -> usize {
        self.maps[self.maps.len() - 1].channels
    }

    /// All layers with weights, in order.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.steps.iter().filter_map(|step| match step {
            Step::Layer(layer) => Some(&**layer),
            _ => None,
        })
    }

    /// Multiply-adds for one image, forward.
    pub(super) fn multiply_adds(&self) -> usize {
        let pixels = |layer: &Layer| self.maps[layer.to].size.pow(2);
        self.layers().map(|layer| pixels(layer) * layer.weight.len()).sum()
    }
}

/// Shape of a convolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Convolution {
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) channels: usize,
    pub(super) rectifier: Rectifier,
}

/// Puts an encoder together, step by step.
#[derive(Debug)]
pub(super) struct Builder {
    encoder: &'static str,
    maps: Vec<Map>,
    steps: Vec<Step>,
    len: usize,
    names: Vec<(String, Vec<usize>)>,
}

impl Builder {
    pub(super) fn new(encoder: &'static str, size: usize, channels: usize) -> Self {
        Self { encoder, maps: vec![Map::new(size, channels)], steps: Vec::new(), len: 0, names: Vec::new() }
    }

    /// The image.
    pub(super) fn image(&self) -> usize {
        0
    }

    /// Numbers per pixel of a map.
    pub(super) fn channels(&self, map: usize) -> usize {
        self.maps[map].channels
    }

    /// Pixels along a side after a window has passed a map.
    fn passed(&self, from: usize, kernel: usize, stride: usize, padding: usize) -> Result<usize, EncoderError> {
        let size = self.maps[from].size;
        let room = (size + 2 * padding).checked_sub(kernel);
        room.map(|room| room / stride + 1)
            .ok_or(EncoderError::TooSmall { encoder: self.encoder, size: self.maps[0].size })
    }

    fn map(&mut self, size: usize, channels: usize) -> usize {
        self.maps.push(Map::new(size, channels));
        self.maps.len() - 1
    }

    /// A layer of this kernel, stride and padding to a map of `size` pixels a side; outputs are the last number of the shape.
    #[allow(clippy::too_many_arguments)]
    fn layer(
        &mut self,
        name: &str,
        from: usize,
        (kernel, stride, padding): (usize, usize, usize),
        rectifier: Rectifier,
        shortcut: Option<usize>,
        size: usize,
        shape: Vec<usize>,
    ) -> usize {
        let outputs = shape[shape.len() - 1];
        let weight = self.len..self.len + shape.iter().product::<usize>();
        let bias = weight.end..weight.end + outputs;
        self.len = bias.end;
        self.names.push((format!("{name}.weight"), shape));
        self.names.push((format!("{name}.bias"), vec![outputs]));
        let (to, starts_at_zero) = (self.map(size, outputs), shortcut.is_some());
        let (name, tables) = (name.into(), LayerTables::default());
        self.steps.push(Step::Layer(Box::new(Layer {
            name,
            from,
            to,
            kernel,
            stride,
            padding,
            rectifier,
            shortcut,
            starts_at_zero,
            weight,
            bias,
            tables,
        })));
        to
    }

    /// A convolution with margins of half its kernel.
    pub(super) fn convolution(&mut self, name: &str, from: usize, shape: Convolution) -> Result<usize, EncoderError> {
        self.convolution_onto(name, from, shape, None)
    }

    /// A convolution to which a map of the same shape is added before the rectifier.
    ///
    /// Its weights start at zero, so that a residual block starts as the identity.
    pub(super) fn convolution_onto(
        &mut self,
        name: &str,
        from: usize,
        shape: Convolution,
        shortcut: Option<usize>,
    ) -> Result<usize, EncoderError> {
        let Convolution { kernel, stride, channels, rectifier } = shape;
        let padding = kernel / 2;
        let size = self.passed(from, kernel, stride, padding)?;
        let inputs = self.maps[from].channels;
        let window = (kernel, stride, padding);
        if let Some(shortcut) = shortcut {
            let map = &self.maps[shortcut];
            assert_eq!((map.size, map.channels), (size, channels), "a shortcut has the shape of what it is added to");
        }
        Ok(self.layer(name, from, window, rectifier, shortcut, size, vec![kernel, kernel, inputs, channels]))
    }

    /// A dense layer on all numbers of a map, pixel by pixel.
    pub(super) fn dense(&mut self, name: &str, from: usize, outputs: usize, rectifier: Rectifier) -> usize {
        let Map { size, channels, .. } = self.maps[from];
        self.layer(name, from, (size, 1, 0), rectifier, None, 1, vec![size * size * channels, outputs])
    }

    /// The largest number in each window, with margins of half the window.
    pub(super) fn max_pool(&mut self, from: usize, kernel: usize, stride: usize) -> Result<usize, EncoderError> {
        let padding = kernel / 2;
        let size = self.passed(from, kernel, stride, padding)?;
        let to = self.map(size, self.maps[from].channels);
        self.steps.push(Step::MaxPool { from, to, kernel, stride, padding });
        Ok(to)
    }

    /// The mean over all pixels of a map.
    pub(super) fn mean_pool(&mut self, from: usize) -> usize {
        let to = self.map(1, self.maps[from].channels);
        self.steps.push(Step::MeanPool { from, to });
        to
    }

    /// The encoder, with all places worked out. The last map is its answer.
    pub(super) fn finish(mut self) -> Graph {
        for step in &self.steps {
            if let Step::Layer(layer) = step {
                let margin = &mut self.maps[layer.from].margin;
                *margin = layer.padding.max(*margin);
                let needed = gradient_margin(layer, self.maps[layer.from].size, self.maps[layer.to].size);
                self.maps[layer.to].gradient_margin = needed;
            }
        }
        let trunk = self.steps.iter().rposition(|step| self.maps[step.to()].size > 1).map_or(0, |last| last + 1);
        for step in &self.steps[trunk..] {
            self.maps[step.from()].whole_block = true;
            self.maps[step.to()].whole_block = true;
            if let Step::Layer(layer) = step
                && let Some(shortcut) = layer.shortcut
            {
                self.maps[shortcut].whole_block = true;
            }
        }
        let numbers: usize = self.maps.iter().map(|map| map.frame(false).len()).sum();
        let power_below = |count: usize| 1 << count.max(1).ilog2();
        let block = power_below((BLOCK_NUMBERS / numbers).min(MOST_IN_BLOCK));
        let group = power_below((GROUP_NUMBERS / numbers).min(block));
        let Self { maps, mut steps, names, .. } = self;
        for (index, step) in steps.iter_mut().enumerate() {
            if let Step::Layer(layer) = step {
                layer.tables = tables(layer, &maps, if index < trunk { group } else { block });
            }
        }
        let named: Vec<(&str, &[usize])> = names.iter().map(|(name, shape)| (&**name, &**shape)).collect();
        let layout = Layout::tensors(&named);
        Graph { maps, steps, trunk, group, block, layout }
    }
}
