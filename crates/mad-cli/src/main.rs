//! `mad`: fit, sample, evaluate and draw distributions on known sets inside Euclidean space.

mod args;
mod bench;
mod commands;
mod error;
mod input;
mod interrupt;
mod output;
mod overwrite;
mod pace;
mod plot;
mod printable;
mod progress;
mod report;
mod reproduce;
mod source;
mod standard_output;

use clap::Parser;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => output::misunderstood(&error),
    };
    let outcome = standard_output::require_open()
        .and_then(|()| interrupt::survive_limits())
        .and_then(|()| check_instructions())
        .and_then(|()| set_threads(&cli.common))
        .and_then(|()| commands::run(&cli));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody is left to be told.
        Err(error) if error.is_broken_pipe() => ExitCode::from(error::BROKEN_PIPE),
        Err(error) => {
            output::failure(&cli.common, &error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn check_instructions() -> Result<(), error::CliError> {
    match std::env::var("MAD_SIMD") {
        Ok(name) if !mad_nn::kernel::Simd::is_known(&name) => {
            Err(error::CliError::Usage(format!("MAD_SIMD={name}: known are portable, avx2 and avx512")))
        }
        _ => Ok(()),
    }
}

fn set_threads(common: &args::Common) -> Result<(), error::CliError> {
    let Some(threads) = common.threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .map_err(|e| error::CliError::Usage(format!("--threads {threads}: {e}")))
}
