//! The stable names: what programs that fit, sample and score models need.
//!
//! ```
//! use mad_nn::prelude::*;
//! ```
//!
//! Everything else that is public may change with any version. Reasons: `docs/decisions/0025-prelude.md`.

// Data in and out.
pub use mad_core::{
    Points,
    catalogue::datasets,
    table::{Cell, ColumnOptions, DataError, ReadOptions, Table, read},
};
// Sets and measures on them, those of the library and one's own.
pub use mad_core::{
    manifold::{Categorical, Euclid, FiniteSet, Manifold, Product, Rotations, Sphere, Torus, laws},
    measure::{BaseMeasure, Component, Finite, ProductMeasure, UniformSphere, VonMisesFisherMixture},
    rng::{Purpose, Rng, stream},
};
// Fits, their settings and what watches them.
pub use crate::{
    Config, Contents, Error, Fit, Partial,
    config::{RECIPES, SETTINGS},
    device::DeviceChoice,
    train::{Observer, Outcome, StepReport, TrainedRun, Validation},
};
// Models.
pub use crate::{
    Model, Part, Run,
    method::{Fitted, Likelihood, METHODS, SampleRequest, Sampled},
};
