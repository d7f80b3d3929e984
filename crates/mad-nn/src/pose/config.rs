//! Settings of a pose run: flat keys, the same in a config file and in `--set key=value`.

use super::{POSE_KEYS, PoseError, Turn, method};
use crate::{
    config::{Difference, Select, admit, differences},
    optim::{Adam, Decline, Rate},
    train::Training,
    vision,
};
use mad_core::{noise::NoiseRange, pose::Solid};
use serde::{Deserialize, Serialize};

/// What a denoising method is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoseTargets {
    /// One fixed representative of all poses that look the same, as in the MAD paper; samples are lifted to a random one.
    Canonical,
    /// All poses that look the same at once: the posterior mean over the whole orbit.
    Orbit,
}

/// The part of a denoising method that sees the noised pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoseHead {
    /// Compares the noised pose with what the image says in coordinates that do not tell equal looks apart.
    Equivariant,
    /// Residual blocks that the image and the noise level modulate, as in the MAD paper; for canonical targets.
    Modulated,
}

/// A complete, checked description of a pose run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoseConfig {
    /// The solid: a name from SymSol.
    pub solid: String,
    /// A folder or zip in the layout of SymSol; empty for images rendered on the way.
    pub archive: String,
    /// How poses are learned: a name of [`method::POSE_METHODS`].
    pub method: String,
    /// What a denoising method is held to.
    pub targets: PoseTargets,
    /// What sees the noised pose.
    pub head: PoseHead,
    /// Pixels of a side.
    pub size: usize,
    /// The network that sees the image.
    pub encoder: String,
    /// A file of weights of a torchvision ResNet to begin with, `.safetensors` or `.pth`; empty for random ones.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub weights: String,
    /// Numbers it hands on.
    pub features: usize,
    /// Width of the head.
    pub width: usize,
    /// Hidden layers of the head; couplings of a flow.
    pub depth: usize,
    /// Images in a batch.
    pub images: usize,
    /// Noise draws or queries per image; components of a mixture; centres of a flow's circle maps.
    pub draws: usize,
    /// Training steps.
    pub steps: u64,
    /// Seed of weights, batches and noise.
    pub seed: u64,
    /// Largest learning rate; it falls to zero like half a cosine wave.
    pub learning_rate: f64,
    /// Steps of rising rate.
    pub warmup: u64,
    /// Decay of weights.
    pub weight_decay: f64,
    /// Largest norm of a gradient.
    pub clip: f64,
    /// Memory of the averaged weights.
    pub ema: f64,
    /// Smallest noise level; sampling ends with the posterior mean under it, so that poses nearer to each other than about
    /// 2 sigma_min (as an angle) are not told apart.
    pub sigma_min: f64,
    /// Largest noise level.
    pub sigma_max: f64,
    /// Weight of the regression of the invariant embedding beside the loss of the method.
    pub auxiliary: f64,
    /// Calls of the denoiser per sample.
    pub nfe: usize,
    /// Whether a picture is asked about in all positions that move its pose in a known way, and the answers averaged.
    pub symmetrised: bool,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Checkpoints kept.
    pub keep_checkpoints: u64,
    /// Steps between logged losses.
    pub log_every: u64,
}

impl Default for PoseConfig {
    fn default() -> Self {
        Self {
            solid: "cube".into(),
            archive: String::new(),
            method: "mad".into(),
            targets: PoseTargets::Orbit,
            head: PoseHead::Equivariant,
            size: 32,
            encoder: "cnn-small".into(),
            weights: String::new(),
            features: 64,
            width: 128,
            depth: 3,
            images: 64,
            draws: 32,
            steps: 10_000,
            seed: 0,
            learning_rate: 2e-3,
            warmup: 200,
            weight_decay: 1e-4,
            clip: 1.0,
            ema: 0.999,
            sigma_min: 5e-3,
            sigma_max: 0.7,
            auxiliary: 0.3,
            nfe: 24,
            symmetrised: true,
            checkpoint_every: 1000,
            keep_checkpoints: 1,
            log_every: 100,
        }
    }
}

impl PoseConfig {
    /// Settings from assignments such as `steps=2000`, on top of the defaults for `solid`.
    pub fn new(solid: &str, table: &toml::Table) -> Result<Self, PoseError> {
        let defaults = Self { solid: solid.into(), ..Self::default() };
        let mut full = defaults.table();
        let named = table.get("method").and_then(|v| v.as_str()).unwrap_or(&defaults.method);
        if let Ok(entry) = method::lookup(named) {
            full.extend(entry.method.settings().parse::<toml::Table>().expect("settings of a method are TOML"));
        }
        let canonical = table.get("targets").and_then(|v| v.as_str()) == Some("canonical");
        if canonical {
            // Single points look uniform only under much more noise than whole orbits.
            full.insert("sigma_max".into(), 5.0.into());
        }
        if let Some(other) = table.get("solid").and_then(|v| v.as_str()).filter(|other| *other != solid) {
            let problem = format!("solid = {other} in the settings, but {solid} is asked for; leave one of them out");
            return Err(PoseError::Setting { problem });
        }
        full.extend(table.clone());
        Self::from_table(full, "settings")
    }

    /// Reads `config.toml` back, with the same checks.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, PoseError> {
        let table = text
            .parse::<toml::Table>()
            .map_err(|e| PoseError::Setting { problem: format!("{origin}: {}", e.message()) })?;
        Self::from_table(table, origin)
    }

    fn from_table(table: toml::Table, origin: &str) -> Result<Self, PoseError> {
        let mut checked = toml::Table::new();
        for (name, value) in &table {
            let (key, value) = admit(POSE_KEYS, "pose-settings", name, value, origin)?;
            checked.insert(key.into(), value);
        }
        let config: Self = serde_path_to_error::deserialize(checked).map_err(|e| {
            let (key, problem) = (e.path().to_string(), e.inner().message().to_owned());
            PoseError::Setting { problem: format!("{origin}: {key}: {problem}") }
        })?;
        config.check_together()?;
        Ok(config)
    }

    /// The same settings with so many calls of the denoiser per sample.
    pub(super) fn with_nfe(&self, nfe: usize) -> Result<Self, PoseError> {
        let mut table = self.table();
        table.insert("nfe".into(), toml::Value::Integer(i64::try_from(nfe).unwrap_or(i64::MAX)));
        Self::from_table(table, "--nfe")
    }

    /// As `config.toml` holds it.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a flat struct of numbers and strings can be written as TOML")
    }

    /// Whether settings that are fine by themselves fit each other.
    fn check_together(&self) -> Result<(), PoseError> {
        let refuse = |problem: String| Err(PoseError::Setting { problem });
        let method = method::lookup(&self.method)?;
        vision::Encoder::new(&self.encoder, self.encoder_shape(self.features))
            .map_err(|e| PoseError::Setting { problem: format!("encoder: {e}") })?;
        NoiseRange::new(self.sigma_min, self.sigma_max)
            .map_err(|e| PoseError::Setting { problem: format!("sigma_min, sigma_max: {e}") })?;
        if !method.method.denoises() {
            // Written out in every config file, so that only other values than the usual ones are a mistake.
            let usual = Self::default();
            let given = [
                ("head", self.head != usual.head),
                ("targets", self.targets != usual.targets),
                ("sigma_min", self.sigma_min != usual.sigma_min),
                ("sigma_max", self.sigma_max != usual.sigma_max),
                ("nfe", self.nfe != usual.nfe),
            ];
            if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
                return refuse(format!("method = {}: {key} has no meaning for it", self.method));
            }
        }
        match method.method.refuses(self) {
            Some(problem) => refuse(format!("method = {}: {problem}", self.method)),
            None => Ok(()),
        }
    }

    /// The solid.
    pub fn solid(&self) -> Solid {
        Solid::lookup(&self.solid).expect("checked when the config was made")
    }

    /// What the encoder sees and hands on.
    fn encoder_shape(&self, features: usize) -> vision::EncoderShape {
        vision::EncoderShape { size: self.size, channels: 1, features }
    }

    /// The encoder, handing on so many numbers.
    pub fn build_encoder(&self, features: usize) -> vision::Encoder {
        vision::Encoder::new(&self.encoder, self.encoder_shape(features)).expect("checked when the config was made")
    }

    /// The positions in which a picture is asked about: all that move its pose in a known way, or its own.
    pub fn turns(&self) -> Vec<Turn> {
        match self.symmetrised {
            true => Turn::all(self.solid().is_mirror_symmetric()),
            false => vec![Turn::NONE],
        }
    }

    /// Smallest and largest noise level.
    pub fn noise_range(&self) -> NoiseRange {
        NoiseRange { min: self.sigma_min, max: self.sigma_max }
    }

    /// How the run is trained.
    pub fn training(&self) -> Training {
        Training {
            seed: self.seed,
            steps: self.steps,
            rate: Rate {
                peak: self.learning_rate,
                warmup: self.warmup.min(self.steps),
                steps: self.steps,
                decline: Decline::Cosine,
            },
            adam: Adam {
                beta1: 0.9,
                beta2: 0.999,
                epsilon: 1e-8,
                weight_decay: self.weight_decay,
                clip: self.clip,
                ema: self.ema,
                warm_start: true,
            },
            log_every: self.log_every,
            evaluate_every: 0,
            checkpoint_every: self.checkpoint_every,
            keep_checkpoints: self.keep_checkpoints,
            select: Select::Last,
            patience: 0,
        }
    }

    /// All keys with their values, also those that `config.toml` leaves out.
    pub fn table(&self) -> toml::Table {
        let mut table = toml::Table::try_from(self).expect("a flat struct is a TOML table");
        table.entry("weights").or_insert_with(|| self.weights.clone().into());
        table
    }

    /// Keys whose values differ between two configs and would change the weights, with both values.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        differences(POSE_KEYS, &self.table(), &other.table())
    }

    /// Hash of everything that decides the weights.
    pub fn hash(&self) -> String {
        let decisive =
            Self { checkpoint_every: 1, keep_checkpoints: 1, log_every: 1, nfe: 2, symmetrised: true, ..self.clone() };
        blake3::hash(decisive.to_toml().as_bytes()).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<PoseConfig, PoseError> {
        PoseConfig::new("cube", &text.parse().unwrap())
    }

    #[test]
    fn settings_are_read_back() {
        let made = config("steps = 7\nlearning_rate = 1\ntargets = 'canonical'").unwrap();
        assert_eq!((made.steps, made.learning_rate, made.sigma_max), (7, 1.0, 5.0));
        assert_eq!(PoseConfig::from_toml(&made.to_toml(), "config.toml").unwrap(), made);
        assert_ne!(made.hash(), config("steps = 8").unwrap().hash());
        let often = PoseConfig { checkpoint_every: 3, ..made.clone() };
        assert_eq!(often.hash(), made.hash());
    }

    #[test]
    fn every_setting_is_listed() {
        let (made, table) = (PoseConfig::default(), PoseConfig::default().table());
        let listed: Vec<&str> = POSE_KEYS.iter().map(|key| key.name).collect();
        assert!(listed.len() == table.len() && listed.iter().all(|key| table.contains_key(*key)), "{listed:?}");
        for key in POSE_KEYS.iter().filter(|key| key.neutral) {
            let mut other = table.clone();
            let changed = match &table[key.name] {
                toml::Value::Boolean(v) => (!v).into(),
                v => (v.as_integer().unwrap() + 1).into(),
            };
            other.insert(key.name.into(), changed);
            assert_eq!(PoseConfig::from_table(other, "test").unwrap().hash(), made.hash(), "{}", key.name);
        }
    }

    #[test]
    fn methods_bring_settings_that_can_be_overruled() {
        let made = config("method = 'ipdf'").unwrap();
        assert_eq!((made.draws, made.images, made.symmetrised), (512, 64, false));
        assert_eq!(config("method = 'bingham'\ndraws = 7").unwrap().draws, 7);
        for entry in method::POSE_METHODS {
            let made = config(&format!("method = '{}'", entry.name)).unwrap();
            assert_eq!(PoseConfig::from_toml(&made.to_toml(), "config.toml").unwrap(), made);
        }
    }

    #[test]
    fn faults_are_named_with_their_keys() {
        for (text, words) in [
            ("stesp = 1", "did you mean `steps`"),
            ("steps = 'many'", "steps"),
            ("method = 'magic'", "method"),
            ("encoder = 'eye'", "encoder"),
            ("sigma_min = 2.0", "sigma_min"),
            ("draws = 0", "draws = 0"),
            ("ema = 1.5", "ema"),
            ("head = 'modulated'", "targets = canonical"),
            ("method = 'ipdf'\ntargets = 'canonical'", "targets has no meaning"),
            ("symmetrised = 1", "true, false"),
            ("solid = 'cone'", "but cube is asked for"),
            ("method = 'flow'\nsymmetrised = true", "symmetrised"),
        ] {
            let error = config(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(PoseConfig::new("teapot", &toml::Table::new()).unwrap_err().to_string().contains("icosa"));
    }
}
