//! What runs of tangent fields and of flows share: their rows, their validation, and samples that never leave the set.

use super::{Fresh, Rows, Sink, Validation, validation::summary};
use crate::{
    config::Config,
    parts::Part,
    run::{Run, RunError},
};
use mad_core::{
    Points,
    manifold::Manifold,
    measure::BaseMeasure,
    metrics::Drift,
    rng::Rng,
    sample::{SampleError, Samples, in_blocks},
};

/// Steps of the flow in validations.
pub(super) const VALIDATION_STEPS: usize = 16;

/// Most rows of a validation: each takes a flow. So `select = best` looks at no more of them here, where denoisers take all
/// `validation_rows` (2048); kept scores depend on this number.
const VALIDATION_ROWS: usize = 256;

/// Rows and settings of a run of a tangent field.
pub(super) struct FieldRun<'a> {
    pub(super) run: &'a Run,
    pub(super) config: &'a Config,
    train: Points,
    validation: Points,
    fresh: Option<Fresh>,
}

impl<'a> FieldRun<'a> {
    pub(super) fn open(run: &'a Run) -> Result<Self, RunError> {
        let (train, validation) = (run.part(Part::Train)?, run.part(Part::Validation)?);
        Ok(Self { run, config: run.config(), train, validation, fresh: run.fresh()? })
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        match &self.fresh {
            Some(fresh) => Rows::Fresh(fresh),
            None => Rows::Kept(&self.train),
        }
    }

    /// A validation by the log-densities of its rows, if there are any.
    pub(super) fn validate(&self, step: u64, log_densities: impl FnOnce(&Points) -> Vec<f64>) -> Option<Validation> {
        if self.validation.is_empty() {
            return None;
        }
        let points = self.validation.head(VALIDATION_ROWS.min(self.config.validation_rows as usize));
        Some(summary(step, &log_densities(&points), &points, self.run.base().as_ref()))
    }
}

/// Samples that begin as draws of a known distribution on the set and never leave the set.
pub(super) struct Carried<'a> {
    pub(super) method: &'static str,
    pub(super) manifold: &'a dyn Manifold,
    pub(super) start: &'a dyn BaseMeasure,
}

impl Carried<'_> {
    /// Hands `n` draws to `sink` after `carry` has moved them, or an error if a number was lost on the way.
    pub(super) fn sample(
        &self,
        n: usize,
        seed: u64,
        sink: Sink,
        carry: impl Fn(&mut Points, &mut Rng) + Sync,
    ) -> Result<Drift, SampleError> {
        in_blocks(n, seed, sink, |first, rows, rng| {
            let mut points = Points::zeros(rows, self.manifold.ambient_dim());
            points.rows_mut().for_each(|x| self.start.sample(rng, x));
            carry(&mut points, rng);
            match points.as_slice().iter().position(|x| !x.is_finite()) {
                Some(place) => {
                    let row = first + place / points.dim();
                    Err(SampleError::NotFinite { sampler: self.method, row, sigma: 0.0 })
                }
                None => Ok(Samples { drift: Drift::of(self.manifold, &points), points }),
            }
        })
    }
}
