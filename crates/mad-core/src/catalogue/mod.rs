//! Everything that goes by a name: manifolds, data sets, metrics, base measures.
//!
//! An entry of [`MANIFOLDS`] joins what the parts of the library know of a manifold: how it is built from its spec, how its
//! points stand in files, how they are drawn and compared. Data sets are in [`DATASETS`], metrics in [`METRICS`].

mod base_file;
pub mod datasets;
mod laws;
mod manifolds;
mod metrics;
mod spec;

pub use base_file::read_base;
pub use datasets::{DATASETS, DatasetEntry};
pub use laws::{check, context, example_points, spec_round_trips};
pub use manifolds::{
    Build, BuildContext, Form, MANIFOLDS, ManifoldEntry, View, build, build_spec, kernel, layout, view,
};
pub use metrics::{Comparison, METRICS, Measurement, MetricEntry, drift_measurements, metric};
pub use spec::Spec;
