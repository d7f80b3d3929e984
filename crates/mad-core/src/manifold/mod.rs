//! Known sets inside Euclidean space.
//!
//! A manifold defines where the set is and how its points are measured. It hands out its uniform [`BaseMeasure`]; how data are
//! spread on it, and how they are written to files, compared and drawn, is not its concern: names, file layouts, views and
//! kernels stand in the [`catalogue`](crate::catalogue).
//!
//! # A manifold of one's own
//!
//! The two points ±1 of the line, which `sphere:N` leaves out, with all that is required of them. Here one type
//! is the set and its uniform measure; usually the measure is a type of its own in [`measure`](crate::measure).
//!
//! ```
//! use mad_core::measure::BaseMeasure;
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
//! laws::check(laws::Subject { manifold: &Signs, base: &Signs })?;
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
//! # assert!(laws::check(laws::Subject { manifold: &Signs, base: &Wrong }).is_err());
//! # Ok::<(), laws::Violation>(())
//! ```
//!
//! To make it known by its name, give it a file here and an entry in [`MANIFOLDS`](crate::catalogue::MANIFOLDS); then the spec
//! must build it again as well ([`catalogue::check`](crate::catalogue::check)).

mod categorical;
mod error;
mod euclid;
mod finite;
pub mod laws;
mod mixture;
mod product;
mod so3;
mod sphere;
mod torus;
mod unit;

pub use categorical::Categorical;
pub use error::{ManifoldError, ReadError};
pub use euclid::Euclid;
pub use finite::{FiniteSet, PointTable};
pub use product::Product;
pub use so3::Rotations;
pub use sphere::Sphere;
pub use torus::Torus;
pub use unit::Unit;

use crate::{
    Points,
    measure::{BaseMeasure, SphereBlock},
    rng::Rng,
};
use std::{ops::Range, sync::Arc};

/// Smallest distance between points of a set, and how far they lie from their centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Smallest distance between two points; infinite if there is only one.
    pub spacing: f64,
    /// Root mean square distance from the centre.
    pub radius: f64,
}

/// A known closed subset of R^d. Four facts and two actions are required; the rest follows from them.
pub trait Manifold: std::fmt::Debug + Send + Sync {
    /// Text from which [`build`](crate::catalogue::build) makes this manifold again, such as `sphere:2`.
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

    /// The default measure of a fit: the uniform one, or the given weights of a finite set.
    fn default_base(&self) -> Arc<dyn BaseMeasure> {
        self.uniform()
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

    /// Whether distances are angles in radians. On products of spheres they are.
    fn is_angular(&self) -> bool {
        self.spheres().is_some()
    }

    /// The manifolds whose product this is, each with its coordinates; none unless it is a product.
    fn factors(&self) -> &[(Range<usize>, Arc<dyn Manifold>)] {
        &[]
    }

    /// The finite sets whose product this is, in the order of their coordinates; `None` unless such a list is known.
    fn finite_factors(&self) -> Option<Vec<Points>> {
        if self.intrinsic_dim() == 0 { self.grid(0).map(|points| vec![points]) } else { None }
    }

    /// Spacing and radius of a finite set that is given by its points; `None` for all others.
    fn extent(&self) -> Option<Extent> {
        None
    }
}
