//! The few file operations a run needs, behind a trait, so that tests can make each of them fail.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Operations that change a file system. Every one but [`append`](Disk::append) is complete when it returns: written bytes have
/// reached the disk.
pub trait Disk: Send + Sync {
    /// Makes a folder and those above it.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Writes a new file and syncs it.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Adds bytes to the end of a file, which is made if it is missing. They reach the disk with [`sync`](Disk::sync).
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Syncs a file.
    fn sync(&self, path: &Path) -> io::Result<()>;
    /// Syncs a folder, so that names in it survive a loss of power.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Gives a file or folder another name in the same file system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a folder with everything in it.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}

/// The real file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().append(true).open(path)?.sync_all()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Folders can be opened and synced on Unix only; elsewhere the rename has to do.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}

/// Whether a file has a second name, such as in a copy made of hard links, which a change in place would alter as well.
pub(crate) fn is_shared(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path).is_ok_and(|file| std::os::unix::fs::MetadataExt::nlink(&file) > 1);
    #[cfg(not(unix))]
    return false;
}

/// Writes a file so that its name always stands for old or new bytes, never for a mixture.
pub(crate) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.tmp"));
    disk.write(&temporary, bytes)?;
    disk.rename(&temporary, path)?;
    disk.sync_dir(folder)
}
