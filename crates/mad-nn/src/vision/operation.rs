//! An encoder as one Burn operation.

use std::sync::Arc;

use burn_tensor::activation::{relu, silu};
use burn_tensor::module::{conv2d, max_pool2d};
use burn_tensor::ops::{ConvOptions, MaxPoolOptions};
use burn_tensor::{Shape, Tensor, TensorData};

use super::backward;
use super::graph::{Graph, Layer, Step};
use super::pass::{self, Block, Packed};
use crate::burn;
use crate::burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use crate::burn::backend::autodiff::grads::Gradients;
use crate::burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use crate::burn::backend::tensor::FloatTensor;
use crate::burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use crate::kernel::Simd;
use crate::kernel::convolution::Rectifier;
use crate::kernel::operation::is_cpu_single;

/// Features of images, differentiable with respect to the weights.
pub(super) fn encode(images: Tensor<2>, weights: Tensor<1>, graph: &Arc<Graph>) -> Tensor<2> {
    assert_eq!(images.dims()[1], graph.inputs(), "numbers of an image");
    assert_eq!(weights.dims()[0], graph.layout.len(), "weights of the encoder");
    let (images, weights) = (images.into_dispatch(), weights.into_dispatch());
    if [&images, &weights].into_iter().all(is_cpu_single) {
        let features = <Dispatch as EncoderBackend>::fused_encoder(images, weights, graph.clone());
        return Tensor::from_dispatch(features);
    }
    plain(Tensor::from_dispatch(images), Tensor::from_dispatch(weights), graph)
}

/// [`encode`] as a composition of Burn operations.
pub(super) fn plain(images: Tensor<2>, weights: Tensor<1>, graph: &Graph) -> Tensor<2> {
    let [count, _] = images.dims();
    let image = &graph.maps[0];
    let image = images.reshape([count, image.size, image.size, image.channels]).permute([0, 3, 1, 2]);
    let mut maps: Vec<Tensor<4>> = vec![image];
    for step in &graph.steps {
        let from = maps[step.from()].clone();
        let to = match step {
            Step::Layer(layer) => plain_layer(from, &maps, &weights, layer),
            Step::MaxPool { kernel, stride, padding, .. } => {
                let options = MaxPoolOptions::new([*kernel; 2]).with_stride([*stride; 2]).with_padding([*padding; 2]);
                max_pool2d(from, options)
            }
            Step::MeanPool { .. } => from.mean_dim(2).mean_dim(3),
        };
        maps.push(to);
    }
    let features = maps.pop().expect("an encoder has a step");
    features.reshape([count, graph.features()])
}

fn plain_layer(from: Tensor<4>, maps: &[Tensor<4>], weights: &Tensor<1>, layer: &Layer) -> Tensor<4> {
    let (kernel, outputs, inputs) = (layer.kernel, layer.bias.len(), from.dims()[1]);
    let weight = weights.clone().slice([layer.weight.clone()]).reshape([kernel, kernel, inputs, outputs]);
    let bias = weights.clone().slice([layer.bias.clone()]);
    let (stride, padding) = ([layer.stride; 2], [layer.padding; 2]);
    let z = conv2d(from, weight.permute([3, 2, 0, 1]), Some(bias), ConvOptions::new(stride, padding, [1, 1], 1));
    let z = match layer.shortcut {
        Some(shortcut) => z + maps[shortcut].clone(),
        None => z,
    };
    match layer.rectifier {
        Rectifier::Identity => z,
        Rectifier::Relu => relu(z),
        Rectifier::Silu => silu(z),
    }
}

/// The fused operation, for the backends that have it.
#[backend_extension(Flex, Autodiff)]
pub trait EncoderBackend: Backend {
    /// The encoder in single precision.
    fn fused_encoder(images: FloatTensor<Self>, weights: FloatTensor<Self>, graph: Arc<Graph>) -> FloatTensor<Self>;
}

type CpuTensor = FloatTensor<Flex>;

impl EncoderBackend for Flex {
    fn fused_encoder(images: CpuTensor, weights: CpuTensor, graph: Arc<Graph>) -> CpuTensor {
        let (images, weights) = (images.to_contiguous(), weights.to_contiguous());
        let packed = Packed::new(Simd::best(), &graph, numbers(&weights), false);
        let features = pass::answer(Simd::best(), &graph, &packed, numbers(&images));
        tensor(features, [numbers(&images).len() / graph.inputs(), graph.features()])
    }
}

impl<C: CheckpointStrategy> EncoderBackend for Autodiff<Flex, C> {
    fn fused_encoder(images: FloatTensor<Self>, weights: FloatTensor<Self>, graph: Arc<Graph>) -> FloatTensor<Self> {
        let prepared = EncoderBackward.prepare::<C>([weights.node()]).compute_bound().stateful();
        let (images, weights) = (images.into_primitive(), weights.into_primitive());
        match prepared {
            OpsKind::Tracked(prepared) => {
                let (images, weights) = (images.to_contiguous(), weights.to_contiguous());
                let packed = Packed::new(Simd::best(), &graph, numbers(&weights), true);
                let (features, blocks) = pass::forward(Simd::best(), &graph, &packed, numbers(&images));
                let features = tensor(features, [numbers(&images).len() / graph.inputs(), graph.features()]);
                prepared.finish(State { graph, packed, blocks }, features)
            }
            OpsKind::UnTracked(prepared) => {
                prepared.finish(<Flex as EncoderBackend>::fused_encoder(images, weights, graph))
            }
        }
    }
}

/// What the backward pass needs of the forward pass.
#[derive(Clone, Debug)]
struct State {
    graph: Arc<Graph>,
    packed: Packed,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct EncoderBackward;

impl Backward<Flex, 1> for EncoderBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [weights_node] = ops.parents;
        let gradient = grads.consume::<Flex>(&ops.node).to_contiguous();
        let State { graph, packed, blocks } = ops.state;
        if let Some(node) = weights_node {
            let found = backward::backward(Simd::best(), &graph, &packed, &blocks, numbers(&gradient));
            grads.register::<Flex>(node.id, tensor(found, [graph.layout.len()]));
        }
    }
}

/// The numbers of a contiguous tensor.
fn numbers(tensor: &CpuTensor) -> &[f32] {
    tensor.as_slice().expect("the tensor was made contiguous and is in single precision")
}

fn tensor(values: Vec<f32>, shape: impl Into<Shape>) -> CpuTensor {
    CpuTensor::from_data(TensorData::new(values, shape))
}
