//! Noise levels σ: the range, falling sequences for samplers, random draws for training.

use crate::rng::Rng;
use rand::{RngExt as _, seq::SliceRandom as _};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// Smallest and largest noise level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NoiseRange {
    /// σ_min > 0.
    pub min: f64,
    /// σ_max > σ_min.
    pub max: f64,
}

/// What is wrong with noise settings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum NoiseError {
    /// Bounds that are not finite, not positive or not increasing.
    #[error("sigma_min and sigma_max must be finite with 0 < sigma_min < sigma_max, got {min} and {max}")]
    Range { min: f64, max: f64 },
    /// Bounds at which f64 arithmetic loses the signal.
    #[error("sigma must lie between 1e-8 and 1e6, got {min} and {max}")]
    Resolution { min: f64, max: f64 },
    /// A Karras exponent outside the useful range.
    #[error("rho must lie between 0.1 and 100, got {rho}; 7 is usual")]
    Rho { rho: f64 },
    /// Too few scales.
    #[error("a set of noise scales needs two or more, got {n}; the paper uses 100")]
    Scales { n: usize },
    /// Parameters of the log-normal draw that are not finite, or a spread that is not positive.
    #[error("the log-normal draw needs a finite mean and a finite positive std, got {mean} and {std}")]
    LogNormal { mean: f64, std: f64 },
}

impl NoiseRange {
    /// A checked range.
    pub fn new(min: f64, max: f64) -> Result<Self, NoiseError> {
        if !(min.is_finite() && max.is_finite() && 0.0 < min && min < max) {
            return Err(NoiseError::Range { min, max });
        }
        if min < 1e-8 || max > 1e6 {
            return Err(NoiseError::Resolution { min, max });
        }
        Ok(Self { min, max })
    }

    /// log(σ_max/σ_min): the length of the range on the scale that matters.
    pub fn log_length(&self) -> f64 {
        (self.max / self.min).ln()
    }

    /// The level at fraction `u` of the range on a logarithmic scale; u = 0 is σ_min.
    pub fn at(&self, u: f64) -> f64 {
        (self.min.ln() + u * self.log_length()).exp()
    }
}

/// How a sampler's falling sequence of levels is spaced.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Schedule {
    /// Constant ratio between neighbours.
    Geometric,
    /// σ_i = (σ_max^{1/ρ} + i/(n−1) (σ_min^{1/ρ} − σ_max^{1/ρ}))^ρ (Karras et al. 2022, Eq. (5)).
    Karras {
        /// The exponent ρ; 7 in that paper.
        rho: f64,
    },
}

impl Schedule {
    /// Refuses parameters with which levels would not fall strictly.
    pub fn check(&self) -> Result<(), NoiseError> {
        match *self {
            Schedule::Karras { rho } if !(0.1..=100.0).contains(&rho) => Err(NoiseError::Rho { rho }),
            _ => Ok(()),
        }
    }

    /// `n ≥ 2` levels falling strictly from σ_max to σ_min, both included exactly.
    pub fn levels(&self, range: NoiseRange, n: usize) -> Vec<f64> {
        assert!(n >= 2, "a schedule needs two levels or more");
        let mut levels: Vec<f64> = (0..n)
            .map(|i| {
                let u = i as f64 / (n - 1) as f64;
                match self {
                    Schedule::Geometric => range.at(1.0 - u),
                    Schedule::Karras { rho } => {
                        let (a, b) = (range.max.powf(1.0 / rho), range.min.powf(1.0 / rho));
                        (a + u * (b - a)).powf(*rho)
                    }
                }
            })
            .collect();
        levels[0] = range.max;
        levels[n - 1] = range.min;
        levels
    }
}

/// How training draws noise levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LevelDraw {
    /// log σ uniform on the range, stratified over the batch: one draw in each of n equal slices, in random order.
    LogUniform,
    /// One of `n` geometric scales, each equally likely (the paper uses 100).
    Scales {
        /// Number of scales.
        n: usize,
    },
    /// log σ normal with this mean and standard deviation (Karras et al. 2022, Table 1); draws outside the range take
    /// its nearer end.
    LogNormal {
        /// Mean of log σ.
        mean: f64,
        /// Standard deviation of log σ.
        std: f64,
    },
}

impl LevelDraw {
    /// Refuses parameters from which nothing can be drawn.
    pub fn check(&self) -> Result<(), NoiseError> {
        match *self {
            LevelDraw::Scales { n } if n < 2 => Err(NoiseError::Scales { n }),
            LevelDraw::LogNormal { mean, std } if !(mean.is_finite() && std.is_finite() && std > 0.0) => {
                Err(NoiseError::LogNormal { mean, std })
            }
            _ => Ok(()),
        }
    }

    /// Draws `n` levels in random order. Panics if [`LevelDraw::check`] would refuse.
    pub fn draw(&self, range: NoiseRange, n: usize, rng: &mut Rng) -> Vec<f64> {
        match *self {
            LevelDraw::LogUniform => {
                let mut levels: Vec<f64> =
                    (0..n).map(|i| range.at((i as f64 + rng.random::<f64>()) / n as f64)).collect();
                levels.shuffle(rng);
                levels
            }
            LevelDraw::Scales { n: scales } => {
                let levels = Schedule::Geometric.levels(range, scales);
                (0..n).map(|_| levels[rng.random_range(0..levels.len())]).collect()
            }
            LevelDraw::LogNormal { mean, std } => (0..n)
                .map(|_| {
                    let z: f64 = StandardNormal.sample(rng);
                    (mean + std * z).exp().clamp(range.min, range.max)
                })
                .collect(),
        }
    }
}
