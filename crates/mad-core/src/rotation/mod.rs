//! Rotations: quaternions and matrices, symmetry groups, and smooth coordinates of poses modulo symmetry.
//!
//! Quaternions are x, y, z, w; q and −q are the same rotation. Symmetry groups act from the right: an object symmetric under
//! G looks the same in the poses q and q g.

mod convert;
mod embedding;
mod euler;
mod group;
mod harmonics;
mod matrix;
mod quaternion;
mod symmetry;

pub(crate) use convert::{entries, from_vector, nearest_rotation, to_vector};
pub use embedding::Embedding;
pub use euler::EulerSequence;
pub(crate) use group::GROUP_NAMES;
pub use group::Group;
pub use matrix::{Matrix, axis, from_matrix, matrix, turn, with_axis};
pub(crate) use quaternion::IDENTITY;
pub use quaternion::{Quaternion, angle, by, conjugate, multiply, uniform};
pub(crate) use quaternion::{canonical_sign, choose, turn_about_z, unit};
pub use symmetry::Symmetry;
