//! From a folder with settings and data to a folder with a trained model.

use super::{
    Observer, TrainError,
    session::{Outcome, Trainable, Trained, train},
};
use crate::{
    checkpoint::Identity,
    config::Config,
    device::DeviceChoice,
    disk::{self, Disk},
    memory,
    method::Objective,
    run::{self, Contents, Run, RunError},
};
use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool};

impl Trainable for Run {
    fn path(&self) -> &Path {
        Run::path(self)
    }

    fn config(&self) -> &Config {
        Run::config(self)
    }

    fn identity(&self) -> Identity {
        Run::identity(self)
    }

    fn objective(&self) -> Result<Box<dyn Objective + '_>, RunError> {
        Run::objective(self)
    }

    fn log_jacobian(&self) -> f64 {
        self.columns().points.log_jacobian()
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
    contents.canonicalise();
    if !resume || !out.join("run.json").is_file() {
        let planned = contents.plan()?;
        require_usable(&planned)?;
        if resume {
            run::require_resumable(out, "run.json")?;
        }
        let run = run::create(disk, out, &contents, planned)?;
        return train_run(disk, device, run, observer, stop);
    }
    contents.check()?;
    let mut old = Run::open_with(out, Some(&contents.manifold), contents.base.brought())?;
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
        old = old.with_config(contents.config);
    }
    require_usable(&old)?;
    train_run(disk, device, old, observer, stop)
}

/// Refuses a run whose network does not fit into memory, and one whose new rows cannot be made.
fn require_usable(run: &Run) -> Result<(), RunError> {
    run.fresh()?;
    Ok(memory::require(run.layout().len())?)
}

/// Continues training of an open run.
pub(crate) fn train_run(
    disk: &dyn Disk,
    device: DeviceChoice,
    run: Run,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<TrainedRun, TrainError> {
    let Trained { outcome, step, seconds } = train(disk, device, &run, observer, stop)?;
    // The weights it will answer with may be of an earlier step, written by an earlier call.
    run.state(run.selected_step()?)?;
    Ok(TrainedRun { outcome, step, seconds, run })
}
