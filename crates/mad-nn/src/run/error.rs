//! What can be wrong with a run folder.

use crate::{checkpoint::CheckpointError, condition::PictureError, config::Difference, memory::MemoryError};
use std::{io, path::PathBuf};

/// A run folder that cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum RunError {
    /// The file system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// There is no run in this folder.
    #[error("{}: not a run folder (no run.json); fit a model first", path.display())]
    NotARun { path: PathBuf },
    /// The folder is of version 0.1, which kept runs on pictures apart.
    #[error(
        "{}: a run on pictures of version 0.1 (pose.json), which is not read; fit again with the settings of its config.toml, \
         where images is now batch, flow is rotation-flow, and solid = NAME is condition = picture=symsol:NAME", path.display()
    )]
    PoseFolder { path: PathBuf },
    /// The folder already holds something.
    #[error("{}: already holds a run or other files; resume that run, or choose another folder", path.display())]
    Occupied { path: PathBuf },
    /// The folder holds something, but no run that could be continued.
    #[error("{}: there is no {file}, so there is no run to resume; restore the file, or choose an empty folder", path.display())]
    NothingToResume { path: PathBuf, file: &'static str },
    /// The network does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The run learned something else than a denoiser.
    #[error("{}: method {method} has no denoiser", path.display())]
    NoDenoiser { path: PathBuf, method: String },
    /// Another process trains in this folder.
    #[error("{}: process {holder} is training in this folder; wait for it, or choose another folder", path.display())]
    Locked { path: PathBuf, holder: String },
    /// A file of the folder is damaged.
    #[error("{}: {problem}", path.display())]
    Damaged { path: PathBuf, problem: String },
    /// A file would be larger than what is read again.
    #[error(
        "{name} would have {size} bytes, and at most {limit} are read; use fewer rows, or a base of fewer components"
    )]
    TooLarge { name: &'static str, size: u64, limit: u64 },
    /// A newer program made the folder.
    #[error("{}: made by version {version} in schema {schema}; this program reads schema {known} and older", path.display())]
    Newer { path: PathBuf, version: String, schema: u32, known: u32 },
    /// A checkpoint is damaged or could not be written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A resumed run asks for other settings.
    #[error("{}: settings differ from those of the run: {}; give those it began with, or another folder", path.display(), list(differences))]
    ConfigChanged { path: PathBuf, differences: Vec<Difference> },
    /// A resumed run brings other data.
    #[error("{}: the data differ from those of the run: {what}; give those it began with, or another folder", path.display())]
    DataChanged { path: PathBuf, what: String },
    /// Pictures, or the weights of their encoder, cannot be used.
    #[error(transparent)]
    Pictures(#[from] PictureError),
    /// The parts do not fit the manifold or each other.
    #[error("{problem}")]
    Contents { problem: String },
}

fn list(differences: &[Difference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl RunError {
    pub(crate) fn io(action: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        RunError::Io { action, path: path.into(), source }
    }

    /// Whether the file system is at fault rather than the folder's contents.
    pub fn is_io(&self) -> bool {
        match self {
            RunError::Io { .. } => true,
            RunError::Checkpoint(e) => e.is_io(),
            RunError::Pictures(e) => e.is_io(),
            _ => false,
        }
    }
}
