//! One process per run folder.

use super::RunError;
use crate::disk::is_shared;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

/// Held while a process trains in a folder. The system lets go of it when the process ends, however that happens.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock or says who has it.
    pub(crate) fn take(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join("run.lock");
        let io = |e| RunError::io("lock", &path, e);
        if is_shared(&path) {
            // In a copy made of hard links the lock is that of the original; this folder gets its own.
            std::fs::remove_file(&path).map_err(io)?;
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                let holder = match holder.trim() {
                    "" => "another".into(),
                    number => number.chars().take(20).collect(),
                };
                return Err(RunError::Locked { path: folder.into(), holder });
            }
            Err(TryLockError::Error(e)) => return Err(io(e)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        write!(file, "{}", std::process::id()).map_err(io)?;
        Ok(Self { _file: file })
    }
}
