//! What the tests of several methods share.

use super::PoseModel;
use crate::{
    bridge,
    condition::{Condition, PoseBatch},
    config::{Config, Partial},
    device,
    method::SampleRequest,
    optim::Weights,
};
use mad_core::{
    manifold::Rotations,
    rng::{Purpose, stream},
    rotation,
    rotation::Symmetry,
    solids::{Solid, View},
};

/// Settings of a run on pictures of a solid.
pub(crate) fn on_solid(solid: &str, text: &str) -> Config {
    let mut settings = Partial::from_toml(text, "test").unwrap();
    settings.put("condition", Condition::of_solid(solid), "test").unwrap();
    Config::resolve(&settings, &Rotations::new(None)).unwrap()
}

/// Pictures of a solid at random poses.
pub(super) fn batch(solid: &str, size: usize, count: usize) -> PoseBatch {
    drawn(solid, size, count, 99, 0)
}

fn drawn(solid: &str, size: usize, count: usize, seed: u64, step: u64) -> PoseBatch {
    let (solid, view) = (Solid::lookup(solid).unwrap(), View { size, ..View::default() });
    let mut rng = stream(seed, Purpose::Data, step);
    let poses: Vec<_> = (0..count).map(|_| rotation::uniform(&mut rng)).collect();
    let mut images = vec![0.0; count * size * size];
    images.chunks_exact_mut(size * size).zip(&poses).for_each(|(image, pose)| view.grey(solid, pose, image));
    PoseBatch { images, poses }
}

/// What came of a short training.
#[derive(Debug)]
pub(super) struct Learned {
    /// Mean loss of the first tenth of all steps.
    pub first_loss: f64,
    /// Mean loss of the last tenth.
    pub last_loss: f64,
    /// Mean distance of samples for new pictures, in degrees.
    pub spread: f64,
}

/// Trains on new pictures in every step and draws samples for pictures not seen before.
pub(super) fn learn(solid: &str, text: &str, steps: u64, rate: f64) -> Learned {
    let config = on_solid(solid, text);
    let symmetry = Solid::lookup(solid).unwrap().symmetry();
    let model = crate::method::method_of(&config).poses(&config, symmetry).unwrap();
    let adam = config.adam();
    let mut weights = Weights::new(model.initialise(1));
    let device = device::training();
    let mut losses = Vec::new();
    for step in 0..steps {
        let batch = drawn(solid, config.size, config.batch as usize, 1, step);
        let mut rng = stream(1, Purpose::Train, step);
        let (loss, gradient) =
            bridge::differentiate(&mut weights.model, &device, |w| model.loss(w, &batch, &mut rng, &device));
        adam.step(model.layout(), &mut weights, &gradient, rate * (1.0 - step as f64 / steps as f64));
        losses.push(loss);
    }
    let tenth = (losses.len() / 10).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let test = batch(solid, config.size, 24);
    let samples = model.sample(&weights.model, &test.images, 8, &SampleRequest::new(3)).unwrap().poses;
    let off: Vec<f64> =
        samples.chunks_exact(8).zip(&test.poses).flat_map(|(s, t)| s.iter().map(|q| symmetry.distance(q, t))).collect();
    Learned {
        first_loss: mean(&losses[..tenth]),
        last_loss: mean(&losses[losses.len() - tenth..]),
        spread: mean(&off).to_degrees(),
    }
}

/// The spread of uniform samples, in degrees.
pub(super) fn chance(symmetry: Symmetry) -> f64 {
    let mut rng = stream(4, Purpose::Metric, 0);
    let one = || symmetry.distance(&rotation::uniform(&mut rng), &[0.0, 0.0, 0.0, 1.0]);
    std::iter::repeat_with(one).take(4000).sum::<f64>().to_degrees() / 4000.0
}

/// Holds the gradient of the loss by the last `count` weights, which are smooth, against the change of the loss along it.
pub(super) fn check_gradient(model: &dyn PoseModel, batch: &PoseBatch, count: usize, tolerance: f64) {
    let device = device::training();
    let weights = model.initialise(2);
    let loss = |weights: &[f32]| {
        let mut rng = stream(1, Purpose::Train, 0);
        let mut lent = weights.to_vec();
        bridge::differentiate(&mut lent, &device, |w| model.loss(w, batch, &mut rng, &device))
    };
    let gradient = &loss(&weights).1[weights.len() - count..];
    let size = gradient.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
    let moved = |h: f64| {
        let mut moved = weights.clone();
        let last = &mut moved[weights.len() - count..];
        last.iter_mut().zip(gradient).for_each(|(w, g)| *w += (h * f64::from(*g) / size) as f32);
        loss(&moved).0
    };
    let h = 2e-3;
    let numeric = (moved(h) - moved(-h)) / (2.0 * h);
    assert!((numeric / size - 1.0).abs() < tolerance, "{numeric} {size}");
}
