//! What the fuzz targets do with bytes. The tests `hostile_files` of the crates include the same files and need no fuzzer.

pub mod files;
pub mod runs;
pub mod target;

use std::cell::OnceCell;
use tempfile::TempDir;

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Runs a target on one input, in a folder that lives as long as the fuzzer.
pub fn once(target: &target::Target, bytes: &[u8]) {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
        let _ = (target.run)(bytes, folder.path());
    });
}
