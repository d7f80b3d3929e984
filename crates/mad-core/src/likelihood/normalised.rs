//! A normalised density on the manifold from the likelihood bound.

use super::{BoundDesign, Effort, Normaliser};
use crate::{Points, manifold::Manifold, measure::BaseMeasure, noise::NoiseRange, sample::Denoiser};

/// Standard deviation of the noise in the bound at a point that is small enough, in nats.
const NOISE: f64 = 0.1;

/// Most pairs of directions at each noise level, and most if they make two whole frames.
const MOST_PAIRS: usize = 8;
const LARGEST_FRAMES: usize = 28;

/// Samples on which the noise is measured.
const MEASURED: usize = 128;

/// Precision of the normaliser.
const EFFORT: Effort = Effort { relative_error: 0.007, draws: 8192, seed: 0 };

/// Seed of the noise of the bound.
const SEED: u64 = 0;

/// A denoiser with all that its density refers to.
#[derive(Clone, Copy)]
pub struct DensityModel<'a> {
    /// The denoiser.
    pub denoiser: &'a dyn Denoiser,
    /// The base measure μ.
    pub base: &'a dyn BaseMeasure,
    /// The set.
    pub manifold: &'a dyn Manifold,
    /// Noise levels between which the denoiser is used.
    pub range: NoiseRange,
}

impl std::fmt::Debug for DensityModel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DensityModel on {} over {:?}", self.manifold.spec(), self.range)
    }
}

/// The density p̂ = exp(B)/Z with respect to μ, where B is the likelihood bound at each point and Z its normaliser ∫ exp(B) dμ.
///
/// # Formula
/// Let p be the distribution that the denoiser's reverse SDE ends with. At each point B ≤ log dp/dμ (see
/// [`likelihood_bound`](super::likelihood_bound)), hence Z ≤ 1 and p ≥ Z p̂. So
///
/// - p̂ is a probability density for any denoiser, and equals p if the denoiser is exact, when Z = 1;
/// - its mean negative log-likelihood is the bound plus log Z, never above the bound;
/// - p = Z p̂ + (1 − Z) q for some distribution q: the total variation between p and p̂ is at most 1 − Z.
///
/// # Numerics
/// B is averaged over fixed noise (see [`BoundDesign`]), with more directions where the average over few of them is noisy. What noise
/// is left belongs to p̂, is normalised with it, and raises Z by about half its variance.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalisedBound {
    design: BoundDesign,
    normaliser: Normaliser,
}

impl NormalisedBound {
    /// Normalises the bound of `model` with an integral that is precise to 0.7 %, if 8192 points are enough for that.
    pub fn new(model: DensityModel<'_>, samples: &dyn Fn(usize) -> Option<Points>) -> Self {
        Self::with_effort(model, samples, EFFORT)
    }

    /// Normalises the bound of `model`; `samples` draws this many samples of it, or returns `None` if they cannot be had. The
    /// normaliser is not a number if no point can be drawn at which to evaluate the bound.
    pub fn with_effort(model: DensityModel<'_>, samples: &dyn Fn(usize) -> Option<Points>, effort: Effort) -> Self {
        let DensityModel { denoiser, base, manifold, range } = model;
        let design = |pairs: usize, seed: u64| BoundDesign::new(base.ambient_dim(), range, pairs, seed);
        let pairs = samples(MEASURED).map_or(MOST_PAIRS, |at| {
            let bounds = [1, 2].map(|seed| design(1, seed).bound(denoiser, base, &at));
            let squares = bounds[0].iter().zip(&bounds[1]).map(|(a, b)| (a - b) * (a - b));
            let noise = squares.sum::<f64>() / (2 * at.len().max(1)) as f64;
            match (noise / (NOISE * NOISE)).ceil().clamp(1.0, MOST_PAIRS as f64) as usize {
                1 => 1,
                // Two whole frames, where that is not too many: they average squares exactly.
                _ if 2 * base.ambient_dim() <= LARGEST_FRAMES => 2 * base.ambient_dim(),
                pairs => pairs,
            }
        });
        let design = design(pairs, SEED);
        let bound = |x: &Points| design.bound(denoiser, base, x);
        let unknown = Normaliser { log_value: f64::NAN, relative_error: f64::NAN, draws: 0 };
        let normaliser = Normaliser::estimate(manifold, base, &bound, samples, effort).unwrap_or(unknown);
        Self { design, normaliser }
    }

    /// log dp̂/dμ at each row of `x0`. `denoiser` and `base` are those of the model.
    pub fn log_ratio(&self, denoiser: &dyn Denoiser, base: &dyn BaseMeasure, x0: &Points) -> Vec<f64> {
        let bounds = self.design.bound(denoiser, base, x0).into_iter();
        bounds.map(|bound| bound - self.normaliser.log_value).collect()
    }

    /// The normaliser Z.
    pub fn normaliser(&self) -> Normaliser {
        self.normaliser
    }
}
