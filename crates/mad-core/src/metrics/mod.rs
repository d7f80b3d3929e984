//! How like two samples are, and how far samples lie from the manifold.
//!
//! Those that need nothing but two samples and their manifold are listed in [`METRICS`](crate::catalogue::METRICS).

mod chord;
mod closest;
mod drift;
mod error;
mod kernel;
mod mmd;
mod total_variation;
mod two_sample;

pub use chord::Chord;
pub use closest::{Closest, Distances, QUANTILES, closest};
pub use drift::Drift;
pub use error::MetricError;
pub use kernel::{Kernel, Profile};
pub use mmd::{Floor, FloorSource, Mmd, floor, mmd};
pub(crate) use mmd::{check, subset};
pub use total_variation::{total_variation, total_variation_to};
pub(crate) use two_sample::distinct;
pub use two_sample::{TwoSample, nearest_neighbour};
