//! No command replaces what it reads from: files of a run folder and its own input are not taken for output.

use crate::error::CliError;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Files at the top of a run folder that a run is made of. Pictures, pages and samples may stand beside them.
const OWN_FILES: [&str; 9] = [
    "config.toml",
    "run.json",
    "pose.json",
    "columns.json",
    "base.json",
    "metrics.jsonl",
    "timing.jsonl",
    "source.json",
    "run.lock",
];

/// Folders of a run folder in which nothing else belongs.
const OWN_FOLDERS: [&str; 2] = ["data", "checkpoints"];

/// Refuses to write to `out` if that is one of the files of the run folder `run` or of `inputs`, under whatever name.
pub fn require_apart(out: &Path, run: Option<&Path>, inputs: &[&Path]) -> Result<(), CliError> {
    if out.as_os_str() == "-" {
        return Ok(());
    }
    if let Some(input) = inputs.iter().find(|input| is_same(out, input)) {
        let (out, input) = (out.display(), input.display());
        return Err(CliError::Usage(format!("{out}: this would replace the input {input}; choose another name")));
    }
    if let Some(file) = run.and_then(|run| own_file(out, run)) {
        let (out, file) = (out.display(), file.display());
        return Err(CliError::Usage(format!("{out}: {file} belongs to the run; choose another name")));
    }
    Ok(())
}

/// The file of the run that `out` would replace.
fn own_file(out: &Path, run: &Path) -> Option<PathBuf> {
    let place = resolved(out)?;
    if let Ok(inside) = place.strip_prefix(run.canonicalize().ok()?) {
        let is_own = OWN_FILES.iter().any(|file| inside == Path::new(file));
        let first = inside.components().next().map(|part| part.as_os_str());
        let is_within = OWN_FOLDERS.iter().any(|folder| first == Some(OsStr::new(folder)));
        if is_own || is_within {
            return Some(run.join(inside));
        }
    }
    let mut files: Vec<PathBuf> = OWN_FILES.iter().map(|name| run.join(name)).collect();
    OWN_FOLDERS.iter().for_each(|folder| list(&run.join(folder), 2, &mut files));
    files.into_iter().find(|file| is_same(out, file))
}

/// Files in a folder and in those within, as deep as asked.
fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true if depth > 1 => list(&path, depth - 1, files),
            true => {}
            false => files.push(path),
        }
    }
}

/// Where a file is or will be, without links.
fn resolved(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.canonicalize().ok().or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
}

/// Whether two names stand for one regular file; hard links count.
fn is_same(a: &Path, b: &Path) -> bool {
    let (Ok(first), Ok(second)) = (fs::metadata(a), fs::metadata(b)) else { return false };
    if !first.is_file() || !second.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (first.dev(), first.ino()) == (second.dev(), second.ino())
    }
    #[cfg(not(unix))]
    {
        resolved(a).is_some() && resolved(a) == resolved(b)
    }
}
