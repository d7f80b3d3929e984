//! Every operation of a fit on the disk fails once: making the folder, logging, writing, replacing and removing checkpoints.
//!
//! After each failure the newest complete checkpoint loads, nothing was called saved that is not there, and a resumed run
//! ends with the bytes of an unbroken one. The order of writing, syncing and renaming is read off the calls.

mod common;

use common::{checkpoint_bytes, contents};
use mad_nn::{
    Contents, Error, Fit, Partial, Run,
    checkpoint::{path_of, read_manifest},
    disk::Disk,
    train::{Observer, TrainError, TrainedRun},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// Validations choose the best checkpoint, so that checkpoints are written, kept apart and removed.
const SETTINGS: &[&str] = &[
    "steps=12",
    "batch=8",
    "width=4",
    "depth=1",
    "log_every=3",
    "evaluate_every=4",
    "bound_levels=2",
    "checkpoint_every=2",
    "keep_checkpoints=2",
    "seed=3",
    // Validated before the first step as well, and never without progress that often.
    "patience=9",
];
const LAST: u64 = 12;

/// One operation, with the paths it was given.
#[derive(Debug, Clone, PartialEq)]
enum Call {
    CreateDir(PathBuf),
    Write(PathBuf),
    Append(PathBuf),
    Sync(PathBuf),
    SyncDir(PathBuf),
    Rename(PathBuf, PathBuf),
    RemoveDir(PathBuf),
    /// A checkpoint was reported to the observer.
    Saved(PathBuf),
}

/// From which operation on the disk fails, and how long.
#[derive(Debug, Clone, Copy)]
enum Fault {
    None,
    /// This operation alone.
    Once(usize),
    /// This one and all after it, as on a full disk.
    From(usize),
}

/// A disk that records every call and fails at a chosen one, half of the bytes written. It does not wait for
/// the real disk.
struct Scripted {
    fault: Fault,
    calls: Mutex<Vec<Call>>,
}

impl Scripted {
    fn new(fault: Fault) -> Self {
        Self { fault, calls: Mutex::default() }
    }

    /// Notes the call and tells whether it may succeed.
    fn allowed(&self, call: Call) -> bool {
        let mut calls = self.calls.lock().unwrap();
        let index = calls.iter().filter(|call| !matches!(call, Call::Saved(_))).count();
        calls.push(call);
        match self.fault {
            Fault::None => true,
            Fault::Once(at) => index != at,
            Fault::From(at) => index < at,
        }
    }

    fn run(&self, call: Call, action: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.allowed(call) { action() } else { Err(full()) }
    }
}

fn full() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

fn add(path: &Path, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut fs::OpenOptions::new().append(true).create(true).open(path)?, bytes)
}

impl Disk for Scripted {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.run(Call::CreateDir(path.into()), || fs::create_dir_all(path))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.allowed(Call::Write(path.into())) {
            return fs::write(path, bytes);
        }
        fs::write(path, &bytes[..bytes.len() / 2])?;
        Err(full())
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.allowed(Call::Append(path.into())) {
            return add(path, bytes);
        }
        add(path, &bytes[..bytes.len() / 2])?;
        Err(full())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.run(Call::Sync(path.into()), || Ok(()))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.run(Call::SyncDir(path.into()), || Ok(()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(Call::Rename(from.into(), to.into()), || fs::rename(from, to))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.run(Call::RemoveDir(path.into()), || fs::remove_dir_all(path))
    }
}

/// Writes what is called saved between the operations.
struct Told<'a>(&'a Scripted);

impl Observer for Told<'_> {
    fn saved(&mut self, step: u64, path: &Path) {
        assert!(path.ends_with(format!("step-{step:08}")), "{}", path.display());
        self.0.calls.lock().unwrap().push(Call::Saved(path.into()));
    }
}

fn fit(disk: &Scripted, contents: &Contents, out: &Path, resume: bool) -> Result<TrainedRun, Error> {
    Fit::new(contents).out(out).resume(resume).observer(&mut Told(disk)).disk(disk).train()
}

fn is_io(error: &Error) -> bool {
    matches!(error, Error::Train(TrainError::Run(e)) if e.is_io())
}

/// Names in a folder that begin with a dot.
fn hidden(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| e.file_name().to_string_lossy().into_owned()).filter(|name| name.starts_with('.')).collect()
}

#[test]
fn a_fit_survives_a_failure_of_every_operation() {
    let folder = tempfile::tempdir().unwrap();
    let made = contents("sphere:2", SETTINGS);
    // Keeps every checkpoint, to compare those of broken runs with.
    let kept = contents("sphere:2", &[SETTINGS, &["keep_checkpoints=100"]].concat());
    let whole = folder.path().join("whole");
    let reference = fit(&Scripted::new(Fault::None), &kept, &whole, false).unwrap().run;
    let disk = Scripted::new(Fault::None);
    fit(&disk, &made, &folder.path().join("counted"), false).unwrap();
    let operations = disk.calls.into_inner().unwrap().iter().filter(|call| !matches!(call, Call::Saved(_))).count();
    assert!(operations > 60, "{operations} operations");

    for fault in (0..operations).flat_map(|at| [Fault::Once(at), Fault::From(at)]) {
        let place = folder.path().join("place");
        let out = place.join("run");
        let disk = Scripted::new(fault);
        let error = fit(&disk, &made, &out, false).expect_err("an operation failed and nobody said so");
        assert!(is_io(&error), "{fault:?}: {error}");
        assert!(error.to_string().contains("place"), "{fault:?}: {error}");

        // What was called saved is there, unless it was removed later; what is there is whole and right.
        let calls = disk.calls.into_inner().unwrap();
        let reported: Vec<_> =
            calls.iter().filter_map(|c| if let Call::Saved(p) = c { Some(p) } else { None }).collect();
        let steps = mad_nn::checkpoint::steps(&out.join("checkpoints")).unwrap();
        if let Some(newest) = reported.last() {
            let step = read_manifest(newest).unwrap_or_else(|e| panic!("{fault:?}: {e}")).progress.step;
            assert!(steps.contains(&step), "{fault:?}: step {step} was called saved");
        }
        if out.exists() {
            let run = Run::open(&out).unwrap_or_else(|e| panic!("{fault:?}: {e}"));
            for &step in &steps {
                let state = run.state(step).unwrap_or_else(|e| panic!("{fault:?}, step {step}: {e}"));
                assert!(state == reference.state(step).unwrap(), "{fault:?}, step {step}: other weights");
            }
            if !steps.is_empty() {
                run.fitted().unwrap_or_else(|e| panic!("{fault:?}: {e}"));
            }
        } else {
            assert!(hidden(&place).is_empty(), "{fault:?}: {:?}", hidden(&place));
        }

        let done = fit(&Scripted::new(Fault::None), &made, &out, true).unwrap_or_else(|e| panic!("{fault:?}: {e}"));
        assert_eq!(done.step, LAST);
        assert!(checkpoint_bytes(&whole, LAST) == checkpoint_bytes(&out, LAST), "{fault:?}: other bytes");
        let metrics = |run: &Path| fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        assert_eq!(metrics(&whole), metrics(&out), "{fault:?}");
        for folder in [&place, &out, &out.join("checkpoints")] {
            assert!(hidden(folder).iter().all(|n| n == ".metrics.jsonl.tmp"), "{fault:?}: {:?}", hidden(folder));
        }
        fs::remove_dir_all(&place).unwrap();
    }
}

/// The same for runs on pictures, which are made and kept by the same code.
#[test]
fn a_pose_fit_survives_a_failure_of_every_operation() {
    let settings = "size = 16\nfeatures = 4\nwidth = 4\ndepth = 1\nbatch = 2\ndraws = 2\nsteps = 6\n\
                    checkpoint_every = 2\nkeep_checkpoints = 2\nlog_every = 3\nseed = 3\n\
                    condition = 'picture=symsol:cone'";
    let made = Contents::of_solid(&Partial::from_toml(settings, "test").unwrap()).unwrap();
    let fit = |disk: &Scripted, out: &Path, resume| fit(disk, &made, out, resume);
    let folder = tempfile::tempdir().unwrap();
    let (whole, disk) = (folder.path().join("whole"), Scripted::new(Fault::None));
    fit(&disk, &whole, false).unwrap();
    let operations = disk.calls.into_inner().unwrap().iter().filter(|call| !matches!(call, Call::Saved(_))).count();
    assert!(operations > 25, "{operations} operations");

    for fault in (0..operations).flat_map(|at| [Fault::Once(at), Fault::From(at)]) {
        let (place, disk) = (folder.path().join("place"), Scripted::new(fault));
        let out = place.join("run");
        let error = fit(&disk, &out, false).expect_err("an operation failed and nobody said so");
        assert!(is_io(&error) && error.to_string().contains("place"), "{fault:?}: {error}");
        assert!(out.exists() || hidden(&place).is_empty(), "{fault:?}: {:?}", hidden(&place));

        let done = fit(&Scripted::new(Fault::None), &out, true).unwrap_or_else(|e| panic!("{fault:?}: {e}"));
        assert_eq!(done.step, 6);
        assert!(checkpoint_bytes(&whole, 6) == checkpoint_bytes(&out, 6), "{fault:?}: other bytes");
        fs::remove_dir_all(&place).unwrap();
    }
}

/// Data are synced before the name appears, the name before anything is reported, and nothing old goes before that.
#[test]
fn names_appear_after_their_bytes_and_before_they_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let disk = Scripted::new(Fault::None);
    fit(&disk, &contents("sphere:2", SETTINGS), &out, false).unwrap();
    let calls = disk.calls.into_inner().unwrap();
    let checkpoints = out.join("checkpoints");
    let (mut reported, mut removed) = (0, 0);
    for (i, call) in calls.iter().enumerate() {
        match call {
            Call::Saved(target) => {
                reported += 1;
                let name = target.file_name().unwrap().to_string_lossy();
                let temporary = checkpoints.join(format!(".{name}.tmp"));
                let wanted = [
                    Call::Sync(out.join("metrics.jsonl")),
                    Call::CreateDir(temporary.clone()),
                    Call::Write(temporary.join("tensors.safetensors")),
                    Call::Write(temporary.join("manifest.json")),
                    Call::SyncDir(temporary.clone()),
                    Call::Rename(temporary, target.clone()),
                    Call::SyncDir(checkpoints.clone()),
                ];
                let from = calls.iter().position(|c| *c == wanted[1]).expect("made beside its place") - 1;
                assert_eq!(calls[from..from + wanted.len()], wanted);
                // Between the sync of the name and the word only old checkpoints may go.
                assert!(from + wanted.len() <= i);
                for call in &calls[from + wanted.len()..i] {
                    assert!(matches!(call, Call::Rename(..) | Call::RemoveDir(_)), "{call:?}");
                }
            }
            Call::RemoveDir(path) => {
                removed += 1;
                // It lost its good name first, and at that time a newer checkpoint was on the disk.
                let renamed = calls[..i].iter().rposition(|c| matches!(c, Call::Rename(_, to) if to == path)).unwrap();
                let before = calls[..renamed].iter().rfind(|c| !matches!(c, Call::Rename(..) | Call::RemoveDir(_)));
                assert_eq!(before, Some(&Call::SyncDir(checkpoints.clone())));
            }
            _ => {}
        }
    }
    assert!(reported >= 6 && removed >= 3, "{reported} checkpoints, {removed} removed");

    // The folder itself: all files, then the sync of their folders, then its name, then the sync of the name.
    let named = calls.iter().position(|c| matches!(c, Call::Rename(_, to) if *to == out)).expect("the folder appears");
    let Call::Rename(temporary, _) = &calls[named] else { unreachable!() };
    assert_eq!(calls[named - 2..named], [Call::SyncDir(temporary.join("data")), Call::SyncDir(temporary.clone())]);
    assert!(calls[..named - 2].iter().all(|c| matches!(c, Call::CreateDir(_) | Call::Write(_))));
    assert_eq!(calls[named + 1], Call::SyncDir(folder.path().into()));
    assert!(path_of(&checkpoints, LAST).is_dir());
}

/// A process that was killed while it made a folder leaves a hidden one; the next fit removes it, and only that.
#[cfg(target_os = "linux")]
#[test]
fn leftovers_of_dead_processes_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let made = contents("sphere:2", SETTINGS);
    // Numbers of processes are below 2^22 on Linux.
    let (dead, alive, other) = (".run.99999999.tmp", ".run.1.tmp", ".other.99999999.tmp");
    for name in [dead, alive, other] {
        fs::create_dir_all(folder.path().join(name).join("data")).unwrap();
    }
    fit(&Scripted::new(Fault::None), &made, &folder.path().join("run"), false).unwrap();
    let mut left = hidden(folder.path());
    left.sort();
    assert_eq!(left, [other, alive]);
}

/// Gives up before or after the checkpoint of a step.
struct Fails {
    at: u64,
    before: bool,
    failed: bool,
}

impl Observer for Fails {
    fn saving(&mut self, step: u64) {
        self.failed |= self.before && step == self.at;
    }

    fn saved(&mut self, step: u64, _path: &Path) {
        assert!(!self.failed, "it gave up before");
        self.failed |= step == self.at;
    }

    fn gives_up(&self) -> bool {
        self.failed
    }
}

#[test]
fn an_observer_that_gives_up_ends_the_run_without_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let made = contents("sphere:2", &[SETTINGS, &["keep_checkpoints=100"]].concat());
    for (before, newest) in [(true, 4), (false, 6)] {
        let out = folder.path().join(newest.to_string());
        let disk = Scripted::new(Fault::None);
        let mut observer = Fails { at: 6, before, failed: false };
        let error = Fit::new(&made).out(&out).observer(&mut observer).disk(&disk).train();
        assert!(matches!(error, Err(Error::Train(TrainError::GivenUp { step: 6 }))), "{error:?}");
        assert_eq!(mad_nn::checkpoint::steps(&out.join("checkpoints")).unwrap().last(), Some(&newest));
        // The next run continues from there.
        assert_eq!(fit(&disk, &made, &out, true).unwrap().step, LAST);
    }
}
