//! Networks, training, checkpoints and run folders of MAD, on Burn.
//!
//! [`fit`](train::fit) turns data into a [`Run`] folder; [`Run::open`] reads one back and [`Run::fitted`] gives the trained
//! model, which draws samples and knows densities whatever [`method`] it was trained by.
//!
//! From a table of latitudes and longitudes to samples and a density:
//!
//! ```
//! use mad_nn::mad_core::{catalogue::datasets, load::load, table::ColumnOptions};
//! use mad_nn::method::SampleRequest;
//! use mad_nn::train::{Silent, fit};
//! use mad_nn::{Contents, Partial};
//! use std::sync::atomic::AtomicBool;
//!
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("run");
//! // A week of earthquakes, built in; `data::read` reads a table from a file.
//! let table = datasets::make("earthquakes-week", None, 0, 0, None)?;
//! let loaded = load(&table, "sphere:2", &ColumnOptions::default())?;
//!
//! // Far too small, but quick. Leave a setting out to get the one that suits the manifold.
//! let settings = Partial::from_toml("steps = 5\nwidth = 16\ndepth = 1\nseed = 1", "example")?;
//! let contents = Contents::new(&table, loaded, &settings)?;
//! let run = fit(&contents, &out, false, &mut Silent, &AtomicBool::new(false))?.run;
//!
//! let model = run.fitted()?;
//! let (samples, _) = model.draw(&SampleRequest::new(1), 10)?; // unit vectors
//! let rows = run.columns().points.encode(&samples); // latitude and longitude again
//! let nats = model.log_density(&samples.head(1), 30)[0];
//! println!("{:?}: log-density {nats:.3}", rows[0]);
//! # assert_eq!((samples.len(), rows.len(), rows[0].len()), (10, 10, 2));
//! # assert!(samples.rows().all(|x| run.manifold().deviation(x) < 1e-14));
//! # // Five steps leave the model close to its base measure, which is fitted to the points.
//! # assert!((nats - run.base().log_weight(samples.row(0))).abs() < 1.0, "{nats}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bridge;
pub mod checkpoint;
pub mod condition;
pub mod config;
mod denoiser;
pub mod device;
pub mod disk;
pub mod kernel;
pub mod memory;
pub mod method;
pub mod net;
pub mod optim;
pub mod pose;
pub mod run;
pub mod train;
pub mod vision;

pub use config::{Config, ConfigError, Partial};
pub use denoiser::LearnedDenoiser;
pub use mad_core;
pub use run::{Contents, Part, Run};
