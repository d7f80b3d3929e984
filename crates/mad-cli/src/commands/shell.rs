//! `mad completions` and `mad man`: the program explains itself to shells and to `man`.

use crate::args::{Cli, Common, Completions, Man};
use crate::error::CliError;
use crate::output;
use crate::overwrite::require_apart;
use clap::CommandFactory;
use serde_json::json;
use std::io::Write;

/// Prints the completion script of a shell.
pub fn completions(common: &Common, args: &Completions) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mad", &mut script);
    if common.json {
        let fields = json!({ "shell": args.shell.to_string(), "script": String::from_utf8_lossy(&script) });
        return output::result(common, "completions", fields, String::new);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(&script).and_then(|()| out.flush()).map_err(|e| CliError::io("standard output", e))
}

/// Writes one manual page per command.
pub fn man(common: &Common, args: &Man) -> Result<(), CliError> {
    require_apart(&args.out, None, &[])?;
    std::fs::create_dir_all(&args.out).map_err(|e| CliError::io(&args.out, e))?;
    clap_mangen::generate_to(Cli::command(), &args.out).map_err(|e| CliError::io(&args.out, e))?;
    output::result(common, "man", json!({ "out": output::shown(&args.out) }), || {
        format!("wrote manual pages to {}", args.out.display())
    })
}
