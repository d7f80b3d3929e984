//! A run whose validations get no better ends, keeps its best weights, and takes no further step when it is resumed.

mod common;

use burn_tensor::Device;
use common::{StopAfter, checkpoint_bytes};
use mad_nn::{
    checkpoint::{Identity, Progress, path_of, read_manifest, selected, steps},
    config::{Config, Partial, Select},
    device::DeviceChoice,
    disk::RealDisk,
    mad_core::catalogue::{BuildContext, build},
    method::{Graded, Objective},
    net::Layout,
    run::RunError,
    train::{Observer, Outcome, Silent, StepReport, Trainable, Trained, Validation, train},
};
use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// A run that learns nothing; the validation after step i has score i of the script.
struct Scripted {
    path: PathBuf,
    scores: Vec<f64>,
    config: Config,
    layout: Layout,
}

impl Scripted {
    fn new(folder: &Path, scores: &[f64], patience: u64) -> Self {
        Self::validated(folder, scores, patience, 1)
    }

    fn validated(folder: &Path, scores: &[f64], patience: u64, evaluate_every: u64) -> Self {
        std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
        let settings = format!(
            "steps = {}\npatience = {patience}\nevaluate_every = {evaluate_every}\ncheckpoint_every = 100\n\
             keep_checkpoints = 1\nlog_every = 1\nwarmup = 0\nschedule = 'constant'\nlearning_rate = 1e-3",
            scores.len() - 1
        );
        let manifold = build("euclid:3", &BuildContext::without_files()).unwrap();
        let config = Config::resolve(&Partial::from_toml(&settings, "test").unwrap(), manifold.as_ref()).unwrap();
        let layout = Layout::tensors(&[("numbers", &[3])]);
        Self { path: folder.into(), scores: scores.into(), config, layout }
    }

    fn train(&self, observer: &mut dyn Observer, stop: &AtomicBool) -> Trained {
        train(&RealDisk, DeviceChoice::Cpu, self, observer, stop).unwrap()
    }

    fn finish(&self) -> Trained {
        self.train(&mut Silent, &AtomicBool::new(false))
    }

    fn selected(&self, select: Select) -> u64 {
        selected(&self.checkpoints(), select).unwrap()
    }

    fn progress(&self, step: u64) -> Progress {
        read_manifest(&path_of(&self.checkpoints(), step)).unwrap().progress
    }
}

impl Trainable for Scripted {
    fn path(&self) -> &Path {
        &self.path
    }

    fn config(&self) -> &Config {
        &self.config
    }

    fn identity(&self) -> Identity {
        Identity { config_hash: "settings".into(), data_hash: "data".into() }
    }

    fn objective(&self) -> Result<Box<dyn Objective + '_>, RunError> {
        Ok(Box::new(Script(self)))
    }
}

struct Script<'a>(&'a Scripted);

impl Objective for Script<'_> {
    fn layout(&self) -> &Layout {
        &self.0.layout
    }

    fn initialise(&self, _seed: u64) -> Vec<f32> {
        vec![1.0; 3]
    }

    fn gradient(&self, weights: &mut Vec<f32>, _step: u64, _device: &Device) -> Graded {
        Graded { loss: 1.0, gradient: weights.clone(), levels: Vec::new() }
    }

    fn validate(&self, _weights: &[f32], step: u64) -> Option<Validation> {
        let nll = self.0.scores[step as usize];
        Some(Validation { step, nll, log_ratio: -nll, is_bound: false, standard_error: 0.0, best: false })
    }
}

/// Steps and validations that were reported.
#[derive(Default)]
struct Reports {
    steps: u64,
    best: Vec<bool>,
}

impl Observer for Reports {
    fn stepped(&mut self, _report: &StepReport) {
        self.steps += 1;
    }

    fn validated(&mut self, validation: &Validation) {
        self.best.push(validation.best);
    }
}

/// The best score is that of step 3; the seventh would be better, but three in a row before it were not.
const FALL_AND_RISE: [f64; 10] = [4.0, 3.0, 2.0, 1.0, 1.5, 1.0, 2.0, 0.5, 0.4, 0.3];

#[test]
fn stops_after_its_patience_and_answers_with_the_best_weights() {
    let folder = tempfile::tempdir().unwrap();
    let run = Scripted::new(folder.path(), &FALL_AND_RISE, 3);
    let mut reports = Reports::default();
    let done = run.train(&mut reports, &AtomicBool::new(false));
    assert_eq!((done.outcome, done.step, reports.steps), (Outcome::Finished, 6, 6));
    assert_eq!(reports.best, [true, true, true, true, false, false, false]);
    assert_eq!((run.selected(Select::Best), run.selected(Select::Last)), (3, 6));
    assert_eq!(steps(&run.checkpoints()).unwrap(), [3, 6]);
    let progress = run.progress(6);
    assert!(progress.stopped_early && progress.stale == 3, "{progress:?}");
    assert_eq!(progress.best.map(|best| (best.step, best.nll)), Some((3, 1.0)));
}

/// A fitted base may be all there is to know.
#[test]
fn the_model_it_began_with_may_stay_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let run = Scripted::new(folder.path(), &[1.0, 2.0, 1.5, 3.0, 0.5], 3);
    assert_eq!(run.finish().step, 3);
    assert_eq!((run.selected(Select::Best), run.selected(Select::Last)), (0, 3));
    assert_eq!(steps(&run.checkpoints()).unwrap(), [0, 3]);
}

#[test]
fn a_resumed_run_takes_no_step_after_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let run = Scripted::new(folder.path(), &FALL_AND_RISE, 3);
    run.finish();
    let before = checkpoint_bytes(folder.path(), 6);
    let mut reports = Reports::default();
    let again = run.train(&mut reports, &AtomicBool::new(false));
    assert_eq!((again.outcome, again.step, reports.steps), (Outcome::Finished, 6, 0));
    assert!(reports.best.is_empty() && before == checkpoint_bytes(folder.path(), 6));
    assert_eq!(run.selected(Select::Best), 3);
}

/// Validations without progress are counted across an interruption.
#[test]
fn an_interrupted_run_stops_where_an_unbroken_one_does() {
    let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    Scripted::new(whole.path(), &FALL_AND_RISE, 3).finish();
    let run = Scripted::new(broken.path(), &FALL_AND_RISE, 3);
    let stop = AtomicBool::new(false);
    let first = run.train(&mut StopAfter { step: 5, stop: &stop }, &stop);
    assert_eq!((first.outcome, first.step, run.progress(5).stale), (Outcome::Interrupted, 5, 2));
    assert_eq!(run.finish().step, 6);
    assert!(checkpoint_bytes(whole.path(), 6) == checkpoint_bytes(broken.path(), 6), "other bytes");
}

#[test]
fn scores_that_are_no_numbers_are_never_best_and_try_the_patience() {
    let folder = tempfile::tempdir().unwrap();
    let scores = [f64::NAN, 2.0, f64::NAN, f64::INFINITY, 1.0, 0.5];
    let run = Scripted::new(&folder.path().join("some"), &scores, 2);
    let mut reports = Reports::default();
    assert_eq!(run.train(&mut reports, &AtomicBool::new(false)).step, 3);
    assert_eq!(reports.best, [false, true, false, false]);
    assert_eq!(run.selected(Select::Best), 1);

    let run = Scripted::new(&folder.path().join("all"), &[f64::NAN; 5], 2);
    assert_eq!(run.finish().step, 1);
    assert!(run.progress(1).best.is_none() && run.progress(1).stopped_early);
    assert_eq!(run.selected(Select::Best), 1);
}

#[test]
fn without_patience_all_steps_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let run = Scripted::new(folder.path(), &FALL_AND_RISE, 0);
    assert_eq!(run.finish().step, 9);
    assert!(!run.progress(9).stopped_early);
    assert_eq!(run.selected(Select::Best), 9);
}

#[test]
fn a_run_that_is_never_validated_answers_with_its_last_step() {
    let folder = tempfile::tempdir().unwrap();
    let run = Scripted::validated(folder.path(), &[1.0, 2.0, 3.0, 4.0], 1, 0);
    let mut reports = Reports::default();
    run.train(&mut reports, &AtomicBool::new(false));
    assert_eq!((reports.steps, reports.best.len(), run.selected(Select::Best)), (3, 0, 3));
}
