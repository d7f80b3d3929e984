//! A damaged, foreign or newer checkpoint is refused with a sentence, and a failing disk never harms an earlier checkpoint.

mod common;

use common::contents;
use mad_nn::{
    Fit, Part, Run,
    checkpoint::{self, CheckpointError},
    disk::{Disk, RealDisk},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

const SETTINGS: &[&str] =
    &["steps=4", "batch=16", "width=4", "depth=1", "checkpoint_every=2", "evaluate_every=0", "keep_checkpoints=3"];

fn run(folder: &Path) -> Run {
    let contents = contents("sphere:2", SETTINGS);
    Fit::new(&contents).out(folder.join("run")).train().unwrap().run
}

fn place(run: &Run, step: u64) -> PathBuf {
    checkpoint::path_of(&run.path().join("checkpoints"), step)
}

#[test]
fn every_truncation_and_every_flipped_byte_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    for name in ["tensors.safetensors", "manifest.json"] {
        let file = place(&run, 4).join(name);
        let good = fs::read(&file).unwrap();
        for cut in (0..good.len()).step_by(64) {
            fs::write(&file, &good[..cut]).unwrap();
            let error = run.state(4).expect_err("truncated file was accepted");
            assert!(!error.is_io(), "{error}");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            fs::write(&file, &bad).unwrap();
            // A flip inside a number or a name of the manifest may leave valid JSON; the state must then be refused or equal.
            let state = run.state(4);
            if let Err(error) = &state {
                assert!(!error.is_io(), "byte {at}: {error}");
            }
            if let Ok(state) = state {
                fs::write(&file, &good).unwrap();
                assert_eq!(name, "manifest.json", "a flipped byte at {at} of the tensors was accepted");
                assert_eq!(state.weights, run.state(4).unwrap().weights, "byte {at}");
            }
        }
        fs::write(&file, &good).unwrap();
        run.state(4).unwrap();
    }
}

/// A file that claims a terabyte, and takes no room on the disk, is refused before memory is asked for.
#[test]
fn a_tensor_file_larger_than_its_network_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let (file, manifest) = (place(&run, 4).join("tensors.safetensors"), place(&run, 4).join("manifest.json"));
    let terabyte = 1u64 << 40;
    if fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(terabyte).is_err() {
        return eprintln!("SKIPPED: the file system has no files with holes");
    }
    let mut value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    value["file"]["bytes"] = terabyte.into();
    fs::write(&manifest, value.to_string()).unwrap();
    assert!(matches!(run.state(4), Err(CheckpointError::Size { found, .. }) if found == terabyte));
}

/// The other files of the folder: cut off or with a flipped bit they are refused, or read the same.
#[test]
fn every_damage_to_the_folder_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let read = || -> Result<_, mad_nn::run::RunError> {
        let run = Run::open(run.path())?;
        run.fitted()?;
        Ok((run.part(Part::Train)?, run.part(Part::Validation)?, run.part(Part::Test)?))
    };
    let sound = read().unwrap();
    for name in ["run.json", "config.toml", "columns.json", "base.json", "data/train.npy"] {
        let file = run.path().join(name);
        let good = fs::read(&file).unwrap();
        let cuts = (0..good.len()).step_by(64).map(|cut| good[..cut].to_vec());
        let flips = (0..good.len()).map(|at| {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            bad
        });
        for (i, bad) in cuts.chain(flips).enumerate() {
            fs::write(&file, &bad).unwrap();
            match read() {
                Ok(found) => assert!(found == sound, "{name}, change {i}"),
                Err(error) => assert!(!error.is_io() && !error.to_string().is_empty(), "{name}, change {i}: {error}"),
            }
        }
        fs::write(&file, &good).unwrap();
    }
    assert!(read().unwrap() == sound);
}

#[test]
fn files_of_another_step_run_or_version_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let (two, four) = (place(&run, 2), place(&run, 4));
    let (tensors, manifest) = (four.join("tensors.safetensors"), four.join("manifest.json"));
    let good = (fs::read(&tensors).unwrap(), fs::read_to_string(&manifest).unwrap());

    fs::copy(two.join("tensors.safetensors"), &tensors).unwrap();
    assert!(matches!(run.state(4), Err(CheckpointError::Hash { .. })));
    fs::write(&tensors, &good.0).unwrap();
    fs::copy(two.join("manifest.json"), &manifest).unwrap();
    assert!(matches!(run.state(4), Err(CheckpointError::Manifest { .. })));

    fs::write(&manifest, good.1.replace("\"schema\": 1", "\"schema\": 99")).unwrap();
    let error = run.state(4).unwrap_err();
    assert!(matches!(error, CheckpointError::Newer { schema: 99, .. }), "{error}");
    for (what, hash) in [("config", run.config().hash()), ("data", run.info().data_hash.clone())] {
        fs::write(&manifest, good.1.replace(&hash, &"0".repeat(64))).unwrap();
        let error = run.state(4).unwrap_err();
        assert!(error.to_string().contains(&format!("another {what}")), "{error}");
    }
    fs::remove_dir_all(&four).unwrap();
    assert_eq!(run.selected_step().unwrap(), 2);
    fs::remove_dir_all(&two).unwrap();
    assert!(matches!(run.selected_step(), Err(CheckpointError::None { .. })));
}

#[test]
fn hostile_tensor_headers_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let (file, manifest) = (place(&run, 4).join("tensors.safetensors"), place(&run, 4).join("manifest.json"));
    let good = fs::read_to_string(&manifest).unwrap();
    let value: serde_json::Value = serde_json::from_str(&good).unwrap();
    let header = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let cases: Vec<Vec<u8>> = vec![
        u64::MAX.to_le_bytes().to_vec(),
        (1u64 << 63).to_le_bytes().to_vec(),
        header("{}"),
        header(r#"{"a":{"dtype":"F32","shape":[18446744073709551615,9],"data_offsets":[0,4]}}"#),
        header(r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}"#),
        // A length of 200 MB that is not there, overlapping and gapped ranges, a name twice, 20 001 axes.
        [&(200u64 << 20).to_le_bytes()[..], b"{}"].concat(),
        [header(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#), vec![0; 12]].concat(),
        [header(r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}"#), vec![0; 12]].concat(),
        [header(r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#), vec![0; 4]].concat(),
        [header(&format!(r#"{{"a":{{"dtype":"F32","shape":[{}1],"data_offsets":[0,4]}}}}"#, "1,".repeat(20_000))), vec![0; 4]].concat(),
    ];
    for bytes in cases {
        // Size and hash agree, so that only the tensor reader stands in the way.
        let mut value = value.clone();
        value["file"]["bytes"] = bytes.len().into();
        value["file"]["hash"] = blake3::hash(&bytes).to_hex().to_string().into();
        fs::write(&manifest, serde_json::to_string(&value).unwrap()).unwrap();
        fs::write(&file, &bytes).unwrap();
        assert!(matches!(run.state(4), Err(CheckpointError::Tensor { .. })), "{:?}", run.state(4).map(|_| ()));
    }
}

/// A disk whose operation number `fails_at` reports that it is full.
struct Failing {
    fails_at: usize,
    calls: AtomicUsize,
}

impl Failing {
    fn call(&self, action: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        match self.calls.fetch_add(1, Ordering::Relaxed) == self.fails_at {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => action(),
        }
    }
}

impl Disk for Failing {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.call(|| RealDisk.create_dir(path))
    }
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.call(|| RealDisk.write(path, bytes))
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.call(|| RealDisk.append(path, bytes))
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.call(|| RealDisk.sync(path))
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.call(|| RealDisk.sync_dir(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|| RealDisk.rename(from, to))
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.call(|| RealDisk.remove_dir(path))
    }
}

#[test]
fn a_failure_at_any_operation_leaves_earlier_checkpoints_whole() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let checkpoints = run.path().join("checkpoints");
    let model = run.model();
    let identity = checkpoint::Identity { config_hash: run.config().hash(), data_hash: run.info().data_hash.clone() };
    let two = run.state(2).unwrap();
    // The checkpoint of step 4 is replaced by another one, the hardest case: there is something to lose.
    let mut state = run.state(4).unwrap();
    state.progress.loss_sum += 1.0;
    let mut failures = 0;
    for fails_at in 0.. {
        let disk = Failing { fails_at, calls: AtomicUsize::new(0) };
        let saved = checkpoint::save(&disk, &checkpoints, model.layout(), &state, &identity);
        checkpoint::clean(&RealDisk, &checkpoints).unwrap();
        assert_eq!(run.state(2).unwrap(), two, "failure at {fails_at}");
        run.state(4).unwrap_or_else(|e| panic!("failure at {fails_at}: {e}"));
        let hidden = fs::read_dir(&checkpoints).unwrap().flatten();
        assert!(hidden.into_iter().all(|e| !e.file_name().to_string_lossy().starts_with('.')), "leftovers");
        match saved {
            Ok(_) => break,
            Err(error) => {
                assert!(error.is_io() && error.to_string().contains("bytes of weights"), "{error}");
                failures += 1;
            }
        }
    }
    assert!(failures >= 7, "{failures} operations");
    assert_eq!(run.state(4).unwrap(), state);
}
