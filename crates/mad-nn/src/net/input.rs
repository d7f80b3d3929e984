//! What a network is evaluated at, and the numbers its first layer sees.

use super::{Dual, Shape};
use crate::bridge;
use burn_tensor::Device;
use mad_core::Points;

/// What is known besides x and σ.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'a> {
    /// c, one row per row of x.
    pub values: &'a Points,
    /// Whether the network may see c; where not, it answers for the mean over all c (classifier-free guidance).
    pub present: &'a [bool],
}

/// Rows at which F is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// x, `n × d`.
    pub x: &'a Points,
    /// σ of each row.
    pub sigma: &'a [f64],
    /// c of each row; absent everywhere if `None`.
    pub condition: Option<Condition<'a>>,
    /// Whether the derivatives ∂F/∂xₖ are wanted too.
    pub tangents: bool,
}

/// The point as a network sees it, x/√(1 + σ²): of size one at every noise level, if the data are.
pub(super) fn scale(sigma: f64) -> f64 {
    1.0 / (1.0 + sigma * sigma).sqrt()
}

/// Numbers that follow the features of x: log(σ)/4 and, if there is a condition, c and whether it is present.
pub(super) fn extra(shape: &Shape) -> usize {
    1 + if shape.condition > 0 { shape.condition + 1 } else { 0 }
}

/// A function of the scaled point s = x/√(1 + σ²), with its derivatives.
pub(super) struct Features {
    /// Number of features.
    pub len: usize,
    /// Writes the features of s.
    pub value: fn(&[f64], &mut [f64]),
    /// Writes their derivatives along coordinate k of s.
    pub tangent: fn(&[f64], usize, &mut [f64]),
}

/// The rows fed into the first layer: gain · features(s), log(σ)/4, condition; computed in `f64`, rounded once.
pub(super) fn assemble(shape: &Shape, features: &Features, question: &Question, device: &Device) -> Dual {
    let (n, d) = (question.x.len(), question.x.dim());
    assert_eq!(d, shape.dim, "coordinates of x");
    assert_eq!(n, question.sigma.len(), "one noise level per row");
    let width = features.len + extra(shape);
    let mut value = vec![0.0; n * width];
    let mut tangent = if question.tangents { vec![0.0; d * n * width] } else { Vec::new() };
    let mut scaled = vec![0.0; d];
    for (i, (x, &sigma)) in question.x.rows().zip(question.sigma).enumerate() {
        let factor = scale(sigma);
        scaled.iter_mut().zip(x).for_each(|(s, x)| *s = factor * x);
        let row = &mut value[i * width..(i + 1) * width];
        (features.value)(&scaled, &mut row[..features.len]);
        row[..features.len].iter_mut().for_each(|v| *v *= shape.input_gain);
        row[features.len] = sigma.ln() / 4.0;
        if shape.condition > 0
            && let Some(condition) = question.condition.filter(|c| c.present[i])
        {
            row[features.len + 1..width - 1].copy_from_slice(condition.values.row(i));
            row[width - 1] = 1.0;
        }
        if question.tangents {
            for k in 0..d {
                let start = (k * n + i) * width;
                let row = &mut tangent[start..start + features.len];
                (features.tangent)(&scaled, k, row);
                row.iter_mut().for_each(|v| *v *= shape.input_gain * factor);
            }
        }
    }
    Dual {
        value: bridge::matrix(&value, width, device),
        tangent: question.tangents.then(|| bridge::matrix(&tangent, width, device).reshape([d, n, width])),
    }
}
