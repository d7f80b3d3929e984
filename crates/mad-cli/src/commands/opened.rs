//! A run folder opened for use: model, columns, noise range.

use super::integral::Integral;
use super::outside::{Outside, tell_outside};
use super::pose::{PICTURE, picture};
use super::sample::condition;
use crate::args::{Common, Given, Reading, Sampling};
use crate::error::CliError;
use crate::output;
use crate::progress::Meter;
use mad_core::Points;
use mad_core::likelihood::{Effort, Normaliser};
use mad_core::table::{Columns, Table};
use mad_nn::method::{Fitted, SampleRequest, Sampled};
use mad_nn::run::RunError;
use mad_nn::train::TrainingStatus;
use mad_nn::{Part, Run};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;

/// Points evaluated between two reports of progress.
const DENSITY_BLOCK: usize = 512;

/// Points with which the integral of a density is checked. Their seed is not that of the normaliser.
const CHECK: Effort = Effort { relative_error: 0.01, draws: 2048, seed: 1 };

/// A run with everything that sampling, scoring and drawing need.
pub struct Opened {
    /// The run folder.
    pub run: Run,
    /// The trained model.
    pub model: Box<dyn Fitted>,
    /// How far it is trained.
    pub status: TrainingStatus,
    /// Conditions outside the range of the training rows.
    outside: Vec<Outside>,
}

/// Which sampler to use, where the user chose one.
#[derive(Debug, Clone, Copy, Default)]
pub struct SamplerChoice<'a> {
    /// Name of the sampler.
    pub name: Option<&'a str>,
    /// Network evaluations per point.
    pub nfe: Option<u32>,
}

impl Opened {
    /// Opens the run folder at `path` for use of the model, with a notice if training is not finished.
    pub fn noticed(common: &Common, path: &Path) -> Result<Self, CliError> {
        let opened = Self::new(path)?;
        tell_unfinished(common, path, opened.status);
        Ok(opened)
    }

    /// How far the run is trained, for `--json`.
    pub fn training(&self) -> Value {
        json!(self.status)
    }

    /// The conditions outside the range of the training rows, for `--json`.
    pub fn outside(&self) -> Value {
        json!(self.outside)
    }

    /// As [`Opened::noticed`], for use of the model without its condition, with a notice if it has one.
    pub fn unconditional(common: &Common, path: &Path) -> Result<Self, CliError> {
        let opened = Self::noticed(common, path)?;
        if opened.run.config().is_on_pictures() {
            let path = path.display();
            return Err(CliError::Usage(format!(
                "{path} was trained on pictures: give one with --given {PICTURE}=FILE"
            )));
        }
        if let Some(condition) = &opened.run.columns().condition {
            let names = condition.encode_header().join(", ");
            if opened.run.config().condition_dropout == 0.0 {
                return Err(CliError::Usage(format!(
                    "{} was trained with condition_dropout = 0 and knows points only given {names}: use `mad sample` \
                     or `mad density` with --given, or train with a larger condition_dropout",
                    path.display()
                )));
            }
            output::notice(
                common,
                format!(
                    "no value of {names} is given, so the model is averaged over them (`mad sample` and `mad density` take --given)"
                ),
            );
        }
        Ok(opened)
    }

    /// As [`Opened::noticed`], conditional on the values given; without values as [`Opened::unconditional`].
    pub fn given(common: &Common, path: &Path, Given { values: given, guidance }: &Given) -> Result<Self, CliError> {
        let guidance = guidance.unwrap_or(1.0);
        if !guidance.is_finite() {
            return Err(CliError::Usage(format!("--guidance {guidance}: give a finite number")));
        }
        let mut opened = match given.is_empty() {
            true => Self::unconditional(common, path)?,
            false => Self::noticed(common, path)?,
        };
        if opened.run.config().is_on_pictures() {
            let file = match given.as_slice() {
                [word] => word.strip_prefix(PICTURE).and_then(|rest| rest.strip_prefix('=')),
                _ => None,
            };
            let file =
                file.ok_or_else(|| CliError::Usage(format!("the run sees one picture: --given {PICTURE}=FILE")))?;
            if guidance != 1.0 {
                return Err(CliError::Usage("--guidance has no meaning for pictures".into()));
            }
            opened.model.see(picture(&opened.run, Path::new(file))?);
        } else if let Some(condition) = condition(&opened, given)? {
            opened.outside = tell_outside(common, &opened.run, &condition)?;
            opened.model.condition(condition, guidance);
        }
        Ok(opened)
    }

    /// Opens the run folder at `path`.
    pub fn new(path: &Path) -> Result<Self, CliError> {
        let run = Run::open(path)?;
        let model = run.fitted()?;
        let status = run.status().map_err(RunError::from)?;
        Ok(Self { run, model, status, outside: Vec::new() })
    }

    /// Opens the run folder at `path` with the weights after `step` steps, of which there must be a checkpoint.
    pub fn at(path: &Path, step: u64) -> Result<Self, CliError> {
        let run = Run::open(path)?;
        let model = run.fitted_at(step)?;
        let status = run.status().map_err(RunError::from)?;
        Ok(Self { run, model, status, outside: Vec::new() })
    }

    /// How points are read and written.
    pub fn columns(&self) -> &Columns {
        &self.run.columns().points
    }

    /// Reads a file of points, in the columns of the training file unless `reading` chooses others.
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
        let jacobian = self.columns().log_jacobian();
        let meter = Meter::announced(common, "normalising the density", 1);
        self.model.normaliser();
        meter.finish();
        let mut meter = Meter::announced(common, "density", points.len() as u64);
        let mut all = Vec::with_capacity(points.len());
        for block in points.as_slice().chunks(DENSITY_BLOCK * points.dim()) {
            let block = Points::from_vec(block.to_vec(), points.dim());
            let weights = self.log_weights(&block);
            let densities = self.model.log_density_with(&block, &weights, steps).into_iter().zip(&weights);
            all.extend(densities.map(|(density, weight)| (density, density - weight - jacobian)));
            meter.advance(all.len() as u64, String::new);
        }
        meter.finish();
        all
    }

    /// The integral of the density, estimated apart from its normaliser; `None` if no points can be drawn for it.
    pub fn integral(&self, common: &Common, steps: usize) -> Option<Integral> {
        let meter = Meter::announced(common, "integrating the density", 1);
        let jacobian = self.columns().log_jacobian();
        let log_ratio = |points: &Points| {
            let weights = self.log_weights(points);
            let densities = self.model.log_density_with(points, &weights, steps).into_iter().zip(&weights);
            densities.map(|(density, weight)| density - weight - jacobian).collect()
        };
        let samples = |n: usize| Some(self.model.draw(&SampleRequest::new(CHECK.seed), n).ok()?.0);
        let (manifold, base) = (self.run.manifold().as_ref(), self.run.base().as_ref());
        let found = Normaliser::estimate(manifold, base, &log_ratio, &samples, CHECK);
        meter.finish();
        found.map(Integral::from)
    }

    /// What is reported of the density in addition to its values: the integral, and how much of its mass it has in common with the samples for
    /// certain. Both are empty where nothing was estimated.
    pub fn density_note(&self, integral: Option<Integral>) -> String {
        let integral = integral.map(|integral| integral.to_string());
        let normaliser = self.model.normaliser().filter(|normaliser| normaliser.draws > 0);
        let shared = normaliser
            .map(|z| format!("shares at least {:.0} % of its mass with the samples", 100.0 * z.value().min(1.0)));
        [integral, shared].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn log_weights(&self, points: &Points) -> Vec<f64> {
        let base = self.run.base().as_ref();
        points.par_rows().with_min_len(64).map(|x| base.log_weight(x)).collect()
    }
}

/// Warns that a run was interrupted, so that nobody takes it for a trained model.
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

impl<'a> From<&'a Sampling> for SamplerChoice<'a> {
    fn from(flags: &'a Sampling) -> Self {
        Self { name: flags.sampler.as_deref(), nfe: flags.nfe }
    }
}

impl<'a> SamplerChoice<'a> {
    /// A request for samples on the manifold.
    pub fn request(self, seed: u64) -> SampleRequest<'a> {
        SampleRequest { sampler: self.name, nfe: self.nfe.map(|nfe| nfe as usize), seed, projected: true }
    }
}
