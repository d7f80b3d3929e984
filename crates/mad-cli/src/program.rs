//! The way through a program, from the words on the command line to the exit code.

use crate::args::Common;
use crate::error::{BROKEN_PIPE, CliError, Failure};
use crate::{interrupt, output, standard_output};
use clap::Parser;
use std::process::ExitCode;

/// Parses the command line, prepares threads and signals, and runs what was typed.
pub fn run_program<C: Parser, E: Failure + From<CliError>>(
    common: impl Fn(&C) -> &Common,
    run: impl Fn(&C) -> Result<(), E>,
) -> ExitCode {
    let cli = match C::try_parse() {
        Ok(cli) => cli,
        Err(error) => output::misunderstood(&error),
    };
    let common = common(&cli);
    let outcome = prepare(common).map_err(E::from).and_then(|()| run(&cli));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads the output any more.
        Err(error) if error.is_broken_pipe() => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            output::failure(common, &error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn prepare(common: &Common) -> Result<(), CliError> {
    standard_output::require_open()?;
    interrupt::survive_limits()?;
    check_instructions()?;
    set_threads(common)
}

fn check_instructions() -> Result<(), CliError> {
    match std::env::var("MAD_SIMD") {
        Ok(name) if !mad_nn::kernel::Simd::is_known(&name) => {
            Err(CliError::Usage(format!("MAD_SIMD={name}: known are portable, avx2 and avx512")))
        }
        _ => Ok(()),
    }
}

fn set_threads(common: &Common) -> Result<(), CliError> {
    let Some(threads) = common.threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .map_err(|e| CliError::Usage(format!("--threads {threads}: {e}")))
}
