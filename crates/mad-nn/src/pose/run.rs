//! Run folders of pose models.
//!
//! ```text
//! RUN/
//! ├─ config.toml     resolved settings
//! ├─ pose.json       version, seed, hash of the settings
//! ├─ metrics.jsonl   one line per logged loss
//! ├─ timing.jsonl    seconds, which no two runs share
//! └─ checkpoints/    step-00002000/ …
//! ```

use super::{Images, PoseBatch, PoseConfig, PoseError, PoseModel, PoseSamples, method, pretrained::pretrained};
use crate::{
    bridge,
    checkpoint::{self, Identity, State},
    device::DeviceChoice,
    disk::{Disk, RealDisk, replace},
    memory,
    method::{Graded, Objective},
    net::Layout,
    run::{RunError, make_folder, require_resumable, text},
    train::{Observer, Outcome, Trainee, Training, TrainingStatus, Validation, train_with},
};
use burn::tensor::Device;
use mad_core::rng::{Purpose, stream};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// Version of the form of pose folders.
const SCHEMA: u32 = 1;

const INFO: &str = "pose.json";
const CONFIG: &str = "config.toml";

/// Contents of `pose.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Info {
    schema: u32,
    version: String,
    revision: Option<String>,
    /// Hash of the settings that decide the weights.
    config_hash: String,
    /// Hash of the images of an archive; empty if they are rendered.
    #[serde(default)]
    data_hash: String,
}

/// An open pose run.
pub struct PoseRun {
    path: PathBuf,
    config: PoseConfig,
    data_hash: String,
    model: Box<dyn PoseModel>,
}

impl std::fmt::Debug for PoseRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoseRun").field("path", &self.path).field("config", &self.config).finish_non_exhaustive()
    }
}

/// A fit that ended well.
#[derive(Debug)]
pub struct PoseFit {
    /// How it ended.
    pub outcome: Outcome,
    /// Steps done.
    pub step: u64,
    /// Seconds spent in this call.
    pub seconds: f64,
    /// The folder.
    pub run: PoseRun,
}

impl PoseRun {
    /// Whether a folder holds a pose run.
    pub fn is_at(path: &Path) -> bool {
        path.join(INFO).is_file()
    }

    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, PoseError> {
        if !Self::is_at(path) {
            return Err(PoseError::NotAPoseRun { path: path.into() });
        }
        let read = |name: &str| text(&path.join(name));
        let damaged = |name: &str, problem: String| RunError::Damaged { path: path.join(name), problem };
        let info: Info = serde_json::from_str(&read(INFO)?).map_err(|e| damaged(INFO, e.to_string()))?;
        if info.schema > SCHEMA {
            let (path, version) = (path.join(INFO), info.version);
            return Err(RunError::Newer { path, version, schema: info.schema, known: SCHEMA }.into());
        }
        if info.schema == 0 {
            return Err(damaged(INFO, "there is no schema 0; the file is damaged or was edited".into()).into());
        }
        let config = PoseConfig::from_toml(&read(CONFIG)?, CONFIG).map_err(|e| damaged(CONFIG, e.to_string()))?;
        if config.hash() != info.config_hash {
            let problem = "its hash is not the one in pose.json; the file is damaged or was edited";
            return Err(damaged(CONFIG, problem.into()).into());
        }
        let model = method::lookup(&config.method)?.method.model(&config);
        Ok(Self { path: path.into(), config, data_hash: info.data_hash, model })
    }

    /// Makes the folder, all of it or nothing.
    fn create(disk: &dyn Disk, path: &Path, config: &PoseConfig, data_hash: String) -> Result<Self, PoseError> {
        let info = Info {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            revision: option_env!("MAD_REVISION").map(Into::into),
            config_hash: config.hash(),
            data_hash,
        };
        let info = serde_json::to_string_pretty(&info).expect("strings can be written as JSON") + "\n";
        make_folder(disk, path, |folder| {
            let checkpoints = folder.join("checkpoints");
            disk.create_dir(&checkpoints).map_err(|e| RunError::io("make", &checkpoints, e))?;
            for (name, text) in [("metrics.jsonl", ""), (CONFIG, &config.to_toml()), (INFO, &info)] {
                let file = folder.join(name);
                disk.write(&file, text.as_bytes()).map_err(|e| RunError::io("write", &file, e))?;
            }
            disk.sync_dir(folder).map_err(|e| RunError::io("sync", folder, e))
        })?;
        Self::open(path)
    }

    /// Opens a folder to continue with `config` and `images`, which must be those it began with but for keys that leave the
    /// weights alone.
    fn reopen(disk: &dyn Disk, path: &Path, config: &PoseConfig, images: &Images) -> Result<Self, PoseError> {
        let old = Self::open(path)?;
        let differences = old.config.differences(config);
        if !differences.is_empty() {
            return Err(RunError::ConfigChanged { path: path.into(), differences }.into());
        }
        if images.hash() != old.data_hash {
            let what = format!("the images of {} have changed since the run began", config.archive);
            return Err(RunError::DataChanged { path: path.into(), what }.into());
        }
        if old.config == *config {
            return Ok(old);
        }
        let file = path.join(CONFIG);
        replace(disk, &file, config.to_toml().as_bytes()).map_err(|e| RunError::io("write", &file, e))?;
        Self::open(path)
    }

    /// The same run with so many calls of the denoiser per sample.
    pub fn with_nfe(self, nfe: usize) -> Result<Self, PoseError> {
        let config = self.config.with_nfe(nfe)?;
        let model = method::lookup(&config.method)?.method.model(&config);
        Ok(Self { config, model, ..self })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Resolved settings.
    pub fn config(&self) -> &PoseConfig {
        &self.config
    }

    /// The model without weights.
    pub fn model(&self) -> &dyn PoseModel {
        self.model.as_ref()
    }

    /// Lines of `metrics.jsonl`, oldest first.
    pub fn metrics(&self) -> Result<Vec<serde_json::Value>, PoseError> {
        Ok(crate::run::metrics(&self.path)?)
    }

    /// How far the run is trained.
    pub fn status(&self) -> Result<TrainingStatus, PoseError> {
        Ok(TrainingStatus::of(&self.checkpoints(), self.config.steps).map_err(RunError::from)?)
    }

    /// Steps of the checkpoints in the folder, rising.
    pub fn steps(&self) -> Result<Vec<u64>, PoseError> {
        Ok(checkpoint::steps(&self.checkpoints()).map_err(RunError::from)?)
    }

    /// The averaged weights of the last step.
    pub fn weights(&self) -> Result<Vec<f32>, PoseError> {
        let none = || checkpoint::CheckpointError::None { folder: self.checkpoints() };
        let step = *self.steps()?.last().ok_or_else(none).map_err(RunError::from)?;
        self.weights_at(step)
    }

    /// The averaged weights of a step that has a checkpoint.
    pub fn weights_at(&self, step: u64) -> Result<Vec<f32>, PoseError> {
        let state: State = checkpoint::load(&self.checkpoints(), step, self.model.layout(), &self.identity())
            .map_err(RunError::from)?;
        Ok(state.weights.ema)
    }

    fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// What its checkpoints belong to.
    fn identity(&self) -> Identity {
        Identity { config_hash: self.config.hash(), data_hash: self.data_hash.clone() }
    }

    /// Poses drawn for one image, whose pixels are those of the run.
    pub fn sample(&self, image: &[f32], draws: usize, seed: u64) -> Result<PoseSamples, PoseError> {
        self.model.sample(&self.weights()?, image, draws, seed)
    }
}

/// A run with the images it is trained on.
struct Fitting<'a> {
    run: &'a PoseRun,
    images: Images,
    /// First weights of the encoder, if they are not random.
    pretrained: Vec<f32>,
}

impl Trainee for Fitting<'_> {
    fn path(&self) -> &Path {
        &self.run.path
    }

    fn training(&self) -> Training {
        self.run.config.training()
    }

    fn identity(&self) -> Identity {
        self.run.identity()
    }

    fn objective(&self) -> Result<Box<dyn Objective + '_>, RunError> {
        Ok(Box::new(PoseObjective(self)))
    }
}

/// What a pose run minimises.
struct PoseObjective<'a>(&'a Fitting<'a>);

impl Objective for PoseObjective<'_> {
    fn layout(&self) -> &Layout {
        self.0.run.model.layout()
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        let mut weights = self.0.run.model.initialise(seed);
        weights[..self.0.pretrained.len()].copy_from_slice(&self.0.pretrained);
        weights
    }

    fn gradient(&self, weights: &mut Vec<f32>, step: u64, device: &Device) -> Graded {
        let Fitting { run, images, .. } = self.0;
        let PoseConfig { images: count, seed, .. } = run.config;
        let batch: PoseBatch = images.batch(count, seed, step);
        let mut rng = stream(seed, Purpose::Train, step);
        let (loss, gradient) =
            bridge::differentiate(weights, device, |weights| run.model.loss(weights, &batch, &mut rng, device));
        Graded { loss, gradient, levels: Vec::new() }
    }

    fn validate(&self, _weights: &[f32], _step: u64) -> Option<Validation> {
        None
    }
}

/// Makes the pose run `out` and trains, or continues the one that is there if `resume` is true.
pub fn fit_pose(
    config: &PoseConfig,
    out: &Path,
    resume: bool,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<PoseFit, PoseError> {
    fit_pose_with(&RealDisk, config, out, resume, observer, stop)
}

/// As [`fit_pose`], with everything written through `disk`.
#[doc(hidden)]
pub fn fit_pose_with(
    disk: &dyn Disk,
    config: &PoseConfig,
    out: &Path,
    resume: bool,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<PoseFit, PoseError> {
    // Before anything is written.
    let (images, pretrained) = (Images::open(config)?, pretrained(config)?);
    let run = match resume && PoseRun::is_at(out) {
        false => {
            if resume {
                require_resumable(out, INFO)?;
            }
            let weights = method::lookup(&config.method)?.method.model(config).layout().len();
            memory::require(weights).map_err(RunError::from)?;
            PoseRun::create(disk, out, config, images.hash())?
        }
        true => PoseRun::reopen(disk, out, config, &images)?,
    };
    let trained = train_with(disk, DeviceChoice::Cpu, &Fitting { run: &run, images, pretrained }, observer, stop)?;
    Ok(PoseFit { outcome: trained.outcome, step: trained.step, seconds: trained.seconds, run })
}
