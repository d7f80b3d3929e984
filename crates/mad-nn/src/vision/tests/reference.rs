//! Encoders as plain loops in double precision, written from the definitions.

use crate::vision::Rectifier;
use crate::vision::graph::{Graph, Layer, Map, Step};

/// Features of all images.
pub(super) fn encode(graph: &Graph, weights: &[f64], images: &[f32]) -> Vec<f64> {
    images.chunks(graph.inputs()).flat_map(|image| encode_one(graph, weights, image)).collect()
}

fn encode_one(graph: &Graph, weights: &[f64], image: &[f32]) -> Vec<f64> {
    let mut maps: Vec<Vec<f64>> = vec![image.iter().map(|v| f64::from(*v)).collect()];
    for step in &graph.steps {
        let (from, to) = (&graph.maps[step.from()], &graph.maps[step.to()]);
        let mut values = Vec::with_capacity(to.size * to.size * to.channels);
        for y in 0..to.size {
            for x in 0..to.size {
                for channel in 0..to.channels {
                    values.push(match step {
                        Step::Layer(layer) => {
                            let sum = window_sum(layer, weights, &maps[layer.from], from, (y, x), channel);
                            rectify(layer.rectifier, sum + layer.shortcut.map_or(0.0, |map| maps[map][values.len()]))
                        }
                        Step::MaxPool { from: map, kernel, stride, padding, .. } => {
                            let seen = window([*kernel, *stride, *padding], from, (y, x));
                            seen.map(|(_, pixel)| maps[*map][pixel * from.channels + channel])
                                .fold(f64::NEG_INFINITY, f64::max)
                        }
                        Step::MeanPool { from: map, .. } => {
                            let pixels = maps[*map].chunks(from.channels);
                            pixels.map(|pixel| pixel[channel]).sum::<f64>() / (from.size * from.size) as f64
                        }
                    });
                }
            }
        }
        maps.push(values);
    }
    maps.pop().expect("an encoder has a step")
}

/// Places in the kernel and pixels of the map that the window of an output pixel covers.
fn window(
    [kernel, stride, padding]: [usize; 3],
    map: &Map,
    (y, x): (usize, usize),
) -> impl Iterator<Item = (usize, usize)> {
    let size = map.size;
    (0..kernel * kernel).filter_map(move |place| {
        let v = (y * stride + place / kernel).checked_sub(padding).filter(|v| *v < size)?;
        let u = (x * stride + place % kernel).checked_sub(padding).filter(|u| *u < size)?;
        Some((place, v * size + u))
    })
}

fn window_sum(layer: &Layer, weights: &[f64], values: &[f64], from: &Map, pixel: (usize, usize), output: usize) -> f64 {
    let outputs = layer.bias.len();
    let mut sum = weights[layer.bias.start + output];
    for (place, pixel) in window([layer.kernel, layer.stride, layer.padding], from, pixel) {
        for channel in 0..from.channels {
            let weight = weights[layer.weight.start + (place * from.channels + channel) * outputs + output];
            sum += weight * values[pixel * from.channels + channel];
        }
    }
    sum
}

fn rectify(rectifier: Rectifier, z: f64) -> f64 {
    match rectifier {
        Rectifier::Identity => z,
        Rectifier::Relu => z.max(0.0),
        Rectifier::Silu => z / (1.0 + (-z).exp()),
    }
}
