//! Noise levels, anchors and regression targets.

mod anchor;
mod batch;
mod schedule;

pub use anchor::Anchor;
pub use batch::NoisedBatch;
pub use schedule::{LevelDraw, NoiseError, NoiseRange, Schedule};
