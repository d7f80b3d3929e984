//! The fused operations against plain Burn, and against themselves on other numbers of threads.

use burn::tensor::{Device, Tensor, TensorData};

use super::dense::plain_dense;
use super::forward::{Forward, LayerWeights, Scratch};
use super::gradient::{self, LayerGradient, MlpGrad};
use super::{Activation, dense};

const ACTIVATIONS: [Activation; 3] = [Activation::Identity, Activation::Sin, Activation::Silu];

/// Numbers in [-1, 1), the same on every call.
pub(super) fn series(length: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..length).map(|_| next()).collect()
}

pub(super) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

fn matrix(rows: usize, columns: usize, seed: u64, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(series(rows * columns, seed), [rows, columns]), device)
}

type Layer = fn(Tensor<2>, Tensor<2>, Tensor<1>, Activation) -> Tensor<2>;

/// Output, and gradients of Σ y ⊙ c with respect to input, weight and bias.
fn run(layer: Layer, activation: Activation, [rows, inputs, outputs]: [usize; 3]) -> [Vec<f32>; 4] {
    let device = Device::flex().autodiff();
    let x = matrix(rows, inputs, 1, &device).require_grad();
    let weight = matrix(inputs, outputs, 2, &device).require_grad();
    let bias = matrix(1, outputs, 3, &device).reshape([outputs]).require_grad();
    let y = layer(x.clone(), weight.clone(), bias.clone(), activation);
    let grads = (y.clone() * matrix(rows, outputs, 4, &device)).sum().backward();
    let values = |data: TensorData| data.try_to_vec::<f32>().expect("single precision");
    [
        values(y.into_data()),
        values(x.grad(&grads).expect("input gradient").into_data()),
        values(weight.grad(&grads).expect("weight gradient").into_data()),
        values(bias.grad(&grads).expect("bias gradient").into_data()),
    ]
}

/// Rounding of a sum of n terms of size one grows like √n units of the last place.
fn assert_close(fused: &[f32], plain: &[f32], terms: usize, what: &str) {
    let tolerance = 4.0 * f32::EPSILON * (terms as f32).sqrt().max(1.0) * 2.0;
    assert_eq!(fused.len(), plain.len(), "{what}");
    for (i, (a, b)) in fused.iter().zip(plain).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what} {i}: {a} against {b}, tolerance {tolerance}");
    }
}

#[test]
fn fused_layer_is_the_plain_layer_to_rounding() {
    for size in [[1, 1, 1], [7, 4, 33], [300, 129, 3], [257, 64, 200]] {
        for activation in ACTIVATIONS {
            let (fused, plain) = (run(dense, activation, size), run(plain_dense, activation, size));
            let [rows, inputs, outputs] = size;
            for ((fused, plain), (terms, what)) in fused.iter().zip(&plain).zip([
                (inputs, "output"),
                (outputs * inputs, "input gradient"),
                (rows * inputs, "weight gradient"),
                (rows * inputs, "bias gradient"),
            ]) {
                assert_close(fused, plain, terms, &format!("{activation:?} {size:?} {what}"));
            }
        }
    }
}

#[test]
fn fused_layer_is_the_same_bits_on_any_number_of_threads() {
    for activation in ACTIVATIONS {
        let size = [515, 300, 140];
        let one = on_threads(1, || run(dense, activation, size));
        for threads in [2, 3] {
            assert_eq!(one, on_threads(threads, || run(dense, activation, size)), "{activation:?}, {threads} threads");
        }
    }
}

#[test]
fn transposed_and_sliced_tensors_are_read_by_their_strides() {
    let device = Device::flex();
    let x = matrix(20, 9, 1, &device).transpose().slice([2..7, 0..20]);
    let weight = matrix(6, 20, 2, &device).transpose();
    let bias = matrix(1, 6, 3, &device).reshape([6]);
    let fused = dense(x.clone(), weight.clone(), bias.clone(), Activation::Sin);
    let plain = plain_dense(x, weight, bias, Activation::Sin);
    assert_close(fused.into_data().as_slice().unwrap(), plain.into_data().as_slice().unwrap(), 20, "strided");
}

#[test]
fn inputs_without_gradient_get_none_and_double_use_adds_up() {
    let device = Device::flex().autodiff();
    let x = matrix(5, 4, 1, &device);
    let weight = matrix(4, 4, 2, &device).require_grad();
    let bias = matrix(1, 4, 3, &device).reshape([4]).require_grad();
    let twice = |layer: Layer| {
        let hidden = layer(x.clone(), weight.clone(), bias.clone(), Activation::Silu);
        let grads = layer(hidden, weight.clone(), bias.clone(), Activation::Identity).sum().backward();
        assert!(x.grad(&grads).is_none());
        weight.grad(&grads).expect("weight gradient").into_data().try_to_vec::<f32>().expect("single precision")
    };
    assert_close(&twice(dense), &twice(plain_dense), 40, "shared weight");
}

pub(super) fn layers(sizes: &[usize]) -> Vec<LayerWeights> {
    let layer = |(index, pair): (usize, &[usize])| {
        let scale = (3.0 / pair[0] as f32).sqrt();
        let weight = series(pair[0] * pair[1], 20 + index as u64).iter().map(|w| w * scale).collect();
        LayerWeights::new(weight, series(pair[1], 40 + index as u64))
    };
    sizes.windows(2).enumerate().map(layer).collect()
}

#[test]
fn evaluation_without_tensors_is_the_network() {
    let sizes = [4, 60, 33, 3];
    let device = Device::flex();
    let rows = 300;
    let input = series(rows * 4, 9);
    for activation in ACTIVATIONS {
        let mut hidden: Tensor<2> = Tensor::from_data(TensorData::new(input.clone(), [rows, 4]), &device);
        for (index, layer) in layers(&sizes).into_iter().enumerate() {
            let weight = Tensor::from_data(TensorData::new(layer.weight, [layer.inputs, layer.outputs]), &device);
            let bias = Tensor::from_data(TensorData::new(layer.bias, [layer.outputs]), &device);
            let last = index + 2 == sizes.len();
            hidden = plain_dense(hidden, weight, bias, if last { Activation::Identity } else { activation });
        }
        let network = Forward::new(layers(&sizes), activation);
        let mut out = vec![0.0; rows * 3];
        let mut scratch = Scratch::default();
        network.eval(&input, rows, &mut scratch, &mut out);
        assert_close(&out, hidden.into_data().as_slice().unwrap(), 100, "evaluation");
        let mut again = vec![0.0; rows * 3];
        network.eval(&input, rows, &mut scratch, &mut again);
        assert_eq!(out, again, "a used scratch must not matter");
    }
}

/// Tangents against central differences of the network itself; the step balances truncation and f32 rounding.
#[test]
fn tangents_are_derivatives() {
    let (rows, inputs, directions, step) = (150, 4, 3, 1e-2f32);
    let input = series(rows * inputs, 9);
    for activation in ACTIVATIONS {
        let network = Forward::new(layers(&[inputs, 40, 30, 3]), activation);
        let tangents = series(directions * rows * inputs, 10);
        let mut scratch = Scratch::default();
        let (mut out, mut derivatives) = (vec![0.0; rows * 3], vec![0.0; directions * rows * 3]);
        network.eval_tangents(&input, &tangents, directions, rows, &mut scratch, &mut out, &mut derivatives);
        let mut values = vec![0.0; rows * 3];
        network.eval(&input, rows, &mut scratch, &mut values);
        assert_close(&out, &values, 40, "values beside tangents");
        for (tangents, derivatives) in tangents.chunks(rows * inputs).zip(derivatives.chunks(rows * 3)) {
            let mut shifted = |sign: f32| {
                let moved: Vec<f32> = input.iter().zip(tangents).map(|(x, t)| x + sign * step * t).collect();
                let mut out = vec![0.0; rows * 3];
                network.eval(&moved, rows, &mut scratch, &mut out);
                out
            };
            for ((up, down), derivative) in shifted(1.0).iter().zip(&shifted(-1.0)).zip(derivatives) {
                let difference = (up - down) / (2.0 * step);
                assert!((difference - derivative).abs() < 1e-2 * (1.0 + derivative.abs()), "{difference} {derivative}");
            }
        }
    }
}

/// Gradients of Σ (y - c)² on a batch: loss, then weight and bias of each layer.
fn whole_network(sizes: &[usize], activation: Activation, rows: usize) -> (f64, Vec<Vec<f32>>) {
    let outputs = sizes[sizes.len() - 1];
    let (input, target) = (series(rows * sizes[0], 9), series(rows * outputs, 10));
    let weights = layers(sizes);
    let views: Vec<gradient::Layer> =
        weights.iter().map(|l| gradient::Layer { weight: &l.weight, bias: &l.bias }).collect();
    let mut found: Vec<Vec<f32>> =
        weights.iter().flat_map(|l| [vec![f32::NAN; l.weight.len()], vec![f32::NAN; l.bias.len()]]).collect();
    let mut network = MlpGrad::new(sizes, activation);
    let mut loss = 0.0;
    // Twice, so that the second call meets used buffers.
    for _ in 0..2 {
        let mut targets: Vec<LayerGradient> = found
            .chunks_exact_mut(2)
            .map(|pair| {
                let (weight, bias) = pair.split_at_mut(1);
                LayerGradient { weight: &mut weight[0], bias: &mut bias[0] }
            })
            .collect();
        let squares = |rows: std::ops::Range<usize>, y: &[f32], gradient: &mut [f32]| {
            let target = &target[rows.start * outputs..rows.end * outputs];
            let mut sum = 0.0;
            for ((y, t), gradient) in y.iter().zip(target).zip(gradient) {
                *gradient = 2.0 * (y - t);
                sum += f64::from(y - t).powi(2);
            }
            sum
        };
        loss = network.gradients(&views, &input, squares, &mut targets);
    }
    (loss, found)
}

#[test]
fn whole_network_gradients_are_those_of_the_graph() {
    let (sizes, rows) = ([4, 140, 33, 3], 300);
    let device = Device::flex().autodiff();
    for activation in ACTIVATIONS {
        let (loss, found) = whole_network(&sizes, activation, rows);
        let mut hidden: Tensor<2> = Tensor::from_data(TensorData::new(series(rows * 4, 9), [rows, 4]), &device);
        let mut params = Vec::new();
        for (index, layer) in layers(&sizes).into_iter().enumerate() {
            let weight: Tensor<2> =
                Tensor::from_data(TensorData::new(layer.weight, [layer.inputs, layer.outputs]), &device).require_grad();
            let bias: Tensor<1> =
                Tensor::from_data(TensorData::new(layer.bias, [layer.outputs]), &device).require_grad();
            let activation = if index == 2 { Activation::Identity } else { activation };
            hidden = plain_dense(hidden, weight.clone(), bias.clone(), activation);
            params.push((weight, bias));
        }
        let target: Tensor<2> = Tensor::from_data(TensorData::new(series(rows * 3, 10), [rows, 3]), &device);
        let sum = (hidden - target).powi_scalar(2).sum();
        let grads = sum.backward();
        let expected: f32 = sum.into_scalar();
        assert!((loss / f64::from(expected) - 1.0).abs() < 1e-5, "loss {loss} against {expected}");
        for (index, (weight, bias)) in params.iter().enumerate() {
            let weight = weight.grad(&grads).expect("weight gradient").into_data();
            let bias = bias.grad(&grads).expect("bias gradient").into_data();
            // A sum over all rows of terms that are themselves sums over a layer.
            let terms = rows * 140;
            assert_close(&found[2 * index], weight.as_slice().unwrap(), terms, "weight gradient");
            assert_close(&found[2 * index + 1], bias.as_slice().unwrap(), terms, "bias gradient");
        }
    }
}

#[test]
fn whole_network_gradients_are_the_same_bits_on_any_number_of_threads() {
    let run = |threads| on_threads(threads, || whole_network(&[4, 200, 130, 3], Activation::Sin, 515));
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}
