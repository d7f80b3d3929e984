//! The gradient on a GPU is the gradient on the CPU. Run by `.ci/gpu`.
#![cfg(feature = "wgpu")]

mod common;

use common::{clustered, manifold};
use mad_core::noise::{Anchor, LevelDraw, NoiseRange};
use mad_nn::{
    device::DeviceChoice,
    method::{BatchSource, Rows, gradient},
    net::{self, Activation, Model, Shape},
};

/// Largest distance, relative to the size of a layer's gradient, in units of single precision: sums of about a hundred terms in
/// another order. A layer is weight and bias together, since the last bias of `antisymmetric-mlp` has no gradient but rounding.
const ROUNDINGS: f64 = 16.0;

#[test]
#[ignore = "needs a Vulkan driver: .ci/gpu"]
fn gradients_agree_with_the_cpu() {
    let manifold = manifold("so3");
    let points = clustered(manifold.as_ref(), 100, 0);
    let anchor = Anchor::Base(manifold.uniform());
    let batch = BatchSource {
        points: Rows::Kept(&points),
        conditions: None,
        dropout: 0.0,
        sign_blocks: Vec::new(),
        rows: 100,
        levels: LevelDraw::LogUniform,
        range: NoiseRange { min: 1e-2, max: 5.0 },
        anchor: &anchor,
        distribution: None,
        seed: 1,
    }
    .draw(0);
    let (cpu, gpu) = (DeviceChoice::Cpu.open().unwrap(), DeviceChoice::Wgpu.open().unwrap());
    println!("{:?}", gpu.identity());
    for entry in net::NETWORKS {
        for activation in [Activation::Sin, Activation::Silu] {
            let shape = Shape { dim: 4, condition: 0, width: 96, depth: 3, activation, input_gain: 1.0 };
            let model = Model::new(entry, shape);
            let mut weights = model.initialise(0);
            // The last layer begins as zero and would hide the others.
            weights.iter_mut().enumerate().for_each(|(i, w)| *w += 0.1 * ((i % 7) as f32 - 3.0) / 3.0);
            let (loss, expected) = gradient(&model, &mut weights, &batch, &cpu);
            let (gpu_loss, found) = gradient(&model, &mut weights, &batch, &gpu);
            let losses = [loss, gpu_loss];
            let unit = f64::from(f32::EPSILON);
            let name = format!("{} {activation:?}", entry.name);
            let mut worst: f64 = (losses[1] / losses[0] - 1.0).abs() / unit;
            for layer in model.layout().slots().chunks_exact(2) {
                let range = layer[0].range.start..layer[1].range.end;
                let pairs = || expected[range.clone()].iter().zip(&found[range.clone()]);
                let size: f64 = pairs().map(|(&e, _)| f64::from(e).powi(2)).sum::<f64>().sqrt();
                let distance: f64 = pairs().map(|(e, f)| f64::from(e - f).powi(2)).sum::<f64>().sqrt();
                assert!(size > 0.0, "{name} {}: no gradient", layer[0].name);
                let roundings = distance / size / unit;
                assert!(roundings <= ROUNDINGS, "{name} {}: {roundings:.1} roundings", layer[0].name);
                worst = worst.max(roundings);
            }
            println!("{name}: loss {:.6} {:.6}, at most {worst:.1} roundings apart", losses[0], losses[1]);
            assert!(worst <= ROUNDINGS, "{name}: losses {losses:?}");
        }
    }
}
