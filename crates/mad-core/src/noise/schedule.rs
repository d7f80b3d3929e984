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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    const WIDE: NoiseRange = NoiseRange { min: 1e-6, max: 1e3 };

    #[test]
    fn ranges_are_checked() {
        assert!(NoiseRange::new(1e-6, 10.0).is_ok());
        for (min, max) in [(0.0, 1.0), (-1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.1, f64::INFINITY)] {
            assert!(matches!(NoiseRange::new(min, max), Err(NoiseError::Range { .. })), "{min} {max}");
        }
        for (min, max) in [(1e-9, 1.0), (1.0, 1e7)] {
            assert!(matches!(NoiseRange::new(min, max), Err(NoiseError::Resolution { .. })), "{min} {max}");
        }
    }

    #[test]
    fn levels_fall_strictly_between_the_exact_ends() {
        for schedule in [Schedule::Geometric, Schedule::Karras { rho: 7.0 }, Schedule::Karras { rho: 1.0 }] {
            for n in [2, 3, 100, 5000] {
                let levels = schedule.levels(WIDE, n);
                assert_eq!((levels.len(), levels[0], levels[n - 1]), (n, WIDE.max, WIDE.min));
                assert!(levels.windows(2).all(|w| w[0] > w[1] && w[1] > 0.0), "{schedule:?} {n}");
            }
        }
        assert!(Schedule::Karras { rho: 0.0 }.check().is_err());
        assert!(Schedule::Karras { rho: f64::NAN }.check().is_err());
    }

    #[test]
    fn geometric_levels_have_a_constant_ratio_and_karras_levels_a_constant_root_step() {
        let levels = Schedule::Geometric.levels(WIDE, 10);
        for w in levels.windows(2) {
            assert!((w[0] / w[1] - 10.0).abs() < 1e-9);
        }
        let range = NoiseRange { min: 0.002, max: 80.0 };
        let roots: Vec<f64> =
            Schedule::Karras { rho: 7.0 }.levels(range, 18).iter().map(|s| s.powf(1.0 / 7.0)).collect();
        for w in roots.windows(3) {
            assert!((w[0] - 2.0 * w[1] + w[2]).abs() < 1e-12);
        }
    }

    #[test]
    fn stratified_draws_hit_every_slice_once_in_random_order() {
        let n = 64;
        let levels = LevelDraw::LogUniform.draw(WIDE, n, &mut stream(3, Purpose::Train, 0));
        let slice = |s: f64| ((s / WIDE.min).ln() / WIDE.log_length() * n as f64).floor() as usize;
        let order: Vec<usize> = levels.iter().map(|&s| slice(s)).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        assert_ne!(order, sorted, "slices came in order");
    }

    #[test]
    fn scales_and_log_normal_draws_stay_on_their_support() {
        let range = NoiseRange { min: 0.01, max: 10.0 };
        let mut rng = stream(3, Purpose::Train, 1);
        let scales = Schedule::Geometric.levels(range, 5);
        let drawn = LevelDraw::Scales { n: 5 }.draw(range, 500, &mut rng);
        for s in &scales {
            let share = drawn.iter().filter(|d| *d == s).count() as f64 / 500.0;
            // Binomial standard error √(.2 · .8/500) = .018, five of them.
            assert!((share - 0.2).abs() < 0.09, "{share}");
        }
        assert!(drawn.iter().all(|d| scales.contains(d)));
        let (mean, std, n) = (-1.2, 0.5, 4000);
        let logs: Vec<f64> =
            LevelDraw::LogNormal { mean, std }.draw(range, n, &mut rng).iter().map(|s| s.ln()).collect();
        let m = logs.iter().sum::<f64>() / n as f64;
        let v = logs.iter().map(|l| (l - m) * (l - m)).sum::<f64>() / n as f64;
        let error = std / (n as f64).sqrt();
        assert!((m - mean).abs() < 5.0 * error && (v.sqrt() - std).abs() < 5.0 * error, "{m} {v}");
        assert!(LevelDraw::Scales { n: 1 }.check().is_err());
        assert!(LevelDraw::LogNormal { mean: 0.0, std: 0.0 }.check().is_err());
    }
}
