//! Registered encoders through their public face: one operation against a composition, tensors against host, any number of threads.

use burn_tensor::{Device, Tensor, TensorData};
use mad_nn::vision::{ENCODERS, Encoder, EncoderShape};

/// Numbers in [-1, 1), the same on every call.
fn series(length: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..length).map(|_| next()).collect()
}

/// Fresh weights with something in the layers that start at zero, so that every gradient counts.
fn weights(encoder: &Encoder) -> Vec<f32> {
    let mut weights = encoder.initialise(1);
    for (w, noise) in weights.iter_mut().zip(series(encoder.layout().len(), 7)) {
        *w += 0.01 * noise;
    }
    weights
}

/// Features and the gradient of Σ features ⊙ c with respect to the weights.
fn run(encoder: &Encoder, images: usize, plainly: bool) -> [Vec<f32>; 2] {
    let device = Device::flex().autodiff();
    let matrix = |columns: usize, seed| {
        Tensor::<2>::from_data(TensorData::new(series(images * columns, seed), [images, columns]), &device)
    };
    let numbers = weights(encoder);
    let weights = Tensor::<1>::from_data(TensorData::new(numbers, [encoder.layout().len()]), &device).require_grad();
    let pixels = matrix(encoder.inputs(), 1);
    let features = match plainly {
        true => encoder.encode_plainly(pixels, weights.clone()),
        false => encoder.encode(pixels, weights.clone()),
    };
    let grads = (features.clone() * matrix(encoder.features(), 4)).sum().backward();
    let gradient = weights.grad(&grads).expect("gradient of the weights");
    let read = |data: TensorData| data.try_to_vec::<f32>().expect("single precision");
    [read(features.into_data()), read(gradient.into_data())]
}

/// Distance of two vectors in relation to their length.
fn relative(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let apart: f64 = found.iter().zip(expected).map(|(a, b)| f64::from(a - b).powi(2)).sum();
    (apart / expected.iter().map(|b| f64::from(*b).powi(2)).sum::<f64>()).sqrt()
}

/// Rounding stays below a ten-thousandth of the length of a vector; a term that is missing does not.
#[test]
fn encoders_are_their_plain_forms_to_rounding() {
    for spec in ENCODERS {
        let small = if spec.torchvision { 40 } else { 20 };
        for (size, channels, images) in [(small, 3, 2), (small + 7, 1, 3)] {
            let encoder = Encoder::new(spec.name, EncoderShape { size, channels, features: 5 }).expect("registered");
            let (fused, plain) = (run(&encoder, images, false), run(&encoder, images, true));
            for (what, (fused, plain)) in ["features", "gradient"].iter().zip(fused.iter().zip(&plain)) {
                let error = relative(fused, plain);
                assert!(error < 1e-4, "{what} of {} for {size} pixels: {error}", spec.name);
            }
            let host = encoder.encode_host(&series(images * encoder.inputs(), 1), &weights(&encoder));
            assert_eq!(host, fused[0], "{}: host and tensors", spec.name);
        }
    }
}

#[test]
fn encoders_give_the_same_bytes_on_any_number_of_threads() {
    for name in ["cnn-small", "cnn-small-silu", "resnet10"] {
        let encoder = Encoder::new(name, EncoderShape { size: 20, channels: 1, features: 8 }).expect("registered");
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| run(&encoder, 150, false))
        };
        let one = on(1);
        assert!(one == on(2) && one == on(3), "{name}");
    }
}

#[test]
fn images_without_weights_to_train_give_features_without_gradient() {
    let encoder = Encoder::new("cnn-small", EncoderShape { size: 32, channels: 1, features: 8 }).expect("registered");
    let device = Device::flex().autodiff();
    let pixels = Tensor::<2>::from_data(TensorData::new(series(2 * 1024, 1), [2, 1024]), &device);
    let weights = Tensor::<1>::from_data(TensorData::new(weights(&encoder), [encoder.layout().len()]), &device);
    assert_eq!(encoder.encode(pixels, weights).dims(), [2, 8]);
}
