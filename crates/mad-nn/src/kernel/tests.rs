//! The fused operations against plain Burn, and against themselves on other numbers of threads and instruction sets.

use burn_tensor::{Device, Tensor, TensorData};

use super::forward::{Forward, Scratch};
use super::{Activation, Plan, Simd, chain, chain_tangents, operation::plain_chain_tangents};

/// [`chain`] as a composition of Burn operations.
fn plain_chain(x: Tensor<2>, weights: Tensor<1>, plan: &Plan) -> Tensor<2> {
    plan.layers().iter().enumerate().fold(x, |x, (index, layer)| {
        let weight = weights.clone().slice([layer.weight.clone()]).reshape([layer.inputs, layer.outputs]);
        let bias = weights.clone().slice([layer.bias.clone()]).reshape([1, layer.outputs]);
        plan.activation(index).apply(x.matmul(weight) + bias)
    })
}

const ACTIVATIONS: [Activation; 3] = [Activation::Identity, Activation::Sin, Activation::Silu];

/// Sizes that meet whole and broken panels, tiles and blocks: units of the layers, then rows.
const SIZES: [(&[usize], usize); 5] =
    [(&[1, 1], 1), (&[7, 4, 33], 3), (&[4, 140, 33, 3], 300), (&[64, 129, 16], 128), (&[17, 32, 31, 32, 5], 65)];

/// Numbers in [-1, 1), the same on every call.
fn series(length: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..length).map(|_| next()).collect()
}

/// Weights of size √(3/inputs), so that units are of size one in every layer.
fn weights(plan: &Plan) -> Vec<f32> {
    let mut numbers = series(plan.len(), 20);
    for layer in plan.layers() {
        let scale = (3.0 / layer.inputs as f32).sqrt();
        numbers[layer.weight.clone()].iter_mut().for_each(|w| *w *= scale);
    }
    numbers
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

fn matrix(rows: usize, columns: usize, seed: u64, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(series(rows * columns, seed), [rows, columns]), device)
}

fn vector(numbers: Vec<f32>, device: &Device) -> Tensor<1> {
    let length = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [length]), device)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec::<f32>().expect("single precision")
}

type Operation = fn(Tensor<2>, Tensor<1>, &Plan) -> Tensor<2>;

/// Output, and gradients of Σ y ⊙ c with respect to weights and input.
fn run(operation: Operation, plan: &Plan, rows: usize) -> [Vec<f32>; 3] {
    let device = Device::flex().autodiff();
    let x = matrix(rows, plan.inputs(), 1, &device).require_grad();
    let weights = vector(weights(plan), &device).require_grad();
    let y = operation(x.clone(), weights.clone(), plan);
    let grads = (y.clone() * matrix(rows, plan.outputs(), 4, &device)).sum().backward();
    let of_weights = weights.grad(&grads).expect("gradient of the weights");
    [numbers(y), numbers(of_weights), numbers(x.grad(&grads).expect("gradient of the input"))]
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
fn fused_chain_is_the_plain_chain_to_rounding() {
    for (sizes, rows) in SIZES {
        for activation in ACTIVATIONS {
            let plan = Plan::new(sizes, activation);
            let (fused, plain) = (run(chain, &plan, rows), run(plain_chain, &plan, rows));
            let widest = sizes.iter().copied().max().unwrap_or(1);
            for ((fused, plain), (terms, what)) in fused.iter().zip(&plain).zip([
                (widest, "output"),
                (rows * widest, "gradient of the weights"),
                (widest * widest, "gradient of the input"),
            ]) {
                assert_close(fused, plain, terms, &format!("{activation:?} {sizes:?} x {rows}: {what}"));
            }
        }
    }
}

/// As [`run`], with values and tangents along two directions.
fn run_tangents(operation: fn(Tensor<3>, Tensor<1>, &Plan) -> Tensor<3>, plan: &Plan, rows: usize) -> [Vec<f32>; 3] {
    const PARTS: usize = 3;
    let device = Device::flex().autodiff();
    let part = |width, seed| matrix(PARTS * rows, width, seed, &device).reshape([PARTS, rows, width]);
    let x = part(plan.inputs(), 1).require_grad();
    let weights = vector(weights(plan), &device).require_grad();
    let y = operation(x.clone(), weights.clone(), plan);
    let grads = (y.clone() * part(plan.outputs(), 4)).sum().backward();
    let of_weights = weights.grad(&grads).expect("gradient of the weights");
    [numbers(y), numbers(of_weights), numbers(x.grad(&grads).expect("gradient of the input"))]
}

#[test]
fn fused_tangents_are_the_plain_tangents_to_rounding() {
    for (sizes, rows) in SIZES {
        for activation in ACTIVATIONS {
            let plan = Plan::new(sizes, activation);
            let fused = run_tangents(chain_tangents, &plan, rows);
            let plain = run_tangents(plain_chain_tangents, &plan, rows);
            let widest = sizes.iter().copied().max().unwrap_or(1);
            for ((fused, plain), (terms, what)) in fused.iter().zip(&plain).zip([
                (2 * widest, "output"),
                (3 * rows * widest, "gradient of the weights"),
                (3 * widest * widest, "gradient of the input"),
            ]) {
                assert_close(fused, plain, terms, &format!("{activation:?} {sizes:?} x {rows}: {what}"));
            }
        }
    }
}

#[test]
fn fused_chain_is_the_same_bits_on_any_number_of_threads() {
    for activation in ACTIVATIONS {
        let plan = Plan::new(&[4, 200, 130, 3], activation);
        let both = || (run(chain, &plan, 515), run_tangents(chain_tangents, &plan, 515));
        let one = on_threads(1, both);
        for threads in [2, 3] {
            assert_eq!(one, on_threads(threads, both), "{activation:?}, {threads} threads");
        }
    }
}

/// Output, gradients of weights and input, of values alone and with tangents along two directions.
fn results(simd: Simd, plan: &Plan, rows: usize) -> Vec<Vec<f32>> {
    let weights = weights(plan);
    let run = |parts| {
        let (input, gradient) = (series(parts * rows * plan.inputs(), 1), series(parts * rows * plan.outputs(), 4));
        let (output, trace) = super::chain::forward(simd, plan, &weights, &input, parts);
        let (of_weights, of_input) = super::chain::backward(simd, plan, trace, &gradient, parts, true);
        if parts == 1 {
            let mut evaluated = vec![0.0; output.len()];
            Forward::with(simd, plan.clone(), &weights).eval(&input, rows, &mut Scratch::default(), &mut evaluated);
            assert_eq!(output, evaluated, "{simd:?}: training and evaluation");
        }
        [output, of_weights, of_input.expect("it was asked for")]
    };
    [run(1), run(3)].concat()
}

/// Each set of instructions that this processor has, forward and backward, against the portable one.
#[test]
fn instruction_sets_agree_to_rounding() {
    for (sizes, rows) in SIZES {
        let plan = Plan::new(sizes, Activation::Sin);
        let expected = results(Simd::portable(), &plan, rows);
        let widest = sizes.iter().copied().max().unwrap_or(1);
        for simd in Simd::available() {
            for (found, expected) in results(simd, &plan, rows).iter().zip(&expected) {
                assert_close(found, expected, 3 * widest * widest.max(rows), &format!("{simd:?} {sizes:?}"));
            }
        }
    }
}

/// Tiles differ between sets, the order of every sum does not: sets with fused multiply-add give the same bits.
#[test]
fn fused_instruction_sets_give_the_same_bits() {
    let bits = |simd, plan: &Plan, rows| -> Vec<u32> {
        results(simd, plan, rows).concat().into_iter().map(f32::to_bits).collect()
    };
    let mut fused = Simd::available().into_iter().filter(|simd| simd.fuses());
    let Some(first) = fused.next() else { return };
    for simd in fused {
        for (sizes, rows) in SIZES {
            for activation in ACTIVATIONS {
                let plan = Plan::new(sizes, activation);
                let same = bits(simd, &plan, rows) == bits(first, &plan, rows);
                assert!(same, "{} and {}: {activation:?} {sizes:?} x {rows}", simd.name(), first.name());
            }
        }
    }
}

#[test]
fn no_rows_have_no_gradient() {
    let plan = Plan::new(&[7, 4, 33], Activation::Sin);
    let weights = weights(&plan);
    for rows in [70, 0] {
        let (output, trace) = super::chain::forward(Simd::best(), &plan, &weights, &series(rows * 7, 1), 1);
        let gradient = super::chain::backward(Simd::best(), &plan, trace, &series(rows * 33, 2), 1, false).0;
        assert_eq!(output.len(), rows * 33);
        assert_eq!(gradient.iter().all(|g| *g == 0.0), rows == 0);
        // Its memory, full of numbers, is what the next round takes.
        super::recycle(gradient);
    }
}

#[test]
fn transposed_and_sliced_tensors_are_read_by_their_strides() {
    let device = Device::flex();
    let plan = Plan::new(&[20, 6, 2], Activation::Sin);
    let x = matrix(20, 9, 1, &device).transpose().slice([2..7, 0..20]);
    let part = 3..3 + plan.len();
    let weights = vector(series(plan.len() + 5, 3), &device).slice([part]);
    let fused = numbers(chain(x.clone(), weights.clone(), &plan));
    assert_close(&fused, &numbers(plain_chain(x, weights, &plan)), 20, "strided");
}

#[test]
fn inputs_without_gradient_get_none_and_double_use_adds_up() {
    let device = Device::flex().autodiff();
    let plan = Plan::new(&[4, 9, 4], Activation::Silu);
    let x = matrix(5, 4, 1, &device);
    let weights = vector(weights(&plan), &device).require_grad();
    let twice = |operation: Operation| {
        let hidden = operation(x.clone(), weights.clone(), &plan);
        let grads = operation(hidden, weights.clone(), &plan).sum().backward();
        assert!(x.grad(&grads).is_none());
        numbers(weights.grad(&grads).expect("gradient of the weights"))
    };
    assert_close(&twice(chain), &twice(plain_chain), 40, "shared weights");
}

#[test]
fn evaluation_without_tensors_is_the_network() {
    let device = Device::flex();
    for (sizes, rows) in SIZES {
        for activation in ACTIVATIONS {
            let plan = Plan::new(sizes, activation);
            let (outputs, input) = (plan.outputs(), series(rows * plan.inputs(), 9));
            let x = Tensor::from_data(TensorData::new(input.clone(), [rows, plan.inputs()]), &device);
            let expected = numbers(plain_chain(x, vector(weights(&plan), &device), &plan));
            let network = Forward::new(plan.clone(), &weights(&plan));
            let mut scratch = Scratch::default();
            let mut evaluate = || {
                let mut out = vec![0.0; rows * outputs];
                network.eval(&input, rows, &mut scratch, &mut out);
                out
            };
            let out = evaluate();
            assert_close(&out, &expected, 200, "evaluation");
            assert_eq!(out, evaluate(), "a used scratch must not matter");
        }
    }
}

/// Tangents against central differences of the network itself; the step balances truncation and f32 rounding.
#[test]
fn tangents_are_derivatives() {
    let (rows, inputs, directions, step) = (150, 4, 3, 1e-2f32);
    let input = series(rows * inputs, 9);
    for activation in ACTIVATIONS {
        let plan = Plan::new(&[inputs, 40, 30, 3], activation);
        let network = Forward::new(plan.clone(), &weights(&plan));
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
