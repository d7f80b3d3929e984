//! What runs of tangent fields share: their rows, and samples that never left the set.

use crate::{
    config::Config,
    run::{Part, Run, RunError},
    train::{Fresh, Rows},
};
use mad_core::{
    Points,
    manifold::Manifold,
    metrics::Drift,
    sample::{SampleError, Samples},
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

    /// The rows of a validation, if there are any.
    pub(super) fn validation(&self) -> Option<Points> {
        let rows = VALIDATION_ROWS.min(self.config.validation_rows as usize);
        (!self.validation.is_empty()).then(|| self.validation.head(rows))
    }
}

/// Samples that never left the set, or an error if a number was lost on the way.
pub(super) fn finished(
    sampler: &'static str,
    manifold: &dyn Manifold,
    first: usize,
    points: Points,
) -> Result<Samples, SampleError> {
    match points.as_slice().iter().position(|x| !x.is_finite()) {
        Some(place) => Err(SampleError::NotFinite { sampler, row: first + place / points.dim(), sigma: 0.0 }),
        None => Ok(Samples { drift: Drift::of(manifold, &points), points }),
    }
}
