//! Networks, training, checkpoints and run folders of MAD, on Burn.
//!
//! [`Fit`] goes from data to a trained [`Model`], which draws samples and evaluates densities whatever method it was trained by.
//!
//! ```
//! use mad_nn::prelude::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("run");
//! // A week of earthquakes, built in; `Fit::file` reads a file.
//! let table = datasets::make("earthquakes-week", None, 0, 0, None)?;
//!
//! // Far too small, but quick. Settings left out get the default of the manifold.
//! let model = Fit::table(&table, "sphere:2").steps(5).set("width", 16).out(&out).run()?;
//!
//! let samples = model.sample(10, 1)?; // unit vectors
//! let rows = model.encode(&samples); // latitude and longitude again
//! let nats = model.log_density(&samples)?;
//! println!("{:?}: log-density {:.3}", rows[0], nats[0]);
//! # assert_eq!((samples.len(), rows.len(), rows[0].len()), (10, 10, 2));
//! # assert!(samples.rows().all(|x| model.run().manifold().deviation(x) < 1e-14));
//! # // Five steps leave the model close to its base measure, which is fitted to the points.
//! # assert!((nats[0] - model.run().base().log_weight(samples.row(0))).abs() < 1.0, "{nats:?}");
//! # let again = Model::open(&out)?;
//! # assert_eq!(again.sample(10, 1)?, samples);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | To | go to |
//! |---|---|
//! | see the stable names | [`prelude`] |
//! | fit a file, a table, points, or points on a manifold of one's own | [`Fit`] |
//! | sample, evaluate densities, read and write points | [`Model`] |
//! | look into a run folder: settings, parts of the data, log, checkpoints | [`Run`] |
//! | know every setting and its default | [`config::SETTINGS`], [`config::RECIPES`], [`Config`] |
//! | condition a model on columns or pictures | [`condition`], [`Model::given`], [`Model::see`] |
//! | choose or write a method | [`method::METHODS`], [`method`] |
//! | watch training | [`train::Observer`] |
//! | prepare data by hand | [`Contents`], [`mad_core::load`] |
//! | do without a network | [`mad_core`]: manifolds, base measures, samplers, likelihoods, metrics |
//!
//! The examples of the package are programs for the globe, for rotations, for a manifold and for a base measure of one's own.

mod burn;
pub mod condition;
pub mod config;
mod denoiser;
pub mod device;
mod error;
mod fit;
mod memory;
pub mod method;
mod model;
mod parts;
pub mod prelude;
pub mod run;
pub mod train;

// Public for the programs, the laboratory, tests and fuzz targets alone.
#[doc(hidden)]
pub mod bridge;
#[doc(hidden)]
pub mod checkpoint;
#[doc(hidden)]
pub mod disk;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod optim;
#[doc(hidden)]
pub mod vision;

pub use config::{Config, ConfigError, Partial};
pub use denoiser::LearnedDenoiser;
pub use error::Error;
pub use fit::Fit;
pub use mad_core;
pub use method::pose;
pub use model::{FLOW_STEPS, Model};
pub use parts::Part;
pub use run::{Contents, Run};
