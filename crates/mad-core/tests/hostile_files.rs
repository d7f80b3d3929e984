//! Every reader meets damaged and hostile bytes and reads or refuses them, without a panic, a hang or much memory.
//!
//! Longer: `MAD_FUZZ_SECONDS=300 cargo test --release --workspace --test hostile_files -- --nocapture`

#[path = "../../../fuzz/src/drive.rs"]
mod drive;
#[path = "../../../fuzz/src/files.rs"]
mod readers;
#[path = "../../../fuzz/src/target.rs"]
mod target;

use drive::drive;
use std::path::Path;
use target::Target;

fn run(target: &Target) {
    drive(target, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings"));
    // All targets share the process. Each may unpack 16 MiB, of which memory is below five times.
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        assert!(peak.is_some_and(|kib: u64| kib < 2 << 20), "{peak:?} KiB");
    }
}

#[test]
fn hostile_csv() {
    run(&readers::CSV);
}

#[test]
fn hostile_packed() {
    run(&readers::PACKED);
}

#[test]
fn hostile_npy() {
    run(&readers::NPY);
}

#[test]
fn hostile_npz() {
    run(&readers::NPZ);
}

#[test]
fn hostile_parquet() {
    run(&readers::PARQUET);
}

#[test]
fn hostile_geojson() {
    run(&readers::GEOJSON);
}

#[test]
fn hostile_png() {
    run(&readers::PNG);
}

#[test]
fn hostile_pictures() {
    run(&readers::PICTURES);
}

#[test]
fn hostile_spec() {
    run(&readers::SPEC);
}
