//! What can be wrong with a checkpoint.

use std::{io, path::PathBuf};

/// A checkpoint that cannot be written or must not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file system refused.
    #[error("cannot {action} {}{}: {source}", path.display(), bytes.map(|b| format!(" ({b} bytes of weights)")).unwrap_or_default())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Room needed, if something was being written.
        bytes: Option<usize>,
        /// What the system said.
        source: io::Error,
    },
    /// The run has no checkpoint yet.
    #[error("{}: no checkpoint yet; resume the fit", folder.display())]
    None {
        /// Folder of the checkpoints.
        folder: PathBuf,
    },
    /// A file does not have the size it was written with.
    #[error("{}: {found} bytes, {expected} expected; the file is damaged; remove its folder, and resume the fit from the checkpoint before it", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Size when written.
        expected: u64,
        /// Size now.
        found: u64,
    },
    /// A file does not hold the bytes it was written with.
    #[error("{}: hash mismatch; the file is damaged or belongs to another step; remove its folder, and resume the fit from the checkpoint before it", path.display())]
    Hash {
        /// The file.
        path: PathBuf,
    },
    /// A file is too large, or is no regular file.
    #[error("{}: {problem}; the checkpoint is damaged or was edited", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The manifest cannot be understood.
    #[error("{}: {problem}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A newer program wrote it.
    #[error("{}: written by version {version} in schema {schema}; this program reads schema {known} and older", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the writer.
        version: String,
        /// Its schema.
        schema: u32,
        /// Newest schema known here.
        known: u32,
    },
    /// A tensor is missing, has another shape, or holds numbers that are not finite.
    #[error("{}: tensor `{name}`: {problem}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// It belongs to other settings or other data.
    #[error("{}: belongs to another {what} than this run folder", path.display())]
    Foreign {
        /// The checkpoint.
        path: PathBuf,
        /// `config` or `data`.
        what: &'static str,
    },
}

impl CheckpointError {
    pub(crate) fn io(action: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        CheckpointError::Io { action, path: path.to_path_buf(), bytes: None, source }
    }

    /// Whether the file system is at fault rather than the checkpoint.
    pub fn is_io(&self) -> bool {
        matches!(self, CheckpointError::Io { source, .. } if source.kind() != io::ErrorKind::NotFound)
    }
}
