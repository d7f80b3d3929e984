//! How like two samples are, and how far samples lie from the manifold.
//!
//! Every metric takes samples, a reference sample and the manifold they live on, and answers with named numbers.
//! [`METRICS`] lists those that need nothing else.

mod chord;
mod closest;
mod drift;
mod error;
mod kernel;
mod mmd;
mod registry;
mod total_variation;
mod two_sample;

pub use chord::Chord;
pub use closest::{Closest, Distances, QUANTILES, closest};
pub use drift::Drift;
pub use error::MetricError;
pub use kernel::{Kernel, Profile};
pub use mmd::{Floor, FloorSource, Mmd, floor, mmd};
pub use registry::{Comparison, METRICS, Measurement, MetricEntry, drift_measurements, metric};
pub use total_variation::{total_variation, total_variation_to};
pub use two_sample::{TwoSample, nearest_neighbour};
