//! Total variation between frequencies on a finite set, joint over all categories.

use super::{MetricError, mmd::check};
use crate::{Points, manifold::Manifold};
use std::collections::BTreeMap;

const NAME: &str = "total variation";

/// Frequencies by point; bits of the coordinates are the key, so that the order is fixed.
type Frequencies = BTreeMap<Vec<u64>, f64>;

/// Total variation between the frequencies of two samples, each point counted at the nearest point of the set.
///
/// # Formula
/// ½ Σ_u |f(u) − g(u)| over all points u of the set; for categories u is a whole combination.
pub fn total_variation(manifold: &dyn Manifold, samples: &Points, reference: &Points) -> Result<f64, MetricError> {
    Ok(difference(frequencies(manifold, samples, "given")?, frequencies(manifold, reference, "reference")?))
}

/// Total variation between the frequencies of a sample and known probabilities of the points `support`.
pub fn total_variation_to(
    manifold: &dyn Manifold,
    samples: &Points,
    support: &Points,
    probabilities: &[f64],
) -> Result<f64, MetricError> {
    assert_eq!(support.len(), probabilities.len(), "one probability per point");
    let found = frequencies(manifold, samples, "given")?;
    let mut known = Frequencies::new();
    for (x, p) in support.rows().zip(probabilities) {
        *known.entry(key(manifold, x)).or_default() += p;
    }
    Ok(difference(found, known))
}

fn frequencies(manifold: &dyn Manifold, points: &Points, which: &'static str) -> Result<Frequencies, MetricError> {
    if manifold.intrinsic_dim() != 0 {
        return Err(MetricError::NotAFiniteSet { metric: NAME, manifold: manifold.spec() });
    }
    check(NAME, manifold, points, which, 1)?;
    let mut counts = Frequencies::new();
    for x in points.rows() {
        *counts.entry(key(manifold, x)).or_default() += 1.0;
    }
    counts.values_mut().for_each(|c| *c /= points.len() as f64);
    Ok(counts)
}

/// The nearest point of the set, as bits.
fn key(manifold: &dyn Manifold, x: &[f64]) -> Vec<u64> {
    let mut nearest = x.to_vec();
    manifold.project(&mut nearest);
    nearest.into_iter().map(|v| (v + 0.0).to_bits()).collect()
}

fn difference(found: Frequencies, mut known: Frequencies) -> f64 {
    let mut sum = 0.0;
    for (point, f) in found {
        sum += (f - known.remove(&point).unwrap_or(0.0)).abs();
    }
    0.5 * (sum + known.values().sum::<f64>())
}
