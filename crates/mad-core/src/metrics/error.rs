//! Why a metric has no value.

/// A metric cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum MetricError {
    /// Too few points.
    #[error("{metric}: the {which} sample has {found} points; at least {needed} are needed")]
    TooFew { metric: &'static str, which: &'static str, found: usize, needed: usize },
    /// Points of different spaces.
    #[error("{metric}: points have {found} coordinates where {wanted} are needed")]
    Dimension { metric: &'static str, found: usize, wanted: usize },
    /// Numbers that are not finite.
    #[error("{metric}: point {row} of the {which} sample is not finite")]
    NotFinite { metric: &'static str, which: &'static str, row: usize },
    /// The manifold has no finite number of points.
    #[error("{metric} needs a finite set of points or categories; {manifold} is not one")]
    NotAFiniteSet { metric: &'static str, manifold: String },
    /// No metric of this name.
    #[error(transparent)]
    Unknown(#[from] crate::registry::Unknown),
}
