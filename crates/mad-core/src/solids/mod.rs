//! Symmetric solids: the eight bodies of SymSol, their pictures, archives of them, and scores of estimated poses.
//!
//! A pose is a unit quaternion (x, y, z, w) of the rotation R in x_cam = R x_obj + t. A solid that looks the same after the
//! rotations G of its own frame has the orbit {q g : g ∈ G} as the set of poses that explain one picture.
//!
//! ```
//! use mad_core::solids::{Solid, View};
//! let cube = Solid::lookup("cube").unwrap();
//! let view = View::default();
//! let mut picture = vec![0.0; view.size * view.size];
//! view.grey(cube, &[0.0, 0.0, 0.0, 1.0], &mut picture);
//! assert_eq!(picture[0], 1.0);
//! ```
//!
//! # Reference
//! Murphy et al., Implicit-PDF: Non-Parametric Representation of Probability Distributions on the Rotation Manifold, ICML 2021.

pub mod archive;
mod body;
mod error;
mod names;
mod picture;
mod planes;
mod pose_array;
pub mod render;
pub mod score;
pub mod solid;
pub mod write;

pub use archive::{Action, Archive, Split};
pub use error::PoseError;
pub use picture::Picture;
pub use render::{View, ViewError};
pub use score::{Answer, ModeCounts, PoseScore, score};
pub use solid::{SOLIDS, Solid};
