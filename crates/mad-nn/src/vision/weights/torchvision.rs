//! From the tensors of a torchvision ResNet to the weights of an encoder.

use super::{NamedTensor, Tensors, WeightsError};
use crate::vision::Encoder;

/// Means of red, green and blue on ImageNet; trained weights expect (pixel − mean)/deviation with pixels from 0 to 1.
pub(crate) const IMAGENET_MEAN: [f32; 3] = [0.485, 0.456, 0.406];

/// Standard deviations that go with [`IMAGENET_MEAN`].
pub(crate) const IMAGENET_DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// What torchvision's batch norms add to variances.
const EPSILON: f64 = 1e-5;

/// Replaces the weights of an encoder by those of a torchvision ResNet of the same name; its last layer, `features`, keeps the
/// numbers it has, since `fc` answers another question.
///
/// Batch norms are frozen and folded into the convolutions. Encoders of grey images take the kernel summed over the colours, which
/// is exact for pictures whose colours are equal. Names may have a prefix, such as `module.`.
///
/// # Formula
/// γ (x ⋆ W − μ)/√(v + ε) + β = x ⋆ (s W) + (β − s μ) with s = γ/√(v + ε).
pub fn fill(encoder: &Encoder, tensors: &Tensors, weights: &mut [f32]) -> Result<(), WeightsError> {
    let name = encoder.spec().name;
    assert_eq!(weights.len(), encoder.layout().len(), "weights of another encoder");
    if !encoder.spec().torchvision {
        return Err(WeightsError::NoCounterpart { encoder: name });
    }
    let source = Source { tensors, prefix: prefix(tensors), encoder: name };
    let mut filled = weights.to_vec();
    for layer in encoder.graph.layers().filter(|layer| layer.name != "features") {
        let (kernel, outputs) = (layer.kernel, layer.bias.len());
        let inputs = encoder.graph.maps[layer.from].channels;
        let (convolution, norm) = counterparts(&layer.name);
        // The stem was trained on colours.
        let stored = if layer.from == 0 { 3 } else { inputs };
        let weight = source.tensor(&format!("{convolution}.weight"), &[outputs, stored, kernel, kernel])?;
        let (scale, shift) = source.affine(&convolution, &norm, outputs)?;
        let targets = &mut filled[layer.weight.clone()];
        for (o, from) in weight.numbers.chunks_exact(stored * kernel * kernel).enumerate() {
            for pixel in 0..kernel * kernel {
                for i in 0..inputs {
                    let channels = if inputs == stored { i..i + 1 } else { 0..stored };
                    let sum: f64 = channels.map(|c| f64::from(from[c * kernel * kernel + pixel])).sum();
                    targets[(pixel * inputs + i) * outputs + o] = (scale[o] * sum) as f32;
                }
            }
        }
        for (target, shift) in filled[layer.bias.clone()].iter_mut().zip(shift) {
            *target = shift as f32;
        }
    }
    weights.copy_from_slice(&filled);
    Ok(())
}

/// Names of a layer's convolution and batch norm in torchvision.
fn counterparts(layer: &str) -> (String, String) {
    match layer.strip_suffix(".downsample") {
        Some(block) => (format!("{block}.downsample.0"), format!("{block}.downsample.1")),
        None => {
            let (block, last) = layer.rsplit_once('.').map_or(("", layer), |(block, last)| (block, last));
            let norm = last.replacen("conv", "bn", 1);
            (layer.into(), if block.is_empty() { norm } else { format!("{block}.{norm}") })
        }
    }
}

/// What stands before all names.
fn prefix(tensors: &Tensors) -> String {
    let prefixes = tensors.keys().filter_map(|name| name.strip_suffix("layer1.0.conv1.weight"));
    let mut whole = prefixes.filter(|prefix| tensors.contains_key(&format!("{prefix}conv1.weight")));
    whole.next().unwrap_or_default().into()
}

struct Source<'a> {
    tensors: &'a Tensors,
    prefix: String,
    encoder: &'static str,
}

impl Source<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<&NamedTensor, WeightsError> {
        let name = format!("{}{name}", self.prefix);
        let Some(tensor) = self.tensors.get(&name) else {
            return Err(WeightsError::Missing { name, encoder: self.encoder });
        };
        if tensor.shape != shape {
            let (found, expected) = (tensor.shape.clone(), shape.to_vec());
            return Err(WeightsError::Shape { name, found, expected, encoder: self.encoder });
        }
        if tensor.numbers.iter().any(|v| !v.is_finite()) {
            return Err(WeightsError::NotFinite { name });
        }
        Ok(tensor)
    }

    /// s and β − s μ of a batch norm, or 1 and b of a convolution with a bias, into which it was folded before.
    fn affine(&self, convolution: &str, norm: &str, outputs: usize) -> Result<(Vec<f64>, Vec<f64>), WeightsError> {
        let numbers = |name: String| -> Result<Vec<f64>, WeightsError> {
            Ok(self.tensor(&name, &[outputs])?.numbers.iter().map(|v| f64::from(*v)).collect())
        };
        let bias = format!("{convolution}.bias");
        if self.tensors.contains_key(&format!("{}{bias}", self.prefix)) {
            return Ok((vec![1.0; outputs], numbers(bias)?));
        }
        let (gain, offset) = (numbers(format!("{norm}.weight"))?, numbers(format!("{norm}.bias"))?);
        let (mean, variance) = (numbers(format!("{norm}.running_mean"))?, numbers(format!("{norm}.running_var"))?);
        let scale: Vec<f64> =
            gain.iter().zip(&variance).map(|(gain, v)| gain / (v.max(0.0) + EPSILON).sqrt()).collect();
        let shift = offset.iter().zip(scale.iter().zip(&mean)).map(|(offset, (s, mean))| offset - s * mean).collect();
        Ok((scale, shift))
    }
}
