//! Known sets inside Euclidean space.
//!
//! A manifold says where the set is and how its points are measured, written to files and drawn. It hands out its uniform
//! [`BaseMeasure`]; how data are spread on it is somebody else's business.

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
pub use euclid::Euclid;
pub use finite::FiniteSet;
pub use group::{Group, Quaternion, conjugate, multiply};
pub use product::Product;
pub use registry::{
    Build, BuildContext, Form, MANIFOLDS, ManifoldEntry, ManifoldError, PointTable, ReadError, build, build_spec,
};
pub use so3::Rotations;
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

    /// Whether the set is a whole sphere, up to sign, so that von Mises-Fisher mixtures live on it.
    fn holds_unit_vectors(&self) -> bool {
        false
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
}

impl Default for Hints {
    fn default() -> Self {
        Self { sigma: (3e-3, 5.0), activation: "silu", input_gain: 1.0, learning_rate: 1e-3 }
    }
}
