//! Everything in MAD that needs no network: manifolds and their base measures, noise, samplers, likelihoods, metrics, data.

#![forbid(unsafe_code)]

pub mod base;
pub mod data;
pub mod files;
mod groups;
mod length;
pub mod likelihood;
pub mod manifold;
pub mod metrics;
mod moments;
mod neighbours;
pub mod noise;
pub mod points;
pub mod pose;
pub mod riemannian;
pub mod rng;
pub mod sample;
pub mod special;

pub use groups::copies;
pub use length::Unit;
pub use moments::Moments;
pub use points::Points;
