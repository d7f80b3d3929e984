//! Which settings of a run were chosen, and which follow from these.

use crate::input::quoted;
use mad_core::manifold::Manifold;
use mad_nn::config::{Config, Partial, SETTINGS, Setting};
use toml::{Table, Value};

/// The settings of a run in two groups.
pub struct Settings {
    /// Those that must be given to get the others, without the manifold.
    pub chosen: Vec<(&'static Setting, String)>,
    /// Those that follow from the chosen ones, the manifold and the data.
    pub implied: Vec<(&'static Setting, String)>,
}

impl Settings {
    /// Divides the settings of a run on this number of distinct points.
    ///
    /// A setting is chosen if the run would have another configuration without it: `steps` decides `evaluate_every`, so
    /// only a deviation from that is listed.
    pub fn of(config: &Config, manifold: &dyn Manifold, distinct: usize) -> Self {
        let table = as_table(config);
        let others = || SETTINGS.iter().filter(|key| key.name != "manifold" && key.applies(config.is_on_pictures()));
        let resolved = |keys: &[&'static Setting]| {
            let mut partial = Partial::new();
            for key in keys {
                partial.put(key.name, table.get(key.name)?.clone(), "report").ok()?;
            }
            Config::resolve_for(&partial, manifold, Some(distinct)).ok()
        };
        let mut chosen: Vec<&'static Setting> = match resolved(&[]) {
            Some(default) => {
                let default = as_table(&default);
                others().filter(|key| default.get(key.name) != table.get(key.name)).collect()
            }
            None => others().collect(),
        };
        // A deviation from a default may itself follow from another one; what decides comes before what is decided.
        if resolved(&chosen).as_ref() != Some(config) {
            chosen = others().collect();
        }
        // Twice: a method may decide the base, and the base as a choice of its own would decide other settings.
        for key in SETTINGS.iter().rev().chain(SETTINGS.iter().rev()) {
            let fewer: Vec<_> = chosen.iter().copied().filter(|k| k.name != key.name).collect();
            if fewer.len() < chosen.len() && resolved(&fewer).as_ref() == Some(config) {
                chosen = fewer;
            }
        }
        let value = |key: &Setting| table.get(key.name).map(plain).unwrap_or_default();
        let is_chosen = |key: &&Setting| chosen.iter().any(|k| k.name == key.name);
        Self {
            implied: SETTINGS
                .iter()
                .filter(|key| key.applies(config.is_on_pictures()) && !is_chosen(key))
                .map(|key| (key, value(key)))
                .collect(),
            chosen: chosen.iter().map(|key| (*key, value(key))).collect(),
        }
    }

    /// The chosen settings as words of `mad fit`, each with a blank before it.
    pub fn flags(&self) -> String {
        let flag = |(key, value): &(&Setting, String)| match key.name {
            name @ ("method" | "base" | "steps" | "batch") => format!(" --{name} {}", quoted(value)),
            // Always said, so that nobody draws another one.
            "seed" => String::new(),
            name => format!(" --set {}", quoted(&format!("{name}={value}"))),
        };
        self.chosen.iter().map(flag).collect()
    }
}

fn as_table(config: &Config) -> Table {
    Table::try_from(config).unwrap_or_default()
}

/// A value as it is typed after `key=`.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::catalogue::{BuildContext, build};

    fn resolved(settings: &[&str], distinct: usize) -> (Config, Settings) {
        let manifold = build("sphere:2", &BuildContext::new(|_| unreachable!("no files"))).expect("a manifold");
        let mut partial = Partial::new();
        settings.iter().for_each(|text| partial.assign(text, "test").expect("a setting"));
        let config = Config::resolve_for(&partial, manifold.as_ref(), Some(distinct)).expect("a configuration");
        let settings = Settings::of(&config, manifold.as_ref(), distinct);
        (config, settings)
    }

    #[test]
    fn only_what_decides_is_listed() {
        let names = |settings: &Settings| settings.chosen.iter().map(|(key, _)| key.name).collect::<Vec<_>>();
        let (_, none) = resolved(&[], 100);
        assert_eq!(names(&none), Vec::<&str>::new());
        // Neither the validations nor the checkpoints that follow from the steps.
        let (config, few) = resolved(&["steps=300", "width=64", "seed=5"], 100);
        assert_eq!(names(&few), ["steps", "seed", "width"]);
        assert_eq!(few.flags(), " --steps 300 --set width=64");
        let (_, paper) = resolved(&["recipe=paper-mad", "evaluate_every=7"], 9000);
        assert_eq!(names(&paper), ["recipe", "evaluate_every"]);
        let (_, kde) = resolved(&["method=kde"], 100);
        assert_eq!(names(&kde), ["method"]);
        assert_eq!(few.chosen.len() + few.implied.len(), config.values().len());
    }
}
