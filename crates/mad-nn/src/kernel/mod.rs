//! Fused CPU kernels of the networks.
//!
//! One training step of a small network is a few large matrix products and many cheap elementwise passes. The products go
//! to the `gemm` crate, the same one that Burn's CPU backend uses; the passes are fused and vectorised here.
//!
//! - [`dense()`]: y = act(x W + b) as one Burn operation with its own backward pass; plain Burn operations elsewhere.
//! - [`adam`]: Adam, AdamW, exponential moving average and clipping in one pass over slices.
//! - [`forward`]: evaluation of a whole perceptron, and of its directional derivatives, without tensors.
//! - [`gradient`]: loss and gradients of a whole perceptron without a graph.
//!
//! # Numerics
//! Work is cut into blocks whose size depends on the problem alone, and every sum has a fixed order: results are the
//! same bits for any number of threads. They may differ in the last bits between instruction sets.
//!
//! This is the one module of the crate that may use `unsafe`: for calls into `gemm`, for buffers that are written before they
//! are read, and for functions compiled for an instruction set that was detected at run time.
#![allow(unsafe_code)]

pub mod activation;
pub mod adam;
pub mod dense;
pub mod forward;
pub mod gradient;
mod matrix;
mod parallel;
mod simd;

pub use activation::Activation;
pub use dense::dense;
pub use simd::Simd;

#[cfg(test)]
mod tests;
