//! Known sets inside Euclidean space.
//!
//! A manifold says where the set is and how its points are measured, written to files and drawn. It hands out its uniform
//! [`BaseMeasure`]; how data are spread on it is somebody else's business.
//!
//! # A manifold of one's own
//!
//! The two points ±1 of the line, which `sphere:N` leaves out, with everything that must be said about them. Here one type
//! is the set and its uniform measure; usually the measure is a type of its own in [`base`](crate::base).
//!
//! ```
//! use mad_core::base::BaseMeasure;
//! use mad_core::manifold::{Manifold, laws};
//! use mad_core::rng::Rng;
//! use rand::RngExt;
//! use std::{f64::consts::{LN_2, PI}, sync::Arc};
//!
//! /// The set {−1, 1}.
//! #[derive(Debug, Clone, Copy)]
//! struct Signs;
//!
//! impl Manifold for Signs {
//!     fn spec(&self) -> String { "signs".into() }
//!     fn ambient_dim(&self) -> usize { 1 }
//!     fn intrinsic_dim(&self) -> usize { 0 }
//!     fn log_volume(&self) -> f64 { LN_2 }
//!
//!     /// The origin, as near to one point as to the other, goes to 1.
//!     fn project(&self, x: &mut [f64]) { x[0] = if x[0] < 0.0 { -1.0 } else { 1.0 } }
//!     fn uniform(&self) -> Arc<dyn BaseMeasure> { Arc::new(Signs) }
//! }
//!
//! impl BaseMeasure for Signs {
//!     fn ambient_dim(&self) -> usize { 1 }
//!
//!     /// # Formula
//!     /// E[x₀ | x] = tanh(x/σ²): the weights of ±1 are as exp(±x/σ²).
//!     fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
//!         mean[0] = (x[0] / sigma / sigma).tanh();
//!     }
//!
//!     /// # Formula
//!     /// ln (N_σ(x − 1) + N_σ(x + 1))/2, the larger term taken out.
//!     fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
//!         let offset = (x[0].abs() - 1.0) / sigma;
//!         let other = (-2.0 * x[0].abs() / sigma / sigma).exp();
//!         -0.5 * (2.0 * PI).ln() - sigma.ln() - 0.5 * offset * offset + other.ln_1p() - LN_2
//!     }
//!     fn log_weight(&self, _: &[f64]) -> f64 { -LN_2 }
//!     fn sample(&self, rng: &mut Rng, x0: &mut [f64]) { x0[0] = if rng.random() { 1.0 } else { -1.0 } }
//! }
//!
//! laws::check_unregistered(laws::Subject { manifold: &Signs, base: &Signs })?;
//! # // The laws notice a mistake: a mean at half the slope.
//! # #[derive(Debug)]
//! # struct Wrong;
//! # impl BaseMeasure for Wrong {
//! #     fn ambient_dim(&self) -> usize { 1 }
//! #     fn posterior_mean(&self, x: &[f64], s: f64, mean: &mut [f64]) { mean[0] = (0.5 * x[0] / s / s).tanh(); }
//! #     fn log_density(&self, x: &[f64], s: f64) -> f64 { BaseMeasure::log_density(&Signs, x, s) }
//! #     fn log_weight(&self, x: &[f64]) -> f64 { Signs.log_weight(x) }
//! #     fn sample(&self, rng: &mut Rng, x0: &mut [f64]) { Signs.sample(rng, x0) }
//! # }
//! # assert!(laws::check_unregistered(laws::Subject { manifold: &Signs, base: &Wrong }).is_err());
//! # Ok::<(), laws::Violation>(())
//! ```
//!
//! To make it known by its name, give it a file here and a line in [`MANIFOLDS`]; then it must obey [`laws::check`] too.

mod categorical;
mod euclid;
mod finite;
mod group;
pub mod laws;
mod product;
mod registry;
mod so3;
mod spec;
mod sphere;
mod torus;

pub use categorical::Categorical;
pub(crate) use categorical::one_hot;
pub use euclid::Euclid;
pub use finite::FiniteSet;
pub(crate) use group::canonical_sign;
pub use group::{Group, Quaternion, conjugate, multiply};
pub use product::Product;
pub use registry::{
    Build, BuildContext, Form, MANIFOLDS, ManifoldEntry, ManifoldError, PointTable, ReadError, build, build_spec,
};
pub use so3::Rotations;
pub(crate) use so3::{choose, turn_about_z};
pub use spec::Spec;
pub use sphere::Sphere;
pub use torus::Torus;

use crate::{Points, base::BaseMeasure, data::Layout, metrics::Kernel, rng::Rng};
use std::{ops::Range, sync::Arc};

/// A known closed subset of R^d. Four facts and two actions are required; the rest follows from them.
pub trait Manifold: std::fmt::Debug + Send + Sync {
    /// Text from which [`build`] makes this manifold again, such as `sphere:2`.
    fn spec(&self) -> String;

    /// Number of ambient coordinates d.
    fn ambient_dim(&self) -> usize;

    /// Dimension of the set itself; 0 for finite sets.
    fn intrinsic_dim(&self) -> usize;

    /// Log of the Riemannian volume; log of the number of points for finite sets; 0 for unbounded flat space.
    fn log_volume(&self) -> f64;

    /// Moves `x` to the nearest point of the set. Defined everywhere: ties (the centre of a sphere) are broken by rule.
    fn project(&self, x: &mut [f64]);

    /// The uniform measure on the set.
    fn uniform(&self) -> Arc<dyn BaseMeasure>;

    /// The measure a fit starts from unless told otherwise: the uniform one, or the given weights of a finite set.
    fn default_base(&self) -> Arc<dyn BaseMeasure> {
        self.uniform()
    }

    /// How points stand in a file.
    fn layout(&self) -> Layout {
        Layout::Coordinates(self.ambient_dim())
    }

    /// Geodesic distance between two points of the set; the chord unless the set has something better.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        self.chord(a, b)
    }

    /// Straight distance through ambient space, the smallest over representatives of the same point.
    fn chord(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// Distance from `x` to the set: how far a sample has drifted off.
    fn deviation(&self, x: &[f64]) -> f64 {
        let mut p = x.to_vec();
        self.project(&mut p);
        x.iter().zip(&p).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// Whether x and −x stand for the same point, so that scores must be odd.
    fn is_odd(&self) -> bool {
        false
    }

    /// Coordinates in which a sign is free block by block: all of them where `is_odd`, one range per rotation in a product.
    fn odd_blocks(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Replaces a point by the fixed representative of its class; the identity unless points have several representatives.
    fn canonicalise(&self, _x: &mut [f64]) {}

    /// Replaces a representative by a random one of its class; the identity unless the set is a quotient.
    fn lift(&self, _x: &mut [f64], _rng: &mut Rng) {}

    /// About `n` points that share the volume equally, in a fixed order; `None` where no such grid is known.
    fn grid(&self, _n: usize) -> Option<Points> {
        None
    }

    /// Whether points are classes of a symmetry group: representatives are canonical before noise and lifted after sampling.
    fn is_quotient(&self) -> bool {
        false
    }

    /// The blocks of coordinates that are whole unit spheres, if the set is nothing but these, and so geodesics and
    /// von Mises-Fisher mixtures are known on it; `None` otherwise.
    fn spheres(&self) -> Option<Vec<SphereBlock>> {
        None
    }

    /// How to draw points.
    fn view(&self) -> View {
        View::Scatter
    }

    /// The kernel with which samples are compared.
    fn kernel(&self) -> Kernel {
        Kernel::default()
    }

    /// The training settings that suit this set.
    fn hints(&self) -> Hints {
        Hints::default()
    }
}

/// A block of coordinates that is a whole unit sphere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SphereBlock {
    /// Its coordinates.
    pub range: Range<usize>,
    /// Whether x and −x of this block stand for the same point, as with quaternions.
    pub antipodal: bool,
}

/// How points of a manifold are best shown.
#[derive(Debug, Clone, PartialEq)]
pub enum View {
    /// A world map (unit vectors in R³).
    Map,
    /// Rotations: direction of the turned axis on a map, tilt as colour (unit quaternions x, y, z, w).
    Rotations,
    /// Angles (pairs cos, sin): one panel per pair of neighbouring angles.
    Angles(usize),
    /// Columns of categories with these numbers of levels, as bars.
    Bars(Vec<usize>),
    /// The first two coordinates as a scatter plot.
    Scatter,
    /// One view per block of coordinates: (number of ambient coordinates, view).
    Blocks(Vec<(usize, View)>),
}

/// Training settings that suit a manifold; a config may change each.
#[derive(Debug, Clone, PartialEq)]
pub struct Hints {
    /// Smallest and largest noise level.
    pub sigma: (f64, f64),
    /// `sin` or `silu`.
    pub activation: &'static str,
    /// Factor on the scaled input before the first layer.
    pub input_gain: f64,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// How training draws noise levels: `log-uniform` or `log-normal:MEAN,STD`.
    pub levels: &'static str,
    /// Network calls per sample of the default sampler.
    pub nfe: usize,
    /// What changes if the base measure is fitted to the data, so that only fine structure is left to learn. Where this is
    /// known a fit may choose such a base by itself.
    pub fitted: Option<FittedHints>,
}

/// Training settings for the remainder beside a fitted base measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedHints {
    /// Largest noise level.
    pub sigma_max: f64,
    /// Factor on the scaled input before the first layer.
    pub input_gain: f64,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Validations without progress, of sixteen, after which training stops.
    pub patience: u64,
    /// Network calls per sample of the default sampler, whose way is shorter.
    pub nfe: usize,
}

impl FittedHints {
    /// The settings beside a uniform base; only training stops by itself.
    pub fn unchanged(hints: &Hints) -> Self {
        let Hints { sigma: (_, sigma_max), input_gain, learning_rate, nfe, .. } = *hints;
        Self { sigma_max, input_gain, learning_rate, patience: 4, nfe }
    }
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            sigma: (3e-3, 5.0),
            activation: "silu",
            input_gain: 1.0,
            learning_rate: 1e-3,
            levels: "log-uniform",
            nfe: crate::sample::SAMPLERS[0].nfe,
            fitted: None,
        }
    }
}
