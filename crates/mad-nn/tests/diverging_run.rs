//! A run whose loss is not finite stops with a message and never writes bad weights.

mod common;

use common::contents;
use mad_nn::{Error, Fit, Run, train::TrainError};

#[test]
fn stops_and_keeps_no_bad_weights() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let settings = ["steps=50", "batch=16", "width=8", "depth=1", "checkpoint_every=1"];
    let mut contents = contents("sphere:2", &settings);
    // Points far off the sphere: targets are finite in f32, their squares are not.
    contents.parts.train.as_mut_slice().iter_mut().for_each(|v| *v *= 1e30);
    let error = Fit::new(&contents).out(&out).train().unwrap_err();
    let text = error.to_string();
    let Error::Train(TrainError::Diverged { step, last_loss, levels: Some((smallest, largest)), .. }) = error else {
        panic!("{text}")
    };
    assert_eq!((step, last_loss), (11, None));
    assert!(smallest < largest && text.contains("diverged at step 11") && text.contains("noise levels"), "{text}");
    // Skipped steps are saved, with the weights they started from.
    let run = Run::open(&out).unwrap();
    let state = run.state(*run.steps().unwrap().last().unwrap()).unwrap();
    assert_eq!(state.weights.model, run.model().initialise(0));
    assert_eq!(state.weights.step, 0);
}

/// A free-form flow has no noise levels, so its message tells of none.
#[test]
fn tells_of_levels_only_where_there_are_some() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["method=fff:blocks=1", "steps=50", "batch=16", "width=8", "depth=1", "evaluate_every=0"];
    let mut contents = contents("sphere:2", &settings);
    contents.parts.train.as_mut_slice().iter_mut().for_each(|v| *v *= 1e30);
    let error = Fit::new(&contents).out(folder.path().join("run")).train().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Train(TrainError::Diverged { levels: None, .. })), "{text}");
    assert!(!text.contains("levels"), "{text}");
}
