//! What can be wrong with a folder or archive of pictures and poses, and what to do about it.

use super::archive::Split;
use super::render::ViewError;
use super::solid::Solid;
use std::{io, path::PathBuf};

/// A refusal of an archive, or a failure to read or write one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum PoseError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io { path: PathBuf, action: &'static str, source: io::Error },
    /// A file that is no ZIP archive, or a broken one.
    #[error("{}: bad ZIP archive: {problem}", path.display())]
    Zip { path: PathBuf, problem: String },
    /// A member beyond the limits.
    #[error("{}: member {member} holds {size} bytes in {packed}; at most {limit}, and {ratio} times its packed size, is read", path.display())]
    TooLarge { path: PathBuf, member: String, size: u64, packed: u64, limit: u64, ratio: u64 },
    /// Neither pictures nor poses.
    #[error(
        "{}: no pictures of solids; wanted train/images/SHAPE_00000.png and train/rotations.npz, and the same under test/, \
         at the top or in one folder", path.display()
    )]
    NoPictures { path: PathBuf },
    /// A picture that is not there.
    #[error("{}: there is no {split}/images/{shape}_{index:05}.png", path.display())]
    Missing { path: PathBuf, split: Split, shape: &'static str, index: usize },
    /// A picture that cannot be read.
    #[error("{}: {name}: bad PNG file: {problem}", path.display())]
    Picture { path: PathBuf, name: String, problem: String },
    /// No poses of a solid.
    #[error("{}: {split}/rotations.npz has no array `{shape}`", path.display())]
    NoRotations { path: PathBuf, split: Split, shape: &'static str },
    /// An array of poses that cannot be read.
    #[error("{}: {split}/rotations.npz: array `{shape}`: {problem}", path.display())]
    Array { path: PathBuf, split: Split, shape: &'static str, problem: String },
    /// A matrix that is no rotation.
    #[error(
        "{}: {split}/rotations.npz: array `{shape}`, row {row}, entry {entry} is no rotation (it misses RᵀR = 1 and det R = 1 \
         by {defect:.1e}); are these the poses of the pictures?", path.display()
    )]
    NotARotation { path: PathBuf, split: Split, shape: &'static str, row: usize, entry: usize, defect: f64 },
    /// Lists that follow from no group.
    #[error(
        "{}: solid `{shape}`: neither R₀⁻¹ R nor R R₀⁻¹ over the list of a picture is the same for all pictures; the lists are \
         not orbits of a group", path.display()
    )]
    NoAction { path: PathBuf, shape: &'static str },
    /// Lists that do not show the side, or contradict each other.
    #[error("{}: the side from which symmetries act is not clear: {why}", path.display())]
    UnclearAction { path: PathBuf, why: String },
    /// A folder that holds something already.
    #[error("{}: the folder is not empty; name a new one", path.display())]
    Occupied { path: PathBuf },
    /// Numbers that make no data set.
    #[error("{0}")]
    Request(String),
    /// A view that cannot be drawn.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The work was asked to stop.
    #[error("stopped after {done} of {total} pictures")]
    Stopped { done: usize, total: usize },
}

impl PoseError {
    pub(super) fn io(path: impl Into<PathBuf>, action: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.into(), action, source }
    }

    /// Whether the operating system refused.
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// Whether the request, rather than the data, must change.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Occupied { .. } | Self::Request(_) | Self::View(_))
    }
}

/// Where an array of poses is, for messages.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) split: Split,
    pub(super) solid: Solid,
}

impl Place {
    pub(super) fn array(&self, problem: impl Into<String>) -> PoseError {
        let Place { path, split, solid } = self.clone();
        PoseError::Array { path, split, shape: solid.name(), problem: problem.into() }
    }

    pub(super) fn not_a_rotation(&self, row: usize, entry: usize, defect: f64) -> PoseError {
        let Place { path, split, solid } = self.clone();
        PoseError::NotARotation { path, split, shape: solid.name(), row, entry, defect }
    }
}
