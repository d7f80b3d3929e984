//! Text files of a run folder: none is read that is far too large, and none is written that would not be read again.

use super::RunError;
use std::{fs, path::Path};

/// Largest text file, in bytes.
const MAX_TEXT: u64 = 64 << 20;

/// Largest `base.json`, in bytes: some million kernels.
const MAX_BASE: u64 = 1 << 30;

/// Largest size of the file called `name`.
fn limit_of(name: &str) -> u64 {
    if name == "base.json" { MAX_BASE } else { MAX_TEXT }
}

/// The text in `path`, unless it is far too large.
pub(crate) fn text(path: &Path) -> Result<String, RunError> {
    let size = fs::metadata(path).map_err(|e| RunError::io("read", path, e))?.len();
    let limit = limit_of(&path.file_name().unwrap_or_default().to_string_lossy());
    if size > limit {
        let problem = format!("{size} bytes are too many; at most {limit} are read");
        return Err(RunError::Damaged { path: path.into(), problem });
    }
    let bytes = fs::read(path).map_err(|e| RunError::io("read", path, e))?;
    String::from_utf8(bytes).map_err(|e| RunError::Damaged { path: path.into(), problem: e.utf8_error().to_string() })
}

/// Refuses a text of `size` bytes that could not be read again from the file called `name`.
pub(super) fn require_readable(name: &'static str, size: usize) -> Result<(), RunError> {
    let (size, limit) = (size as u64, limit_of(name));
    if size > limit { Err(RunError::TooLarge { name, size, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for (name, size) in [("columns.json", MAX_TEXT + 1), ("base.json", MAX_BASE + 1)] {
            assert!(matches!(text(&made(name, size)), Err(RunError::Damaged { .. })), "{name}");
        }
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        for (name, limit) in [("base.json", MAX_BASE), ("columns.json", MAX_TEXT)] {
            assert!(require_readable(name, limit as usize).is_ok());
            let error = require_readable(name, limit as usize + 1).unwrap_err();
            assert!(matches!(error, RunError::TooLarge { .. }) && error.to_string().contains(name), "{error}");
        }
    }
}
