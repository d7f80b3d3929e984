//! The loop: steps, validations, checkpoints, and what to do when steps fail.

use super::{
    Observer, StepReport, TrainError,
    log::{Line, Log, write_timing},
    step::{Stepped, Trainer},
};
use crate::{
    checkpoint::{self, Best, Identity, Progress, State},
    config::{Config, Select},
    device::DeviceChoice,
    disk::Disk,
    method::Objective,
    optim::Weights,
    run::{Lock, RunError},
};
use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

/// Steps in a row that may be skipped before a run is given up.
const MAX_SKIPPED: u64 = 10;

/// How training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All steps are done, or patience ran out.
    Finished,
    /// It was asked to stop; the checkpoint of the last step is written.
    Interrupted,
}

/// A run folder as the loop sees it.
pub trait Trainable {
    /// The folder.
    fn path(&self) -> &Path;

    /// Its settings.
    fn config(&self) -> &Config;

    /// What its checkpoints belong to.
    fn identity(&self) -> Identity;

    /// What is minimised.
    fn objective(&self) -> Result<Box<dyn Objective + '_>, RunError>;

    /// Logarithm of the factor by which densities per unit of the file exceed those per unit that the model sees; scores are
    /// kept per unit of the file.
    fn log_jacobian(&self) -> f64 {
        0.0
    }

    /// Where its checkpoints are.
    fn checkpoints(&self) -> PathBuf {
        self.path().join("checkpoints")
    }
}

/// How training went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trained {
    /// How it ended.
    pub outcome: Outcome,
    /// Steps done.
    pub step: u64,
    /// Seconds spent in this call on steps, validations and checkpoints.
    pub seconds: f64,
}

/// Trains from the newest checkpoint on, or from the start. Once `stop` is true the step at hand is finished and saved.
/// Everything is written through `disk`.
#[doc(hidden)]
pub fn train(
    disk: &dyn Disk,
    device: DeviceChoice,
    run: &dyn Trainable,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Trained, TrainError> {
    let _lock = Lock::take(run.path())?;
    checkpoint::clean(disk, &run.checkpoints())?;
    let start = Instant::now();
    let objective = run.objective()?;
    let mut session = Session::open(run, objective.as_ref(), disk)?;
    let from = session.state.progress.step;
    observer.started(from, session.config.steps);
    session.check_observer(observer)?;
    let outcome = session.run(device, observer, stop)?;
    let (step, seconds) = (session.state.progress.step, start.elapsed().as_secs_f64());
    write_timing(disk, run.path(), device, from, step, seconds)?;
    Ok(Trained { outcome, step, seconds })
}

/// The smallest and the largest number.
fn range_of(numbers: &[f64]) -> Option<(f64, f64)> {
    let smallest = numbers.iter().copied().reduce(f64::min)?;
    Some((smallest, numbers.iter().copied().fold(smallest, f64::max)))
}

/// A state with its best score per unit of the file; those of earlier versions are per unit that the model sees.
fn in_file_units(mut state: State, log_jacobian: f64) -> State {
    if let Some(best) = &mut state.progress.best
        && !best.file_units
    {
        *best = Best { nll: best.nll - log_jacobian, file_units: true, ..*best };
    }
    state
}

/// A run being trained.
struct Session<'a> {
    run: &'a dyn Trainable,
    config: &'a Config,
    disk: &'a dyn Disk,
    objective: &'a dyn Objective,
    state: State,
    saved: Option<u64>,
    log: Log<'a>,
}

impl<'a> Session<'a> {
    fn open(run: &'a dyn Trainable, objective: &'a dyn Objective, disk: &'a dyn Disk) -> Result<Self, TrainError> {
        let (config, folder) = (run.config(), run.checkpoints());
        let saved = checkpoint::steps(&folder)?.last().copied();
        let state = match saved {
            Some(step) => {
                in_file_units(checkpoint::load(&folder, step, objective.layout(), &run.identity())?, run.log_jacobian())
            }
            None => State { weights: Weights::new(objective.initialise(config.seed)), progress: Progress::default() },
        };
        let log = Log::open(disk, run.path(), saved)?;
        Ok(Self { run, config, disk, objective, state, saved, log })
    }

    fn run(
        &mut self,
        device: DeviceChoice,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome, TrainError> {
        let trainer = Trainer { objective: self.objective, adam: self.config.adam(), device: device.open()? };
        let (rate, steps) = (self.config.rate(), self.config.steps);
        // Validate at step 0 if there are no steps or early stopping is on, so that the untrained model can win.
        let may_stay = self.config.evaluate_every > 0 && self.config.patience > 0;
        if (steps == 0 || may_stay) && self.saved.is_none() {
            self.validate(observer)?;
        }
        while self.state.progress.step < steps && !self.state.progress.stopped_early {
            if stop.load(Ordering::Relaxed) {
                self.save(observer)?;
                return Ok(Outcome::Interrupted);
            }
            let index = self.state.progress.step;
            let learning_rate = rate.at(index);
            let weights = &mut self.state.weights;
            let begun = Instant::now();
            let Stepped { loss, gradient_norm, levels } = device.run(|| trainer.step(weights, index, learning_rate))?;
            let seconds = begun.elapsed().as_secs_f64();
            self.count(loss, gradient_norm.is_finite(), &levels)?;
            let step = self.state.progress.step;
            if step.is_multiple_of(self.config.log_every) || step == steps {
                self.log_loss(learning_rate, gradient_norm)?;
            }
            observer.stepped(&StepReport { step, steps, loss, learning_rate, gradient_norm, seconds });
            let every = self.config.evaluate_every;
            if every > 0 && (step.is_multiple_of(every) || step == steps) {
                self.validate(observer)?;
            }
            if step.is_multiple_of(self.config.checkpoint_every) {
                self.save(observer)?;
            }
        }
        self.save(observer)?;
        Ok(Outcome::Finished)
    }

    /// Takes note of a step; gives up after too many without a finite gradient.
    fn count(&mut self, loss: f64, finite: bool, levels: &[f64]) -> Result<(), TrainError> {
        let progress = &mut self.state.progress;
        progress.step += 1;
        if finite {
            progress.loss_sum += loss;
            progress.loss_count += 1;
            progress.last_loss = Some(loss);
            progress.skipped = 0;
            return Ok(());
        }
        progress.skipped += 1;
        if progress.skipped <= MAX_SKIPPED {
            return Ok(());
        }
        Err(TrainError::Diverged {
            step: progress.step,
            skipped: progress.skipped,
            levels: range_of(levels),
            last_loss: progress.last_loss,
            checkpoint: self.saved.map(|step| checkpoint::path_of(&self.run.checkpoints(), step)),
        })
    }

    fn log_loss(&mut self, learning_rate: f64, gradient_norm: f64) -> Result<(), TrainError> {
        let progress = &mut self.state.progress;
        if progress.loss_count > 0 {
            let loss = progress.loss_sum / progress.loss_count as f64;
            self.log.write(&Line::Train { step: progress.step, loss, learning_rate, gradient_norm })?;
        }
        (progress.loss_sum, progress.loss_count) = (0.0, 0);
        Ok(())
    }

    fn validate(&mut self, observer: &mut dyn Observer) -> Result<(), TrainError> {
        let step = self.state.progress.step;
        let Some(mut validation) = self.objective.validate(&self.state.weights.ema, step) else {
            return Ok(());
        };
        validation.nll -= self.run.log_jacobian();
        let progress = &mut self.state.progress;
        // A score that is not a number is never the best one.
        validation.best = validation.nll.is_finite() && progress.best.is_none_or(|best| validation.nll < best.nll);
        if validation.best {
            progress.best = Some(Best { step, nll: validation.nll, file_units: true });
            progress.stale = 0;
        } else {
            progress.stale += 1;
            progress.stopped_early = self.config.patience > 0 && progress.stale >= self.config.patience;
        }
        self.log.write(&Line::Validation { validation: &validation, file_units: true })?;
        observer.validated(&validation);
        if validation.best && self.config.select == Select::Best {
            self.save(observer)?;
        }
        Ok(())
    }

    /// Writes the checkpoint of this step unless it is there, and removes old ones.
    fn save(&mut self, observer: &mut dyn Observer) -> Result<(), TrainError> {
        let step = self.state.progress.step;
        if self.saved == Some(step) {
            return Ok(());
        }
        observer.saving(step);
        self.check_observer(observer)?;
        self.log.sync()?;
        let folder = self.run.checkpoints();
        let path = checkpoint::save(self.disk, &folder, self.objective.layout(), &self.state, &self.run.identity())?;
        self.saved = Some(step);
        let best = (self.config.select == Select::Best).then_some(self.state.progress.best).flatten();
        checkpoint::prune(self.disk, &folder, self.config.keep_checkpoints as usize, best.map(|best| best.step))?;
        observer.saved(step, &path);
        self.check_observer(observer)
    }

    /// An error if the observer gives up.
    fn check_observer(&self, observer: &dyn Observer) -> Result<(), TrainError> {
        match observer.gives_up() {
            true => Err(TrainError::GivenUp { step: self.state.progress.step }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_scores_of_earlier_versions_are_brought_to_the_units_of_the_file_once() {
        let best = |nll, file_units| {
            let progress = Progress { best: Some(Best { step: 3, nll, file_units }), ..Progress::default() };
            let state = in_file_units(State { weights: Weights::new(Vec::new()), progress }, -6.82);
            state.progress.best.map(|best| (best.nll, best.file_units))
        };
        assert_eq!(best(2.56, false), Some((2.56 + 6.82, true)));
        assert_eq!(best(9.38, true), Some((9.38, true)));
    }
}
