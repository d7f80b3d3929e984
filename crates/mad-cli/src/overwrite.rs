//! No command replaces a file of a run folder, whichever run that is, or its own input.

use crate::error::CliError;
use std::ffi::OsStr;
use std::fs;
use std::path::{self, Component, Path, PathBuf};

/// Files at the top of a run folder that a run is made of. Pictures, pages and samples may be kept with them.
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

/// Files that only run folders hold.
const MARKS: [&str; 2] = ["run.json", "pose.json"];

/// Whether a run has been made in this folder.
pub fn is_run(folder: &Path) -> bool {
    MARKS.iter().any(|mark| folder.join(mark).exists())
}

/// Refuses to write to the file or folder `out` if that is one of `inputs`, or belongs to a run folder, under whatever name.
///
/// Any folder with a run.json or a pose.json counts as a run folder. The files of `run`, which the command reads, are known
/// behind hard links and without these files as well.
pub fn require_apart(out: &Path, run: Option<&Path>, inputs: &[&Path]) -> Result<(), CliError> {
    if out.as_os_str() == "-" {
        return Ok(());
    }
    if let Some(input) = inputs.iter().find(|input| is_same(out, input)) {
        let (out, input) = (out.display(), input.display());
        return Err(CliError::Usage(format!("{out}: this would replace the input {input}; choose another name")));
    }
    let own = run.and_then(|run| Some((run.to_path_buf(), file_of(out, run)?)));
    if let Some((run, file)) = own.or_else(|| places(out).iter().find_map(|place| file_of_any_run(place))) {
        let (out, file, run) = (out.display(), file.display(), run.display());
        return Err(CliError::Usage(format!("{out}: {file} belongs to the run {run}; choose another name")));
    }
    Ok(())
}

/// The run folder above this place whose part it is, and the way from there.
fn file_of_any_run(place: &Path) -> Option<(PathBuf, PathBuf)> {
    place.ancestors().skip(1).filter(|folder| is_run(folder)).find_map(|folder| {
        let inside = place.strip_prefix(folder).ok().filter(|inside| is_own(inside))?;
        Some((folder.to_path_buf(), inside.to_path_buf()))
    })
}

/// The file of the run that `out` would replace, as seen from the run.
fn file_of(out: &Path, run: &Path) -> Option<PathBuf> {
    if let Some(inside) = resolved(out)?.strip_prefix(run.canonicalize().ok()?).ok().filter(|inside| is_own(inside)) {
        return Some(inside.to_path_buf());
    }
    let mut files: Vec<PathBuf> = OWN_FILES.iter().map(|name| run.join(name)).collect();
    OWN_FOLDERS.iter().for_each(|folder| list(&run.join(folder), 2, &mut files));
    let file = files.into_iter().find(|file| is_same(out, file))?;
    Some(file.strip_prefix(run).unwrap_or(&file).to_path_buf())
}

/// Whether a path below a run folder leads to a part of the run.
fn is_own(inside: &Path) -> bool {
    let first = inside.components().next().map(|part| part.as_os_str());
    OWN_FILES.iter().any(|file| inside == Path::new(file))
        || OWN_FOLDERS.iter().any(|folder| first == Some(OsStr::new(folder)))
}

/// The names under which a file or folder may stand in a run folder: without links, without links in the way to it, and as
/// typed, since parts of a run may themselves be links to another disk.
fn places(path: &Path) -> Vec<PathBuf> {
    let unfollowed = path.file_name().and_then(|name| Some(resolved(folder_of(path))?.join(name)));
    [resolved(path), unfollowed, typed(path)].into_iter().flatten().collect()
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

/// Where a file or folder is or will be, without links. Folders on the way to it may be missing.
fn resolved(path: &Path) -> Option<PathBuf> {
    let whole = path::absolute(path).ok()?;
    whole.ancestors().find_map(|known| {
        let (place, rest) = (known.canonicalize().ok()?, whole.strip_prefix(known).ok()?);
        Some(if rest.as_os_str().is_empty() { place } else { place.join(rest) })
    })
}

/// Where a file or folder stands if no link after the last `..` is followed.
fn typed(path: &Path) -> Option<PathBuf> {
    let whole = path::absolute(path).ok()?;
    let parts: Vec<Component<'_>> = whole.components().collect();
    let Some(last) = parts.iter().rposition(|part| *part == Component::ParentDir) else { return Some(whole) };
    let (way, rest) = parts.split_at(last + 1);
    Some(way.iter().collect::<PathBuf>().canonicalize().ok()?.join(rest.iter().collect::<PathBuf>()))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
