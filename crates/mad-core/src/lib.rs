//! Everything in MAD that needs no network: manifolds and their base measures, noise, samplers, likelihoods, metrics, data.

#![forbid(unsafe_code)]

pub mod catalogue;
pub mod estimate;
pub mod files;
mod groups;
pub mod likelihood;
pub mod load;
pub mod manifold;
pub mod measure;
pub mod metrics;
mod moments;
mod neighbours;
pub mod noise;
pub mod points;
pub mod registry;
pub mod riemannian;
pub mod rng;
pub mod rotation;
pub mod sample;
pub mod solids;
pub mod special;
pub mod table;

pub use groups::copies;
pub use manifold::Unit;
pub use moments::Moments;
pub use points::Points;
