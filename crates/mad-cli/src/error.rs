//! Everything that can end the program early, with its exit code.

use crate::plot::PlotError;
use mad_core::estimate::FitError;
use mad_core::load::LoadError;
use mad_core::measure::MixtureError;
use mad_core::metrics::MetricError;
use mad_core::noise::NoiseError;
use mad_core::sample::SampleError;
use mad_core::solids::PoseError;
use mad_core::table::DataError;
use mad_nn::ConfigError;
use mad_nn::condition::PictureError;
use mad_nn::device::{DeviceChoice, DeviceError};
use mad_nn::pose::PoseError as ScoreError;
use mad_nn::run::{PrepareError, RunError};
use mad_nn::train::TrainError;
use std::path::PathBuf;

/// Exit code after a second signal, which ends the program before anything more is saved.
pub const ENDED_AT_ONCE: u8 = 7;

/// Exit code if the reader of standard output went away, as after SIGPIPE.
pub const BROKEN_PIPE: u8 = 141;

/// How a program ends that has failed.
pub trait Failure: std::fmt::Display {
    /// The exit code, by the kind of failure.
    fn exit_code(&self) -> u8;

    /// The words of the command line that help, where the libraries know only what is wrong.
    fn advice(&self) -> Option<&'static str> {
        None
    }

    /// Whether the reader of our output has gone away, which needs no words.
    fn is_broken_pipe(&self) -> bool;
}

/// The exit code of a program that a signal ended.
pub fn exit_code_of_signal(signal: i32) -> u8 {
    128u8.saturating_add(u8::try_from(signal).unwrap_or(0))
}

/// Why a command failed. The exit code follows from the kind.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum CliError {
    /// A command line that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Points that cannot be found in a table.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A base measure that is no mixture.
    #[error(transparent)]
    Mixture(#[from] MixtureError),
    /// A base measure that cannot be fitted.
    #[error("base: {0}")]
    Fit(FitError),
    /// A score that cannot be computed.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Noise levels that make no sense.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// A setting that cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An archive of pictures that cannot be read or written.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// A run folder that cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Training that cannot continue.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A device that is not there.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Samples that cannot be drawn.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A picture that cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A file, or standard output, that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A density that is not finite, at the row with this number.
    #[error(
        "the density at point {row} is not a finite number; the flow left the region the network knows: train longer, or \
         use a larger --flow-steps"
    )]
    NotFinite { row: usize },
    /// The report on a file lists rows that cannot be used.
    #[error("{file}: {total} bad rows; fix them, or leave them out with --skip-bad-rows")]
    BadRows { file: String, total: usize },
    /// A signal arrived before anything was written.
    #[error("interrupted by signal {signal}; nothing was written")]
    Stopped { signal: i32 },
    /// A signal arrived while pictures were drawn.
    #[error("interrupted by signal {signal}; {done} of {total} pictures are there, without their poses")]
    PicturesStopped { signal: i32, done: usize, total: usize },
    /// A signal arrived; everything was saved.
    #[error("interrupted by signal {signal}; saved at step {step}, continue with --resume")]
    Interrupted { signal: i32, step: u64 },
}

impl CliError {
    /// An input or output failure at `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        CliError::Io { path: path.into(), source }
    }
}

impl Failure for CliError {
    fn advice(&self) -> Option<&'static str> {
        match self {
            CliError::Run(error) | CliError::Train(TrainError::Run(error)) => match error {
                RunError::NotARun { .. } => Some("`mad fit DATA --out RUN` makes one"),
                RunError::Occupied { .. } => Some("--resume continues it"),
                RunError::Checkpoint(error) if !error.is_io() => Some("`mad fit … --resume` continues a run"),
                _ => None,
            },
            CliError::Train(TrainError::GivenUp { .. } | TrainError::Device(DeviceError::Failed { .. })) => {
                Some("--resume continues the run")
            }
            CliError::Device(DeviceError::NotBuilt { device })
            | CliError::Train(TrainError::Device(DeviceError::NotBuilt { device })) => match device {
                DeviceChoice::Cpu => None,
                DeviceChoice::Wgpu => Some("cargo build --release --features wgpu"),
                DeviceChoice::Cuda => Some("cargo build --release --features cuda"),
            },
            CliError::Config(ConfigError::UnknownKey { nearest: None, .. }) => Some("`mad list settings` shows all"),
            CliError::Config(ConfigError::Value { key: "method", .. }) => Some("`mad list methods` shows all"),
            _ => None,
        }
    }

    fn is_broken_pipe(&self) -> bool {
        match self {
            CliError::Io { source, .. } => source.kind() == std::io::ErrorKind::BrokenPipe,
            CliError::Data(error) | CliError::Load(LoadError::Data(error)) => error.is_broken_pipe(),
            _ => false,
        }
    }

    /// 2 usage, 3 bad data, 4 bad checkpoint, 5 input/output, 6 numerical failure, 128 + signal when interrupted, else 1. Two
    /// more have no error: `ENDED_AT_ONCE` and `BROKEN_PIPE`.
    fn exit_code(&self) -> u8 {
        match self {
            CliError::Usage(_) | CliError::Noise(_) | CliError::Config(_) => 2,
            CliError::Data(error) | CliError::Load(LoadError::Data(error)) => match error {
                error if error.is_usage() => 2,
                error if error.is_io() => 5,
                _ => 3,
            },
            CliError::Load(_) => 2,
            CliError::Pose(error) if error.is_usage() => 2,
            CliError::Pose(error) if error.is_io() => 5,
            CliError::Pose(_) => 3,
            CliError::BadRows { .. } => 3,
            CliError::Mixture(_) | CliError::Fit(FitError::Empty { .. } | FitError::Mixture(_)) => 3,
            CliError::Fit(_) => 2,
            CliError::Metric(MetricError::Unknown(_) | MetricError::NotAFiniteSet { .. }) => 2,
            CliError::Metric(_) => 3,
            CliError::Run(error) | CliError::Train(TrainError::Run(error)) => match error {
                RunError::Occupied { .. } | RunError::Memory(_) => 2,
                RunError::Contents { .. } => 3,
                error if error.is_io() => 5,
                RunError::Pictures(PictureError::Archive(error)) if error.is_usage() => 2,
                RunError::Pictures(_) => 3,
                _ => 4,
            },
            CliError::Device(error) | CliError::Train(TrainError::Device(error)) => match error {
                DeviceError::Unknown { .. } | DeviceError::NotBuilt { .. } => 2,
                _ => 1,
            },
            CliError::Train(_) | CliError::NotFinite { .. } => 6,
            CliError::Sample(SampleError::NotFinite { .. }) => 6,
            CliError::Sample(_) => 2,
            CliError::Plot(PlotError::Format { .. }) => 2,
            CliError::Plot(
                PlotError::Coordinates { .. }
                | PlotError::Densities { .. }
                | PlotError::Count { .. }
                | PlotError::Empty { .. },
            ) => 3,
            CliError::Plot(_) | CliError::Io { .. } => 5,
            CliError::Interrupted { signal, .. }
            | CliError::PicturesStopped { signal, .. }
            | CliError::Stopped { signal } => exit_code_of_signal(*signal),
        }
    }
}

impl From<ScoreError> for CliError {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Run(error) => CliError::Run(error),
            ScoreError::Sample(error) => CliError::Sample(error),
        }
    }
}

impl From<mad_nn::Error> for CliError {
    fn from(error: mad_nn::Error) -> Self {
        use mad_nn::Error;
        match error {
            Error::Load(error) => CliError::Load(error),
            Error::Prepare(error) => error.into(),
            Error::Train(error) => CliError::Train(error),
            Error::Run(error) => CliError::Run(error),
            Error::Sample(error) => CliError::Sample(error),
            other => CliError::Usage(other.to_string()),
        }
    }
}

impl From<PrepareError> for CliError {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Config(error) => CliError::Config(error),
            PrepareError::Data(error) => CliError::Data(error),
            PrepareError::Pictures(error) => CliError::Run(error.into()),
            PrepareError::Fit(error) => CliError::Fit(error),
        }
    }
}
