//! The anchor m(x, σ) that a denoiser D = m + σ F starts from.

use crate::{
    Points,
    measure::{BaseMeasure, posterior_means},
};
use std::sync::Arc;

/// The denoiser without its network. DSM and MAD differ in this value and in nothing else.
#[derive(Debug, Clone)]
pub enum Anchor {
    /// m = x: denoising score matching.
    Ambient,
    /// m = E_μ\[x₀ | x\]: manifold aware denoising (MAD).
    Base(Arc<dyn BaseMeasure>),
    /// m = σ_d²/(σ² + σ_d²) x: the skip connection of Karras et al. (2022).
    Skip {
        /// Standard deviation σ_d of the data in one coordinate.
        sigma_data: f64,
    },
}

impl Anchor {
    /// m(x, σ), row i at level `sigma[i]`.
    pub fn means(&self, x: &Points, sigma: &[f64]) -> Points {
        match self {
            Anchor::Ambient => x.clone(),
            Anchor::Base(base) => posterior_means(base.as_ref(), x, sigma),
            Anchor::Skip { sigma_data } => {
                let mut mean = x.clone();
                for (row, s) in mean.rows_mut().zip(sigma) {
                    let keep = sigma_data * sigma_data / (s * s + sigma_data * sigma_data);
                    row.iter_mut().for_each(|m| *m *= keep);
                }
                mean
            }
        }
    }
}
