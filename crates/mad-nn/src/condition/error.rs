//! What can be wrong with pictures.

use crate::vision::weights::WeightsError;
use std::path::PathBuf;

/// Pictures, or weights of their encoder, that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// An archive of pictures cannot be used.
    #[error(transparent)]
    Archive(#[from] mad_core::solids::PoseError),
    /// An archive has no pictures to learn from.
    #[error("{}: no training pictures of {solid}", path.display())]
    None {
        /// The archive.
        path: PathBuf,
        /// Name of the solid.
        solid: &'static str,
    },
    /// A picture cannot be read.
    #[error("{}: {problem}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A picture cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// More pictures than fit into memory.
    #[error(
        "{place}: {count} pictures of {size} pixels a side take {bytes} bytes, more than {limit}; set a smaller size"
    )]
    TooMany {
        /// Folder, archive or table.
        place: String,
        /// Pictures.
        count: usize,
        /// Pixels of a side.
        size: usize,
        /// Bytes they would take.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
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
