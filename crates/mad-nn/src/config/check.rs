//! Conditions that involve more than one key.

use super::{Config, ConfigError, Partial, Setting, Targets};
use crate::{
    condition::{Condition, Kind},
    method::{METHODS, MethodEntry, require_law},
    net, vision,
};
use mad_core::{manifold::Manifold, noise::NoiseRange};

/// Bases that are no choice, so that every method that brings none of its own bears them.
const PLAIN_BASES: [&str; 2] = ["default", "uniform"];

impl Config {
    /// Whether the settings fit each other and `manifold`; `asked` knows where each came from.
    pub(super) fn check(&self, manifold: &dyn Manifold, asked: &Partial) -> Result<(), ConfigError> {
        NoiseRange::new(self.sigma_min, self.sigma_max).map_err(|problem| ConfigError::Noise { problem })?;
        let spec = self.method_spec();
        self.check_kind(spec.entry, asked)?;
        self.check_targets(asked)?;
        if self.is_on_pictures() {
            self.check_optimiser(asked)?;
            return self.check_pictures(spec.entry, manifold, asked);
        }
        if let Some(problem) = spec.entry.method.refuses(&spec, manifold) {
            let (method, manifold) = (self.method.clone(), self.manifold.clone());
            return Err(ConfigError::Method { origin: asked.origin("method"), method, manifold, problem });
        }
        self.check_network(manifold, asked)?;
        self.check_optimiser(asked)?;
        self.check_fresh(asked)?;
        self.check_condition(asked)?;
        self.check_base(spec.entry, asked)
    }

    /// A method takes points alone, columns as a condition, or pictures.
    fn check_kind(&self, entry: &MethodEntry, asked: &Partial) -> Result<(), ConfigError> {
        let (condition, takes) = (self.conditioned_on(), entry.method.conditions());
        if takes.contains(&condition.kind()) {
            return Ok(());
        }
        let able = METHODS.iter().filter(|entry| entry.method.conditions().contains(&condition.kind()));
        let able = able.map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        let (origin, method) = (asked.origin("method"), self.method.clone());
        match condition.kind() {
            Kind::Columns => Err(ConfigError::Condition {
                origin: asked.origin("condition"),
                condition: self.condition.clone(),
                method,
                able,
            }),
            Kind::Pictures => {
                Err(ConfigError::Kind { origin, method, problem: format!("does not see pictures; use {able}") })
            }
            Kind::Nothing => {
                let problem =
                    format!("learns poses from pictures alone; set condition = picture=COLUMN, or use {able}");
                Err(ConfigError::Kind { origin, method, problem })
            }
        }
    }

    /// Some targets are for points, the others for pictures.
    fn check_targets(&self, asked: &Partial) -> Result<(), ConfigError> {
        let on_pictures = matches!(self.targets, Targets::Canonical | Targets::Orbit);
        if on_pictures == self.is_on_pictures() {
            return Ok(());
        }
        let allowed = if on_pictures { "single, averaged, auto on points" } else { "canonical, orbit on pictures" };
        let value = asked.get("targets").and_then(|value| value.as_str()).unwrap_or_default();
        let (origin, value) = (asked.origin("targets"), value.to_owned());
        Err(ConfigError::Value { origin, key: "targets", value, allowed: allowed.into() })
    }

    /// Settings of pictures that do not fit each other.
    fn check_pictures(&self, entry: &MethodEntry, manifold: &dyn Manifold, asked: &Partial) -> Result<(), ConfigError> {
        let refuse =
            |key: &'static str, problem: String| Err(ConfigError::Picture { origin: asked.origin(key), key, problem });
        if let Err(problem) = crate::condition::symmetry_of(&self.conditioned_on(), &manifold.spec()) {
            return refuse("manifold", problem);
        }
        if let Err(e) = vision::Encoder::new(&self.encoder, self.encoder_shape(self.features)) {
            return refuse("encoder", e.to_string());
        }
        let solid = matches!(self.conditioned_on(), Condition::Solid(_));
        if !solid && !self.archive.is_empty() {
            return refuse("archive", "it holds pictures of solids; set condition = picture=symsol:SOLID".into());
        }
        if !solid && self.symmetrised {
            return refuse("symmetrised", "moved pictures show moved poses only for solids lit from the camera".into());
        }
        if !self.archive.is_empty() && self.evaluate_every > 0 {
            return refuse("evaluate_every", "an archive has no validation part; set it to 0".into());
        }
        if entry.method.anchor().is_none() {
            // Written out in every config file, so that only other values than the defaults are a mistake.
            for key in ["head", "level_features", "targets", "sigma_min", "sigma_max", "sampler", "nfe", "rho"] {
                let usual = Setting::lookup(key).and_then(|setting| setting.default_value(true));
                if asked.get(key).is_some_and(|value| Some(value) != usual.as_ref()) {
                    return refuse(key, format!("it has no meaning for method = {}", self.method));
                }
            }
        }
        match entry.method.refuses_settings(self) {
            Some((key, problem)) => refuse(key, problem),
            None => Ok(()),
        }
    }

    fn check_network(&self, manifold: &dyn Manifold, asked: &Partial) -> Result<(), ConfigError> {
        let entry = net::lookup(&self.network);
        if entry.is_some_and(|entry| entry.odd) && !manifold.is_odd() {
            return Err(ConfigError::OddNetwork {
                origin: asked.origin("network"),
                network: self.network.clone(),
                manifold: self.manifold.clone(),
            });
        }
        Ok(())
    }

    fn check_optimiser(&self, asked: &Partial) -> Result<(), ConfigError> {
        if self.weight_decay > 0.0 && self.optimizer == "adam" {
            return Err(ConfigError::Value {
                origin: asked.origin("weight_decay"),
                key: "weight_decay",
                value: self.weight_decay.to_string(),
                allowed: "0 with optimizer = adam; use optimizer = adamw".into(),
            });
        }
        if self.warmup > self.steps && asked.get("warmup").is_some() {
            return Err(ConfigError::Value {
                origin: asked.origin("warmup"),
                key: "warmup",
                value: self.warmup.to_string(),
                allowed: format!("at most steps = {}", self.steps),
            });
        }
        Ok(())
    }

    /// New rows come from a law, and have no columns beside the point.
    fn check_fresh(&self, asked: &Partial) -> Result<(), ConfigError> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        let (origin, fresh) = (asked.origin("fresh"), self.fresh.clone());
        if !self.condition.is_empty() {
            return Err(ConfigError::FreshCondition { origin, fresh, condition: self.condition.clone() });
        }
        require_law(&self.fresh).map_err(|e| ConfigError::Fresh { origin, fresh, problem: e.to_string() })
    }

    /// Some rows must see the condition.
    fn check_condition(&self, asked: &Partial) -> Result<(), ConfigError> {
        if !self.condition.is_empty() && self.condition_dropout >= 1.0 {
            return Err(ConfigError::Value {
                origin: asked.origin("condition_dropout"),
                key: "condition_dropout",
                value: self.condition_dropout.to_string(),
                allowed: format!("less than 1, or no row would see {}", self.condition),
            });
        }
        Ok(())
    }

    /// A method that is a base measure is that one; one that builds on none gets none that would have to be fitted or read.
    fn check_base(&self, entry: &MethodEntry, asked: &Partial) -> Result<(), ConfigError> {
        let base = self.base.as_str();
        let advice = match entry.method.own_base() {
            Some(own) if base != own => {
                format!(
                    "the base is all there is to it; leave base out, or use method = mad, steps = 0 for {base} alone"
                )
            }
            None if entry.method.anchor().is_none() && !PLAIN_BASES.contains(&base) => {
                "it starts from the uniform law and would ignore the base; leave base out, or use method = mad".into()
            }
            _ => return Ok(()),
        };
        let (origin, method, base) = (asked.origin("base"), self.method.clone(), self.base.clone());
        Err(ConfigError::Base { origin, method, base, advice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::catalogue::{BuildContext, build};

    fn resolve(spec: &str, settings: &str) -> Result<Config, ConfigError> {
        let manifold = build(spec, &BuildContext::without_files()).expect("a known manifold");
        Config::resolve(&Partial::from_toml(settings, "test")?, manifold.as_ref())
    }

    #[test]
    fn new_rows_come_from_laws_and_have_no_condition() {
        assert!(resolve("so3", "fresh = 'so3-mixture:16'").is_ok());
        let error = resolve("so3", "fresh = 'so3-mixture:16'\ncondition = 'depth'").unwrap_err();
        assert!(matches!(error, ConfigError::FreshCondition { .. }), "{error}");
        for table in ["earthquake", "volcano", "earthquakes-week"] {
            let error = resolve("sphere:2", &format!("fresh = '{table}'")).unwrap_err();
            assert!(matches!(error, ConfigError::Fresh { .. }), "{error}");
            assert!(error.to_string().contains(table), "{error}");
        }
        assert!(matches!(resolve("sphere:2", "fresh = 'nonsense'"), Err(ConfigError::Fresh { .. })));
    }

    #[test]
    fn conditions_are_for_denoisers() {
        for entry in METHODS {
            let resolved = resolve("sphere:2", &format!("method = '{}'\ncondition = 'depth'", entry.name));
            match entry.name {
                "mad" | "dsm" | "skip" => assert!(resolved.is_ok(), "{}", entry.name),
                _ => assert!(matches!(resolved, Err(ConfigError::Condition { .. })), "{}", entry.name),
            }
        }
    }

    #[test]
    fn bases_that_make_another_method_or_nothing_are_refused() {
        for (method, base) in [
            ("kde", "uniform"),
            ("kde", "default"),
            ("kde", "mixture"),
            ("mixture", "kde"),
            ("mixture:", "uniform"),
            ("rsgm", "mixture"),
            ("rsgm:loss=dsmv", "kde"),
            ("rfm", "mixture"),
            ("fff", "mixture:means.csv"),
        ] {
            let error = resolve("sphere:2", &format!("method = '{method}'\nbase = '{base}'")).unwrap_err();
            assert!(matches!(error, ConfigError::Base { .. }), "{error}");
            assert!(error.to_string().starts_with("test: base = "), "{error}");
        }
    }

    /// Settings of the experiments, and every method with the bases that mean something to it.
    #[test]
    fn bases_that_belong_to_the_method_stay() {
        for settings in ["method = 'kde'\nsteps = 2000", "method = 'mixture'\nsteps = 2000", "method = 'mixture:'"] {
            let config = resolve("sphere:2", settings).expect("its own base");
            assert_eq!(config.base, config.method_spec().entry.name);
        }
        assert!(resolve("so3", "method = 'mad'\nbase = 'mixture'\nsteps = 0").is_ok());
        assert!(resolve("sphere:2", "method = 'kde'\nbase = 'kde'").is_ok());
        assert!(resolve("sphere:2", "method = 'kde'\nrecipe = 'paper-mad'").is_ok());
        for method in ["mad", "dsm", "skip", "rsgm", "rfm", "fff"] {
            for base in PLAIN_BASES {
                assert!(
                    resolve("sphere:2", &format!("method = '{method}'\nbase = '{base}'")).is_ok(),
                    "{method} {base}"
                );
            }
        }
        // Denoisers start samples from the base and measure densities against it, whatever their anchor is.
        for method in ["mad", "dsm", "skip"] {
            assert!(resolve("sphere:2", &format!("method = '{method}'\nbase = 'mixture'")).is_ok(), "{method}");
        }
    }
}
