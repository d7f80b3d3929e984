//! A run folder opened for use: model, columns, noise range.

use crate::args::{Common, Reading};
use crate::error::CliError;
use crate::output;
use crate::progress::Meter;
use mad_core::Points;
use mad_core::data::{Columns, Table};
use mad_nn::method::{Fitted, SampleRequest, Sampled};
use mad_nn::run::RunError;
use mad_nn::train::TrainingStatus;
use mad_nn::{Part, Run};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;

/// Points handed to the flow at once, between two looks at the progress.
const DENSITY_BLOCK: usize = 1024;

/// A run with everything that sampling, scoring and drawing need.
pub struct Opened {
    pub run: Run,
    pub model: Box<dyn Fitted>,
    pub status: TrainingStatus,
}

/// Which sampler to use, where the user said so.
#[derive(Debug, Clone, Copy, Default)]
pub struct SamplerChoice<'a> {
    pub name: Option<&'a str>,
    pub nfe: Option<u32>,
}

impl Opened {
    /// Opens the run folder at `path` for answers of the model, and says if it was not trained to the end.
    pub fn noticed(common: &Common, path: &Path) -> Result<Self, CliError> {
        let opened = Self::new(path)?;
        tell_unfinished(common, path, opened.status);
        Ok(opened)
    }

    /// How far the run is trained, for `--json`.
    pub fn training(&self) -> Value {
        json!(self.status)
    }

    /// As [`Opened::noticed`], for answers of the model without its condition; says so if it has one.
    pub fn unconditional(common: &Common, path: &Path) -> Result<Self, CliError> {
        let opened = Self::noticed(common, path)?;
        if let Some(condition) = &opened.run.columns().condition {
            let names = condition.encode_header().join(", ");
            if opened.run.config().condition_dropout == 0.0 {
                return Err(CliError::Usage(format!(
                    "{} was trained with condition_dropout = 0 and knows points only given {names}: use `mad sample` \
                     with --given, or train with a larger condition_dropout",
                    path.display()
                )));
            }
            output::notice(
                common,
                format!(
                    "no value of {names} is given, so the model speaks for their mean (`mad sample` takes --given)"
                ),
            );
        }
        Ok(opened)
    }

    /// Opens the run folder at `path`.
    pub fn new(path: &Path) -> Result<Self, CliError> {
        let run = Run::open(path)?;
        let model = run.fitted()?;
        let status = run.status().map_err(RunError::from)?;
        Ok(Self { run, model, status })
    }

    /// Opens the run folder at `path` with the weights after `step` steps, of which there must be a checkpoint.
    pub fn at(path: &Path, step: u64) -> Result<Self, CliError> {
        let run = Run::open(path)?;
        let model = run.fitted_at(step)?;
        let status = run.status().map_err(RunError::from)?;
        Ok(Self { run, model, status })
    }

    /// How points are read and written.
    pub fn columns(&self) -> &Columns {
        &self.run.columns().points
    }

    /// Reads a file of points, in the columns of the training file unless `reading` says otherwise.
    pub fn read(&self, common: &Common, path: &Path, reading: &Reading) -> Result<(Table, Points), CliError> {
        let mut table = reading.read(common, path)?;
        let points = reading.points_of(common, &mut table, self.columns(), self.run.manifold().as_ref())?;
        Ok((table, points))
    }

    /// A part of the run's own data by name, or a file; `./test` is a file.
    pub fn part_or_file(&self, common: &Common, text: &OsStr, reading: &Reading) -> Result<Points, CliError> {
        let Some(part) = part_named(text) else { return Ok(self.read(common, Path::new(text), reading)?.1) };
        reading.require_none(&format!("`{}` is a part of the run", part.name()))?;
        Ok(self.run.part(part)?)
    }

    /// Draws samples into memory, in the form that the run's data have: of each class of a quotient the same representative.
    pub fn sample(&self, choice: SamplerChoice<'_>, seed: u64, n: usize) -> Result<(Points, Sampled), CliError> {
        let (mut points, sampled) = self.model.draw(&choice.request(seed), n)?;
        points.rows_mut().for_each(|x| self.run.manifold().canonicalise(x));
        Ok((points, sampled))
    }

    /// Density columns: log-density per original unit and log-ratio to the base, for each point.
    pub fn densities(&self, common: &Common, points: &Points, steps: usize) -> Vec<(f64, f64)> {
        let (base, jacobian) = (self.run.base().as_ref(), self.columns().log_jacobian());
        let mut meter = Meter::start(common, "density", 0, points.len() as u64);
        let mut all = Vec::with_capacity(points.len());
        for block in points.as_slice().chunks(DENSITY_BLOCK * points.dim()) {
            let block = Points::from_vec(block.to_vec(), points.dim());
            let densities = block.rows().zip(self.model.log_density(&block, steps));
            all.extend(densities.map(|(x, density)| (density, density - base.log_weight(x) - jacobian)));
            meter.advance(all.len() as u64, String::new);
        }
        meter.finish();
        all
    }
}

/// Warns that a run was interrupted, so that nobody takes its answers for those of a trained model.
pub fn tell_unfinished(common: &Common, path: &Path, status: TrainingStatus) {
    let TrainingStatus { step, steps, finished } = status;
    if !finished {
        let run = path.display();
        output::notice(
            common,
            format!(
                "{run}: training is not finished: {step} of {steps} steps are done; `mad fit … --resume` continues"
            ),
        );
    }
}

/// The part of a run's data that is called so.
pub fn part_named(text: &OsStr) -> Option<Part> {
    Part::ALL.into_iter().find(|part| text == part.name())
}

impl<'a> SamplerChoice<'a> {
    /// A request for samples on the manifold.
    pub fn request(self, seed: u64) -> SampleRequest<'a> {
        SampleRequest { sampler: self.name, nfe: self.nfe.map(|nfe| nfe as usize), seed, projected: true }
    }
}

/// The seed given, or a fresh one that is said aloud.
pub fn seed_or_fresh(common: &Common, seed: Option<u64>) -> u64 {
    seed.unwrap_or_else(|| {
        let nanos = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |t| t.as_secs().wrapping_mul(1_000_000_007) ^ u64::from(t.subsec_nanos()));
        let seed = nanos % 1_000_000_000;
        output::notice(common, format!("seed {seed} (repeat with --seed {seed})"));
        seed
    })
}
