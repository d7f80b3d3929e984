//! The chain of dense layers as one Burn operation.

use burn_tensor::{DType, Shape, Tensor, TensorData};

use super::chain::{self, Trace};
use super::plan::Plan;
use super::simd::Simd;
use crate::burn;
use crate::burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use crate::burn::backend::autodiff::grads::Gradients;
use crate::burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use crate::burn::backend::tensor::FloatTensor;
use crate::burn::backend::{
    Autodiff, Backend, Dispatch, DispatchTensor, DispatchTensorKind, Flex, TensorMetadata, backend_extension,
};

/// The output of a chain of dense layers whose weights lie in one vector, in the order of the plan.
///
/// On Burn's CPU backend in single precision this is one operation with one backward operation; on every other backend
/// it is a composition of Burn operations.
pub fn chain(x: Tensor<2>, weights: Tensor<1>, plan: &Plan) -> Tensor<2> {
    let [rows, inputs] = x.dims();
    chain_tangents(x.reshape([1, rows, inputs]), weights, plan).reshape([rows, plan.outputs()])
}

/// The output of a chain and its derivatives along tangents of the input, both open to the backward pass.
///
/// `x` and the output hold matrices of as many rows: the values first, then tangents, one direction after the other.
///
/// # Formula
/// y = act(x W + b) and ẏ = act'(x W + b) ⊙ (ẋ W), layer by layer.
pub(crate) fn chain_tangents(x: Tensor<3>, weights: Tensor<1>, plan: &Plan) -> Tensor<3> {
    let [parts, rows, inputs] = x.dims();
    assert_eq!(inputs, plan.inputs(), "inputs of the chain");
    assert_eq!(weights.dims()[0], plan.len(), "weights of the chain");
    let (x, weights) = (x.reshape([parts * rows, inputs]).into_dispatch(), weights.into_dispatch());
    if [&x, &weights].into_iter().all(is_cpu_single) {
        let y = <Dispatch as ChainBackend>::fused_chain(x, weights, plan.clone(), parts);
        return Tensor::<2>::from_dispatch(y).reshape([parts, rows, plan.outputs()]);
    }
    let x = Tensor::<2>::from_dispatch(x).reshape([parts, rows, inputs]);
    plain_chain_tangents(x, Tensor::from_dispatch(weights), plan)
}

/// [`chain_tangents`] as a composition of Burn operations.
pub(crate) fn plain_chain_tangents(x: Tensor<3>, weights: Tensor<1>, plan: &Plan) -> Tensor<3> {
    let [parts, rows, _] = x.dims();
    let part = |x: &Tensor<3>, from: usize, to: usize| x.clone().narrow(0, from, to - from);
    plan.layers().iter().enumerate().fold(x, |x, (index, layer)| {
        let weight = weights.clone().slice([layer.weight.clone()]).reshape([layer.inputs, layer.outputs]);
        let bias = weights.clone().slice([layer.bias.clone()]).reshape([1, 1, layer.outputs]);
        let z = x.reshape([parts * rows, layer.inputs]).matmul(weight).reshape([parts, rows, layer.outputs]);
        let value = part(&z, 0, 1) + bias;
        let activation = plan.activation(index);
        if parts == 1 {
            return activation.apply(value);
        }
        let tangents = part(&z, 1, parts) * activation.slope(value.clone());
        Tensor::cat(vec![activation.apply(value), tangents], 0)
    })
}

/// Whether the tensor is in single precision on the CPU backend.
pub(crate) fn is_cpu_single(tensor: &DispatchTensor) -> bool {
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
pub trait ChainBackend: Backend {
    /// The chain in single precision; `x` holds `parts` matrices one below the other, as in `chain_tangents`.
    fn fused_chain(x: FloatTensor<Self>, weights: FloatTensor<Self>, plan: Plan, parts: usize) -> FloatTensor<Self>;
}

type CpuTensor = FloatTensor<Flex>;

impl ChainBackend for Flex {
    fn fused_chain(x: CpuTensor, weights: CpuTensor, plan: Plan, parts: usize) -> CpuTensor {
        forward(&x.to_contiguous(), &weights.to_contiguous(), &plan, parts).0
    }
}

impl<C: CheckpointStrategy> ChainBackend for Autodiff<Flex, C> {
    fn fused_chain(x: FloatTensor<Self>, weights: FloatTensor<Self>, plan: Plan, parts: usize) -> FloatTensor<Self> {
        let prepared = ChainBackward.prepare::<C>([x.node(), weights.node()]).compute_bound().stateful();
        let x = x.into_primitive().to_contiguous();
        let weights = weights.into_primitive().to_contiguous();
        let (y, trace) = forward(&x, &weights, &plan, parts);
        match prepared {
            OpsKind::Tracked(prepared) => prepared.finish(State { plan, parts, trace }, y),
            OpsKind::UnTracked(prepared) => prepared.finish(y),
        }
    }
}

/// What the backward pass needs of the forward pass.
#[derive(Clone, Debug)]
struct State {
    plan: Plan,
    parts: usize,
    trace: Trace,
}

#[derive(Debug)]
struct ChainBackward;

impl Backward<Flex, 2> for ChainBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [x_node, weights_node] = ops.parents;
        let output_gradient = grads.consume::<Flex>(&ops.node).to_contiguous();
        let State { plan, parts, trace } = ops.state;
        let (of_weights, of_input) =
            chain::backward(Simd::best(), &plan, trace, numbers(&output_gradient), parts, x_node.is_some());
        if let Some(node) = weights_node {
            grads.register::<Flex>(node.id, tensor(of_weights, [plan.len()]));
        }
        if let (Some(node), Some(of_input)) = (x_node, of_input) {
            let rows = of_input.len() / plan.inputs();
            grads.register::<Flex>(node.id, tensor(of_input, [rows, plan.inputs()]));
        }
    }
}

fn forward(x: &CpuTensor, weights: &CpuTensor, plan: &Plan, parts: usize) -> (CpuTensor, Trace) {
    let (output, trace) = chain::forward(Simd::best(), plan, numbers(weights), numbers(x), parts);
    let rows = output.len() / plan.outputs();
    (tensor(output, [rows, plan.outputs()]), trace)
}

/// The numbers of a contiguous tensor.
fn numbers(tensor: &CpuTensor) -> &[f32] {
    tensor.as_slice().expect("the tensor was made contiguous and is in single precision")
}

fn tensor(values: Vec<f32>, shape: impl Into<Shape>) -> CpuTensor {
    CpuTensor::from_data(TensorData::new(values, shape))
}
