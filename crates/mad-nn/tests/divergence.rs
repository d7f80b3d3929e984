//! The divergence of F by forward-mode derivatives agrees with finite differences, for every network and activation.

use mad_core::{
    Points,
    likelihood::FlowModel,
    measure::{UniformSphere, posterior_means},
    noise::{Anchor, NoiseRange},
    sample::Denoiser,
};
use mad_nn::{
    LearnedDenoiser,
    net::{Activation, Model, NETWORKS, Shape},
};
use std::sync::Arc;

/// Weights of a network whose output layer is not zero.
fn weights(model: &Model) -> Vec<f32> {
    let mut weights = model.initialise(3);
    let hidden =
        Model::new(model.entry(), Shape { depth: model.shape().depth + 1, ..model.shape().clone() }).initialise(4);
    let output: Vec<_> = model.layout().slots().iter().filter(|s| s.name.starts_with("output")).collect();
    for slot in output {
        for (i, place) in slot.range.clone().enumerate() {
            weights[place] = hidden[hidden.len() / 3 + i] * 3.0;
        }
    }
    weights
}

fn denoiser(
    entry: &'static mad_nn::net::NetworkEntry,
    activation: Activation,
    dim: usize,
    condition: usize,
) -> LearnedDenoiser {
    let shape = Shape { dim, condition, width: 24, depth: 3, activation, input_gain: 1.5 };
    let model = Model::new(entry, shape);
    let weights = weights(&model);
    LearnedDenoiser::new(Anchor::Ambient, NoiseRange { min: 1e-3, max: 10.0 }, model, &weights)
}

fn points(n: usize, d: usize) -> Points {
    let numbers = (0..n * d).map(|i| ((i * 7919 + 13) % 1009) as f64 / 504.5 - 1.0).collect();
    Points::from_vec(numbers, d)
}

/// F from the denoiser itself, so that both ways of asking are compared.
fn remainder(model: &LearnedDenoiser, x: &Points, sigma: f64) -> Vec<f64> {
    let d = model.denoise(x, sigma);
    d.as_slice().iter().zip(x.as_slice()).map(|(d, x)| (d - x) / sigma).collect()
}

fn check(model: &LearnedDenoiser, name: &str) {
    let d = model.ambient_dim();
    let x = points(5, d);
    for sigma in [0.1, 0.7, 3.0] {
        let answer = model.remainder(&x, sigma);
        let value = remainder(model, &x, sigma);
        for (a, b) in answer.value.as_slice().iter().zip(&value) {
            assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{name}: F {a} against {b}");
        }
        // The network is f32: a wide step and a fourth-order formula keep rounding and truncation below 1e-3.
        let h = 0.03;
        for i in 0..x.len() {
            let mut sum = 0.0;
            let mut size = 0.0;
            for k in 0..d {
                let at = |step: f64| {
                    let mut moved = x.clone();
                    moved.row_mut(i)[k] += step;
                    remainder(model, &moved, sigma)[i * d + k]
                };
                let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                sum += slope;
                size += slope.abs();
            }
            let error = (answer.divergence[i] - sum).abs();
            assert!(error < 2e-3 * (0.1 + size), "{name} at sigma {sigma}: {} against {sum}", answer.divergence[i]);
            assert!(size > 1e-2, "{name}: the test network is flat");
        }
    }
}

#[test]
fn agrees_with_finite_differences() {
    for entry in NETWORKS {
        for activation in [Activation::Sin, Activation::Silu, Activation::Identity] {
            for dim in [3, 4] {
                check(&denoiser(entry, activation, dim, 0), &format!("{} {activation:?} {dim}", entry.name));
            }
        }
    }
}

#[test]
fn agrees_with_finite_differences_under_guidance() {
    for entry in NETWORKS {
        let model = denoiser(entry, Activation::Silu, 4, 2).given(vec![0.3, -1.0], 1.7);
        check(&model, &format!("{} with condition", entry.name));
    }
}

#[test]
fn blocks_do_not_matter_for_the_divergence() {
    let model = denoiser(&NETWORKS[0], Activation::Sin, 3, 0);
    let x = points(1500, 3);
    let whole = model.remainder(&x, 0.5);
    assert_eq!(whole.divergence.len(), 1500);
    let last = model.remainder(&Points::from_vec(x.row(1499).to_vec(), 3), 0.5);
    assert!((whole.divergence[1499] - last.divergence[0]).abs() < 1e-4);
}

#[test]
fn the_remainder_over_a_base_is_known_for_the_own_base_only() {
    let (own, other) = (Arc::new(UniformSphere::new(3)), UniformSphere::new(3));
    let model = Model::new(
        &NETWORKS[0],
        Shape { dim: 3, condition: 0, width: 24, depth: 3, activation: Activation::Sin, input_gain: 1.5 },
    );
    let (weights, range) = (weights(&model), NoiseRange { min: 0.1, max: 10.0 });
    let denoiser = LearnedDenoiser::new(Anchor::Base(own.clone()), range, model, &weights);
    let x = points(300, 3);
    // Below the range the network is not asked.
    for sigma in [0.05, 0.1, 2.0] {
        let remainder = denoiser.remainder_over(own.as_ref(), &x, sigma).expect("the own base");
        let (denoised, mean) = (denoiser.denoise(&x, sigma), posterior_means(&other, &x, &vec![sigma; x.len()]));
        assert_eq!(remainder.as_slice().iter().all(|b| *b == 0.0), sigma < range.min);
        for ((b, d), m) in remainder.as_slice().iter().zip(denoised.as_slice()).zip(mean.as_slice()) {
            assert!((b - (d - m) / sigma).abs() < 1e-12, "{b} against {d} and {m}");
        }
    }
    assert!(denoiser.remainder_over(&other, &x, 1.0).is_none());
}
