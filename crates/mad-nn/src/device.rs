//! Where tensors live: the only place that names a backend.

use burn::tensor::Device;

/// The device for asking a trained network: Burn's CPU backend `flex`, without gradients.
pub fn inference() -> Device {
    Device::flex()
}

/// The device for training: the same, recording operations for the backward pass.
pub fn training() -> Device {
    Device::flex().autodiff()
}
