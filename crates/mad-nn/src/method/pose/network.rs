//! A network that sees a picture: an encoder, and what follows it.

use crate::{bridge, condition::PoseBatch, net::Layout, vision::Encoder};
use burn_tensor::{Device, Tensor};

/// An encoder and the layout of all weights, of which those of the encoder come first.
pub struct PictureNetwork {
    encoder: Encoder,
    layout: Layout,
}

impl PictureNetwork {
    /// An encoder with further networks, each under its name.
    pub(super) fn new(encoder: Encoder, heads: &[(&str, &Layout)]) -> Self {
        let parts = std::iter::once(("encoder", encoder.layout())).chain(heads.iter().copied());
        Self { layout: Layout::joined(parts), encoder }
    }

    /// Names and shapes of all weights.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// First weights of the encoder.
    pub(super) fn initialise(&self, seed: u64) -> Vec<f32> {
        self.encoder.initialise(seed)
    }

    /// Where the weights of the heads begin.
    fn cut(&self) -> usize {
        self.encoder.layout().len()
    }

    /// Features of the pictures, open to the backward pass.
    pub(super) fn features(&self, weights: &Tensor<1>, batch: &PoseBatch, device: &Device) -> Tensor<2> {
        let n = batch.poses.len();
        let images = bridge::matrix_f32(batch.images.clone(), [n, batch.images.len() / n], device);
        self.encoder.encode(images, weights.clone().narrow(0, 0, self.cut()))
    }

    /// Features of pictures on the host, picture after picture.
    pub(super) fn features_on_host(&self, weights: &[f32], images: &[f32]) -> Vec<f32> {
        self.encoder.encode_host(images, &weights[..self.cut()])
    }

    /// Weights of the heads, open to the backward pass.
    pub(super) fn heads(&self, weights: Tensor<1>) -> Tensor<1> {
        weights.narrow(0, self.cut(), self.layout.len() - self.cut())
    }

    /// Weights of the heads on the host.
    pub(super) fn heads_on_host<'a>(&self, weights: &'a [f32]) -> &'a [f32] {
        &weights[self.cut()..]
    }
}
