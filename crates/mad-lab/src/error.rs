//! Everything that can end the program early, with its exit code.

use crate::bench::PeerError;
use crate::reproduce::ExperimentError;
use mad_cli::{CliError, Failure};
use std::path::PathBuf;

/// Why a command failed. The exit code tells what kind of thing went wrong, as for `mad`.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// What can end `mad` as well.
    #[error(transparent)]
    Cli(CliError),
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Some runs of an experiment failed; the others are there.
    #[error("{failed} of {total} runs failed; the same command tries them again")]
    RunsFailed { failed: usize, total: usize },
    /// A signal arrived while experiments ran.
    #[error("interrupted by signal {signal}; {done} of {total} runs are done, the same command resumes")]
    Stopped { signal: i32, done: usize, total: usize },
}

impl LabError {
    /// Words on the command line that make no sense together.
    pub fn usage(text: impl Into<String>) -> Self {
        LabError::Cli(CliError::Usage(text.into()))
    }

    /// An input or output failure at `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        LabError::Cli(CliError::io(path, source))
    }
}

impl Failure for LabError {
    fn exit_code(&self) -> u8 {
        match self {
            LabError::Cli(error) => error.exit_code(),
            LabError::Experiment(_) | LabError::Peer(PeerError::NotInstalled { .. } | PeerError::NoPeers { .. }) => 2,
            LabError::Peer(_) => 5,
            LabError::RunsFailed { .. } => 1,
            LabError::Stopped { signal, .. } => mad_cli::exit_code_of_signal(*signal),
        }
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            LabError::Cli(error) => error.advice(),
            _ => None,
        }
    }

    fn is_broken_pipe(&self) -> bool {
        matches!(self, LabError::Cli(error) if error.is_broken_pipe())
    }
}

/// Errors of the libraries are those of `mad`.
macro_rules! as_of_mad {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for LabError {
            fn from(error: $error) -> Self {
                LabError::Cli(error.into())
            }
        })+
    };
}

as_of_mad! {
    CliError,
    mad_cli::plot::PlotError,
    mad_core::table::DataError,
    mad_core::load::LoadError,
    mad_core::metrics::MetricError,
    mad_core::noise::NoiseError,
    mad_core::sample::SampleError,
    mad_nn::ConfigError,
    mad_nn::Error,
    mad_nn::pose::PoseError,
    mad_nn::run::PrepareError,
    mad_nn::run::RunError,
    mad_nn::train::TrainError,
}
