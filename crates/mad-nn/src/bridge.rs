//! Between [`Points`] and tensors: the only crossing from `f64` to `f32` and back.

use burn_tensor::{Device, Tensor, TensorData};
use mad_core::Points;

/// A matrix of `columns` numbers per row from row-major `f64` numbers, each rounded to `f32`.
///
/// Panics if the numbers do not fill whole rows.
pub fn matrix(numbers: &[f64], columns: usize, device: &Device) -> Tensor<2> {
    let rows = numbers.len() / columns;
    let rounded: Vec<f32> = numbers.iter().map(|&v| v as f32).collect();
    Tensor::from_data(TensorData::new(rounded, [rows, columns]), device)
}

/// A matrix of numbers that are `f32` already, such as weights.
pub(crate) fn matrix_f32(numbers: Vec<f32>, shape: [usize; 2], device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

/// A vector of numbers that are `f32` already.
pub(crate) fn vector_f32(numbers: Vec<f32>, device: &Device) -> Tensor<1> {
    let len = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [len]), device)
}

/// Points as an `n × d` tensor.
pub fn tensor(points: &Points, device: &Device) -> Tensor<2> {
    matrix(points.as_slice(), points.dim(), device)
}

/// An `n × d` tensor as points.
pub fn points(tensor: Tensor<2>) -> Points {
    let dim = tensor.dims()[1];
    Points::from_vec(numbers_f64(tensor), dim)
}

/// All numbers of a tensor, row-major, widened to `f64`.
pub(crate) fn numbers_f64<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    numbers_f32(tensor).into_iter().map(f64::from).collect()
}

/// All numbers of a tensor, row-major; not copied if nobody else holds them.
pub(crate) fn numbers_f32<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec::<f32>().expect("tensors of this crate hold f32")
}

/// A loss of the weights and its gradient. The weights are lent to a tensor and come back unchanged.
pub fn differentiate(
    weights: &mut Vec<f32>,
    device: &Device,
    loss: impl FnOnce(Tensor<1>) -> Tensor<1>,
) -> (f64, Vec<f32>) {
    let lent = vector_f32(std::mem::take(weights), device).require_grad();
    let loss = loss(lent.clone());
    let mut gradients = loss.backward();
    let gradient = lent.grad_remove(&mut gradients).expect("the loss depends on the weights");
    drop(gradients);
    *weights = numbers_f32(lent.inner());
    (numbers_f64(loss.inner())[0], numbers_f32(gradient))
}
