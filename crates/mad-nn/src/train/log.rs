//! `metrics.jsonl`: one line per logged loss and per validation. No times, so that equal runs have equal files.

use super::Validation;
use crate::{
    device::DeviceChoice,
    disk::{self, Disk},
    run::{self, RunError},
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One line.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(super) enum Line<'a> {
    /// Mean loss over the steps since the last such line.
    Train { step: u64, loss: f64, learning_rate: f64, gradient_norm: f64 },
    /// A validation.
    Validation {
        #[serde(flatten)]
        validation: &'a Validation,
        /// The likelihood is per unit of the file; lines of earlier versions have no such field and are not.
        file_units: bool,
    },
}

/// The file that lines are added to.
pub(super) struct Log<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
}

impl<'a> Log<'a> {
    /// Opens the file and cuts off lines after the step that was saved, all of them if none was: they will be written again.
    pub(super) fn open(disk: &'a dyn Disk, folder: &Path, saved: Option<u64>) -> Result<Self, RunError> {
        #[derive(Deserialize)]
        struct Header {
            step: u64,
        }
        let path = folder.join("metrics.jsonl");
        let io = |e| RunError::io("open", &path, e);
        let text = if path.exists() { run::text(&path)? } else { String::new() };
        let keep: usize = text
            .split_inclusive('\n')
            .take_while(|line| {
                line.ends_with('\n')
                    && serde_json::from_str::<Header>(line).is_ok_and(|header| Some(header.step) <= saved)
            })
            .map(str::len)
            .sum();
        if keep < text.len() || disk::is_shared(&path) {
            disk::replace(disk, &path, &text.as_bytes()[..keep]).map_err(io)?;
        }
        disk.append(&path, b"").map_err(io)?;
        Ok(Self { disk, path })
    }

    /// Appends a line.
    pub(super) fn write(&mut self, line: &Line) -> Result<(), RunError> {
        let text = serde_json::to_string(line).map_err(|e| RunError::io("write", &self.path, e.into()))?;
        self.disk.append(&self.path, (text + "\n").as_bytes()).map_err(|e| RunError::io("write", &self.path, e))
    }

    /// Waits until all lines have reached the disk.
    pub(super) fn sync(&self) -> Result<(), RunError> {
        self.disk.sync(&self.path).map_err(|e| RunError::io("sync", &self.path, e))
    }
}

/// Appends one line to `timing.jsonl`: how long this process has trained, until which step, and where.
pub(super) fn write_timing(
    disk: &dyn Disk,
    folder: &Path,
    device: DeviceChoice,
    from: u64,
    step: u64,
    seconds: f64,
) -> Result<(), RunError> {
    let path = folder.join("timing.jsonl");
    let line = format!("{{\"from\":{from},\"step\":{step},\"seconds\":{seconds:.3},\"device\":\"{device}\"}}\n");
    if disk::is_shared(&path) {
        let before = run::text(&path)?;
        return disk::replace(disk, &path, (before + &line).as_bytes()).map_err(|e| RunError::io("write", &path, e));
    }
    disk.append(&path, line.as_bytes()).map_err(|e| RunError::io("write", &path, e))
}
