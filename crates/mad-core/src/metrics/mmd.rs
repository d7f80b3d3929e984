//! Maximum mean discrepancy between two samples, and the value it has when they are equally distributed.

use super::{Kernel, MetricError, kernel::Profile};
use crate::{
    Moments, Points,
    manifold::Manifold,
    rng::{Purpose, stream},
};
use rand::RngExt as _;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows of the Gram matrix summed in one go; fixed, so that results do not depend on the number of threads.
const BLOCK: usize = 64;

/// The discrepancy between two samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mmd {
    /// √(mean k(x,x') + mean k(y,y') − 2 mean k(x,y)), diagonals included: the form used in the papers.
    pub biased_root: f64,
    /// The same without diagonals and without the root: mean zero for equal distributions, so it may be negative.
    pub unbiased_squared: f64,
    /// The kernel in words.
    pub kernel: String,
    /// Bandwidth of a Gaussian kernel.
    pub bandwidth: Option<f64>,
}

/// The level at which [`Mmd::biased_root`] stands between samples of the same distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The level.
    pub value: f64,
    /// Standard deviation of a single draw, where draws were made.
    pub deviation: Option<f64>,
    /// Where it comes from.
    pub source: FloorSource,
}

/// How a floor was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FloorSource {
    /// Mean over random subsets of the training points against the reference.
    Training,
    /// √((1/m + 1/n)(k(x,x) − E k(x,x'))), the expectation taken over the reference.
    Expectation,
}

/// The discrepancy between `samples` and `reference`. A bandwidth that is not given comes from the reference.
///
/// # Formula
/// biased: (1/m²) Σ_ij k(x_i, x_j) + (1/n²) Σ_ij k(y_i, y_j) − (2/mn) Σ_ij k(x_i, y_j); unbiased: the first two sums
/// over i ≠ j, divided by m(m − 1) and n(n − 1).
///
/// # Reference
/// Gretton et al., A kernel two-sample test, 2012; form and kernels as in oxcsml/riemannian-score-sde.
///
/// # Numerics
/// Heat kernels are exact polynomials of degree 10, no table or interpolation; sums run in a fixed order.
pub fn mmd(manifold: &dyn Manifold, kernel: &Kernel, samples: &Points, reference: &Points) -> Result<Mmd, MetricError> {
    check("mmd", manifold, samples, "given", 2)?;
    check("mmd", manifold, reference, "reference", 2)?;
    let profile = kernel.prepare(manifold, reference);
    let gram = Gram { manifold, profile: &profile };
    let (xx, yy, xy) = (gram.within(samples), gram.within(reference), gram.between(samples, reference));
    let (m, n) = (samples.len() as f64, reference.len() as f64);
    let unbiased = |sum: f64, count: f64| (sum - count * profile.at_zero()) / (count * (count - 1.0));
    Ok(Mmd {
        biased_root: biased_root(xx, yy, xy, m, n),
        unbiased_squared: unbiased(xx, m) + unbiased(yy, n) - 2.0 * xy / (m * n),
        kernel: kernel.describe(&profile),
        bandwidth: profile.bandwidth(),
    })
}

/// The level of [`mmd`] between `samples` points of the reference's distribution and the reference.
///
/// With a larger training set: the mean over `draws` random subsets of it, without repetition.
/// Else: the analytic expectation of the square, rooted, which lies a little above the mean of the root.
pub fn floor(
    manifold: &dyn Manifold,
    kernel: &Kernel,
    samples: usize,
    reference: &Points,
    training: Option<&Points>,
    draws: usize,
    seed: u64,
) -> Result<Floor, MetricError> {
    check("mmd floor", manifold, reference, "reference", 2)?;
    let profile = kernel.prepare(manifold, reference);
    let gram = Gram { manifold, profile: &profile };
    let (yy, n) = (gram.within(reference), reference.len() as f64);
    let Some(training) = training.filter(|training| draws > 0 && samples < training.len()) else {
        let expected = (yy - n * profile.at_zero()) / (n * (n - 1.0));
        let square = (1.0 / samples.max(1) as f64 + 1.0 / n) * (profile.at_zero() - expected);
        return Ok(Floor { value: square.max(0.0).sqrt(), deviation: None, source: FloorSource::Expectation });
    };
    check("mmd floor", manifold, training, "training", 2)?;
    let values: Vec<f64> = (0..draws)
        .map(|draw| {
            let subset = training.select(&subset(training.len(), samples, seed, draw));
            let (xx, xy) = (gram.within(&subset), gram.between(&subset, reference));
            biased_root(xx, yy, xy, samples as f64, n)
        })
        .collect();
    let moments = Moments::of(&values);
    Ok(Floor { value: moments.mean, deviation: moments.deviation(), source: FloorSource::Training })
}

fn biased_root(xx: f64, yy: f64, xy: f64, m: f64, n: f64) -> f64 {
    (xx / (m * m) + yy / (n * n) - 2.0 * xy / (m * n)).max(0.0).sqrt()
}

/// `size` different rows out of `count`, by a partial shuffle.
pub(crate) fn subset(count: usize, size: usize, seed: u64, draw: usize) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::Metric, 1 + draw as u64);
    let mut rows: Vec<usize> = (0..count).collect();
    for i in 0..size.min(count) {
        rows.swap(i, rng.random_range(i..count));
    }
    rows.truncate(size);
    rows
}

/// Refuses samples that are too small, of another space, or not finite.
pub(crate) fn check(
    metric: &'static str,
    manifold: &dyn Manifold,
    points: &Points,
    which: &'static str,
    needed: usize,
) -> Result<(), MetricError> {
    if points.dim() != manifold.ambient_dim() {
        return Err(MetricError::Dimension { metric, found: points.dim(), wanted: manifold.ambient_dim() });
    }
    if points.len() < needed {
        return Err(MetricError::TooFew { metric, which, found: points.len(), needed });
    }
    match points.rows().position(|x| x.iter().any(|v| !v.is_finite())) {
        Some(row) => Err(MetricError::NotFinite { metric, which, row }),
        None => Ok(()),
    }
}

/// Sums over the Gram matrix.
struct Gram<'a> {
    manifold: &'a dyn Manifold,
    profile: &'a Profile,
}

impl Gram<'_> {
    /// Σ_ij k(x_i, x_j): the diagonal once, and each pair above it twice.
    fn within(&self, x: &Points) -> f64 {
        let all = x.as_slice();
        let d = x.dim();
        let above = self.blocks(x, |i, row| self.profile.row_sum(self.manifold, row, &all[(i + 1) * d..]));
        2.0 * above + x.len() as f64 * self.profile.at_zero()
    }

    /// Σ_ij k(x_i, y_j).
    fn between(&self, x: &Points, y: &Points) -> f64 {
        self.blocks(x, |_, row| self.profile.row_sum(self.manifold, row, y.as_slice()))
    }

    /// Sum of `value` over all rows, in blocks that are added in order.
    fn blocks(&self, x: &Points, value: impl Fn(usize, &[f64]) -> f64 + Sync) -> f64 {
        let sums: Vec<f64> = (0..x.len().div_ceil(BLOCK))
            .into_par_iter()
            .map(|b| (b * BLOCK..x.len().min((b + 1) * BLOCK)).map(|i| value(i, x.row(i))).sum())
            .collect();
        sums.iter().sum()
    }
}
