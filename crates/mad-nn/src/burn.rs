//! What operations of our own need of Burn, under the paths that `backend_extension` writes into its code.
//!
//! Burn's umbrella crate has the same paths, with layers and records, of which nothing is used here.

pub mod backend {
    pub use burn_backend::*;
    pub use burn_backend_extension::backend_extension;
    pub use burn_dispatch::{backend::*, backends::*, device::*, tensor::*};
}
