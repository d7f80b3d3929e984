//! Every reader of run folders, settings and weights meets damaged and hostile bytes and answers or refuses, without a panic
//! or a hang.
//!
//! Longer: `MAD_FUZZ_SECONDS=300 cargo test --release --workspace --test hostile_checkpoints -- --nocapture`

#[path = "../../../fuzz/src/drive.rs"]
mod drive;
#[path = "../../../fuzz/src/runs.rs"]
mod readers;
#[path = "../../../fuzz/src/target.rs"]
mod target;

use drive::drive;
use std::path::Path;
use target::Target;

fn run(target: &Target) {
    drive(target, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings"));
}

#[test]
fn hostile_manifest() {
    run(&readers::MANIFEST);
}

#[test]
fn hostile_tensors() {
    run(&readers::TENSORS);
}

#[test]
fn hostile_config() {
    run(&readers::CONFIG);
}

#[test]
fn hostile_run() {
    run(&readers::RUN);
}

#[test]
fn hostile_weights() {
    run(&readers::WEIGHTS);
}
