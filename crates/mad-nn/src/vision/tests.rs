//! Encoders against plain Burn, against differences, and against themselves on other numbers of threads and instruction sets.

use burn_tensor::{Device, Tensor, TensorData};

use super::graph::{Builder, Convolution, Graph};
use super::pass::{self, Packed};
use super::*;

mod reference;

/// Numbers in [-1, 1), the same on every call.
fn series(length: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..length).map(|_| next()).collect()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec::<f32>().expect("single precision")
}

/// Weights of a size that keeps numbers of size one in every layer, biases and the ends of residual blocks included.
fn weights(graph: &Graph) -> Vec<f32> {
    let mut numbers = series(graph.layout.len(), 20);
    for layer in graph.layers() {
        let scale = (6.0 * layer.bias.len() as f32 / layer.weight.len() as f32).sqrt();
        numbers[layer.weight.clone()].iter_mut().for_each(|w| *w *= scale);
    }
    numbers
}

/// Every kind of step: odd channels, strides with and without a rest, projected and plain shortcuts, both pools, flat and pooled.
fn every_step(size: usize, rectifier: Rectifier, pooled: bool) -> Graph {
    let mut builder = Builder::new("test", size, 2);
    let shape = |kernel, stride, channels| Convolution { kernel, stride, channels, rectifier };
    let build = |builder: &mut Builder| -> Result<(), EncoderError> {
        let stem = builder.convolution("stem", builder.image(), shape(5, 2, 7))?;
        let map = builder.max_pool(stem, 3, 2)?;
        let inside = builder.convolution("a.1", map, shape(3, 1, 7))?;
        let map = builder.convolution_onto("a.2", inside, shape(3, 1, 7), Some(map))?;
        let around =
            builder.convolution("b.0", map, Convolution { rectifier: Rectifier::Identity, ..shape(1, 2, 18) })?;
        let inside = builder.convolution("b.1", map, shape(3, 2, 5))?;
        let map = builder.convolution_onto("b.2", inside, shape(1, 1, 18), Some(around))?;
        let map = builder.convolution("c", map, shape(5, 3, 33))?;
        let map = if pooled { builder.mean_pool(map) } else { map };
        let map = builder.dense("d", map, 19, rectifier);
        builder.dense("e", map, 3, Rectifier::Identity);
        Ok(())
    };
    build(&mut builder).expect("it fits");
    builder.finish()
}

type Operation = fn(Tensor<2>, Tensor<1>, &Arc<Graph>) -> Tensor<2>;

const FUSED: Operation = |images, weights, graph| operation::encode(images, weights, graph);
const PLAIN: Operation = |images, weights, graph| operation::plain(images, weights, graph);

/// Features and the gradient of Σ features ⊙ c with respect to the weights.
fn run(operation: Operation, graph: &Arc<Graph>, weights: &[f32], images: usize) -> [Vec<f32>; 2] {
    let device = Device::flex().autodiff();
    let matrix = |columns: usize, seed| {
        Tensor::<2>::from_data(TensorData::new(series(images * columns, seed), [images, columns]), &device)
    };
    let weights = Tensor::<1>::from_data(TensorData::new(weights.to_vec(), [weights.len()]), &device).require_grad();
    let features = operation(matrix(graph.inputs(), 1), weights.clone(), graph);
    let grads = (features.clone() * matrix(graph.features(), 4)).sum().backward();
    [numbers(features), numbers(weights.grad(&grads).expect("gradient of the weights"))]
}

/// Distance of two vectors in relation to their length.
fn relative(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let square = |v: f64| v * v;
    let apart: f64 = found.iter().zip(expected).map(|(a, b)| square(f64::from(a - b))).sum();
    (apart / expected.iter().map(|b| square(f64::from(*b))).sum::<f64>()).sqrt()
}

fn graphs() -> Vec<Arc<Graph>> {
    let sizes = [(17, false), (24, true), (31, false)];
    let rectifiers = [Rectifier::Relu, Rectifier::Silu];
    let all = sizes.iter().flat_map(|&(size, pooled)| rectifiers.map(|r| Arc::new(every_step(size, r, pooled))));
    all.collect()
}

/// Rounding of about a thousand terms in ten layers stays below a thousandth of the length of a vector; a term that is missing does
/// not.
#[test]
fn fused_encoder_is_the_plain_encoder_to_rounding() {
    for graph in graphs() {
        for images in [1, 37] {
            let weights = weights(&graph);
            let (fused, plain) = (run(FUSED, &graph, &weights, images), run(PLAIN, &graph, &weights, images));
            for (what, (fused, plain)) in ["features", "gradient"].iter().zip(fused.iter().zip(&plain)) {
                let error = relative(fused, plain);
                assert!(error < 2e-5, "{what} of {images} images of {}: {error}", graph.maps[0].size);
            }
            for slot in graph.layout.slots() {
                let error = relative(&fused[1][slot.range.clone()], &plain[1][slot.range.clone()]);
                assert!(error < 1e-4, "gradient of {}: {error}", slot.name);
            }
        }
    }
}

/// Features against plain loops in double precision, and the gradient against their differences along a random direction for each
/// tensor. No kink lies within the step of these weights.
#[test]
fn gradients_are_derivatives() {
    for graph in graphs() {
        let (weights, images) = (weights(&graph), 3);
        let [features, gradient] = run(FUSED, &graph, &weights, images);
        let pixels = series(images * graph.inputs(), 1);
        let cotangent = series(images * graph.features(), 4);
        let wide: Vec<f64> = weights.iter().map(|w| f64::from(*w)).collect();
        let expected = reference::encode(&graph, &wide, &pixels);
        let narrow: Vec<f32> = expected.iter().map(|v| *v as f32).collect();
        let error = relative(&features, &narrow);
        assert!(error < 5e-6, "features of {} pixels: {error}", graph.maps[0].size);
        let value = |weights: &[f64]| -> f64 {
            let features = reference::encode(&graph, weights, &pixels);
            features.iter().zip(&cotangent).map(|(a, b)| a * f64::from(*b)).sum()
        };
        for (seed, slot) in graph.layout.slots().iter().enumerate() {
            let direction = series(slot.range.len(), 50 + seed as u64);
            let step = 1e-7;
            let moved = |sign: f64| {
                let mut weights = wide.clone();
                let part = &mut weights[slot.range.clone()];
                part.iter_mut().zip(&direction).for_each(|(w, d)| *w += sign * step * f64::from(*d));
                value(&weights)
            };
            let difference = (moved(1.0) - moved(-1.0)) / (2.0 * step);
            let part = &gradient[slot.range.clone()];
            let found: f64 = part.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
            let length: f64 = part.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            assert!((difference - found).abs() < 1e-5 * length, "{}: {difference} {found} {length}", slot.name);
        }
    }
}

#[test]
fn encoders_give_the_same_bits_on_any_number_of_threads() {
    for name in ["cnn-small", "cnn-small-silu", "resnet10"] {
        let encoder =
            Encoder::new(name, EncoderShape { size: 20, channels: 1, features: 8 }).expect("it is registered");
        let weights = weights(&encoder.graph);
        let all = || {
            let images = series(300 * encoder.inputs(), 3);
            (run(FUSED, &encoder.graph, &weights, 300), encoder.encode_host(&images, &weights))
        };
        let one = on_threads(1, all);
        for threads in [2, 3] {
            assert!(one == on_threads(threads, all), "{name} on {threads} threads");
        }
    }
}

#[test]
fn features_do_not_depend_on_the_other_images() {
    let encoder = Encoder::new("cnn-small", EncoderShape { size: 32, channels: 1, features: 8 }).expect("registered");
    let (weights, images) = (weights(&encoder.graph), series(70 * encoder.inputs(), 3));
    let all = encoder.encode_host(&images, &weights);
    for (image, features) in images.chunks(encoder.inputs()).zip(all.chunks(8)) {
        assert_eq!(encoder.encode_host(image, &weights), features);
    }
    assert!(encoder.encode_host(&[], &weights).is_empty());
}

#[test]
fn instruction_sets_agree_to_rounding() {
    for graph in graphs() {
        let (weights, images) = (weights(&graph), 9);
        let run = |simd: Simd| {
            let packed = Packed::new(simd, &graph, &weights, true);
            let pixels = series(images * graph.inputs(), 1);
            let (features, blocks) = pass::forward(simd, &graph, &packed, &pixels);
            assert_eq!(features, pass::answer(simd, &graph, &packed, &pixels), "training and evaluation");
            let gradient = series(images * graph.features(), 4);
            [features, backward::backward(simd, &graph, &packed, &blocks, &gradient)]
        };
        let portable = run(Simd::portable());
        for simd in Simd::available() {
            for (found, expected) in run(simd).iter().zip(&portable) {
                let error = relative(found, expected);
                assert!(error < 2e-5, "{simd:?}: {error}");
            }
        }
    }
}

#[test]
fn shapes_are_those_of_the_literature() {
    let encoder = |name, size, channels, features| {
        Encoder::new(name, EncoderShape { size, channels, features }).expect("it is registered")
    };
    // Multiply-adds and weights, the last layer included.
    let small = encoder("cnn-small", 32, 1, 256);
    assert_eq!((small.multiply_adds() / 100_000, small.layout().len() / 10_000), (39, 55));
    let ten = encoder("resnet10", 32, 3, 256);
    assert_eq!(ten.multiply_adds() / 1_000_000, 16);
    // Torchvision: 11 689 512 and 25 557 032 with batch norms of 2 numbers per channel, where biases have 1.
    let eighteen = encoder("resnet18", 224, 3, 1000);
    assert_eq!(eighteen.layout().len(), 11_689_512 - 4_800);
    let fifty = encoder("resnet50", 224, 3, 1000);
    assert_eq!(fifty.layout().len(), 25_557_032 - 26_560);
    assert_eq!(fifty.multiply_adds() / 100_000_000, 40);
}

#[test]
fn names_of_weights_are_unique_and_seeds_matter() {
    let names: Vec<_> = ENCODERS.iter().map(|spec| spec.name).collect();
    for spec in ENCODERS {
        assert_eq!(names.iter().filter(|name| **name == spec.name).count(), 1);
        let shape = EncoderShape { size: spec.size, channels: 3, features: 16 };
        let encoder = Encoder::new(spec.name, shape).expect("it is registered");
        let mut names: Vec<_> = encoder.layout().slots().iter().map(|slot| slot.name.clone()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), encoder.layout().slots().len(), "{}", spec.name);
        assert!(names.contains(&"conv1.weight".to_string()));
        let weights = encoder.initialise(1);
        assert_eq!(weights.len(), encoder.layout().len());
        assert!(weights == encoder.initialise(1) && weights != encoder.initialise(2));
    }
}

#[test]
fn fresh_encoders_keep_the_size_of_numbers() {
    for spec in ENCODERS.iter().filter(|spec| !spec.torchvision) {
        let encoder =
            Encoder::new(spec.name, EncoderShape { size: 32, channels: 1, features: 64 }).expect("registered");
        let features = encoder.encode_host(&series(8 * encoder.inputs(), 3), &encoder.initialise(3));
        let size = (features.iter().map(|f| f * f).sum::<f32>() / features.len() as f32).sqrt();
        assert!((0.1..3.0).contains(&size), "{}: {size}", spec.name);
    }
}

#[test]
fn impossible_encoders_say_why() {
    let error = |name, size, channels, features| {
        Encoder::new(name, EncoderShape { size, channels, features }).expect_err("impossible").to_string()
    };
    assert!(error("cnn", 32, 1, 8).contains("cnn-small"));
    assert!(error("cnn-small", 32, 2, 8).contains("2 channels"));
    assert!(error("cnn-small", 0, 1, 8).contains("too small"));
    assert!(error("resnet18", 4096, 3, 8).contains("too large"));
    assert!(error("cnn-small", 32, 1, 0).contains("feature"));
}
