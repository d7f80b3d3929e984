//! One file per command.

mod bench;
mod list;
mod reproduce;

use crate::args::{Cli, Command};
use crate::error::LabError;

/// Runs the command that was typed.
pub fn run(cli: &Cli) -> Result<(), LabError> {
    let common = &cli.common;
    match &cli.command {
        Command::Reproduce(args) => reproduce::run(common, args),
        Command::ReproduceJob(args) => reproduce::work(common, args),
        Command::Bench(args) => bench::run(common, args),
        Command::List(args) => list::run(common, args),
    }
}
