//! Components of mixtures as values that can be written down, and what may be wrong with them.

use crate::measure::SphereBlock;
use crate::special::norm;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Largest concentration: a spot of angular width 1e-4.
pub const MAX_CONCENTRATION: f64 = 1e8;

/// One product ∏_b exp(κ_b μ_b·x_b)/J(κ_b) of von Mises–Fisher densities with respect to the uniform measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Share of the mixture; any positive scale.
    pub weight: f64,
    /// Mean directions μ_b, one unit vector after the other.
    pub mean: Vec<f64>,
    /// Concentrations κ_b from 0 (uniform) to 1e8, one per sphere; written as a plain number where there is one.
    #[serde(rename = "concentration", with = "one_or_many")]
    pub concentrations: Vec<f64>,
}

impl Component {
    /// A component on one sphere.
    pub fn new(weight: f64, mean: Vec<f64>, concentration: f64) -> Self {
        Self { weight, mean, concentrations: vec![concentration] }
    }

    /// Checks component number `index` against the spheres, and makes its mean directions exact unit vectors.
    pub(super) fn normalise(&mut self, index: usize, blocks: &[SphereBlock]) -> Result<(), MixtureError> {
        let expected = blocks.last().map_or(0, |b| b.range.end);
        if self.mean.len() != expected {
            return Err(MixtureError::Dimension { index, got: self.mean.len(), expected });
        }
        if self.concentrations.len() != blocks.len() {
            let (got, expected) = (self.concentrations.len(), blocks.len());
            return Err(MixtureError::Concentrations { index, got, expected });
        }
        for block in blocks {
            let mean = &mut self.mean[block.range.clone()];
            let length = norm(mean);
            if length.is_nan() || (length - 1.0).abs() > 1e-6 {
                return Err(MixtureError::Mean { index, length });
            }
            mean.iter_mut().for_each(|m| *m /= length);
        }
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return Err(MixtureError::Weight { index, weight: self.weight });
        }
        match self.concentrations.iter().find(|c| !(0.0..=MAX_CONCENTRATION).contains(*c)) {
            Some(&concentration) => Err(MixtureError::Concentration { index, concentration }),
            None => Ok(()),
        }
    }
}

/// A list that is written as a number where it holds one.
mod one_or_many {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        One(f64),
        Many(Vec<f64>),
    }

    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        match values {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(match Either::deserialize(deserializer)? {
            Either::One(value) => vec![value],
            Either::Many(values) => values,
        })
    }
}

/// Why components do not make a mixture.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum MixtureError {
    /// The manifold is no product of spheres.
    #[error(
        "von Mises-Fisher mixtures live on spheres, so3, tori and products of these, not on {spec}; use base uniform"
    )]
    Manifold { spec: String },
    /// The weights belong to another manifold.
    #[error("fitted frequencies do not belong to {spec}: {problem}; fit the base again, or use base uniform")]
    Frequencies { spec: String, problem: String },
    /// A measure of the program's own was not brought.
    #[error("the base measure is not one that can be read from a file; the program that made it has to bring it")]
    NotBrought,
    /// A measure of the program's own is for points of another dimension.
    #[error("the base measure has {got} coordinates, {spec} has {expected}")]
    OwnDimension { spec: String, got: usize, expected: usize },
    /// There is no component.
    #[error("a mixture needs at least one component")]
    Empty,
    /// A mean has the wrong number of coordinates.
    #[error("component {index}: mean has {got} coordinates, {expected} are needed (and at least 2)")]
    Dimension { index: usize, got: usize, expected: usize },
    /// There is not one concentration per sphere.
    #[error("component {index}: {got} concentrations, one for each of {expected} spheres is needed")]
    Concentrations { index: usize, got: usize, expected: usize },
    /// A mean is not a direction.
    #[error("component {index}: mean has length {length}, it must be a unit vector")]
    Mean { index: usize, length: f64 },
    /// A weight is not a positive number.
    #[error("component {index}: weight {weight} is not a positive number")]
    Weight { index: usize, weight: f64 },
    /// A concentration is out of range.
    #[error("component {index}: concentration {concentration} is outside 0 … 1e8")]
    Concentration { index: usize, concentration: f64 },
}
