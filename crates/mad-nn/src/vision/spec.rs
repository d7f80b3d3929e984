//! The list of encoders.

use super::EncoderError;
use super::graph::{Builder, Convolution};
use crate::kernel::convolution::Rectifier;
use mad_core::registry::Named;

/// One line of [`ENCODERS`].
#[derive(Debug, Clone, Copy)]
pub struct EncoderSpec {
    /// Name in commands and configs.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Images it is meant for, pixels along a side.
    pub size: usize,
    /// Whether its layers are those of torchvision, so that weights trained elsewhere fit.
    pub torchvision: bool,
    pub(super) build: fn(&mut Builder, usize) -> Result<(), EncoderError>,
}

impl Named for EncoderSpec {
    const KIND: &'static str = "encoder";

    fn name(&self) -> &'static str {
        self.name
    }
}

/// All encoders.
pub const ENCODERS: &[EncoderSpec] = &[
    EncoderSpec {
        name: "cnn-small",
        summary: "four convolutions and two dense layers, ReLU; for 32 to 64 pixels",
        size: 32,
        torchvision: false,
        build: |builder, features| small(builder, features, Rectifier::Relu),
    },
    EncoderSpec {
        name: "cnn-small-silu",
        summary: "cnn-small with smooth units",
        size: 32,
        torchvision: false,
        build: |builder, features| small(builder, features, Rectifier::Silu),
    },
    EncoderSpec {
        name: "resnet10",
        summary: "four residual blocks of 16 to 128 channels, map kept; for 32 to 64 pixels",
        size: 32,
        torchvision: false,
        build: resnet10,
    },
    EncoderSpec {
        name: "resnet18",
        summary: "ResNet-18 with frozen normalisation, 512 pooled numbers; for 224 pixels",
        size: 224,
        torchvision: true,
        build: |builder, features| imagenet(builder, features, [2, 2, 2, 2], basic),
    },
    EncoderSpec {
        name: "resnet50",
        summary: "ResNet-50 with frozen normalisation, 2048 pooled numbers; for 224 pixels",
        size: 224,
        torchvision: true,
        build: |builder, features| imagenet(builder, features, [3, 4, 6, 3], bottleneck),
    },
];

const RELU: Rectifier = Rectifier::Relu;

fn small(builder: &mut Builder, features: usize, rectifier: Rectifier) -> Result<(), EncoderError> {
    let mut map = builder.image();
    for (name, kernel, stride, channels) in
        [("conv1", 5, 2, 24), ("conv2", 3, 2, 48), ("conv3", 3, 1, 64), ("conv4", 3, 2, 96)]
    {
        map = builder.convolution(name, map, Convolution { kernel, stride, channels, rectifier })?;
    }
    map = builder.dense("dense1", map, 256, rectifier);
    builder.dense("features", map, features, Rectifier::Identity);
    Ok(())
}

/// ResNet-10 of width 16 with a 3 × 3 stem, whose last map is flattened: where things are is the answer here.
fn resnet10(builder: &mut Builder, features: usize) -> Result<(), EncoderError> {
    let stem = Convolution { kernel: 3, stride: 1, channels: 16, rectifier: RELU };
    let mut map = builder.convolution("conv1", builder.image(), stem)?;
    for (stage, channels) in [16, 32, 64, 128].into_iter().enumerate() {
        let stride = if stage == 0 { 1 } else { 2 };
        map = basic(builder, &format!("layer{}.0", stage + 1), map, channels, stride)?;
    }
    builder.dense("features", map, features, Rectifier::Identity);
    Ok(())
}

/// A residual block: name, input, channels, stride.
type ResidualBlock = fn(&mut Builder, &str, usize, usize, usize) -> Result<usize, EncoderError>;

/// Two 3 × 3 convolutions.
fn basic(builder: &mut Builder, name: &str, map: usize, channels: usize, stride: usize) -> Result<usize, EncoderError> {
    let shortcut = projected(builder, name, map, channels, stride)?;
    let first = Convolution { kernel: 3, stride, channels, rectifier: RELU };
    let inside = builder.convolution(&format!("{name}.conv1"), map, first)?;
    let second = Convolution { stride: 1, ..first };
    builder.convolution_onto(&format!("{name}.conv2"), inside, second, Some(shortcut))
}

/// 1 × 1, 3 × 3 with the stride, and 1 × 1 to four times the channels.
fn bottleneck(
    builder: &mut Builder,
    name: &str,
    map: usize,
    channels: usize,
    stride: usize,
) -> Result<usize, EncoderError> {
    let shortcut = projected(builder, name, map, 4 * channels, stride)?;
    let first = Convolution { kernel: 1, stride: 1, channels, rectifier: RELU };
    let inside = builder.convolution(&format!("{name}.conv1"), map, first)?;
    let second = Convolution { kernel: 3, stride, ..first };
    let inside = builder.convolution(&format!("{name}.conv2"), inside, second)?;
    let third = Convolution { channels: 4 * channels, ..first };
    builder.convolution_onto(&format!("{name}.conv3"), inside, third, Some(shortcut))
}

/// What goes around a block: the map itself, or its projection by a 1 × 1 convolution where the shape changes.
fn projected(
    builder: &mut Builder,
    name: &str,
    map: usize,
    channels: usize,
    stride: usize,
) -> Result<usize, EncoderError> {
    if stride == 1 && builder.channels(map) == channels {
        return Ok(map);
    }
    let shape = Convolution { kernel: 1, stride, channels, rectifier: Rectifier::Identity };
    builder.convolution(&format!("{name}.downsample"), map, shape)
}

/// Stem of ImageNet, four stages, mean over the last map.
///
/// # Reference
/// He, Zhang, Ren and Sun 2016, Table 1; strides where torchvision has them.
fn imagenet(
    builder: &mut Builder,
    features: usize,
    blocks: [usize; 4],
    block: ResidualBlock,
) -> Result<(), EncoderError> {
    let stem = Convolution { kernel: 7, stride: 2, channels: 64, rectifier: RELU };
    let map = builder.convolution("conv1", builder.image(), stem)?;
    let mut map = builder.max_pool(map, 3, 2)?;
    for (stage, count) in blocks.into_iter().enumerate() {
        for index in 0..count {
            let stride = if stage > 0 && index == 0 { 2 } else { 1 };
            map = block(builder, &format!("layer{}.{index}", stage + 1), map, 64 << stage, stride)?;
        }
    }
    let pooled = builder.mean_pool(map);
    builder.dense("features", pooled, features, Rectifier::Identity);
    Ok(())
}
