//! Training learns: a network can hold one batch, and a default fit finds a simple density.

mod common;

use common::{clustered, contents, manifold};
use mad_core::{
    noise::{Anchor, LevelDraw, NoiseRange},
    sample::Denoiser,
};
use mad_nn::{
    Fit, device,
    method::{BatchSource, Rows, gradient},
    net::{self, Activation, Model, Shape},
    optim::{Adam, Weights},
    train::{Observer, Outcome, Validation},
};

#[test]
fn every_network_holds_one_batch() {
    let manifold = manifold("so3");
    let points = clustered(manifold.as_ref(), 32, 0);
    let anchor = Anchor::Base(manifold.uniform());
    let batch = BatchSource {
        points: Rows::Kept(&points),
        conditions: None,
        dropout: 0.0,
        sign_blocks: Vec::new(),
        rows: 32,
        levels: LevelDraw::LogUniform,
        range: NoiseRange { min: 1e-2, max: 5.0 },
        anchor: &anchor,
        distribution: None,
        seed: 1,
    }
    .draw(0);
    let adam =
        Adam { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weight_decay: 0.0, clip: 0.0, ema: 0.0, warm_start: true };
    for entry in net::NETWORKS {
        for activation in [Activation::Sin, Activation::Silu] {
            let shape = Shape { dim: 4, condition: 0, width: 96, depth: 3, activation, input_gain: 1.0 };
            let model = Model::new(entry, shape);
            let mut weights = Weights::new(model.initialise(0));
            let mut losses = Vec::new();
            for _ in 0..600 {
                let (loss, slope) = gradient(&model, &mut weights.model, &batch, &device::training());
                losses.push(loss);
                adam.step(model.layout(), &mut weights, &slope, 3e-3);
            }
            let (first, last) = (losses[0], losses[599]);
            assert!(last < 0.02 * first, "{} {activation:?}: {first} to {last}", entry.name);
        }
    }
}

/// The gradient that Burn computes is the slope of the loss.
#[test]
fn gradient_is_the_slope_of_the_loss() {
    let manifold = manifold("so3");
    let points = clustered(manifold.as_ref(), 32, 0);
    let anchor = Anchor::Ambient;
    let batch = BatchSource {
        points: Rows::Kept(&points),
        conditions: None,
        dropout: 0.0,
        sign_blocks: manifold.odd_blocks(),
        rows: 16,
        levels: LevelDraw::LogUniform,
        range: NoiseRange { min: 0.1, max: 5.0 },
        anchor: &anchor,
        distribution: None,
        seed: 1,
    }
    .draw(3);
    for entry in net::NETWORKS {
        let shape = Shape { dim: 4, condition: 0, width: 16, depth: 2, activation: Activation::Sin, input_gain: 1.0 };
        let model = Model::new(entry, shape);
        let mut weights = model.initialise(0);
        weights.iter_mut().enumerate().for_each(|(i, w)| *w += 0.1 * ((i % 7) as f32 - 3.0) / 3.0);
        let (_, slope) = gradient(&model, &mut weights, &batch, &device::training());
        for slot in model.layout().slots() {
            let i = slot.range.start + slot.range.len() / 2;
            let at = |step: f32| {
                let mut moved = weights.clone();
                moved[i] += step;
                gradient(&model, &mut moved, &batch, &device::training()).0
            };
            let difference = (at(0.01) - at(-0.01)) / 0.02;
            let found = f64::from(slope[i]);
            assert!(
                (found - difference).abs() < 5e-3 * (1.0 + found.abs()),
                "{} {}: {found} {difference}",
                entry.name,
                slot.name
            );
        }
    }
}

#[derive(Default)]
struct Scores(Vec<Validation>);

impl Observer for Scores {
    fn validated(&mut self, validation: &Validation) {
        self.0.push(*validation);
    }
}

#[test]
fn a_fit_beats_the_base_and_stays_on_the_manifold() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["steps=300", "batch=128", "width=64", "depth=3", "learning_rate=3e-3", "evaluate_every=100"];
    let mut scores = Scores::default();
    let contents = contents("sphere:2", &settings);
    let done = Fit::new(&contents).out(folder.path().join("run")).observer(&mut scores).train().unwrap();
    assert_eq!(done.outcome, Outcome::Finished);
    let uniform = (4.0 * std::f64::consts::PI).ln();
    let last = scores.0.last().unwrap();
    assert!(last.nll < uniform - 0.5, "{} nats, uniform {uniform}", last.nll);
    assert_eq!(scores.0.len(), 3);
    // The last denoising at sigma_min lands on the sphere.
    let denoiser = done.run.denoiser().unwrap();
    let d = denoiser.denoise(&contents.parts.test, denoiser.range().min);
    let drift = d.rows().map(|row| contents.manifold.deviation(row)).fold(0.0, f64::max);
    assert!(drift < 1e-3, "{drift}");
    // Below sigma_min the base answers alone.
    let below = denoiser.denoise(&contents.parts.test, 1e-6);
    for (a, b) in below.as_slice().iter().zip(contents.parts.test.as_slice()) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn products_with_rotations_and_untrained_runs_work() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["steps=0", "width=16", "depth=1"];
    let untrained = contents("so3", &settings);
    let done = Fit::new(&untrained).out(folder.path().join("zero")).train().unwrap();
    assert_eq!(done.run.config().network, "odd-mlp");
    let anchor = done.run.anchor().unwrap().means(&untrained.parts.test, &vec![0.3; 60]);
    assert_eq!(done.run.denoiser().unwrap().denoise(&untrained.parts.test, 0.3), anchor);

    let settings = ["steps=20", "batch=64", "width=32", "depth=2", "evaluate_every=10", "bound_levels=4"];
    let product = contents("product(so3,euclid:3)", &settings);
    let done = Fit::new(&product).out(folder.path().join("product")).train().unwrap();
    assert_eq!(done.run.config().network, "mlp");
    let d = done.run.denoiser().unwrap().denoise(&product.parts.test, 0.1);
    assert!(d.as_slice().iter().all(|v| v.is_finite()));
}
