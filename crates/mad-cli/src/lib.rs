//! The program `mad`, and what `mad-lab` shares with it.
//!
//! **Not a stable API.** What is public here is what `mad-lab` needs, and changes without notice. Libraries to build on are
//! `mad-core` and `mad-nn`.
//!
//! | To | go to |
//! |---|---|
//! | run the program, or one with commands of its own | [`mad`], [`run_program`] |
//! | read what the command line names | [`Common`], [`Reading`], [`table_of`] |
//! | open a run folder, sample and score | [`Opened`], [`SamplerChoice`], [`LikelihoodScore`] |
//! | draw figures | [`plot`] |
//! | print results, notices and progress | [`output`], [`Meter`] |
//! | end with the right exit code | [`CliError`], [`Failure`] |

mod args;
mod commands;
mod error;
mod input;
mod interrupt;
mod number;
pub mod output;
mod overwrite;
mod pace;
pub mod plot;
mod printable;
mod program;
mod progress;
mod report;
mod source;
mod standard_output;
mod version;

pub use args::{Common, Progress, Reading};
pub use commands::list::{Registry, list_registries};
pub use commands::opened::{Opened, SamplerChoice};
pub use commands::scores::{FLOOR_DRAWS, LikelihoodScore, MeanNll, draws};
pub use error::{CliError, Failure, exit_code_of_signal};
pub use input::{quoted, table_of};
pub use interrupt::Interrupt;
pub use overwrite::require_apart;
pub use program::run_program;
pub use progress::Meter;
pub use report::poses::{PoseRow, poses_of_picture};
pub use source::solid_of;
pub use version::long as long_version;

use std::process::ExitCode;

/// The whole program `mad`.
pub fn mad() -> ExitCode {
    run_program(|cli: &args::Cli| &cli.common, commands::run)
}
