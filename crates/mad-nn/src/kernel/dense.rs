//! A dense layer with its activation as one operation.

use std::mem::MaybeUninit;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{
    Autodiff, Backend, Dispatch, DispatchTensor, DispatchTensorKind, Flex, TensorMetadata, backend_extension,
};
use burn::tensor::{DType, Shape, Tensor, TensorData};

use super::activation::{Activation, activate, activate_slope, column_sums, scale};
use super::matrix::{Matrix, multiply_into, unwritten, written};
use super::parallel;
use super::simd::Simd;

/// Rows of the batch in one job. Fixed, so that sums do not depend on the number of threads.
pub(super) const ROW_BLOCK: usize = 256;

/// Rows of the weight gradient in one job.
pub(super) const WEIGHT_BLOCK: usize = 128;

/// y = act(x W + b).
///
/// On Burn's CPU backend in single precision this is one operation with one backward operation; on every other backend
/// it is [`plain_dense`].
///
/// # Formula
/// With z = x W + b and the gradient ȳ: z̄ = ȳ ⊙ act'(z), W̄ = xᵀ z̄, b̄ = Σ_rows z̄, x̄ = z̄ Wᵀ.
/// The forward pass stores act'(z); gradients that nothing asks for are not computed.
pub fn dense(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>, activation: Activation) -> Tensor<2> {
    let ([_, inputs], [weight_rows, outputs], [biases]) = (x.dims(), weight.dims(), bias.dims());
    assert!(
        inputs == weight_rows && outputs == biases,
        "a dense layer of {weight_rows} x {outputs} weights and {biases} biases cannot take {inputs} inputs"
    );
    let (x, weight, bias) = (x.into_dispatch(), weight.into_dispatch(), bias.into_dispatch());
    if outputs > 0 && [&x, &weight, &bias].into_iter().all(is_cpu_single) {
        return Tensor::from_dispatch(<Dispatch as DenseBackend>::fused_dense(x, weight, bias, activation));
    }
    plain_dense(Tensor::from_dispatch(x), Tensor::from_dispatch(weight), Tensor::from_dispatch(bias), activation)
}

/// The same function as a composition of Burn operations.
pub fn plain_dense(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>, activation: Activation) -> Tensor<2> {
    activation.apply(x.matmul(weight) + bias.unsqueeze())
}

/// Whether the tensor is in single precision on the CPU backend.
fn is_cpu_single(tensor: &DispatchTensor) -> bool {
    fn kind_is_cpu(kind: &DispatchTensorKind) -> bool {
        match kind {
            DispatchTensorKind::Flex(_) => true,
            DispatchTensorKind::Autodiff(inner) => kind_is_cpu(inner),
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }
    kind_is_cpu(&tensor.kind) && tensor.dtype() == DType::F32
}

/// The fused operation, for the backends that have it.
#[backend_extension(Flex, Autodiff)]
pub trait DenseBackend: Backend {
    /// y = act(x W + b) in single precision.
    fn fused_dense(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self>;
}

type CpuTensor = FloatTensor<Flex>;

impl DenseBackend for Flex {
    fn fused_dense(x: CpuTensor, weight: CpuTensor, bias: CpuTensor, activation: Activation) -> CpuTensor {
        forward(&x.to_contiguous(), &weight.to_contiguous(), &bias.to_contiguous(), activation, false).0
    }
}

impl<C: CheckpointStrategy> DenseBackend for Autodiff<Flex, C> {
    fn fused_dense(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        let prepared = DenseBackward.prepare::<C>([x.node(), weight.node(), bias.node()]).compute_bound().stateful();
        let x = x.into_primitive().to_contiguous();
        let weight = weight.into_primitive().to_contiguous();
        let bias = bias.into_primitive().to_contiguous();
        match prepared {
            OpsKind::Tracked(prepared) => {
                let (y, slopes) = forward(&x, &weight, &bias, activation, activation != Activation::Identity);
                prepared.finish(State { x, weight, slopes }, y)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(forward(&x, &weight, &bias, activation, false).0),
        }
    }
}

/// What the backward pass needs of the forward pass. No slopes means that all are one.
#[derive(Clone, Debug)]
struct State {
    x: CpuTensor,
    weight: CpuTensor,
    slopes: Option<CpuTensor>,
}

#[derive(Debug)]
struct DenseBackward;

impl Backward<Flex, 3> for DenseBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [x_node, weight_node, bias_node] = ops.parents;
        let output_gradient = grads.consume::<Flex>(&ops.node).to_contiguous();
        let State { x, weight, slopes } = ops.state;
        let wanted = Wanted { input: x_node.is_some(), weight: weight_node.is_some(), bias: bias_node.is_some() };
        let found = backward(&x, &weight, slopes, output_gradient, wanted);
        for (node, gradient) in [(x_node, found.input), (weight_node, found.weight), (bias_node, found.bias)] {
            if let (Some(node), Some(gradient)) = (node, gradient) {
                grads.register::<Flex>(node.id, gradient);
            }
        }
    }
}

/// y and, if asked for, act'(z).
fn forward(
    x: &CpuTensor,
    weight: &CpuTensor,
    bias: &CpuTensor,
    activation: Activation,
    with_slopes: bool,
) -> (CpuTensor, Option<CpuTensor>) {
    let simd = Simd::best();
    let (inputs, outputs) = (weight.layout().shape()[0], weight.layout().shape()[1]);
    let rows = x.layout().shape()[0];
    let (x, weight, bias) = (numbers(x), Matrix::new(numbers(weight), inputs, outputs), numbers(bias));
    let mut y = unwritten(rows * outputs);
    let mut slopes = unwritten(if with_slopes { rows * outputs } else { 0 });
    let slope_blocks = slopes.chunks_mut(ROW_BLOCK * outputs).map(Some).chain(std::iter::repeat_with(|| None));
    let blocks: Vec<_> = y.chunks_mut(ROW_BLOCK * outputs).zip(slope_blocks).enumerate().collect();
    parallel::for_each(blocks.into_iter(), |(index, (y, slopes)): (usize, Block)| {
        let (first, count) = (index * ROW_BLOCK, y.len() / outputs);
        let x = Matrix::new(&x[first * inputs..(first + count) * inputs], count, inputs);
        let z = multiply_into(y, x, weight);
        match slopes {
            Some(slopes) => activate_slope(simd, activation, z, bias, slopes),
            None => activate(simd, activation, z, bias),
        }
    });
    // SAFETY: the blocks cover y, and each was written by its product; the blocks cover the slopes, if there are any, and
    // each was written by `activate_slope`.
    let (y, slopes) = unsafe { (written(y), written(slopes)) };
    (tensor(y, [rows, outputs]), with_slopes.then(|| tensor(slopes, [rows, outputs])))
}

type Block<'a> = (&'a mut [MaybeUninit<f32>], Option<&'a mut [MaybeUninit<f32>]>);

/// Which gradients the graph asks for.
struct Wanted {
    input: bool,
    weight: bool,
    bias: bool,
}

struct Found {
    input: Option<CpuTensor>,
    weight: Option<CpuTensor>,
    bias: Option<CpuTensor>,
}

/// The gradients of input, weight and bias from the gradient of the output.
///
/// Two rounds of jobs: blocks of rows for z̄ and x̄, then blocks of rows of W̄, each a product over the whole batch.
fn backward(
    x: &CpuTensor,
    weight: &CpuTensor,
    slopes: Option<CpuTensor>,
    output_gradient: CpuTensor,
    wanted: Wanted,
) -> Found {
    let simd = Simd::best();
    let (inputs, outputs) = (weight.layout().shape()[0], weight.layout().shape()[1]);
    let rows = x.layout().shape()[0];
    // z̄ takes the place of the slopes, which nobody else holds.
    let (mut z_gradient, factors) = match slopes {
        Some(slopes) => (slopes, Some(output_gradient)),
        None => (output_gradient, None),
    };
    let factors = factors.as_ref().map(numbers);
    let mut input_gradient = unwritten(if wanted.input { rows * inputs } else { 0 });
    if wanted.input || factors.is_some() {
        let transposed = Matrix::new(numbers(weight), inputs, outputs).transposed();
        let input_blocks =
            input_gradient.chunks_mut((ROW_BLOCK * inputs).max(1)).map(Some).chain(std::iter::repeat_with(|| None));
        // Without slopes z̄ = ȳ, which others may share and nobody writes.
        let z_gradient = &mut z_gradient;
        let z_blocks: Vec<ZBlock> = match factors {
            Some(factors) => z_gradient
                .storage_mut::<f32>()
                .chunks_mut(ROW_BLOCK * outputs)
                .zip(factors.chunks(ROW_BLOCK * outputs))
                .map(|(block, factors)| ZBlock::Scaled(block, factors))
                .collect(),
            None => numbers(z_gradient).chunks(ROW_BLOCK * outputs).map(ZBlock::Ready).collect(),
        };
        let blocks: Vec<_> = z_blocks.into_iter().zip(input_blocks).collect();
        parallel::for_each(blocks.into_iter(), |(block, input): (ZBlock, Option<&mut [MaybeUninit<f32>]>)| {
            let z = match block {
                ZBlock::Scaled(block, factors) => {
                    scale(simd, block, factors);
                    &*block
                }
                ZBlock::Ready(block) => block,
            };
            if let Some(input) = input {
                multiply_into(input, Matrix::new(z, z.len() / outputs, outputs), transposed);
            }
        });
    }
    let z_gradient = numbers(&z_gradient);
    let mut weight_gradient = unwritten(if wanted.weight { inputs * outputs } else { 0 });
    let mut bias_gradient = vec![0.0; if wanted.bias { outputs } else { 0 }];
    let x = Matrix::new(numbers(x), rows, inputs);
    let z = Matrix::new(z_gradient, rows, outputs);
    let jobs: Vec<_> = weight_gradient
        .chunks_mut(WEIGHT_BLOCK * outputs)
        .enumerate()
        .map(|(index, block)| WeightJob::Weight(index, block))
        .chain(wanted.bias.then_some(WeightJob::Bias(&mut bias_gradient)))
        .collect();
    parallel::for_each(jobs.into_iter(), |job| match job {
        WeightJob::Weight(index, block) => {
            let part = x.columns(index * WEIGHT_BLOCK, block.len() / outputs);
            multiply_into(block, part.transposed(), z);
        }
        WeightJob::Bias(sums) => column_sums(simd, z_gradient, sums),
    });
    // SAFETY: the blocks cover both gradients, where wanted, and each block was written by its product.
    let (input_gradient, weight_gradient) = unsafe { (written(input_gradient), written(weight_gradient)) };
    Found {
        input: wanted.input.then(|| tensor(input_gradient, [rows, inputs])),
        weight: wanted.weight.then(|| tensor(weight_gradient, [inputs, outputs])),
        bias: wanted.bias.then(|| tensor(bias_gradient, [outputs])),
    }
}

/// A block of rows of z̄: to be scaled in place by ȳ, or ready.
enum ZBlock<'a> {
    Scaled(&'a mut [f32], &'a [f32]),
    Ready(&'a [f32]),
}

enum WeightJob<'a> {
    Weight(usize, &'a mut [MaybeUninit<f32>]),
    Bias(&'a mut [f32]),
}

/// The numbers of a contiguous tensor.
fn numbers(tensor: &CpuTensor) -> &[f32] {
    tensor.as_slice().expect("the tensor was made contiguous and is in single precision")
}

fn tensor(values: Vec<f32>, shape: impl Into<Shape>) -> CpuTensor {
    CpuTensor::from_data(TensorData::new(values, shape))
}
