//! What a run is made of: flat keys, the same in a config file and in assignments `key=value`.
//!
//! A [`Partial`] holds what somebody asked for, checked key by key. [`Config::resolve`] fills the rest from the recipe and
//! from what suits the manifold; the result is written into the run folder.

mod activation;
mod base;
mod check;
mod domain;
mod error;
mod hints;
mod levels;
mod methods;
mod partial;
mod recipe;
mod settings;
mod written;

pub use base::BaseSpec;
pub(crate) use check::require_distribution;
pub use domain::{Domain, Form};
pub use error::ConfigError;
pub use levels::Levels;
pub(crate) use methods::Learner;
pub use methods::{METHODS, MethodEntry, MethodOption, MethodSpec};
pub use partial::Partial;
pub use recipe::{RECIPES, Recipe};
pub use settings::{SETTINGS, Setting};
pub use written::Written;

use crate::{
    condition::{Condition, PictureError, SolidPictures, pretrained},
    net::{self, Activation},
    optim::{Adam, Decline, Rate},
    vision,
};
use mad_core::{estimate::version, manifold::Manifold, noise::NoiseRange, registry, table::SplitRule};
use serde::{Deserialize, Serialize};

/// Which weights a finished run answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// Those with the best validation score.
    Best,
    /// Those of the last step.
    Last,
}

/// What the network is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Targets {
    /// The clean point that was noised.
    Single,
    /// The mean of all training points that could have been noised to the same place: the same minimum, less noise.
    Averaged,
    /// Averaged, over blocks of rows where sums over all training points would be slow.
    Auto,
    /// One fixed representative of all poses that look the same, as in the MAD paper; samples are lifted to a random one.
    Canonical,
    /// All poses that look the same at once: the posterior mean over the whole orbit.
    Orbit,
}

/// The part of a denoiser on pictures that sees the noised pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// Compares the noised pose with what the picture shows, in coordinates that do not tell equal looks apart.
    Equivariant,
    /// Residual blocks that the picture and the noise level modulate, as in the MAD paper; for canonical targets.
    Modulated,
}

/// How the averaged weights begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmaStart {
    /// With a short memory that grows, so that the initial weights are soon forgotten.
    Warm,
    /// With the full memory, so that the initial weights fade only slowly.
    Cold,
}

/// A complete, checked description of a run. Field by field this is `config.toml`; [`SETTINGS`] explains each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Config {
    pub manifold: String,
    pub method: Written<MethodSpec>,
    pub base: Written<BaseSpec>,
    pub recipe: String,
    pub steps: u64,
    pub batch: u64,
    pub seed: u64,
    pub learning_rate: f64,
    pub schedule: Decline,
    pub warmup: u64,
    pub learning_rate_start: f64,
    pub learning_rate_end: f64,
    pub optimizer: String,
    pub weight_decay: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub clip: f64,
    pub ema: f64,
    pub ema_start: EmaStart,
    pub sigma_min: f64,
    pub sigma_max: f64,
    pub levels: Written<Levels>,
    pub targets: Targets,
    pub network: String,
    pub width: u64,
    pub depth: u64,
    #[serde(with = "activation")]
    pub activation: Activation,
    pub input_gain: f64,
    pub condition: Written<Condition>,
    pub condition_dropout: f64,
    pub archive: String,
    pub size: usize,
    pub encoder: String,
    pub weights: String,
    pub features: usize,
    pub head: Head,
    pub level_features: usize,
    pub draws: usize,
    pub auxiliary: f64,
    pub symmetrised: bool,
    pub checkpoint_every: u64,
    pub keep_checkpoints: u64,
    pub log_every: u64,
    pub evaluate_every: u64,
    pub validation_rows: u64,
    pub bound_levels: u64,
    pub bound_repeats: u64,
    pub select: Select,
    pub patience: u64,
    pub split: Written<SplitRule>,
    pub fresh: String,
    pub sampler: String,
    pub nfe: u64,
    pub rho: f64,
}

impl Config {
    /// Fills what `partial` leaves open: first from its recipe, then from what suits the manifold, then from defaults.
    pub fn resolve(partial: &Partial, manifold: &dyn Manifold) -> Result<Self, ConfigError> {
        Self::resolve_for(partial, manifold, None)
    }

    /// As [`Config::resolve`], for this many distinct points: few of them are soon overfit.
    pub fn resolve_for(
        partial: &Partial,
        manifold: &dyn Manifold,
        distinct: Option<usize>,
    ) -> Result<Self, ConfigError> {
        let mut asked = partial.clone();
        let origin = partial.origin("manifold");
        match partial.get("manifold").and_then(|v| v.as_str()) {
            Some(spec) if spec != manifold.spec() => {
                return Err(ConfigError::Manifold { origin, asked: spec.into(), given: manifold.spec() });
            }
            _ => asked.insert("manifold", manifold.spec(), "the manifold given"),
        }
        let pictures = asked.condition().is_pictures();
        for setting in SETTINGS.iter().filter(|setting| partial.get(setting.name).is_some()) {
            asked.require_meaning(setting, pictures)?;
        }
        let config = Self::from_table(recipe::fill(&asked, manifold, distinct)?, "resolved config")?;
        config.check(manifold, partial)?;
        Ok(config)
    }

    /// Settings as a run folder's `config.toml` holds them: all that mean something to the run.
    pub fn to_toml(&self) -> String {
        self.written().into_iter().map(|(setting, value)| format!("{} = {value}\n", setting.name)).collect()
    }

    /// Reads a resolved `config.toml` back. Whether the settings fit each other is checked once the manifold is built.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ConfigError> {
        let mut partial = Partial::from_toml(text, origin)?;
        let pictures = partial.condition().is_pictures();
        for setting in SETTINGS {
            match (partial.get(setting.name), setting.unwritten(pictures)) {
                (None, Some(value)) => partial.insert(setting.name, value, "defaults"),
                (None, None) => return Err(ConfigError::Missing { origin: origin.into(), key: setting.name }),
                (Some(_), _) => partial.require_meaning(setting, pictures)?,
            }
        }
        let config = Self::from_table(partial.into_table(), origin)?;
        NoiseRange::new(config.sigma_min, config.sigma_max).map_err(|problem| ConfigError::Noise { problem })?;
        Ok(config)
    }

    fn from_table(table: toml::Table, origin: &str) -> Result<Self, ConfigError> {
        let syntax = |e: toml::de::Error| ConfigError::Syntax { origin: origin.into(), problem: e.message().into() };
        table.try_into().map_err(syntax)
    }

    /// Whether the model sees pictures.
    pub fn is_on_pictures(&self) -> bool {
        self.condition.is_pictures()
    }

    /// The pictures of a solid that the model sees, unless it sees others or none.
    pub(crate) fn solid_pictures(&self) -> Option<SolidPictures<'_>> {
        match *self.condition {
            Condition::Solid(solid) => Some(SolidPictures { solid, archive: &self.archive, size: self.size }),
            _ => None,
        }
    }

    /// The first weights of the encoder of pictures; none if they are random.
    pub(crate) fn pretrained(&self) -> Result<Vec<f32>, PictureError> {
        match self.weights.as_str() {
            "" => Ok(Vec::new()),
            file => pretrained(&self.build_encoder(1), file),
        }
    }

    /// The encoder of pictures, handing on this many numbers.
    pub(crate) fn build_encoder(&self, features: usize) -> vision::Encoder {
        vision::Encoder::new(&self.encoder, self.encoder_shape(features)).expect("checked when the config was made")
    }

    /// What the encoder sees and hands on.
    fn encoder_shape(&self, features: usize) -> vision::EncoderShape {
        vision::EncoderShape { size: self.size, channels: 1, features }
    }

    /// Smallest and largest noise level.
    pub fn noise_range(&self) -> NoiseRange {
        NoiseRange { min: self.sigma_min, max: self.sigma_max }
    }

    /// Whether a mixture is the model itself: the usual one, of one size.
    pub(crate) fn is_plain_mixture(&self) -> bool {
        self.method.entry.own_base == Some(BaseSpec::Mixture)
    }

    /// Version of the fit that the run rests on; `None` if nothing is fitted before its first step.
    pub fn fit_version(&self) -> Option<u32> {
        // As a method of its own a mixture is of one size.
        let stacked = *self.base == BaseSpec::Mixture && !self.is_plain_mixture();
        self.base.is_fitted().then(|| version(stacked))
    }

    /// The learning rate of each step.
    pub fn rate(&self) -> Rate {
        Rate {
            start: self.learning_rate_start,
            peak: self.learning_rate,
            end: self.learning_rate_end,
            warmup: self.warmup.min(self.steps),
            steps: self.steps,
            decline: self.schedule,
        }
    }

    /// The optimiser.
    pub fn adam(&self) -> Adam {
        Adam {
            beta1: self.beta1,
            beta2: self.beta2,
            epsilon: 1e-8,
            weight_decay: self.weight_decay,
            clip: self.clip,
            ema: self.ema,
            warm_start: self.ema_start == EmaStart::Warm,
        }
    }

    /// The network for points of `dim` coordinates and conditions of `condition` numbers.
    pub fn model(&self, dim: usize, condition: usize) -> net::Model {
        let entry = registry::find(net::NETWORKS, &self.network).expect("checked when the config was made");
        let (width, depth) = (self.width as usize, self.depth as usize);
        let (activation, input_gain) = (self.activation, self.input_gain);
        net::Model::new(entry, net::Shape { dim, condition, width, depth, activation, input_gain })
    }

    /// Settings whose values differ between two configs and would change the weights, with both values.
    pub fn differences(&self, other: &Config) -> Vec<Difference> {
        let (before, now) = (self.as_table(), other.as_table());
        let decisive = SETTINGS.iter().filter(|setting| !setting.neutral);
        let values = decisive.map(|setting| (setting.name, &before[setting.name], &now[setting.name]));
        values
            .filter(|(_, before, now)| before != now)
            .map(|(key, before, now)| Difference { key, before: before.to_string(), now: now.to_string() })
            .collect()
    }

    /// Hash of everything that decides the weights; settings such as `keep_checkpoints` do not count.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (setting, value) in self.written().into_iter().filter(|(setting, _)| !setting.neutral) {
            hasher.update(format!("{} = {value}\n", setting.name).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The settings that mean something to the run, with their values.
    pub fn values(&self) -> Vec<(&'static Setting, toml::Value)> {
        let (table, pictures) = (self.as_table(), self.is_on_pictures());
        let meant = SETTINGS.iter().filter(|setting| setting.applies(pictures));
        meant.map(|setting| (setting, table[setting.name].clone())).collect()
    }

    /// Those that `config.toml` names.
    fn written(&self) -> Vec<(&'static Setting, toml::Value)> {
        let (mut values, pictures) = (self.values(), self.is_on_pictures());
        values.retain(|(setting, value)| setting.is_written(pictures, value));
        values
    }

    fn as_table(&self) -> toml::Table {
        toml::Table::try_from(self).expect("a flat struct of numbers and strings is a TOML table")
    }
}

/// A key whose value changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The key.
    pub key: &'static str,
    /// Value in the run folder.
    pub before: String,
    /// Value asked for now.
    pub now: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} was {}, now {}", self.key, self.before, self.now)
    }
}
