//! Fused CPU kernels of the networks.
//!
//! One training step of a small network is a few large matrix products and many cheap elementwise passes. Both are here: the
//! passes run over what a product just left in the nearest cache.
//!
//! - [`operation`]: a chain of dense layers as one Burn operation with its own backward pass; plain Burn operations elsewhere.
//! - [`forward`]: evaluation of a chain, and of its directional derivatives, without tensors.
//! - [`adam`]: Adam, AdamW, exponential moving average and clipping in one pass over slices.
//! - `convolution`: products with the windows of an image as one factor, for the encoders of [`crate::vision`].
//! - `plan`: sizes of a chain, and its weights in the order that products read.
//! - `chain`, `product`, `panels`: the loops behind them, from the batch down to the registers.
//!
//! # Numerics
//! Work is cut into blocks whose size depends on the problem alone, and every sum has a fixed order: results are the
//! same bits for any number of threads. They may differ in the last bits between instruction sets.
//!
//! This is the one module of the crate that may use `unsafe`, and it does so for two reasons: to run code compiled for an
//! instruction set that was detected at run time (`simd`, `lanes`), and to read windows of images whose places were checked
//! before the inner loop (`convolution`).
#![allow(unsafe_code)]

pub mod activation;
pub mod adam;
mod chain;
pub(crate) mod convolution;
pub mod forward;
mod lanes;
pub mod operation;
pub(crate) mod panels;
pub(crate) mod parallel;
mod plan;
mod product;
mod products;
mod simd;

pub use activation::Activation;
pub use operation::chain;
pub(crate) use operation::chain_tangents;
pub use panels::recycle;
pub use plan::{Place, Plan};
pub use products::Products;
pub use simd::Simd;

#[cfg(test)]
mod tests;
