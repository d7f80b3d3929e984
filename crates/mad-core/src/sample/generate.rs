//! The driver: prior, walk and finish, block by block.

use super::{Denoiser, Finish, SampleError, SamplerEntry};
use crate::{
    Points,
    manifold::Manifold,
    measure::BaseMeasure,
    metrics::Drift,
    noise::{NoiseRange, Schedule},
    rng::{Purpose, Rng, stream},
};
use rayon::prelude::*;
use std::{ops::ControlFlow, sync::Mutex};

/// Rows that walk together. Fixed, because each block has a random stream of its own.
pub const BLOCK_ROWS: usize = 1024;

/// Everything that decides which samples come out.
#[derive(Debug, Clone, Copy)]
pub struct Generate {
    /// The sampler.
    pub sampler: &'static SamplerEntry,
    /// Spacing of the noise levels.
    pub schedule: Schedule,
    /// First and last noise level.
    pub range: NoiseRange,
    /// Calls of the denoiser per sample, the last denoising included.
    pub nfe: usize,
    /// Seed of all chance.
    pub seed: u64,
    /// Whether to put samples onto the manifold.
    pub projected: bool,
    /// Whether the base measure draws the points at the end, if it can; without it they are the denoiser's output.
    pub drawn: bool,
}

/// Samples held in memory, with their drift before projection.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// One sample per row.
    pub points: Points,
    /// How far the samples stood off the manifold before projection.
    pub drift: Drift,
}

impl Generate {
    /// `sampler` with its own schedule and number of calls, projecting.
    pub fn new(sampler: &'static SamplerEntry, range: NoiseRange, seed: u64) -> Self {
        Self { sampler, schedule: sampler.schedule, range, nfe: sampler.nfe, seed, projected: true, drawn: false }
    }

    /// The noise levels of one walk, falling from σ_max to σ_min.
    pub fn levels(&self) -> Result<Vec<f64>, SampleError> {
        let range = NoiseRange::new(self.range.min, self.range.max)?;
        self.schedule.check()?;
        let sampler = (self.sampler.build)();
        let levels = sampler.levels_for(self.nfe);
        if levels < 2 {
            let least = sampler.calls(2) + 1;
            return Err(SampleError::TooFewCalls { sampler: self.sampler.name, nfe: self.nfe, least });
        }
        Ok(self.schedule.levels(range, levels))
    }

    /// Draws `n` samples and hands them to `sink` in order, in blocks of at most [`BLOCK_ROWS`] rows; returns their drift.
    pub fn run(
        &self,
        denoiser: &dyn Denoiser,
        base: &dyn BaseMeasure,
        manifold: &dyn Manifold,
        n: usize,
        sink: &mut dyn FnMut(Points) -> ControlFlow<()>,
    ) -> Result<Drift, SampleError> {
        let dims = (denoiser.ambient_dim(), base.ambient_dim(), manifold.ambient_dim());
        if dims.0 != dims.1 || dims.1 != dims.2 {
            return Err(SampleError::Dimension { denoiser: dims.0, base: dims.1, manifold: dims.2 });
        }
        let levels = self.levels()?;
        let finish = Finish { manifold, projected: self.projected, drawn_from: self.drawn.then_some(base) };
        in_blocks(n, self.seed, sink, |first, rows, rng| {
            self.block(denoiser, base, &finish, &levels, (first, rows), rng)
        })
    }

    /// Draws `n` samples into memory.
    pub fn collect(
        &self,
        denoiser: &dyn Denoiser,
        base: &dyn BaseMeasure,
        manifold: &dyn Manifold,
        n: usize,
    ) -> Result<Samples, SampleError> {
        let mut points = Points::new(manifold.ambient_dim());
        let drift = self.run(denoiser, base, manifold, n, &mut |block| {
            points.extend(&block);
            ControlFlow::Continue(())
        })?;
        Ok(Samples { points, drift })
    }

    fn block(
        &self,
        denoiser: &dyn Denoiser,
        base: &dyn BaseMeasure,
        finish: &Finish<'_>,
        levels: &[f64],
        (first, rows): (usize, usize),
        rng: &mut Rng,
    ) -> Result<Samples, SampleError> {
        let watched = Watched { denoiser, first_bad: Mutex::new(None) };
        let mut points = Points::zeros(rows, base.ambient_dim());
        for row in points.rows_mut() {
            base.sample_prior(levels[0], rng, row);
        }
        (self.sampler.build)().walk(&watched, levels, &mut points, rng);
        let drift = finish.apply(&watched, levels[levels.len() - 1], &mut points, rng);
        match watched.into_first_bad() {
            None => Ok(Samples { points, drift }),
            Some((row, sigma)) => Err(SampleError::NotFinite { sampler: self.sampler.name, row: first + row, sigma }),
        }
    }
}

/// Makes `n` samples with `make`, which is called with the first row and the number of rows, and hands them to `sink` in order.
///
/// Blocks of at most [`BLOCK_ROWS`] rows run in parallel, a few at a time, so memory does not grow with `n`. Block i draws
/// only from `stream(seed, Purpose::Sample, i)`: the samples do not depend on the number of threads. `sink` may break off.
pub fn in_blocks(
    n: usize,
    seed: u64,
    sink: &mut dyn FnMut(Points) -> ControlFlow<()>,
    make: impl Fn(usize, usize, &mut Rng) -> Result<Samples, SampleError> + Sync,
) -> Result<Drift, SampleError> {
    let blocks = n.div_ceil(BLOCK_ROWS);
    let group = 2 * rayon::current_num_threads();
    let mut drift = Drift::default();
    for first in (0..blocks).step_by(group) {
        let done: Vec<Result<Samples, SampleError>> = (first..blocks.min(first + group))
            .into_par_iter()
            .with_max_len(1)
            .map(|block| {
                let (first, mut rng) = (block * BLOCK_ROWS, stream(seed, Purpose::Sample, block as u64));
                make(first, BLOCK_ROWS.min(n - first), &mut rng)
            })
            .collect();
        for samples in done {
            let samples = samples?;
            drift = drift.merge(samples.drift);
            if sink(samples.points).is_break() {
                return Ok(drift);
            }
        }
    }
    Ok(drift)
}

/// Passes calls on and keeps the place of the first output that is not finite.
struct Watched<'a> {
    denoiser: &'a dyn Denoiser,
    first_bad: Mutex<Option<(usize, f64)>>,
}

impl Watched<'_> {
    fn into_first_bad(self) -> Option<(usize, f64)> {
        self.first_bad.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Denoiser for Watched<'_> {
    fn ambient_dim(&self) -> usize {
        self.denoiser.ambient_dim()
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        let answer = self.denoiser.denoise(x, sigma);
        if let Some(place) = answer.as_slice().iter().position(|v| !v.is_finite()) {
            let mut first = self.first_bad.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            first.get_or_insert((place / answer.dim(), sigma));
        }
        answer
    }
}
