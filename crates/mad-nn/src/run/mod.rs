//! Run folders: everything a run was made from and has become, enough to continue, to sample and to judge.
//!
//! ```text
//! RUN/
//! ├─ config.toml     resolved settings
//! ├─ run.json        version, seed, rows, hashes
//! ├─ columns.json    how points are written in files
//! ├─ base.json       the base measure
//! ├─ data/           train.npy, validation.npy, test.npy; conditions, pictures; finite sets
//! ├─ metrics.jsonl   one line per logged loss and per validation
//! ├─ timing.jsonl    seconds, which no two runs share, and the device
//! ├─ source.json     the data as they were named when the run was made; for reports only
//! └─ checkpoints/    step-00002000/ …
//! ```

mod create;
mod error;
mod info;
mod lock;
mod prepare;
mod text_file;

pub use crate::parts::{Part, Parts};
pub use create::{Contents, RunColumns, require_free, require_resumable};
pub use error::RunError;
pub use info::{RunInfo, SupportRecord};
pub use prepare::PrepareError;

pub(crate) use create::create;
pub(crate) use lock::Lock;
use text_file::bytes;
pub(crate) use text_file::text;

use crate::{
    checkpoint::{self, CheckpointError, Identity, TrainingStatus},
    condition::{PoseBatch, symmetry_of},
    config::{Config, ConfigError, Partial},
    net::Model,
};
use mad_core::{
    Points,
    catalogue::{BuildContext, build},
    estimate::BaseChoice,
    manifold::{Manifold, ManifoldError, PointTable},
    measure::BaseMeasure,
    rotation::Symmetry,
    table::{DataError, Table, points_from_npy},
};
use serde::de::DeserializeOwned;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// Largest array of a run folder, in bytes.
const MAX_ARRAY: u64 = 16 << 30;

/// An open run folder. Only reading; training locks the folder.
#[derive(Debug, Clone)]
pub struct Run {
    path: PathBuf,
    config: Config,
    info: RunInfo,
    columns: RunColumns,
    manifold: Arc<dyn Manifold>,
    base: Arc<dyn BaseMeasure>,
    /// A temporary folder, removed with the last run in it.
    temporary: Option<Arc<TempDir>>,
}

impl Run {
    /// Opens a run folder and builds its manifold and base measure.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        Self::open_with(path, None, None)
    }

    /// As [`Run::open`], with a manifold or base measure of the program's own, which no folder can hold. Those that the folder
    /// can build are built from it.
    pub fn open_with(
        path: &Path,
        manifold: Option<&Arc<dyn Manifold>>,
        base: Option<&Arc<dyn BaseMeasure>>,
    ) -> Result<Self, RunError> {
        if path.join("pose.json").is_file() {
            return Err(RunError::PoseFolder { path: path.into() });
        }
        if !path.join("run.json").is_file() {
            return Err(RunError::NotARun { path: path.into() });
        }
        let info = RunInfo::from_json(&text(&path.join("run.json"))?, &path.join("run.json"))?;
        let config = Config::from_toml(&text(&path.join("config.toml"))?, &path.join("config.toml").to_string_lossy())
            .map_err(|problem| RunError::Damaged { path: path.join("config.toml"), problem: problem.to_string() })?;
        let columns: RunColumns = hashed_json(path, &info, "columns.json")?;
        let manifold = {
            let context = BuildContext::new(|name| Ok(read_support(path, &info, name)?));
            match (build(&config.manifold, &context), manifold) {
                (Ok(known), _) => known,
                (Err(ManifoldError::Unknown(_)), Some(own)) if own.spec() == config.manifold => own.clone(),
                (Err(e), _) => {
                    return Err(RunError::Damaged { path: path.join("config.toml"), problem: e.to_string() });
                }
            }
        };
        let disagree =
            |problem: ConfigError| RunError::Damaged { path: path.join("config.toml"), problem: problem.to_string() };
        config.check(manifold.as_ref(), &Partial::new()).map_err(disagree)?;
        let choice = match (base_choice(path, &info)?, base) {
            (BaseChoice::Own { .. }, Some(own)) => BaseChoice::own(own.clone()),
            (choice, _) => choice,
        };
        let base = choice
            .build(manifold.as_ref())
            .map_err(|problem| RunError::Damaged { path: path.join("base.json"), problem: problem.to_string() })?;
        Ok(Self { path: path.into(), config, info, columns, manifold, base, temporary: None })
    }

    /// Removes `folder` once this run and its clones are gone.
    pub(crate) fn keep(&mut self, folder: TempDir) {
        self.temporary = Some(Arc::new(folder));
    }

    /// The run with other settings, which leave its weights alone.
    pub(crate) fn with_config(self, config: Config) -> Self {
        Self { config, ..self }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Resolved settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Versions, rows and hashes.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// How points stand in files, as it was handed in.
    pub fn columns(&self) -> &RunColumns {
        &self.columns
    }

    /// The set the data lie on.
    pub fn manifold(&self) -> &Arc<dyn Manifold> {
        &self.manifold
    }

    /// The base measure as the value that is kept.
    pub fn base_choice(&self) -> Result<BaseChoice, RunError> {
        base_choice(&self.path, &self.info)
    }

    /// The base measure.
    pub fn base(&self) -> &Arc<dyn BaseMeasure> {
        &self.base
    }

    /// Points of a part, in ambient coordinates, checked against the hash in `run.json`.
    pub fn part(&self, part: Part) -> Result<Points, RunError> {
        self.array(part.name())
    }

    /// Conditions of a part, one row per point; `None` if the model has none.
    pub fn conditions(&self, part: Part) -> Result<Option<Points>, RunError> {
        let name = format!("{}_condition", part.name());
        self.info.data.contains_key(&name).then(|| self.array(&name)).transpose()
    }

    fn array(&self, name: &str) -> Result<Points, RunError> {
        read_array(&self.path, &self.info, name)
    }

    /// The rows of a table as points, read in the columns and units of the training file.
    pub fn decode(&self, table: &Table) -> Result<Points, DataError> {
        let manifold = self.manifold.as_ref();
        let mut points = self.columns.points.decode_on(table, manifold)?.points;
        points.rows_mut().for_each(|x| manifold.canonicalise(x));
        Ok(points)
    }

    /// The network of a denoising method, without weights.
    pub fn model(&self) -> Model {
        self.config.model(self.manifold.ambient_dim(), self.info.condition)
    }

    /// The rotations after which what the pictures of this run show looks the same; the identity alone on points.
    pub fn symmetry(&self) -> Symmetry {
        symmetry_of(&self.config.condition, &self.config.manifold).unwrap_or(Symmetry::Trivial)
    }

    /// At most `most` pictures of a part with their poses. Those of solids are rendered or read from the archive, and training has
    /// no fixed ones; a run without pictures has none.
    pub fn pictures(&self, part: Part, most: usize) -> Result<PoseBatch, RunError> {
        if let Some(pictures) = self.config.solid_pictures() {
            return Ok(pictures.part(part, most)?);
        }
        if !self.config.is_on_pictures() {
            return Ok(PoseBatch::default());
        }
        let pixels = self.array(&format!("{}_picture", part.name()))?;
        let images = pixels.as_slice().iter().map(|v| *v as f32).collect();
        Ok(PoseBatch::new(images, &self.part(part)?).head(most))
    }

    /// What the checkpoints of this run belong to.
    pub(crate) fn identity(&self) -> Identity {
        Identity { config_hash: self.config.hash(), data_hash: self.info.data_hash.clone() }
    }

    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// Steps of the checkpoints in the folder, rising.
    pub fn steps(&self) -> Result<Vec<u64>, CheckpointError> {
        checkpoint::steps(&self.checkpoints())
    }

    /// The step whose weights answer: the best validated one or the last one, as `select` says.
    pub fn selected_step(&self) -> Result<u64, CheckpointError> {
        checkpoint::selected(&self.checkpoints(), self.config.select)
    }

    /// How far the run is trained.
    pub fn status(&self) -> Result<TrainingStatus, CheckpointError> {
        TrainingStatus::of(&self.checkpoints(), self.config.steps)
    }

    /// Lines of `metrics.jsonl`, oldest first, with likelihoods per unit of the file.
    pub fn metrics(&self) -> Result<Vec<serde_json::Value>, RunError> {
        let file = self.path.join("metrics.jsonl");
        let lines = text(&file)?;
        let lines: Result<Vec<serde_json::Value>, _> = lines.lines().map(serde_json::from_str).collect();
        let mut lines = lines.map_err(|e| RunError::Damaged { path: file, problem: e.to_string() })?;
        let jacobian = self.columns.points.log_jacobian();
        for line in lines.iter_mut().filter(|line| line["file_units"] != true) {
            if let Some(nll) = line["nll"].as_f64() {
                line["nll"] = (nll - jacobian).into();
            }
        }
        Ok(lines)
    }
}

fn base_choice(path: &Path, info: &RunInfo) -> Result<BaseChoice, RunError> {
    hashed_json(path, info, "base.json")
}

/// A JSON file of the run whose hash `run.json` knows.
fn hashed_json<T: DeserializeOwned>(folder: &Path, info: &RunInfo, name: &str) -> Result<T, RunError> {
    let path = folder.join(name);
    let damaged = |problem: String| RunError::Damaged { path: path.clone(), problem };
    let text = text(&path)?;
    if info.data.get(name).map(String::as_str) != Some(blake3::hash(text.as_bytes()).to_hex().as_str()) {
        return Err(damaged("hash mismatch; the file is damaged or was edited".into()));
    }
    serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))
}

fn read_array(folder: &Path, info: &RunInfo, name: &str) -> Result<Points, RunError> {
    let path = folder.join("data").join(format!("{name}.npy"));
    let damaged = |problem: &str| RunError::Damaged { path: path.clone(), problem: problem.into() };
    let expected = info.data.get(name).ok_or_else(|| damaged("run.json does not know this file"))?;
    let bytes = bytes(&path, MAX_ARRAY)?;
    if blake3::hash(&bytes).to_hex().as_str() != expected {
        return Err(damaged("hash mismatch; the file is damaged"));
    }
    points_from_npy(name, &bytes).map_err(|problem| damaged(&problem.to_string()))
}

/// The finite set that a spec calls `points:NAME`, from the run's own copy.
fn read_support(folder: &Path, info: &RunInfo, name: &str) -> Result<PointTable, RunError> {
    let record = info.supports.iter().find(|record| record.name == name).ok_or_else(|| RunError::Damaged {
        path: folder.join("run.json"),
        problem: format!("it does not list the points of `{name}`"),
    })?;
    let points = read_array(folder, info, &record.file)?;
    let weights = match record.weighted {
        true => Some(read_array(folder, info, &format!("{}_weight", record.file))?.into_vec()),
        false => None,
    };
    Ok(PointTable { points, weights })
}
