//! What a trained run answers: points of a file, samples, densities.

use super::Run;
use crate::LearnedDenoiser;
use mad_core::{
    Points,
    data::{DataError, Table},
    likelihood::{FlowConfig, log_ratio},
    sample::{Generate, SampleError, Samples, lookup},
};

impl Run {
    /// The rows of a table as points, read in the columns and units of the training file.
    pub fn decode(&self, table: &Table) -> Result<Points, DataError> {
        let manifold = self.manifold().as_ref();
        let mut points = self.columns().points.decode_on(table, manifold)?.points;
        points.rows_mut().for_each(|x| manifold.canonicalise(x));
        Ok(points)
    }

    /// How this run draws samples: with the sampler, the number of calls and the noise levels of its settings, projecting.
    pub fn generate(&self, seed: u64) -> Result<Generate, SampleError> {
        let config = self.config();
        let generate = Generate::new(lookup(&config.sampler)?, config.noise_range(), seed);
        Ok(Generate { nfe: config.nfe as usize, ..generate })
    }

    /// Draws `n` samples into memory. `denoiser` is that of [`Run::denoiser`], perhaps given a condition.
    pub fn sample(&self, denoiser: &LearnedDenoiser, n: usize, seed: u64) -> Result<Samples, SampleError> {
        self.generate(seed)?.collect(denoiser, self.base().as_ref(), self.manifold().as_ref(), n)
    }

    /// Log-density of the model at every row of `points`, in nats, by the probability flow with its usual number of steps.
    ///
    /// Rows are points of the manifold, as [`Run::decode`] and [`Run::part`] give them. The density is with respect to volume
    /// (the counting measure on finite sets), and per original unit of real columns.
    pub fn log_density(&self, denoiser: &LearnedDenoiser, points: &Points) -> Vec<f64> {
        let flow = FlowConfig::new(self.config().noise_range());
        self.densities(denoiser, points, &flow).into_iter().map(|(density, _)| density).collect()
    }

    /// Log-density as in [`Run::log_density`], and log-ratio to the base measure, at every row of `points`.
    ///
    /// # Formula
    /// log dp/dvol(x) = log dp/dμ(x) + log dμ/dvol(x) − Σ ln scale, the sum over standardised columns.
    pub fn densities(&self, denoiser: &LearnedDenoiser, points: &Points, flow: &FlowConfig) -> Vec<(f64, f64)> {
        let base = self.base().as_ref();
        let jacobian = self.columns().points.log_jacobian();
        let ratios = log_ratio(denoiser, base, points, flow);
        points.rows().zip(ratios).map(|(x, ratio)| (ratio + base.log_weight(x) + jacobian, ratio)).collect()
    }
}
