//! What a checkpoint says about itself.

use super::{CheckpointError, Identity, State, tensors};
use crate::net::Layout;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the form of checkpoints.
pub const SCHEMA: u32 = 1;

/// Contents of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub version: String,
    /// Hash of the settings that decide the weights.
    pub config_hash: String,
    /// Hash of the data.
    pub data_hash: String,
    /// How far the run is.
    pub progress: Progress,
    /// Steps the optimiser has taken; smaller than the run's if some were skipped.
    pub optimiser_step: u64,
    /// The tensor file.
    pub file: FileRecord,
    /// Its tensors.
    pub tensors: Vec<TensorRecord>,
}

/// Size and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Bytes.
    pub bytes: u64,
    /// BLAKE3 in hexadecimal digits.
    pub hash: String,
}

/// Name, shape and hash of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorRecord {
    /// Name in the tensor file.
    pub name: String,
    /// Row-major shape.
    pub shape: Vec<usize>,
    /// BLAKE3 of its little-endian bytes.
    pub hash: String,
}

/// How far a run is and what it has seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Steps done; also the index of the next stream of random numbers.
    pub step: u64,
    /// Sum of the losses since the last logged line.
    pub loss_sum: f64,
    /// How many they are.
    pub loss_count: u64,
    /// Loss of the last step whose loss was finite.
    pub last_loss: Option<f64>,
    /// Steps in a row that were skipped because loss or gradient was not finite.
    pub skipped: u64,
    /// Best validation so far.
    pub best: Option<Best>,
    /// Validations since then.
    pub stale: u64,
    /// Whether patience ran out.
    pub stopped_early: bool,
}

/// A validation score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// Step after which it was measured.
    pub step: u64,
    /// Bound on the negative log-likelihood; smaller is better.
    pub nll: f64,
    /// Whether it is per unit of the file; scores of earlier versions are per unit that the model sees.
    #[serde(default)]
    pub file_units: bool,
}

impl Manifest {
    pub(super) fn new(layout: &Layout, state: &State, identity: &Identity, file: &[u8]) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            config_hash: identity.config_hash.clone(),
            data_hash: identity.data_hash.clone(),
            progress: state.progress.clone(),
            optimiser_step: state.weights.step,
            file: FileRecord { bytes: file.len() as u64, hash: blake3::hash(file).to_hex().to_string() },
            tensors: tensors::records(layout, &state.weights),
        }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings can be written as JSON") + "\n"
    }

    pub(super) fn from_json(bytes: &[u8], path: &Path) -> Result<Self, CheckpointError> {
        /// The part that every schema has.
        #[derive(Deserialize)]
        struct Header {
            schema: u32,
            version: String,
        }
        let bad = |problem: String| CheckpointError::Manifest { path: path.to_path_buf(), problem };
        let header: Header = serde_json::from_slice(bytes).map_err(|e| bad(e.to_string()))?;
        if header.schema > SCHEMA {
            let Header { schema, version } = header;
            return Err(CheckpointError::Newer { path: path.to_path_buf(), version, schema, known: SCHEMA });
        }
        if header.schema == 0 {
            return Err(bad("there is no schema 0; the file is damaged or was edited".into()));
        }
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        serde_path_to_error::deserialize(&mut reader).map_err(|e| bad(e.to_string()))
    }

    /// Whether this is the manifest of `step` of the run with `identity` and a network with `layout`.
    pub(super) fn check(
        &self,
        place: &Path,
        step: u64,
        layout: &Layout,
        identity: &Identity,
    ) -> Result<(), CheckpointError> {
        let path = || place.join("manifest.json");
        if self.progress.step != step {
            let problem = format!("it says step {}", self.progress.step);
            return Err(CheckpointError::Manifest { path: path(), problem });
        }
        if self.config_hash != identity.config_hash {
            return Err(CheckpointError::Foreign { path: place.to_path_buf(), what: "config" });
        }
        if self.data_hash != identity.data_hash {
            return Err(CheckpointError::Foreign { path: place.to_path_buf(), what: "data" });
        }
        let expected = tensors::names(layout);
        let same = expected.len() == self.tensors.len()
            && expected.iter().zip(&self.tensors).all(|((name, shape), r)| *name == r.name && *shape == r.shape);
        if !same {
            let problem = "its tensors are not those of the network in config.toml".to_string();
            return Err(CheckpointError::Manifest { path: path(), problem });
        }
        Ok(())
    }
}
