//! From gradients to weights: learning rate, clipping, Adam, averaged weights. All on the host, keyed by names of [`Layout`].
//!
//! [`Layout`]: crate::net::Layout

mod adam;
mod rate;

pub use adam::{Adam, Weights};
pub use rate::{Decline, Rate};
