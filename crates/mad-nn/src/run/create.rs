//! Making a run folder: all of it or nothing.

use super::{Run, RunError, RunInfo, SupportRecord, text_file::require_readable};
use crate::{
    config::Config,
    disk::Disk,
    parts::{Part, Parts},
};
use mad_core::{
    Points,
    estimate::BaseChoice,
    manifold::{Manifold, PointTable},
    table::{Columns, SplitSummary, points_to_npy, singles_to_npy},
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How rows of a file become points and conditions: kept in `columns.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunColumns {
    /// Columns of the points.
    pub points: Columns,
    /// Columns of the condition, if the model has one.
    pub condition: Option<Columns>,
}

/// What a run is made from.
#[derive(Debug, Clone)]
pub struct Contents {
    /// The set the data lie on.
    pub manifold: Arc<dyn Manifold>,
    /// The base measure.
    pub base: BaseChoice,
    /// The data, in ambient coordinates.
    pub parts: Parts,
    /// Conditions, one row per point.
    pub conditions: Option<Parts>,
    /// Pictures in files, one per point.
    pub pictures: Option<Parts<Vec<f32>>>,
    /// How points stand in files: written to `columns.json` and handed back by [`Run::columns`](super::Run::columns).
    pub columns: RunColumns,
    /// Finite sets the manifold is made of.
    pub supports: Vec<(String, PointTable)>,
    /// Resolved settings.
    pub config: Config,
    /// What the parts are made of, if they were divided here.
    pub split: Option<SplitSummary>,
}

impl Contents {
    /// Replaces every point by the representative of its class.
    pub(crate) fn canonicalise(&mut self) {
        super::prepare::canonicalise(&mut self.parts, self.manifold.as_ref());
    }

    /// Whether everything fits together.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let problem = |problem: String| Err(RunError::Contents { problem });
        let (config, spec, dim) = (&self.config, self.manifold.spec(), self.manifold.ambient_dim());
        if self.parts.train.is_empty() && config.solid_pictures().is_none() {
            return problem("the training part is empty; a fit needs at least one row".into());
        }
        if config.manifold != spec {
            return problem(format!("the settings are for {}, the data on {spec}", config.manifold));
        }
        for part in Part::ALL {
            let (points, name) = (self.parts.get(part), part.name());
            if points.dim() != dim {
                return problem(format!("the {name} part has {} coordinates, {spec} has {dim}", points.dim()));
            }
            if let Some(row) = points.rows().position(|row| row.iter().any(|v| !v.is_finite())) {
                return problem(format!("row {} of the {name} part is not finite", row + 1));
            }
            let pixels = config.size * config.size;
            if self.pictures.as_ref().is_some_and(|pictures| pictures.get(part).len() != points.len() * pixels) {
                return problem(format!("the pictures of the {name} part do not match its rows"));
            }
            if let Some(conditions) = self.conditions.as_ref().map(|conditions| conditions.get(part))
                && (conditions.len() != points.len() || conditions.as_slice().iter().any(|v| !v.is_finite()))
            {
                return problem(format!("the conditions of the {name} part do not match its rows or are not finite"));
            }
        }
        if self.conditions.is_some() && !config.fresh.is_empty() {
            return problem(format!("fresh = {} makes points without a condition", config.fresh));
        }
        config.pretrained()?;
        Ok(())
    }

    /// The run as it will be, without a folder, once everything was found to fit together.
    pub(crate) fn plan(&self) -> Result<Run, RunError> {
        self.check()?;
        let base = self.base.build(self.manifold.as_ref());
        Ok(Run {
            path: PathBuf::new(),
            config: self.config.clone(),
            info: self.blank_info(),
            columns: self.columns.clone(),
            manifold: self.manifold.clone(),
            base: base.map_err(|e| RunError::Contents { problem: format!("base: {e}") })?,
            temporary: None,
        })
    }

    /// What `run.json` says, without the files.
    fn blank_info(&self) -> RunInfo {
        let condition = self.conditions.as_ref().map_or(0, |c| c.train.dim());
        RunInfo::new(self.config.seed, self.manifold.ambient_dim(), condition, self.parts.map(Points::len))
    }

    /// Everything that is written once, and its description.
    fn files(&self) -> Result<Files, RunError> {
        let mut info = self.blank_info();
        let mut arrays = Vec::new();
        for part in Part::ALL {
            arrays.push((part.name().to_string(), points_to_npy(self.parts.get(part))));
            if let Some(conditions) = &self.conditions {
                arrays.push((format!("{}_condition", part.name()), points_to_npy(conditions.get(part))));
            }
        }
        if let Some(pictures) = &self.pictures {
            let pixels = self.config.size * self.config.size;
            let array = |part: Part| (format!("{}_picture", part.name()), singles_to_npy(pictures.get(part), pixels));
            arrays.extend(Part::ALL.map(array));
        }
        for (i, (name, support)) in self.supports.iter().enumerate() {
            let file = format!("support{i}");
            arrays.push((file.clone(), points_to_npy(&support.points)));
            if let Some(weights) = &support.weights {
                arrays.push((format!("{file}_weight"), points_to_npy(&Points::from_vec(weights.clone(), 1))));
            }
            info.supports.push(SupportRecord { name: name.clone(), file, weighted: support.weights.is_some() });
        }
        let texts = self.texts();
        for (name, text) in &texts {
            require_readable(name, text.len())?;
        }
        let files = arrays.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let files = files.chain(texts.iter().map(|(name, text)| (*name, text.as_bytes())));
        info.data = files.map(|(name, bytes)| (name.to_string(), blake3::hash(bytes).to_hex().to_string())).collect();
        // An archive is read where it stands, and must stay what it is.
        if let Some(pictures) = self.config.solid_pictures().filter(|pictures| !pictures.archive.is_empty()) {
            info.data.insert("archive".into(), pictures.training()?.hash());
        }
        info.data_hash = RunInfo::hash_of(&info.data);
        Ok(Files { arrays, texts, info })
    }

    /// The files that say how points stand in files and which base measure they have; the latter may have a component per row.
    fn texts(&self) -> [(&'static str, String); 2] {
        let json = |value: serde_json::Result<String>| value.map(|text| text + "\n").unwrap_or_default();
        [
            ("columns.json", json(serde_json::to_string_pretty(&self.columns))),
            ("base.json", json(serde_json::to_string(&self.base))),
        ]
    }

    /// What `run.json` would say.
    pub(crate) fn info(&self) -> Result<RunInfo, RunError> {
        Ok(self.files()?.info)
    }
}

/// Files of a run folder that never change.
struct Files {
    /// Arrays of `data/` by name.
    arrays: Vec<(String, Vec<u8>)>,
    /// Other files of the folder.
    texts: [(&'static str, String); 2],
    /// What `run.json` says.
    info: RunInfo,
}

/// Refuses a folder that has something in it.
pub fn require_free(path: &Path) -> Result<(), RunError> {
    match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(RunError::Occupied { path: path.into() }),
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(RunError::io("make", path, e)),
        _ => Ok(()),
    }
}

/// Refuses to resume in a folder that has something in it but not `file`, which every run has.
pub fn require_resumable(path: &Path, file: &'static str) -> Result<(), RunError> {
    match require_free(path) {
        Err(RunError::Occupied { path }) if !path.join(file).is_file() => Err(RunError::NothingToResume { path, file }),
        other => other,
    }
}

/// Makes the folder of a planned run: it is written under another name, then renamed. On error nothing is left.
pub(crate) fn create(disk: &dyn Disk, path: &Path, contents: &Contents, planned: Run) -> Result<Run, RunError> {
    require_free(path)?;
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    clean(disk, &parent, &name)?;
    let temporary = parent.join(format!(".{name}.{}.tmp", std::process::id()));
    let made = write(disk, &temporary, contents).and_then(|info| {
        disk.rename(&temporary, path).map_err(|e| RunError::io("make", path, e))?;
        disk.sync_dir(&parent).map_err(|e| RunError::io("sync", &parent, e))?;
        Ok(Run { path: path.into(), info, ..planned })
    });
    if made.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    made
}

/// Removes what killed processes left of the folder `name`. Where the system does not tell who is alive, nothing is touched.
fn clean(disk: &dyn Disk, parent: &Path, name: &str) -> Result<(), RunError> {
    let processes = Path::new("/proc");
    let Ok(entries) = fs::read_dir(parent) else { return Ok(()) };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let number = file
            .to_str()
            .and_then(|file| file.strip_prefix(&format!(".{name}.")))
            .and_then(|rest| rest.strip_suffix(".tmp"))
            .filter(|number| number.parse::<u32>().is_ok());
        let Some(number) = number else { continue };
        if processes.join("self").exists() && !processes.join(number).exists() {
            disk.remove_dir(&entry.path()).map_err(|e| RunError::io("remove", &entry.path(), e))?;
        }
    }
    Ok(())
}

/// Writes all files of a new run.
fn write(disk: &dyn Disk, folder: &Path, contents: &Contents) -> Result<RunInfo, RunError> {
    let Files { arrays, texts, info } = contents.files()?;
    let data = folder.join("data");
    disk.create_dir(&data).map_err(|e| RunError::io("make", &data, e))?;
    let mut files: Vec<(PathBuf, Vec<u8>)> =
        arrays.into_iter().map(|(name, bytes)| (data.join(format!("{name}.npy")), bytes)).collect();
    files.extend(texts.map(|(name, text)| (folder.join(name), text.into_bytes())));
    files.push((folder.join("metrics.jsonl"), Vec::new()));
    files.push((folder.join("config.toml"), contents.config.to_toml().into_bytes()));
    files.push((folder.join("run.json"), info.to_json().into_bytes()));
    for (path, bytes) in files {
        disk.write(&path, &bytes).map_err(|e| RunError::io("write", &path, e))?;
    }
    let checkpoints = folder.join("checkpoints");
    disk.create_dir(&checkpoints).map_err(|e| RunError::io("make", &checkpoints, e))?;
    disk.sync_dir(&data).map_err(|e| RunError::io("sync", &data, e))?;
    disk.sync_dir(folder).map_err(|e| RunError::io("sync", folder, e))?;
    Ok(info)
}
