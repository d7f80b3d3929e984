//! What a run folder says about itself.

use super::RunError;
use crate::parts::Parts;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// Version of the form of run folders.
const SCHEMA: u32 = 2;

/// Contents of `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunInfo {
    /// Version of the form of the folder.
    pub schema: u32,
    /// Version of the program that made it.
    pub version: String,
    /// Source revision of that program, if known when it was built.
    pub revision: Option<String>,
    /// Seed of the run.
    pub seed: u64,
    /// Ambient coordinates.
    pub dim: usize,
    /// Numbers in a condition; 0 for none.
    pub condition: usize,
    /// Rows of each part.
    pub rows: Parts<usize>,
    /// BLAKE3 of every array in `data/`, by name.
    pub data: BTreeMap<String, String>,
    /// BLAKE3 over names and hashes of `data`.
    pub data_hash: String,
    /// Finite sets the manifold is made of.
    pub supports: Vec<SupportRecord>,
    /// Threads in use when the folder was made; results do not depend on it.
    pub threads: usize,
    /// Instruction sets of the machine that matter to the last bits of a result.
    pub features: Vec<String>,
}

/// A finite set named by the manifold, kept in the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportRecord {
    /// Name in the spec, after `points:`.
    pub name: String,
    /// Array in `data/`, without ending.
    pub file: String,
    /// Whether there is an array of weights as well.
    pub weighted: bool,
}

impl RunInfo {
    pub(super) fn new(seed: u64, dim: usize, condition: usize, rows: Parts<usize>) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            revision: option_env!("MAD_REVISION").map(Into::into),
            seed,
            dim,
            condition,
            rows,
            data: BTreeMap::new(),
            data_hash: String::new(),
            supports: Vec::new(),
            threads: rayon::current_num_threads(),
            features: features(),
        }
    }

    /// Hash over names and hashes of all arrays.
    pub(super) fn hash_of(data: &BTreeMap<String, String>) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, hash) in data {
            hasher.update(format!("{name} {hash}\n").as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// A sentence if the folder was made on a machine with other vector instructions, on which last bits differ.
    pub fn other_machine(&self) -> Option<String> {
        let here = features();
        (self.features != here).then(|| {
            format!(
                "the run was begun on {}, this machine is {}; the last bits differ from those of an unbroken run",
                self.features.join(" "),
                here.join(" ")
            )
        })
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings can be written as JSON") + "\n"
    }

    pub(super) fn from_json(text: &str, path: &Path) -> Result<Self, RunError> {
        /// The part that every schema has.
        #[derive(Deserialize)]
        struct Header {
            schema: u32,
            version: String,
        }
        let damaged = |problem: String| RunError::Damaged { path: path.into(), problem };
        let Header { schema, version } = serde_json::from_str(text).map_err(|e| damaged(e.to_string()))?;
        if schema > SCHEMA {
            return Err(RunError::Newer { path: path.into(), version, schema, known: SCHEMA });
        }
        if schema == 0 {
            return Err(damaged("there is no schema 0; the file is damaged or was edited".into()));
        }
        let info: Self = serde_json::from_str(text).map_err(|e| damaged(e.to_string()))?;
        if info.data_hash != Self::hash_of(&info.data) {
            return Err(damaged("data_hash does not match the hashes of the arrays".into()));
        }
        Ok(info)
    }
}

/// Vector instructions the matrix products may use here.
fn features() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let found: [(&str, bool); 0] = [];
    let named = found.iter().filter(|(_, here)| *here).map(|(name, _)| name.to_string());
    std::iter::once(std::env::consts::ARCH.to_string()).chain(named).collect()
}
