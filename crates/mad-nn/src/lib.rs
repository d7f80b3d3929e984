//! Networks, training, checkpoints and run folders of MAD, on Burn.
//!
//! [`fit`](train::fit) turns data into a [`Run`] folder; [`Run::open`] reads one back and [`Run::denoiser`] gives the trained
//! [`LearnedDenoiser`], which every sampler and likelihood of `mad-core` accepts.

pub mod bridge;
pub mod checkpoint;
pub mod config;
mod denoiser;
pub mod device;
pub mod disk;
pub mod kernel;
pub mod net;
pub mod optim;
pub mod run;
pub mod train;

pub use config::{Config, ConfigError, Partial};
pub use denoiser::LearnedDenoiser;
pub use mad_core;
pub use run::{Part, Run};
