//! One worker per job, whichever process started it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Exit code of a worker that found another one at its job, or the job done by it.
pub const TAKEN: u8 = 76;

/// The right to work on a job. It is held from the first moment on, while a base is fitted and there is no run folder with a lock of its
/// own yet. The system lets go of it when the process ends, however that happens.
#[derive(Debug)]
pub struct Claim {
    _file: File,
}

impl Claim {
    /// Takes the claim on the job of a folder; `None` if another process has it.
    pub fn take(folder: &Path) -> std::io::Result<Option<Self>> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(folder.join("job.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }

    /// Whether another process has it.
    pub fn is_held(folder: &Path) -> bool {
        folder.is_dir() && matches!(Self::take(folder), Ok(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_held_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!Claim::is_held(folder.path()) && !Claim::is_held(&folder.path().join("none")));
        let claim = Claim::take(folder.path()).unwrap();
        assert!(claim.is_some() && Claim::is_held(folder.path()));
        assert!(Claim::take(folder.path()).unwrap().is_none());
        drop(claim);
        assert!(!Claim::is_held(folder.path()));
    }
}
