//! What can go wrong while sampling.

use crate::{noise::NoiseError, registry::Unknown};

/// Why no samples came out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum SampleError {
    /// A sampler name that is not in [`SAMPLERS`](super::SAMPLERS).
    #[error(transparent)]
    UnknownSampler(#[from] Unknown),
    /// A sampler, or a number of calls, asked of a method that has one way of its own.
    #[error("method `{method}` draws samples in its own way; leave out {choice}")]
    NoChoice { method: &'static str, choice: String },
    /// A method that samples given a picture has none.
    #[error("method `{method}` samples poses given a picture, and none was given")]
    NoPicture { method: &'static str },
    /// Fewer network calls than the shortest walk of this sampler needs.
    #[error("sampler `{sampler}` needs at least {least} network calls, got nfe = {nfe}; raise nfe")]
    TooFewCalls { sampler: &'static str, nfe: usize, least: usize },
    /// Noise levels that make no sense.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// Parts that live in different ambient spaces.
    #[error(
        "the denoiser has {denoiser} coordinates, the base measure {base}, the manifold {manifold}; they must agree"
    )]
    Dimension { denoiser: usize, base: usize, manifold: usize },
    /// The denoiser returned NaN or an infinity.
    #[error(
        "the denoiser returned a number that is not finite for sample {row} at sigma = {sigma:e} (sampler `{sampler}`); \
         use an earlier checkpoint or train with a lower learning rate"
    )]
    NotFinite { sampler: &'static str, row: usize, sigma: f64 },
}
