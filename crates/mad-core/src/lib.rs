//! Everything in MAD that needs no network: manifolds and their base measures, noise, samplers, likelihoods, metrics, data.
//!
//! ```
//! use mad_core::load::manifold_named;
//!
//! let sphere = manifold_named("sphere:2")?;
//! let base = sphere.uniform();
//! // A point that noise of standard deviation 0.1 has moved off the sphere, and where it came from on average.
//! let (x, mut mean) = ([0.0, 0.3, 1.1], [0.0; 3]);
//! base.posterior_mean(&x, 0.1, &mut mean);
//! assert!(sphere.deviation(&x) > 0.1 && sphere.deviation(&mean) < 0.01);
//! # Ok::<(), mad_core::load::LoadError>(())
//! ```
//!
//! | To | go to |
//! |---|---|
//! | hold points | [`Points`], rows of numbers in ambient coordinates |
//! | name, use or write a manifold | [`catalogue`], [`manifold`] with a template and its laws |
//! | use or write a base measure | [`measure`]; [`estimate`] fits one to data |
//! | read, write and divide tables | [`table`]; [`load`] makes points of them and says what is odd |
//! | get data to try | [`catalogue::datasets`] |
//! | add noise, denoise, sample | [`noise`], [`sample`] |
//! | compute densities and bounds | [`likelihood`] |
//! | compare samples with data | [`metrics`] |
//! | compute with rotations and their symmetries | [`rotation`] |
//! | follow geodesics and Brownian motion | [`riemannian`] |
//! | draw solids and read archives of their pictures | [`solids`] |
//! | draw random numbers that never depend on threads | [`rng`] |
//!
//! `mad-nn` trains models on top of this crate. Programs that fit models begin there, with its prelude.

#![forbid(unsafe_code)]

pub mod archive;
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
mod setting;
pub mod solids;
pub mod special;
pub mod table;

pub use groups::copies;
pub use manifold::Unit;
pub use moments::{Moments, quantile};
pub use points::Points;
pub use setting::Setting;
