//! The trained denoiser D = m + σ F: an anchor in `f64` and a network in `f32`.

use crate::{
    bridge, device,
    net::{Chain, Condition, Dual, Model, Question},
};
use burn_tensor::Device;
use mad_core::{
    Points,
    likelihood::{FlowModel, Remainder},
    measure::BaseMeasure,
    noise::{Anchor, NoiseRange},
    sample::Denoiser,
};
use rayon::prelude::*;
use std::sync::Arc;

/// Rows the network sees at once. Fixed, because the last bits of a product of matrices may depend on the number of rows.
const BLOCK_ROWS: usize = 256;

/// An anchor, a network with its averaged weights, and perhaps a condition. Cheap to ask from several threads at once.
#[derive(Debug, Clone)]
pub struct LearnedDenoiser {
    anchor: Anchor,
    range: NoiseRange,
    model: Model,
    chain: Chain,
    device: Device,
    condition: Option<Vec<f64>>,
    guidance: f64,
    silent: bool,
}

impl LearnedDenoiser {
    /// A denoiser trained on the noise levels of `range`. Panics if `weights` do not belong to `model`.
    pub fn new(anchor: Anchor, range: NoiseRange, model: Model, weights: &[f32]) -> Self {
        let device = device::inference();
        let chain = model.on_host(weights);
        let outputs = model.layout().slots().iter().filter(|slot| slot.name.starts_with("output."));
        let silent = outputs.flat_map(|slot| &weights[slot.range.clone()]).all(|w| *w == 0.0);
        Self { anchor, range, model, chain, device, condition: None, guidance: 1.0, silent }
    }

    /// The same denoiser given the condition `c`.
    ///
    /// # Formula
    /// With guidance weight w the remainder is F(x, σ, ∅) + w (F(x, σ, c) − F(x, σ, ∅)); w = 1 is the plain conditional model.
    ///
    /// # Reference
    /// Ho, Salimans (2022), "Classifier-free diffusion guidance".
    pub fn given(self, condition: Vec<f64>, guidance: f64) -> Self {
        assert_eq!(condition.len(), self.model.shape().condition, "numbers in the condition");
        Self { condition: Some(condition), guidance, ..self }
    }

    /// Noise levels the network was trained on.
    pub fn range(&self) -> NoiseRange {
        self.range
    }

    /// The network.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether the denoiser is the posterior mean of its base measure: F = 0 because the output layer is zero, as before the
    /// first training step.
    pub fn is_base_alone(&self) -> bool {
        self.silent && matches!(self.anchor, Anchor::Base(_))
    }

    /// Whether the anchor alone is the denoiser at this level: the network is zero, or was never trained there and the base is
    /// nearly exact.
    fn anchor_only(&self, sigma: f64) -> bool {
        self.silent || matches!(self.anchor, Anchor::Base(_)) && sigma < self.range.min * (1.0 - 1e-9)
    }

    /// What the denoiser adds to its anchor: F, or nothing where the base alone answers.
    fn learned(&self, x: &Points, sigma: f64, divergence: bool) -> Remainder {
        if self.anchor_only(sigma) {
            return Remainder { value: Points::zeros(x.len(), x.dim()), divergence: vec![0.0; x.len()] };
        }
        self.evaluate(x, sigma, divergence)
    }

    /// F of every row and, if asked for, Σᵢ ∂Fᵢ/∂xᵢ; parallel over blocks of rows.
    fn evaluate(&self, x: &Points, sigma: f64, divergence: bool) -> Remainder {
        let d = x.dim();
        let blocks: Vec<(Points, Vec<f64>)> = x
            .as_slice()
            .par_chunks(BLOCK_ROWS * d)
            .map(|block| {
                let block = Points::from_vec(block.to_vec(), d);
                let answer = self.ask(&block, sigma, divergence);
                let sums = answer.tangent.map(|tangent| traces(&bridge::numbers_f64(tangent), block.len(), d));
                (bridge::points(answer.value), sums.unwrap_or_default())
            })
            .collect();
        let mut remainder = Remainder { value: Points::new(d), divergence: Vec::new() };
        for (value, sums) in blocks {
            remainder.value.extend(&value);
            remainder.divergence.extend(sums);
        }
        remainder
    }

    fn ask(&self, x: &Points, sigma: f64, tangents: bool) -> Dual {
        let sigma = vec![sigma; x.len()];
        let plain = Question { x, sigma: &sigma, condition: None, tangents };
        let Some(condition) = &self.condition else {
            return self.model.answer(&self.chain, &plain, &self.device);
        };
        let values = Points::from_vec(condition.repeat(x.len()), condition.len());
        let present = vec![true; x.len()];
        let asked = Question { condition: Some(Condition { values: &values, present: &present }), ..plain };
        let with = self.model.answer(&self.chain, &asked, &self.device);
        if self.guidance == 1.0 {
            return with;
        }
        let without = self.model.answer(&self.chain, &plain, &self.device);
        let w = self.guidance as f32;
        Dual {
            value: without.value * (1.0 - w) + with.value * w,
            tangent: without.tangent.zip(with.tangent).map(|(without, with)| without * (1.0 - w) + with * w),
        }
    }
}

/// Σₖ of ∂Fₖ/∂xₖ for each of `n` rows, from all derivatives in the order (coordinate of x, row, coordinate of F).
fn traces(tangent: &[f64], n: usize, d: usize) -> Vec<f64> {
    (0..n).map(|i| (0..d).map(|k| tangent[(k * n + i) * d + k]).sum()).collect()
}

impl Denoiser for LearnedDenoiser {
    fn ambient_dim(&self) -> usize {
        self.model.shape().dim
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        let mut denoised = self.anchor.means(x, &vec![sigma; x.len()]);
        if !self.anchor_only(sigma) {
            let remainder = self.evaluate(x, sigma, false).value;
            for (m, f) in denoised.as_mut_slice().iter_mut().zip(remainder.as_slice()) {
                *m += sigma * f;
            }
        }
        denoised
    }

    fn remainder_over(&self, base: &dyn BaseMeasure, x: &Points, sigma: f64) -> Option<Points> {
        match &self.anchor {
            Anchor::Base(own) if std::ptr::addr_eq(Arc::as_ptr(own), base) => Some(self.learned(x, sigma, false).value),
            _ => None,
        }
    }
}

impl FlowModel for LearnedDenoiser {
    fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    fn remainder(&self, x: &Points, sigma: f64) -> Remainder {
        self.learned(x, sigma, true)
    }
}
