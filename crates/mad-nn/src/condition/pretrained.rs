//! Encoders that begin with what was learned on photographs.

use super::PictureError;
use crate::vision::{
    Encoder,
    weights::{IMAGENET_DEVIATION, IMAGENET_MEAN, Tensors, fill, load},
};
use std::path::Path;

/// The weights in a file, from the first layer of the encoder up to the one that gives its features.
///
/// # Numerics
/// Trained weights expect (pixel − mean)/deviation, and pictures here are grey, from 0 to 1: scale and shift go into the first
/// layer, with the mean over the colours. At the margins, where there are zeros instead of pixels, that is not quite the same.
pub(crate) fn pretrained(encoder: &Encoder, file: &str) -> Result<Vec<f32>, PictureError> {
    folded(encoder, &load(Path::new(file))?)
}

fn folded(encoder: &Encoder, tensors: &Tensors) -> Result<Vec<f32>, PictureError> {
    let mut weights = vec![0.0; encoder.layout().len()];
    fill(encoder, tensors, &mut weights)?;
    let range = |name: &str| {
        let slot = encoder.layout().slots().iter().find(|slot| slot.name == name);
        slot.map(|slot| slot.range.clone()).expect("a layer of every ResNet")
    };
    let mean = |of: [f32; 3]| of.iter().sum::<f32>() / 3.0;
    let (centre, scale) = (mean(IMAGENET_MEAN), 1.0 / mean(IMAGENET_DEVIATION));
    let (stem, bias) = (range("conv1.weight"), range("conv1.bias"));
    weights[stem.clone()].iter_mut().for_each(|w| *w *= scale);
    let outputs = bias.len();
    for output in 0..outputs {
        let sum: f32 = weights[stem.clone()].iter().skip(output).step_by(outputs).sum();
        weights[bias.start + output] -= centre * sum;
    }
    weights.truncate(range("features.weight").start);
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::{
        EncoderShape,
        weights::{NamedTensor, WeightsError},
    };

    fn resnet() -> Encoder {
        Encoder::new("resnet18", EncoderShape { size: 32, channels: 1, features: 1 }).unwrap()
    }

    #[test]
    fn the_first_layer_takes_grey_pixels_as_they_are() {
        let encoder = resnet();
        let mut tensors = Tensors::new();
        for slot in encoder.layout().slots().iter().filter(|slot| slot.name.ends_with(".weight")) {
            let [kernel, _, inputs, outputs] = slot.shape[..] else { continue };
            let layer = slot.name.trim_end_matches(".weight");
            let inputs = if layer == "conv1" { 3 } else { inputs };
            let (convolution, norm) = match layer.strip_suffix("downsample") {
                Some(block) => (format!("{block}downsample.0"), format!("{block}downsample.1")),
                None => (layer.to_owned(), layer.replace("conv", "bn")),
            };
            let mut add = |name: String, shape: Vec<usize>, value: f32| {
                let numbers = (0..shape.iter().product()).map(|i: usize| value + (i % 7) as f32 / 50.0).collect();
                tensors.insert(name, NamedTensor { shape, numbers });
            };
            add(format!("{convolution}.weight"), vec![outputs, inputs, kernel, kernel], -0.05);
            for (part, value) in [("weight", 1.0), ("bias", 0.1), ("running_mean", 0.0), ("running_var", 1.0)] {
                add(format!("{norm}.{part}"), vec![outputs], value);
            }
        }
        let mut plain = vec![0.0; encoder.layout().len()];
        fill(&encoder, &tensors, &mut plain).unwrap();
        let weights = folded(&encoder, &tensors).unwrap();
        let range = |name: &str| encoder.layout().slots().iter().find(|s| s.name == name).unwrap().range.clone();
        assert_eq!(weights.len(), range("features.weight").start);
        let (stem, bias) = (range("conv1.weight"), range("conv1.bias"));
        assert_eq!(weights[bias.end..], plain[bias.end..weights.len()], "only the first layer changes");
        // What each output says of an even grey, before and after.
        let outputs = bias.len();
        let says = |weights: &[f32], output: usize, grey: f32| {
            let sum: f32 = weights[stem.clone()].iter().skip(output).step_by(outputs).sum();
            weights[bias.start + output] + grey * sum
        };
        for output in 0..outputs {
            let there = says(&plain, output, (0.3 - 0.449) / 0.226);
            let here = says(&weights, output, 0.3);
            assert!((here - there).abs() < 1e-3 * there.abs().max(1.0), "{output}: {here} {there}");
        }
    }

    #[test]
    fn missing_files_are_errors_of_the_file_system() {
        let missing = pretrained(&resnet(), "absent.pth");
        assert!(matches!(missing, Err(PictureError::Weights(WeightsError::Io { .. }))));
    }
}
