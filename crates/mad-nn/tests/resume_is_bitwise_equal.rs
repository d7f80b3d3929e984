//! A run that was stopped, or killed, and resumed ends with the bytes of an unbroken run.

mod common;

use common::{StopAfter, checkpoint_bytes, contents};
use mad_nn::{
    Error, Fit, Run,
    run::RunError,
    train::{Outcome, TrainError},
};
use std::{fs, path::Path, sync::atomic::AtomicBool};

const SETTINGS: &[&str] = &[
    "steps=24",
    "batch=48",
    "width=32",
    "depth=2",
    "log_every=5",
    "evaluate_every=7",
    "checkpoint_every=10",
    "bound_levels=4",
    "seed=5",
];

fn unbroken(folder: &Path) -> std::path::PathBuf {
    let out = folder.join("unbroken");
    let done = Fit::new(&contents("sphere:2", SETTINGS)).out(&out).train().unwrap();
    assert_eq!((done.outcome, done.step), (Outcome::Finished, 24));
    out
}

fn assert_same(a: &Path, b: &Path) {
    let (a_bytes, b_bytes) = (checkpoint_bytes(a, 24), checkpoint_bytes(b, 24));
    assert!(a_bytes.0 == b_bytes.0, "tensors differ");
    assert!(a_bytes.1 == b_bytes.1, "manifests differ");
    let metrics = |run: &Path| fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    assert_eq!(metrics(a), metrics(b));
    let (a, b) = (Run::open(a).unwrap(), Run::open(b).unwrap());
    assert_eq!(a.selected_step().unwrap(), b.selected_step().unwrap());
}

#[test]
fn after_an_interruption_at_every_kind_of_step() {
    let folder = tempfile::tempdir().unwrap();
    let whole = unbroken(folder.path());
    // Before anything, inside a window of the log, on a validation, on a checkpoint, just before the end.
    for step in [1, 3, 7, 10, 14, 23] {
        let out = folder.path().join(format!("stopped-{step}"));
        let stop = AtomicBool::new(false);
        let contents = contents("sphere:2", SETTINGS);
        let first =
            Fit::new(&contents).out(&out).observer(&mut StopAfter { step, stop: &stop }).stop(&stop).train().unwrap();
        assert_eq!((first.outcome, first.step), (Outcome::Interrupted, step));
        let second = Fit::new(&contents).out(&out).resume(true).train().unwrap();
        assert_eq!((second.outcome, second.step), (Outcome::Finished, 24));
        assert_same(&whole, &out);
    }
}

/// A kill leaves log lines after the last checkpoint, half a line, and a half-written checkpoint.
#[test]
fn after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let whole = unbroken(folder.path());
    let out = folder.path().join("killed");
    let stop = AtomicBool::new(false);
    Fit::new(&contents("sphere:2", SETTINGS))
        .out(&out)
        .observer(&mut StopAfter { step: 12, stop: &stop })
        .stop(&stop)
        .train()
        .unwrap();
    let metrics = out.join("metrics.jsonl");
    let lines =
        fs::read_to_string(&metrics).unwrap() + "{\"kind\":\"train\",\"step\":15,\"loss\":1.0}\n{\"kind\":\"tra";
    fs::write(&metrics, lines).unwrap();
    let half = out.join("checkpoints/.step-00000020.tmp");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("tensors.safetensors"), b"half").unwrap();
    Fit::continued(&out).train().unwrap();
    assert_same(&whole, &out);
    assert!(!half.exists(), "leftover was not cleaned");
}

#[test]
fn refuses_changed_settings_and_data_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let stop = AtomicBool::new(false);
    Fit::new(&contents("sphere:2", SETTINGS))
        .out(&out)
        .observer(&mut StopAfter { step: 2, stop: &stop })
        .stop(&stop)
        .train()
        .unwrap();
    let before = fs::read(out.join("config.toml")).unwrap();

    let changed = [SETTINGS, &["learning_rate=0.5", "steps=30"]].concat();
    let error = Fit::new(&contents("sphere:2", &changed)).out(&out).resume(true).train().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Train(TrainError::Run(RunError::ConfigChanged { .. }))), "{text}");
    assert!(text.contains("learning_rate was ") && text.contains("steps was 24, now 30"), "{text}");

    let mut other = contents("sphere:2", SETTINGS);
    other.parts.test.row_mut(0).copy_from_slice(&[0.0, 0.0, 1.0]);
    let error = Fit::new(&other).out(&out).resume(true).train().unwrap_err();
    assert!(matches!(error, Error::Train(TrainError::Run(RunError::DataChanged { .. }))), "{error}");
    assert!(error.to_string().contains("test"), "{error}");

    let error = Fit::new(&contents("sphere:2", SETTINGS)).out(&out).train().unwrap_err();
    assert!(matches!(error, Error::Train(TrainError::Run(RunError::Occupied { .. }))), "{error}");
    assert_eq!(fs::read(out.join("config.toml")).unwrap(), before, "a refusal changed the folder");

    // Keys that leave the weights alone may change.
    let changed = [SETTINGS, &["keep_checkpoints=5", "checkpoint_every=3"]].concat();
    let done = Fit::new(&contents("sphere:2", &changed)).out(&out).resume(true).train().unwrap();
    assert_eq!(done.run.config().keep_checkpoints, 5);
}

/// Older programs wrote the base measure with line breaks, under another hash.
#[test]
fn a_base_in_another_form_is_the_same_base() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let stop = AtomicBool::new(false);
    let made = contents("sphere:2", SETTINGS);
    Fit::new(&made).out(&out).observer(&mut StopAfter { step: 2, stop: &stop }).stop(&stop).train().unwrap();
    let json = |file: &Path| serde_json::from_str::<serde_json::Value>(&fs::read_to_string(file).unwrap()).unwrap();

    let (base, info) = (out.join("base.json"), out.join("run.json"));
    assert_eq!(fs::read_to_string(&base).unwrap().lines().count(), 1);
    let old = serde_json::to_string_pretty(&json(&base)).unwrap() + "\n";
    fs::write(&base, &old).unwrap();
    let mut described = json(&info);
    let hash_now = described["data_hash"].as_str().unwrap().to_owned();
    described["data"]["base.json"] = blake3::hash(old.as_bytes()).to_hex().as_str().into();
    let lines = described["data"].as_object().unwrap().iter();
    let lines: String = lines.map(|(name, hash)| format!("{name} {}\n", hash.as_str().unwrap())).collect();
    let hash_then = blake3::hash(lines.as_bytes()).to_hex();
    described["data_hash"] = hash_then.as_str().into();
    fs::write(&info, described.to_string()).unwrap();
    let manifest = mad_nn::checkpoint::path_of(&out.join("checkpoints"), 2).join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace(&hash_now, hash_then.as_str())).unwrap();

    let mut other = made.clone();
    other.base = mad_core::estimate::BaseChoice::Uniform;
    let error = Fit::new(&other).out(&out).resume(true).train().unwrap_err();
    assert!(matches!(error, Error::Train(TrainError::Run(RunError::DataChanged { .. }))), "{error}");
    assert!(error.to_string().contains("base.json"), "{error}");
    let done = Fit::new(&made).out(&out).resume(true).train().unwrap();
    assert_eq!((done.outcome, done.step), (Outcome::Finished, 24));
}

/// A second process finds the folder locked; here the same process plays both, with separate file handles.
#[test]
fn one_fit_per_folder() {
    struct Second<'a>(&'a Path, Option<String>);
    impl mad_nn::train::Observer for Second<'_> {
        fn stepped(&mut self, report: &mad_nn::train::StepReport) {
            if report.step == 1 {
                let error = Fit::continued(self.0).train().unwrap_err();
                self.1 = Some(error.to_string());
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut second = Second(&out, None);
    Fit::new(&contents("sphere:2", SETTINGS)).out(&out).observer(&mut second).train().unwrap();
    let message = second.1.unwrap();
    assert!(message.contains(&format!("process {} is training", std::process::id())), "{message}");
}
