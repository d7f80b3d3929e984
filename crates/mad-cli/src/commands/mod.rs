//! One file per command: from what was typed to library calls and back to output.

mod base;
mod data;
mod data_check;
mod demo;
mod density;
mod eval;
mod facts;
mod fit;
mod info;
mod integral;
pub mod list;
pub mod opened;
mod outside;
mod plot;
mod pose;
mod render;
mod report;
mod report_pose;
mod sample;
pub mod scores;
mod shell;

use crate::args::{Cli, Command};
use crate::error::CliError;

/// Runs the command that was typed.
pub fn run(cli: &Cli) -> Result<(), CliError> {
    let common = &cli.common;
    match &cli.command {
        Command::Demo(args) => demo::run(common, args),
        Command::Fit(args) => fit::run(common, args),
        Command::Sample(args) => sample::run(common, args),
        Command::Eval(args) => eval::run(common, args),
        Command::Density(args) => density::run(common, args),
        Command::Info(args) => info::run(common, args),
        Command::Plot(args) => plot::run(common, args),
        Command::Report(args) => report::run(common, args),
        Command::Data(args) => data::run(common, args),
        Command::Base(args) => base::run(common, args),
        Command::List(args) => list::run(common, args),
        Command::Completions(args) => shell::completions(common, args),
        Command::Man(args) => shell::man(common, args),
    }
}
