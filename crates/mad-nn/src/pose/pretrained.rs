//! Encoders that begin with what was learned on photographs.

use super::{PoseConfig, PoseError};
use crate::vision::weights::{IMAGENET_DEVIATION, IMAGENET_MEAN, fill, load};
use std::path::Path;

/// The weights that the settings name, from the first layer of the encoder up to the one that gives its features; none if they
/// name none.
///
/// # Numerics
/// Trained weights expect (pixel − mean)/deviation, and pictures here are grey, from 0 to 1: scale and shift go into the first
/// layer, with the mean over the colours. At the margins, where there are zeros instead of pixels, that is not quite the same.
pub(super) fn pretrained(config: &PoseConfig) -> Result<Vec<f32>, PoseError> {
    if config.weights.is_empty() {
        return Ok(Vec::new());
    }
    let encoder = config.build_encoder(1);
    let mut weights = vec![0.0; encoder.layout().len()];
    fill(&encoder, &load(Path::new(&config.weights))?, &mut weights)?;
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
    use crate::vision::weights::WeightsError;

    #[test]
    fn only_resnets_of_torchvision_take_weights() {
        let missing = "encoder = 'resnet18'\nsize = 32\nweights = 'absent.pth'";
        let config = PoseConfig::new("cube", &missing.parse().unwrap()).unwrap();
        assert!(matches!(pretrained(&config), Err(PoseError::Weights(WeightsError::Io { .. }))));
        let plain = PoseConfig::new("cube", &toml::Table::new()).unwrap();
        assert!(pretrained(&plain).unwrap().is_empty());
    }
}
