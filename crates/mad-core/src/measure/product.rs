//! Products of measures: Gaussian noise and the product factorise, so everything happens block by block.

use super::BaseMeasure;
use crate::rng::Rng;
use std::{ops::Range, sync::Arc};

/// μ₁ × … × μ_m on neighbouring blocks of coordinates.
#[derive(Debug, Clone)]
pub struct ProductMeasure {
    blocks: Vec<(Range<usize>, Arc<dyn BaseMeasure>)>,
    dim: usize,
}

impl ProductMeasure {
    /// The product of these measures, in this order.
    pub fn new(measures: Vec<Arc<dyn BaseMeasure>>) -> Self {
        let mut dim = 0;
        let blocks = measures
            .into_iter()
            .map(|measure| {
                let start = dim;
                dim += measure.ambient_dim();
                (start..dim, measure)
            })
            .collect();
        Self { blocks, dim }
    }

    /// The factors with the coordinates each of them owns.
    pub fn blocks(&self) -> &[(Range<usize>, Arc<dyn BaseMeasure>)] {
        &self.blocks
    }

    fn sum(&self, x: &[f64], term: impl Fn(&dyn BaseMeasure, &[f64]) -> f64) -> f64 {
        self.blocks.iter().map(|(range, measure)| term(measure.as_ref(), &x[range.clone()])).sum()
    }
}

impl BaseMeasure for ProductMeasure {
    fn ambient_dim(&self) -> usize {
        self.dim
    }

    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        for (range, measure) in &self.blocks {
            measure.posterior_mean(&x[range.clone()], sigma, &mut mean[range.clone()]);
        }
    }

    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        self.sum(x, |measure, x| measure.log_density(x, sigma))
    }

    fn log_weight(&self, x0: &[f64]) -> f64 {
        self.sum(x0, |measure, x| measure.log_weight(x))
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        for (range, measure) in &self.blocks {
            measure.sample(rng, &mut x0[range.clone()]);
        }
    }

    fn is_proper(&self) -> bool {
        self.blocks.iter().all(|(_, measure)| measure.is_proper())
    }

    fn sample_posterior(&self, x: &[f64], sigma: f64, rng: &mut Rng, x0: &mut [f64]) -> bool {
        let mut draw = |(range, measure): &(Range<usize>, Arc<dyn BaseMeasure>)| {
            measure.sample_posterior(&x[range.clone()], sigma, rng, &mut x0[range.clone()])
        };
        self.blocks.iter().all(&mut draw)
    }

    fn score(&self, x: &[f64], sigma: f64, score: &mut [f64]) {
        for (range, measure) in &self.blocks {
            measure.score(&x[range.clone()], sigma, &mut score[range.clone()]);
        }
    }

    fn sample_prior(&self, sigma: f64, rng: &mut Rng, x: &mut [f64]) {
        for (range, measure) in &self.blocks {
            measure.sample_prior(sigma, rng, &mut x[range.clone()]);
        }
    }

    fn log_prior_ratio(&self, x: &[f64], sigma: f64) -> f64 {
        self.sum(x, |measure, x| measure.log_prior_ratio(x, sigma))
    }
}
