//! `mad`: fit, sample, evaluate and draw distributions on known sets inside Euclidean space.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    mad_cli::mad()
}
