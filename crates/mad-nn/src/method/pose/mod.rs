//! Poses from pictures: given a picture of an object, which rotations may it have?
//!
//! Models here see a picture through an encoder of [`crate::vision`] and answer with samples of rotations. Their methods are entries
//! of [`crate::method::METHODS`], and their runs are those of [`crate::Run`].

mod bingham;
mod denoising;
mod fitted;
mod flow;
mod grid;
mod head;
mod ipdf;
mod method;
mod network;
mod normaliser;
mod objective;
mod regression;
mod score;
mod space;
#[cfg(test)]
pub(crate) mod testing;

use mad_core::rotation::Quaternion;

/// The rotation that turns nothing.
const IDENTITY: Quaternion = [0.0, 0.0, 0.0, 1.0];

pub(super) use bingham::BINGHAM;
pub(super) use denoising::Denoising;
pub(super) use fitted::fitted;
pub(super) use flow::ROTATION_FLOW;
pub(super) use ipdf::IMPLICIT_PDF;
pub use method::{PoseModel, PoseResult, PoseSamples};
pub use network::PictureNetwork;
pub(super) use objective::objective;
pub(super) use regression::EMBEDDING;
pub use score::{PoseError, PoseReport, TEST_DRAWS, score_pose};
