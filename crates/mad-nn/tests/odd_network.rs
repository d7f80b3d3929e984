//! Odd networks are odd, plain ones are not, and all start at zero.

use mad_core::{
    Points,
    noise::{Anchor, NoiseRange},
    sample::Denoiser,
};
use mad_nn::{
    LearnedDenoiser,
    net::{Activation, Model, NETWORKS, Shape},
};

fn shape(activation: Activation) -> Shape {
    Shape { dim: 4, condition: 0, width: 32, depth: 3, activation, input_gain: 1.0 }
}

/// D − x at (x, −x), for weights drawn at random, the output layer included.
fn answers(model: Model, weights: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let denoiser = LearnedDenoiser::new(Anchor::Ambient, NoiseRange { min: 1e-3, max: 10.0 }, model, weights);
    let numbers: Vec<f64> = (0..40).map(|i| ((i * 37 % 41) as f64 - 20.0) / 17.0).collect();
    let mirror = Points::from_vec(numbers.iter().map(|v| -v).collect(), 4);
    let x = Points::from_vec(numbers, 4);
    let difference = |x: &Points| {
        let d = denoiser.denoise(x, 0.3);
        d.as_slice().iter().zip(x.as_slice()).map(|(d, x)| d - x).collect::<Vec<f64>>()
    };
    (difference(&x), difference(&mirror))
}

#[test]
fn odd_where_declared_and_only_there() {
    for entry in NETWORKS {
        for activation in [Activation::Sin, Activation::Silu] {
            let model = Model::new(entry, shape(activation));
            let mut weights = model.initialise(1);
            let numbers: Vec<f32> = weights.iter().rev().map(|w| w + 0.1).collect();
            for slot in model.layout().slots().iter().filter(|slot| slot.name.starts_with("output")) {
                weights[slot.range.clone()].copy_from_slice(&numbers[slot.range.clone()]);
            }
            let (plus, minus) = answers(model, &weights);
            let size = plus.iter().map(|v| v.abs()).fold(0.0, f64::max);
            let odd = plus.iter().zip(&minus).map(|(a, b)| (a + b).abs()).fold(0.0, f64::max);
            assert!(size > 1e-2, "{}: the test network is flat", entry.name);
            match entry.odd {
                true => assert!(odd < 1e-6 * size, "{} {activation:?}: {odd}", entry.name),
                false => assert!(odd > 1e-2 * size, "{} {activation:?}: {odd}", entry.name),
            }
        }
    }
}

#[test]
fn starts_at_the_anchor() {
    for entry in NETWORKS {
        let model = Model::new(entry, shape(Activation::Sin));
        let weights = model.initialise(1);
        let (plus, minus) = answers(model, &weights);
        assert!(plus.iter().chain(&minus).all(|v| *v == 0.0), "{}", entry.name);
    }
}
