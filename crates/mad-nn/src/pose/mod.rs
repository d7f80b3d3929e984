//! Poses from images: given a picture of a solid, which rotations may it have?
//!
//! Models here see an image through an encoder of [`crate::vision`] and answer with samples of rotations. They are trained by
//! the same loop, kept in the same checkpoints and told apart by the same registries as everything else.

mod bingham;
mod config;
mod denoising;
mod error;
mod flow;
mod grid;
mod head;
mod images;
mod ipdf;
mod keys;
mod method;
mod normaliser;
mod pretrained;
mod regression;
mod run;
mod score;
mod space;
#[cfg(test)]
mod testing;

pub use config::{PoseConfig, PoseHead, PoseTargets};
pub use error::PoseError;
pub use images::{Images, PoseBatch, Turn, test_images};
pub use keys::POSE_KEYS;
pub use method::{POSE_METHODS, PoseMethod, PoseMethodEntry, PoseModel, PoseSamples, lookup};
pub use run::{PoseFit, PoseRun, fit_pose, fit_pose_with};
pub use score::{PoseReport, TEST_DRAWS, score_pose};
