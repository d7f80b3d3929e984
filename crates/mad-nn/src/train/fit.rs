//! The loop: from a folder with settings and data to a folder with a trained model.

use super::{
    Observer, StepReport, TrainError,
    log::{Line, Log, write_timing},
    step::{Stepped, Trainer},
};
use crate::{
    checkpoint::{self, Best, Progress, State},
    config::{Config, Select},
    device::DeviceChoice,
    disk::{self, Disk, RealDisk},
    method::Objective,
    optim::Weights,
    run::{self, Contents, Lock, Run, RunError},
};
use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

/// Steps in a row that may be skipped before a run is given up.
const MAX_SKIPPED: u64 = 10;

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All steps are done, or patience ran out.
    Finished,
    /// It was told to stop; the checkpoint of the last step is written.
    Interrupted,
}

/// A fit that ended well.
#[derive(Debug)]
pub struct Fit {
    /// How it ended.
    pub outcome: Outcome,
    /// Steps done.
    pub step: u64,
    /// Seconds spent in this call on steps, validations and checkpoints.
    pub seconds: f64,
    /// The folder.
    pub run: Run,
}

/// Makes the run folder `out` from `contents` and trains, or continues the run that is there if `resume` is true.
///
/// A resumed run must bring the same data and the same settings, apart from those that leave the weights alone. Asked to
/// resume where there is nothing yet, it starts. Once `stop` is true the step at hand is finished, a checkpoint written, and
/// [`Outcome::Interrupted`] returned.
pub fn fit(
    contents: &Contents,
    out: &Path,
    resume: bool,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Fit, TrainError> {
    fit_on(DeviceChoice::Cpu, contents, out, resume, observer, stop)
}

/// Like [`fit`], with the gradients computed on `device`.
///
/// A run may be continued on another device than it began on. Its last bits then differ from those of an unbroken run.
pub fn fit_on(
    device: DeviceChoice,
    contents: &Contents,
    out: &Path,
    resume: bool,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Fit, TrainError> {
    // Before anything is written.
    device.open()?;
    let mut contents = contents.clone();
    contents.parts.canonicalise(contents.manifold.as_ref());
    contents.check()?;
    if !resume || !out.join("run.json").is_file() {
        run::create(&RealDisk, out, &contents)?;
        return train(device, Run::open(out)?, observer, stop);
    }
    let old = Run::open(out)?;
    let differences = old.config().differences(&contents.config);
    if !differences.is_empty() {
        return Err(RunError::ConfigChanged { path: out.into(), differences }.into());
    }
    let (now, before) = (contents.info(), old.info());
    if now.data_hash != before.data_hash {
        let changed = |name: &&String| before.data.get(*name) != now.data.get(*name);
        let names: Vec<_> = now.data.keys().chain(before.data.keys()).filter(changed).map(String::as_str).collect();
        let what = format!("{} (data_hash {} in run.json, {} now)", names.join(", "), before.data_hash, now.data_hash);
        return Err(RunError::DataChanged { path: out.into(), what }.into());
    }
    if *old.config() != contents.config {
        let path = out.join("config.toml");
        disk::replace(&RealDisk, &path, contents.config.to_toml().as_bytes())
            .map_err(|e| RunError::io("write", &path, e))?;
    }
    train(device, Run::open(out)?, observer, stop)
}

/// Continues the run in `path` with its own settings and data, on the CPU.
pub fn resume(path: &Path, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<Fit, TrainError> {
    train(DeviceChoice::Cpu, Run::open(path)?, observer, stop)
}

fn train(device: DeviceChoice, run: Run, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<Fit, TrainError> {
    let _lock = Lock::take(run.path())?;
    checkpoint::clean(&RealDisk, &run.checkpoints())?;
    let start = Instant::now();
    let objective = run.config().method_spec().entry.method.objective(&run)?;
    let mut session = Session::open(&run, objective.as_ref(), &RealDisk)?;
    let from = session.state.progress.step;
    observer.started(from, run.config().steps);
    let outcome = session.run(device, observer, stop)?;
    let (step, seconds) = (session.state.progress.step, start.elapsed().as_secs_f64());
    drop(session);
    drop(objective);
    write_timing(run.path(), device, from, step, seconds)?;
    Ok(Fit { outcome, step, seconds, run })
}

/// A run being trained.
struct Session<'a> {
    run: &'a Run,
    disk: &'a dyn Disk,
    config: &'a Config,
    objective: &'a dyn Objective,
    state: State,
    saved: Option<u64>,
    log: Log,
}

impl<'a> Session<'a> {
    fn open(run: &'a Run, objective: &'a dyn Objective, disk: &'a dyn Disk) -> Result<Self, TrainError> {
        let saved = run.steps()?.last().copied();
        let state = match saved {
            Some(step) => run.state(step)?,
            None => {
                let weights = Weights::new(objective.initialise(run.config().seed));
                State { weights, progress: Progress::default() }
            }
        };
        let log = Log::open(disk, run.path(), state.progress.step)?;
        Ok(Self { run, disk, config: run.config(), objective, state, saved, log })
    }

    fn run(
        &mut self,
        device: DeviceChoice,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome, TrainError> {
        let trainer = Trainer { objective: self.objective, adam: self.config.adam(), device: device.open()? };
        let rate = self.config.rate();
        let steps = self.config.steps;
        if steps == 0 && self.saved.is_none() {
            // Nothing to train is the score of what there is.
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
            sigma_min: levels.iter().copied().fold(f64::INFINITY, f64::min),
            sigma_max: levels.iter().copied().fold(0.0, f64::max),
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
        let progress = &mut self.state.progress;
        // A score that is not a number is never the best one.
        validation.best = validation.nll.is_finite() && progress.best.is_none_or(|best| validation.nll < best.nll);
        if validation.best {
            progress.best = Some(Best { step, nll: validation.nll });
            progress.stale = 0;
        } else {
            progress.stale += 1;
            progress.stopped_early = self.config.patience > 0 && progress.stale >= self.config.patience;
        }
        self.log.write(&Line::Validation { validation: &validation })?;
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
        self.log.sync()?;
        let folder = self.run.checkpoints();
        let path = checkpoint::save(self.disk, &folder, self.objective.layout(), &self.state, &self.run.identity())?;
        self.saved = Some(step);
        let best = (self.config.select == Select::Best).then_some(self.state.progress.best).flatten();
        checkpoint::prune(self.disk, &folder, self.config.keep_checkpoints as usize, best.map(|best| best.step))?;
        observer.saved(step, &path);
        Ok(())
    }
}
