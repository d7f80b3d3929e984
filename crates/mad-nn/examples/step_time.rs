//! Milliseconds per training step of the default network, part by part: `cargo run --release --example step_time`.

use mad_core::{
    noise::{Anchor, LevelDraw, NoiseRange},
    rng::{Purpose, stream},
};
use mad_nn::{
    device,
    net::{self, Activation, Model, Shape},
    optim::{Adam, Weights},
    train::{BatchSource, gradient},
};
use std::time::Instant;

const STEPS: u64 = 40;

fn main() {
    let sphere = mad_core::manifold::build("sphere:2", &mad_core::manifold::BuildContext::without_files())
        .expect("a known name");
    let base = sphere.uniform();
    let mut points = mad_core::Points::zeros(5000, 3);
    let mut rng = stream(0, Purpose::Data, 0);
    points.rows_mut().for_each(|row| base.sample(&mut rng, row));
    let anchor = Anchor::Base(base);
    let batches = BatchSource {
        points: &points,
        conditions: None,
        dropout: 0.0,
        sign_blocks: Vec::new(),
        rows: 512,
        levels: LevelDraw::LogUniform,
        range: NoiseRange { min: 3e-3, max: 5.0 },
        anchor: &anchor,
        seed: 0,
    };
    let adam = Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0, clip: 10.0, ema: 0.99 };
    for entry in net::NETWORKS {
        for activation in [Activation::Sin, Activation::Silu] {
            let model =
                Model::new(entry, Shape { dim: 3, condition: 0, width: 512, depth: 5, activation, input_gain: 1.0 });
            let mut weights = Weights::new(model.initialise(0));
            let mut times: [Vec<f64>; 3] = Default::default();
            for step in 0..STEPS {
                let start = Instant::now();
                let batch = batches.draw(step);
                let drawn = start.elapsed();
                let (_, slope) = gradient(&model, &weights.model, &batch, &device::training());
                let differentiated = start.elapsed();
                adam.step(model.layout(), &mut weights, &slope, 1e-3);
                let moved = start.elapsed();
                for (list, time) in times.iter_mut().zip([drawn, differentiated - drawn, moved - differentiated]) {
                    list.push(1e3 * time.as_secs_f64());
                }
            }
            let [draw, gradient, adam] = times.map(|mut list| {
                list.sort_by(f64::total_cmp);
                list[list.len() / 2]
            });
            eprintln!(
                "{:18} {activation:?}: batch {draw:.2}, gradient {gradient:.2}, optimiser {adam:.2}, all {:.2} ms (median)",
                entry.name,
                draw + gradient + adam
            );
        }
    }
}
