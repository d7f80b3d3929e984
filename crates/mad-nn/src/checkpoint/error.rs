//! What can be wrong with a checkpoint.

use std::{io, path::PathBuf};

/// A checkpoint that cannot be written or must not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum CheckpointError {
    /// The file system refused.
    #[error("cannot {action} {}{}: {source}", path.display(), bytes.map(|b| format!(" ({b} bytes of weights)")).unwrap_or_default())]
    Io { action: &'static str, path: PathBuf, bytes: Option<usize>, source: io::Error },
    /// The run has no checkpoint yet.
    #[error("{}: no checkpoint yet; resume the fit", folder.display())]
    None { folder: PathBuf },
    /// A file does not have the size it was written with.
    #[error("{}: {found} bytes, {expected} expected; the file is damaged; remove its folder, and resume the fit from the checkpoint before it", path.display())]
    Size { path: PathBuf, expected: u64, found: u64 },
    /// A file does not hold the bytes it was written with.
    #[error("{}: hash mismatch; the file is damaged or belongs to another step; remove its folder, and resume the fit from the checkpoint before it", path.display())]
    Hash { path: PathBuf },
    /// A file is too large, or is no regular file.
    #[error("{}: {problem}; the checkpoint is damaged or was edited", path.display())]
    Unreadable { path: PathBuf, problem: String },
    /// The manifest cannot be understood.
    #[error("{}: {problem}", path.display())]
    Manifest { path: PathBuf, problem: String },
    /// A newer program wrote it.
    #[error("{}: written by version {version} in schema {schema}; this program reads schema {known} and older", path.display())]
    Newer { path: PathBuf, version: String, schema: u32, known: u32 },
    /// A tensor is missing, has another shape, or holds numbers that are not finite.
    #[error("{}: tensor `{name}`: {problem}", path.display())]
    Tensor { path: PathBuf, name: String, problem: String },
    /// It belongs to other settings or other data.
    #[error("{}: belongs to another {what} than this run folder", path.display())]
    Foreign { path: PathBuf, what: &'static str },
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
