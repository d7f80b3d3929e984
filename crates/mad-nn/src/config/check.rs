//! Conditions that involve more than one key.

use super::{Config, ConfigError, METHODS, Partial, SETTINGS, Targets};
use crate::{
    condition::{Condition, Kind, symmetry_of},
    net::NETWORKS,
    vision,
};
use mad_core::{catalogue::datasets, manifold::Manifold, noise::NoiseRange, registry, table::DataError};

/// A key that does not go with the others, and what to do about it.
type Refused = (&'static str, String);

impl Config {
    /// Whether the settings fit each other and `manifold`; `asked` knows where each came from.
    pub(crate) fn check(&self, manifold: &dyn Manifold, asked: &Partial) -> Result<(), ConfigError> {
        NoiseRange::new(self.sigma_min, self.sigma_max).map_err(|problem| ConfigError::Noise { problem })?;
        self.agree(manifold, asked).map_err(|(key, problem)| {
            let value = match &self.as_table()[key] {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            ConfigError::Conflict { origin: asked.origin(key), key, value, problem }
        })
    }

    fn agree(&self, manifold: &dyn Manifold, asked: &Partial) -> Result<(), Refused> {
        self.check_kind()?;
        self.check_targets()?;
        if self.is_on_pictures() {
            self.check_optimiser(asked)?;
            return self.check_pictures(manifold, asked);
        }
        if let Some(problem) = (self.method.entry.refuses)(&self.method, manifold) {
            return Err(("method", format!("it cannot be used on {}: {problem}", self.manifold)));
        }
        if registry::find(NETWORKS, &self.network).is_ok_and(|entry| entry.odd) && !manifold.is_odd() {
            let problem = format!("it is odd, but x and -x are different points of {}; use mlp", self.manifold);
            return Err(("network", problem));
        }
        self.check_optimiser(asked)?;
        self.check_fresh()?;
        if self.condition.kind() == Kind::Columns && self.condition_dropout >= 1.0 {
            return Err(("condition_dropout", format!("less than 1, or no row would see {}", self.condition)));
        }
        self.check_base()
    }

    /// A method takes points alone, columns as a condition, or pictures.
    fn check_kind(&self) -> Result<(), Refused> {
        let kind = self.condition.kind();
        if self.method.entry.conditions.contains(&kind) {
            return Ok(());
        }
        let able = METHODS.iter().filter(|entry| entry.conditions.contains(&kind));
        let able = able.map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        Err(match kind {
            Kind::Columns => {
                ("condition", format!("method = {} learns no denoiser and knows no condition; use {able}", self.method))
            }
            Kind::Pictures => ("method", format!("it does not see pictures; use {able}")),
            Kind::Nothing => (
                "method",
                format!("it learns poses from pictures alone; set condition = picture=COLUMN, or use {able}"),
            ),
        })
    }

    /// Some targets are for points, the others for pictures.
    fn check_targets(&self) -> Result<(), Refused> {
        match (matches!(self.targets, Targets::Canonical | Targets::Orbit), self.is_on_pictures()) {
            (true, false) => Err(("targets", "allowed on points: single, averaged, auto".into())),
            (false, true) => Err(("targets", "allowed on pictures: canonical, orbit".into())),
            _ => Ok(()),
        }
    }

    /// Settings of pictures that do not fit each other.
    fn check_pictures(&self, manifold: &dyn Manifold, asked: &Partial) -> Result<(), Refused> {
        symmetry_of(&self.condition, &manifold.spec()).map_err(|problem| ("manifold", problem))?;
        vision::Encoder::new(&self.encoder, self.encoder_shape(self.features))
            .map_err(|e| ("encoder", e.to_string()))?;
        let refuse = |key, problem: &str| Err((key, problem.into()));
        let solid = matches!(*self.condition, Condition::Solid(_));
        if !solid && !self.archive.is_empty() {
            return refuse("archive", "it holds pictures of solids; set condition = picture=symsol:SOLID");
        }
        if !solid && self.symmetrised {
            return refuse("symmetrised", "moved pictures show moved poses only for solids lit from the camera");
        }
        if !self.archive.is_empty() && self.evaluate_every > 0 {
            return refuse("evaluate_every", "an archive has no validation part; set it to 0");
        }
        if !self.method.entry.is_denoiser() {
            // Written out in every config file, so that only other values than the defaults are a mistake.
            for key in ["head", "level_features", "targets", "sigma_min", "sigma_max", "sampler", "nfe", "rho"] {
                let usual = registry::find(SETTINGS, key).ok().and_then(|setting| setting.default_value(true));
                if asked.get(key).is_some_and(|value| Some(value) != usual.as_ref()) {
                    return Err((key, format!("it has no meaning for method = {}", self.method)));
                }
            }
        }
        (self.method.entry.refuses_settings)(self).map_or(Ok(()), Err)
    }

    fn check_optimiser(&self, asked: &Partial) -> Result<(), Refused> {
        if self.weight_decay > 0.0 && self.optimizer == "adam" {
            return Err(("weight_decay", "it must be 0 with optimizer = adam; use optimizer = adamw".into()));
        }
        if self.warmup > self.steps && asked.get("warmup").is_some() {
            return Err(("warmup", format!("at most steps = {}", self.steps)));
        }
        Ok(())
    }

    /// New rows come from a known distribution, and have no columns besides the point.
    fn check_fresh(&self) -> Result<(), Refused> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        if self.condition.kind() != Kind::Nothing {
            let problem = "it makes points without a condition";
            return Err(("fresh", format!("{problem} = {}; leave one of the two out", self.condition)));
        }
        require_distribution(&self.fresh).map_err(|e| ("fresh", e.to_string()))
    }

    /// A method that is a base measure is that one; one that builds on none gets none that would have to be fitted or read.
    fn check_base(&self) -> Result<(), Refused> {
        let (base, method) = (&self.base, &self.method);
        let advice = match &method.entry.own_base {
            Some(own) if **base != *own => {
                format!(
                    "the base is all there is to it; leave base out, or use method = mad, steps = 0 for {base} alone"
                )
            }
            None if !method.entry.is_denoiser() && !base.is_plain() => {
                "it starts from the uniform distribution and would ignore the base; leave base out, or use method = mad"
                    .into()
            }
            _ => return Ok(()),
        };
        Err(("base", format!("it does not go with method = {method}: {advice}")))
    }
}

/// Refuses data sets that are fixed tables: rows drawn from one again are those of its validation and test part.
pub(crate) fn require_distribution(dataset: &str) -> Result<(), DataError> {
    let (entry, _) = datasets::dataset(dataset)?;
    if entry.is_distribution {
        return Ok(());
    }
    let known: Vec<_> =
        datasets::DATASETS.iter().filter(|entry| entry.is_distribution).map(|entry| entry.name).collect();
    let problem = format!("a fixed table, of which no new rows can be made; they can be of {}", known.join(", "));
    Err(DataError::DatasetArgument { name: entry.name.into(), problem })
}
