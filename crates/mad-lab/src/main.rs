//! `mad-lab`: repeats the paper's experiments with `mad`, and measures how long things take.
//!
//! Commands are in `commands`; experiments (files, jobs, scores, tables, figures) in `reproduce`; measurements of speed in `bench`.

mod args;
mod bench;
mod commands;
mod error;
mod reproduce;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    mad_cli::run_program(|cli: &args::Cli| &cli.common, commands::run)
}
