//! Image encoders: small networks from pictures to feature vectors.
//!
//! An [`Encoder`] is a list of convolutions, pools and dense layers whose weights lie in one flat vector, as those of the dense
//! networks do. On the CPU it is one Burn operation with its own backward pass.
//!
//! ```
//! use mad_nn::vision::{Encoder, EncoderShape};
//!
//! let encoder = Encoder::new("cnn-small", EncoderShape { size: 32, channels: 1, features: 64 })?;
//! let weights = encoder.initialise(1);
//! let images = vec![0.5; 2 * 32 * 32]; // two grey pictures
//! let features = encoder.encode_host(&images, &weights);
//! assert_eq!(features.len(), 2 * 64);
//! assert_eq!(features[..64], features[64..]);
//! # Ok::<(), mad_nn::vision::EncoderError>(())
//! ```
//!
//! - [`ENCODERS`]: all encoders by name.
//! - [`weights`]: ResNets that were trained elsewhere.
//! - `graph`: steps and maps with all places worked out; `pass`: forward and backward; `operation`: the Burn operation.
//!
//! # Images
//! Pixels row by row, channels of a pixel side by side: number ((y · size) + x) · channels + c, as in picture files.

mod backward;
mod error;
mod graph;
mod operation;
mod pass;
mod pool;
mod spec;
mod tables;
pub mod weights;

#[cfg(test)]
mod tests;

pub use crate::kernel::convolution::Rectifier;
pub use error::EncoderError;
pub use spec::{ENCODERS, EncoderSpec};

use std::sync::Arc;

use burn_tensor::Tensor;
use mad_core::{
    registry,
    rng::{Purpose, stream},
};
use rand::RngExt as _;

use crate::kernel::Simd;
use crate::net::Layout;
use graph::{Builder, Graph};
use pass::Packed;

/// Pixels along a side at most, so that places fit into the tables.
const LARGEST: usize = 1024;

/// What an encoder reads and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncoderShape {
    /// Pixels along a side; images are square.
    pub size: usize,
    /// 1 for grey images, 3 for colours.
    pub channels: usize,
    /// Numbers of a feature vector.
    pub features: usize,
}

/// A network from images to feature vectors, without its weights.
#[derive(Debug, Clone)]
pub struct Encoder {
    spec: &'static EncoderSpec,
    shape: EncoderShape,
    graph: Arc<Graph>,
}

impl Encoder {
    /// The encoder of this name in [`ENCODERS`] for images of this shape.
    pub fn new(spec_name: &str, shape: EncoderShape) -> Result<Self, EncoderError> {
        let spec = registry::find(ENCODERS, spec_name)?;
        if ![1, 3].contains(&shape.channels) {
            return Err(EncoderError::Channels { channels: shape.channels });
        }
        if shape.features == 0 {
            return Err(EncoderError::NoFeatures);
        }
        if shape.size == 0 {
            return Err(EncoderError::TooSmall { encoder: spec.name, size: 0 });
        }
        if shape.size > LARGEST {
            return Err(EncoderError::TooLarge { size: shape.size, most: LARGEST });
        }
        let mut builder = Builder::new(spec.name, shape.size, shape.channels);
        (spec.build)(&mut builder, shape.features)?;
        Ok(Self { spec, shape, graph: Arc::new(builder.finish()) })
    }

    /// Its line in [`ENCODERS`].
    pub fn spec(&self) -> &'static EncoderSpec {
        self.spec
    }

    /// What it reads and answers.
    pub fn shape(&self) -> EncoderShape {
        self.shape
    }

    /// Names and shapes of its weights.
    ///
    /// A convolution has rows, columns and inputs of its window, then outputs; a dense layer inputs, then outputs.
    pub fn layout(&self) -> &Layout {
        &self.graph.layout
    }

    /// Numbers of an image.
    pub fn inputs(&self) -> usize {
        self.graph.inputs()
    }

    /// Numbers of a feature vector.
    pub fn features(&self) -> usize {
        self.graph.features()
    }

    /// Multiply-adds for one image, forward.
    pub fn multiply_adds(&self) -> usize {
        self.graph.multiply_adds()
    }

    /// Initial weights under `seed`.
    ///
    /// # Formula
    /// W uniform on ±√(6/inputs) before a rectifier (He et al. 2015) and on ±√(3/inputs) elsewhere (LeCun), where inputs are all
    /// numbers of a window; b zero. The last layer of a residual block is zero, so that the block starts as its shortcut.
    ///
    /// Layer i draws from its own stream, as in [`Layout::initialise`].
    pub fn initialise(&self, seed: u64) -> Vec<f32> {
        let mut numbers = vec![0.0; self.graph.layout.len()];
        for (i, layer) in self.graph.layers().enumerate().filter(|(_, layer)| !layer.starts_at_zero) {
            let gain = if layer.rectifier == Rectifier::Identity { 3.0 } else { 6.0 };
            let bound = (gain * layer.bias.len() as f64 / layer.weight.len() as f64).sqrt();
            let mut rng = stream(seed, Purpose::Init, i as u64);
            for v in &mut numbers[layer.weight.clone()] {
                *v = (bound * (2.0 * rng.random::<f64>() - 1.0)) as f32;
            }
        }
        numbers
    }

    /// Features of `n` images, `n × features`, differentiable with respect to the weights.
    ///
    /// `images` is `n × inputs`, in the order of the [module](self); `weights` are exactly those of the encoder, in the order of
    /// its layout. On Burn's CPU backend in single precision this is one operation with one backward operation; on every other
    /// backend it is a composition of Burn operations. Images get no gradient on the CPU.
    pub fn encode(&self, images: Tensor<2>, weights: Tensor<1>) -> Tensor<2> {
        operation::encode(images, weights, &self.graph)
    }

    /// [`Encoder::encode`] as a composition of Burn operations.
    pub fn encode_plainly(&self, images: Tensor<2>, weights: Tensor<1>) -> Tensor<2> {
        operation::plain(images, weights, &self.graph)
    }

    /// Features of images without tensors, on all threads: as many rows as there are whole images.
    ///
    /// # Panics
    /// When the numbers do not fill whole images or the weights are of another encoder.
    pub fn encode_host(&self, images: &[f32], weights: &[f32]) -> Vec<f32> {
        self.ready(weights).encode(images)
    }

    /// The encoder with its weights, ready to answer many times.
    ///
    /// # Panics
    /// When the weights are of another encoder.
    pub fn ready(&self, weights: &[f32]) -> ReadyEncoder {
        ReadyEncoder { packed: Packed::new(Simd::best(), &self.graph, weights, false), graph: self.graph.clone() }
    }
}

/// An encoder with its weights.
#[derive(Debug, Clone)]
pub struct ReadyEncoder {
    graph: Arc<Graph>,
    packed: Packed,
}

impl ReadyEncoder {
    /// Features of images, on all threads.
    ///
    /// # Panics
    /// When the numbers do not fill whole images.
    pub fn encode(&self, images: &[f32]) -> Vec<f32> {
        assert_eq!(images.len() % self.graph.inputs(), 0, "whole images of {} numbers", self.graph.inputs());
        pass::answer(Simd::best(), &self.graph, &self.packed, images)
    }
}
