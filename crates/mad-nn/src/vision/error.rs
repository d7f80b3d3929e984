//! Encoders that cannot be built.

use mad_core::registry::Unknown;

/// An encoder that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum EncoderError {
    /// No encoder has this name.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// The images are too small for its windows.
    #[error("images of {size} x {size} pixels are too small for encoder `{encoder}`; make them larger")]
    TooSmall { encoder: &'static str, size: usize },
    /// The images are too large for its tables.
    #[error("images of {size} x {size} pixels are too large; at most {most} along a side")]
    TooLarge { size: usize, most: usize },
    /// Images are grey or in colours.
    #[error("images of {channels} channels; use 1 (grey) or 3 (colours)")]
    Channels { channels: usize },
    /// An encoder answers at least one number.
    #[error("an encoder needs at least one feature")]
    NoFeatures,
}
