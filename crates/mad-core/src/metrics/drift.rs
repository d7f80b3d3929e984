//! How far points lie from the manifold.

use super::{MetricError, mmd::check};
use crate::{Points, manifold::Manifold};
use serde::{Deserialize, Serialize};

/// Distance beyond which a point counts as far from the set.
pub const FAR: f64 = 0.05;

/// Distances of points to the manifold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drifts {
    /// Mean distance.
    pub mean: f64,
    /// Largest distance.
    pub largest: f64,
    /// Share of points farther than [`FAR`].
    pub far_share: f64,
}

/// Distances of `points` to the manifold; meant for samples before projection.
pub fn drifts(manifold: &dyn Manifold, points: &Points) -> Result<Drifts, MetricError> {
    check("drift", manifold, points, "given", 1)?;
    let (mut sum, mut largest, mut far) = (0.0, 0.0f64, 0usize);
    for x in points.rows() {
        let deviation = manifold.deviation(x);
        sum += deviation;
        largest = largest.max(deviation);
        far += usize::from(deviation > FAR);
    }
    let n = points.len() as f64;
    Ok(Drifts { mean: sum / n, largest, far_share: far as f64 / n })
}
