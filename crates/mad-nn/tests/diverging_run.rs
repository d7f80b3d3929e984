//! A run whose loss is not finite stops with a message and never writes bad weights.

mod common;

use common::contents;
use mad_nn::{
    Run,
    train::{Silent, TrainError, fit},
};
use std::sync::atomic::AtomicBool;

#[test]
fn stops_and_keeps_no_bad_weights() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let settings = ["steps=50", "batch=16", "width=8", "depth=1", "checkpoint_every=1"];
    let mut contents = contents("sphere:2", &settings);
    // Points far off the sphere: targets are finite in f32, their squares are not.
    contents.parts.train.as_mut_slice().iter_mut().for_each(|v| *v *= 1e30);
    let error = fit(&contents, &out, false, &mut Silent, &AtomicBool::new(false)).unwrap_err();
    let text = error.to_string();
    let TrainError::Diverged { step, last_loss, sigma_min, sigma_max, .. } = error else { panic!("{text}") };
    assert_eq!((step, last_loss), (11, None));
    assert!(sigma_min < sigma_max && text.contains("diverged at step 11"), "{text}");
    // Skipped steps are saved, with the weights they started from.
    let run = Run::open(&out).unwrap();
    let state = run.state(*run.steps().unwrap().last().unwrap()).unwrap();
    assert_eq!(state.weights.model, run.model().initialise(0));
    assert_eq!(state.weights.step, 0);
}
