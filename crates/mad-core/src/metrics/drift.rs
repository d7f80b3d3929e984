//! How far points lie from the manifold.

use crate::{Points, manifold::Manifold};
use serde::{Deserialize, Serialize};

/// How far points lie from the manifold; meant for samples before projection.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Drift {
    /// Number of samples measured.
    pub points: usize,
    /// Mean distance to the manifold; 0 if there are no samples.
    pub mean: f64,
    /// Largest distance to the manifold; 0 if there are no samples.
    pub max: f64,
    /// Share of samples farther than [`Drift::FAR`] from the manifold.
    pub far: f64,
}

impl Drift {
    /// The distance beyond which a sample counts as off the manifold (unit-sized manifolds in mind).
    pub const FAR: f64 = 0.05;

    /// Measures every row of `x`.
    pub fn of(manifold: &dyn Manifold, x: &Points) -> Self {
        let (mut sum, mut max, mut far) = (0.0, 0.0_f64, 0_usize);
        for row in x.rows() {
            let deviation = manifold.deviation(row);
            sum += deviation;
            max = max.max(deviation);
            far += usize::from(deviation > Self::FAR);
        }
        let n = x.len().max(1) as f64;
        Self { points: x.len(), mean: sum / n, max, far: far as f64 / n }
    }

    /// The drift of both sets of samples together.
    pub fn merge(self, other: Self) -> Self {
        let points = self.points + other.points;
        let share = if points == 0 { 0.0 } else { other.points as f64 / points as f64 };
        Self {
            points,
            mean: self.mean + share * (other.mean - self.mean),
            max: self.max.max(other.max),
            far: self.far + share * (other.far - self.far),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_weighs_by_number_of_points() {
        let a = Drift { points: 3, mean: 1.0, max: 2.0, far: 1.0 };
        let b = Drift { points: 1, mean: 5.0, max: 5.0, far: 0.0 };
        assert_eq!(a.merge(b), Drift { points: 4, mean: 2.0, max: 5.0, far: 0.75 });
        assert_eq!(Drift::default().merge(a), a);
        assert_eq!(Drift::default().merge(Drift::default()), Drift::default());
    }
}
