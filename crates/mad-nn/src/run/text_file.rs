//! Text files of a run folder: none is read that is far too large, and none is written that would not be read again.

use super::RunError;
use mad_core::files::{ReadError, read_regular};
use std::path::Path;

/// Largest text file, in bytes.
const MAX_TEXT: u64 = 64 << 20;

/// Largest `base.json` (some million kernels) and `metrics.jsonl` (some million lines), in bytes.
const MAX_LONG: u64 = 1 << 30;

/// Largest size of the file called `name`.
fn limit_of(name: &str) -> u64 {
    if ["base.json", "metrics.jsonl"].contains(&name) { MAX_LONG } else { MAX_TEXT }
}

/// The text in `path`, unless it is far too large.
pub(crate) fn text(path: &Path) -> Result<String, RunError> {
    let bytes = bytes(path, limit_of(&path.file_name().unwrap_or_default().to_string_lossy()))?;
    String::from_utf8(bytes).map_err(|e| RunError::Damaged { path: path.into(), problem: e.utf8_error().to_string() })
}

/// The bytes of a file of a run folder, which must be there, regular and within the limit.
pub(super) fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, RunError> {
    read_regular(path, limit).map_err(|error| match error {
        error if error.is_missing() => RunError::Damaged { path: path.into(), problem: "the file is missing".into() },
        ReadError::Io(source) => RunError::io("read", path, source),
        other => RunError::Damaged { path: path.into(), problem: other.to_string() },
    })
}

/// Refuses a text of `size` bytes that could not be read again from the file called `name`.
pub(super) fn require_readable(name: &'static str, size: usize) -> Result<(), RunError> {
    let (size, limit) = (size as u64, limit_of(name));
    if size > limit { Err(RunError::TooLarge { name, size, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Files of holes, which take no room on the disk.
    #[test]
    fn a_base_may_be_larger_than_other_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = |name: &str, size: u64| {
            let path = folder.path().join(name);
            fs::File::create(&path).expect("a file").set_len(size).expect("a size");
            path
        };
        assert_eq!(text(&made("base.json", MAX_TEXT + 1)).map(|text| text.len() as u64).ok(), Some(MAX_TEXT + 1));
        for (name, size) in [("columns.json", MAX_TEXT + 1), ("base.json", MAX_LONG + 1)] {
            assert!(matches!(text(&made(name, size)), Err(RunError::Damaged { .. })), "{name}");
        }
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        for (name, limit) in [("base.json", MAX_LONG), ("columns.json", MAX_TEXT)] {
            assert!(require_readable(name, limit as usize).is_ok());
            let error = require_readable(name, limit as usize + 1).unwrap_err();
            assert!(matches!(error, RunError::TooLarge { .. }) && error.to_string().contains(name), "{error}");
        }
    }
}
