//! A reader with hostile bytes to read.

use std::path::Path;

/// One reader.
pub struct Target {
    /// Name of the target and of its corpus.
    pub name: &'static str,
    /// Reads bytes, with a folder to put files into, and tells what came of it. New words lead on to new inputs.
    pub run: fn(&[u8], &Path) -> String,
    /// Words of the format, from which inputs are made.
    pub words: &'static [&'static [u8]],
}
