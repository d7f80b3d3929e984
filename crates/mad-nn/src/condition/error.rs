//! What can be wrong with pictures.

use crate::vision::weights::WeightsError;
use std::path::PathBuf;

/// Pictures, or weights of their encoder, that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum PictureError {
    /// An archive of pictures cannot be used.
    #[error(transparent)]
    Archive(#[from] mad_core::solids::PoseError),
    /// An archive has no pictures to learn from.
    #[error("{}: no training pictures of {solid}", path.display())]
    None { path: PathBuf, solid: &'static str },
    /// A picture cannot be read.
    #[error("{}: {problem}", path.display())]
    Unreadable { path: PathBuf, problem: String },
    /// A picture cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// More pictures than fit into memory.
    #[error(
        "{place}: {count} pictures of {size} pixels a side take {bytes} bytes, more than {limit}; set a smaller size"
    )]
    TooMany { place: String, count: usize, size: usize, bytes: u64, limit: u64 },
    /// Weights to begin with cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

impl PictureError {
    /// Whether the file system is at fault.
    pub fn is_io(&self) -> bool {
        match self {
            PictureError::Io { .. } | PictureError::Weights(WeightsError::Io { .. }) => true,
            PictureError::Archive(error) => error.is_io(),
            _ => false,
        }
    }
}
