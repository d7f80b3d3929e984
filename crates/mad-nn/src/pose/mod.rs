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
mod normaliser;
mod objective;
mod regression;
mod score;
mod space;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use bingham::ENTRY as BINGHAM;
pub(crate) use denoising::Denoising;
pub(crate) use fitted::fitted;
pub(crate) use flow::ENTRY as FLOW;
pub(crate) use ipdf::ENTRY as IPDF;
pub use method::{PoseModel, PoseSamples};
pub(crate) use objective::objective;
pub(crate) use regression::ENTRY as EMBEDDING;
pub use score::{PoseError, PoseReport, TEST_DRAWS, score_pose};
