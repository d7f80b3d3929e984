//! From a folder with settings and data to a folder with a trained model.

use super::{
    Observer, TrainError,
    session::{Outcome, Trainee, Training, train_with},
};
use crate::{
    checkpoint::Identity,
    device::DeviceChoice,
    disk::{self, Disk},
    method::Objective,
    run::{self, Contents, Run, RunError},
};
use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool};

impl Trainee for Run {
    fn path(&self) -> &Path {
        Run::path(self)
    }

    fn training(&self) -> Training {
        self.config().training()
    }

    fn identity(&self) -> Identity {
        Run::identity(self)
    }

    fn log_jacobian(&self) -> f64 {
        self.columns().points.log_jacobian()
    }

    fn objective(&self) -> Result<Box<dyn Objective + '_>, RunError> {
        self.config().method_spec().entry.method.objective(self)
    }
}

/// A run that was trained.
#[derive(Debug)]
pub struct TrainedRun {
    /// How training ended.
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
pub(crate) fn fit(
    disk: &dyn Disk,
    device: DeviceChoice,
    contents: &Contents,
    out: &Path,
    resume: bool,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<TrainedRun, TrainError> {
    // Before anything is written.
    device.open()?;
    let mut contents = contents.clone();
    contents.parts.canonicalise(contents.manifold.as_ref());
    contents.check()?;
    let open = || Run::open_with(out, Some(&contents.manifold), contents.base.brought());
    if !resume || !out.join("run.json").is_file() {
        if resume {
            run::require_resumable(out, "run.json")?;
        }
        run::create(disk, out, &contents)?;
        return train_run(disk, device, open()?, observer, stop);
    }
    let old = open()?;
    let differences = old.config().differences(&contents.config);
    if !differences.is_empty() {
        return Err(RunError::ConfigChanged { path: out.into(), differences }.into());
    }
    let (now, before) = (contents.info()?, old.info());
    let names = now.data.keys().chain(before.data.keys()).filter(|name| before.data.get(*name) != now.data.get(*name));
    let mut changed: BTreeSet<&str> = names.map(String::as_str).collect();
    // Older programs wrote the same base in another form.
    if changed.contains("base.json") && old.base_choice()? == contents.base {
        changed.remove("base.json");
    }
    if !changed.is_empty() {
        let names = changed.into_iter().collect::<Vec<_>>().join(", ");
        let what = format!("{names} (data_hash {} in run.json, {} now)", before.data_hash, now.data_hash);
        return Err(RunError::DataChanged { path: out.into(), what }.into());
    }
    if *old.config() != contents.config {
        let path = out.join("config.toml");
        disk::replace(disk, &path, contents.config.to_toml().as_bytes())
            .map_err(|e| RunError::io("write", &path, e))?;
    }
    train_run(disk, device, open()?, observer, stop)
}

/// Continues training of an open run.
pub(crate) fn train_run(
    disk: &dyn Disk,
    device: DeviceChoice,
    run: Run,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<TrainedRun, TrainError> {
    let trained = train_with(disk, device, &run, observer, stop)?;
    // The weights it will answer with may be of an earlier step, written by an earlier call.
    run.state(run.selected_step()?)?;
    Ok(TrainedRun { outcome: trained.outcome, step: trained.step, seconds: trained.seconds, run })
}
