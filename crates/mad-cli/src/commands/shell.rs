//! `mad completions` and `mad man`: the program explains itself to shells and to `man`.

use crate::args::{Cli, Completions, Man};
use crate::error::CliError;
use clap::CommandFactory;
use std::io::Write;

/// Prints the completion script of a shell.
pub fn completions(args: &Completions) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mad", &mut script);
    std::io::stdout().write_all(&script).map_err(|e| CliError::io("standard output", e))
}

/// Writes one manual page per command.
pub fn man(args: &Man) -> Result<(), CliError> {
    std::fs::create_dir_all(&args.out).map_err(|e| CliError::io(&args.out, e))?;
    clap_mangen::generate_to(Cli::command(), &args.out).map_err(|e| CliError::io(&args.out, e))
}
