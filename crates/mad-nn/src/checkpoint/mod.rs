//! Checkpoints: the whole state of a run, written so that a kill at any moment leaves a complete one.
//!
//! A checkpoint is a folder `step-00002000` with `tensors.safetensors` and `manifest.json`. It is written next to its final
//! place, synced, and renamed, so that its name stands for a complete checkpoint or for none.

mod error;
mod manifest;
mod status;
mod tensors;

pub use error::CheckpointError;
pub use manifest::{Best, FileRecord, Manifest, Progress, SCHEMA, TensorRecord};
pub use status::TrainingStatus;

use crate::{config::Select, disk::Disk, net::Layout, optim::Weights};
use mad_core::files::{ReadError, read_regular};
use std::{
    fs,
    path::{Path, PathBuf},
};

const TENSORS: &str = "tensors.safetensors";
const MANIFEST: &str = "manifest.json";
/// Largest manifest that is read.
const MAX_MANIFEST: u64 = 16 << 20;

/// Everything training needs to continue. Random numbers need no state: every step has a stream of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Weights and the optimiser's memory.
    pub weights: Weights,
    /// Steps done and what has been seen so far.
    pub progress: Progress,
}

/// What a checkpoint must belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Hash of the settings that decide the weights.
    pub config_hash: String,
    /// Hash of the data.
    pub data_hash: String,
}

/// Name of the checkpoint of a step.
fn folder_name(step: u64) -> String {
    format!("step-{step:08}")
}

/// Where the checkpoint of `step` stands in `folder`.
pub fn path_of(folder: &Path, step: u64) -> PathBuf {
    folder.join(folder_name(step))
}

/// Steps of all complete checkpoints in `folder`, rising; empty if there is no such folder.
pub fn steps(folder: &Path) -> Result<Vec<u64>, CheckpointError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(CheckpointError::io("list", folder, e)),
    };
    let mut steps = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| CheckpointError::io("list", folder, e))?;
        let name = entry.file_name();
        let step = name.to_str().and_then(|name| name.strip_prefix("step-")).and_then(|digits| digits.parse().ok());
        steps.extend(step.filter(|&step| name.to_str() == Some(&folder_name(step))));
    }
    steps.sort_unstable();
    Ok(steps)
}

/// The step whose weights answer: the best validated one or the last one, as `select` says.
pub fn selected(folder: &Path, select: Select) -> Result<u64, CheckpointError> {
    let last = steps(folder)?.last().copied().ok_or_else(|| CheckpointError::None { folder: folder.into() })?;
    let manifest = read_manifest(&path_of(folder, last))?;
    match (select, manifest.progress.best) {
        (Select::Best, Some(best)) => Ok(best.step),
        _ => Ok(last),
    }
}

/// Writes the checkpoint of `state` into `folder` and returns its place.
///
/// Order: files, each synced; their folder synced; rename; parent synced. An error leaves earlier checkpoints untouched.
pub fn save(
    disk: &dyn Disk,
    folder: &Path,
    layout: &Layout,
    state: &State,
    identity: &Identity,
) -> Result<PathBuf, CheckpointError> {
    let target = path_of(folder, state.progress.step);
    let (temporary, old) = (hidden(&target, "tmp"), hidden(&target, "old"));
    let tensors = tensors::encode(layout, &state.weights, &target.join(TENSORS))?;
    let manifest = Manifest::new(layout, state, identity, &tensors);
    let io = |action: &'static str, path: &Path| {
        let (path, bytes) = (path.to_path_buf(), tensors.len());
        move |source| CheckpointError::Io { action, path, bytes: Some(bytes), source }
    };
    if temporary.exists() {
        disk.remove_dir(&temporary).map_err(io("remove", &temporary))?;
    }
    disk.create_dir(&temporary).map_err(io("create", &temporary))?;
    let file = temporary.join(TENSORS);
    disk.write(&file, &tensors).map_err(io("write", &file))?;
    let file = temporary.join(MANIFEST);
    disk.write(&file, manifest.to_json().as_bytes()).map_err(io("write", &file))?;
    disk.sync_dir(&temporary).map_err(io("sync", &temporary))?;
    if target.exists() {
        disk.rename(&target, &old).map_err(io("rename", &target))?;
    }
    disk.rename(&temporary, &target).map_err(io("rename", &temporary))?;
    disk.sync_dir(folder).map_err(io("sync", folder))?;
    if old.exists() {
        disk.remove_dir(&old).map_err(io("remove", &old))?;
    }
    Ok(target)
}

/// Reads the checkpoint of `step` and checks everything: sizes, hashes, names, shapes, where it belongs.
pub fn load(folder: &Path, step: u64, layout: &Layout, identity: &Identity) -> Result<State, CheckpointError> {
    let place = path_of(folder, step);
    let manifest = read_manifest(&place)?;
    manifest.check(&place, step, layout, identity)?;
    let file = place.join(TENSORS);
    let found = fs::metadata(&file).map_err(|e| CheckpointError::io("read", &file, e))?.len();
    if found != manifest.file.bytes {
        return Err(CheckpointError::Size { path: file, expected: manifest.file.bytes, found });
    }
    let most = tensors::largest_file(layout);
    if found > most {
        return Err(CheckpointError::Size { path: file, expected: most, found });
    }
    let bytes = read(&file, most)?;
    if blake3::hash(&bytes).to_hex().as_str() != manifest.file.hash {
        return Err(CheckpointError::Hash { path: file });
    }
    let weights = tensors::decode(&bytes, layout, &manifest, &file)?;
    Ok(State { weights, progress: manifest.progress })
}

/// The manifest of a checkpoint.
pub fn read_manifest(place: &Path) -> Result<Manifest, CheckpointError> {
    let file = place.join(MANIFEST);
    Manifest::from_json(&read(&file, MAX_MANIFEST)?, &file)
}

/// The bytes of a file of a checkpoint, which must be regular and within the limit.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>, CheckpointError> {
    read_regular(path, limit).map_err(|error| match error {
        ReadError::Io(source) => CheckpointError::io("read", path, source),
        other => CheckpointError::Unreadable { path: path.into(), problem: other.to_string() },
    })
}

/// Removes what a killed write left behind, and puts back a checkpoint that was being replaced.
pub fn clean(disk: &dyn Disk, folder: &Path) -> Result<(), CheckpointError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(".step-")) else { continue };
        let path = entry.path();
        if let Some(step) = name.strip_suffix(".old") {
            let target = folder.join(format!("step-{step}"));
            if !target.exists() {
                disk.rename(&path, &target).map_err(|e| CheckpointError::io("rename", &path, e))?;
                continue;
            }
        }
        disk.remove_dir(&path).map_err(|e| CheckpointError::io("remove", &path, e))?;
    }
    Ok(())
}

/// Removes all but the newest `keep` checkpoints and the one of step `best`.
pub(crate) fn prune(disk: &dyn Disk, folder: &Path, keep: usize, best: Option<u64>) -> Result<(), CheckpointError> {
    let steps = steps(folder)?;
    let mut old = steps.iter().rev().skip(keep.max(1)).filter(|step| Some(**step) != best);
    old.try_for_each(|&step| remove(disk, folder, step))
}

/// Removes the checkpoint of `step`.
fn remove(disk: &dyn Disk, folder: &Path, step: u64) -> Result<(), CheckpointError> {
    // Renamed first, so that a kill in the middle leaves no half a checkpoint under a good name.
    let (place, doomed) = (path_of(folder, step), hidden(&path_of(folder, step), "tmp"));
    disk.rename(&place, &doomed).map_err(|e| CheckpointError::io("rename", &place, e))?;
    disk.remove_dir(&doomed).map_err(|e| CheckpointError::io("remove", &doomed, e))
}

fn hidden(target: &Path, ending: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{ending}"))
}
