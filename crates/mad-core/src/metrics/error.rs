//! Why a metric has no value.

/// A metric cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// Too few points.
    #[error("{metric}: the {which} sample has {found} points; at least {needed} are needed")]
    TooFew {
        /// The metric.
        metric: &'static str,
        /// Which sample.
        which: &'static str,
        /// Its size.
        found: usize,
        /// Smallest size.
        needed: usize,
    },
    /// Points of different spaces.
    #[error("{metric}: points have {found} coordinates where {wanted} are needed")]
    Dimension {
        /// The metric.
        metric: &'static str,
        /// Coordinates of the points.
        found: usize,
        /// Coordinates of the space.
        wanted: usize,
    },
    /// Numbers that are not finite.
    #[error("{metric}: point {row} of the {which} sample is not finite")]
    NotFinite {
        /// The metric.
        metric: &'static str,
        /// Which sample.
        which: &'static str,
        /// Row number, from 0.
        row: usize,
    },
    /// The manifold has no finite number of points.
    #[error("{metric} needs a finite set of points or categories; {manifold} is not one")]
    NotAFiniteSet {
        /// The metric.
        metric: &'static str,
        /// The manifold.
        manifold: String,
    },
    /// No metric of this name.
    #[error(transparent)]
    Unknown(#[from] crate::registry::Unknown),
}
