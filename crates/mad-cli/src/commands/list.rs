//! `mad list`: the registries, as they are.

use super::scores::OF_RUNS;
use crate::args::{BASES, Common, DEVICES, List, ListKind};
use crate::error::CliError;
use crate::output;
use mad_core::catalogue::{MANIFOLDS, METRICS, datasets::DATASETS};
use mad_core::sample::SAMPLERS;
use mad_core::solids::SOLIDS;
use mad_nn::config::{RECIPES, SETTINGS, Setting};
use mad_nn::method::{METHODS, MethodOption};
use mad_nn::net::NETWORKS;
use mad_nn::vision::ENCODERS;
use serde_json::{Map, Value, json};

const ALL: &[ListKind] = &[
    ListKind::Manifolds,
    ListKind::Samplers,
    ListKind::Methods,
    ListKind::Bases,
    ListKind::Networks,
    ListKind::Datasets,
    ListKind::Metrics,
    ListKind::Settings,
    ListKind::Solids,
    ListKind::Encoders,
    ListKind::Devices,
];

pub fn run(common: &Common, args: &List) -> Result<(), CliError> {
    list(common, args.kind.as_ref().map_or(ALL, std::slice::from_ref))
}

/// Prints these registries.
pub fn list(common: &Common, kinds: &[ListKind]) -> Result<(), CliError> {
    list_registries(common, kinds.iter().map(|kind| registry(*kind)))
}

/// A list of names with their summaries.
pub struct Registry {
    /// What they are names of; the key with `--json`.
    pub title: &'static str,
    /// Names and summaries.
    pub entries: Vec<(String, String)>,
}

/// Prints registries, each below its title.
pub fn list_registries(common: &Common, registries: impl IntoIterator<Item = Registry>) -> Result<(), CliError> {
    let mut fields = Map::new();
    let mut parts = Vec::new();
    for Registry { title, entries } in registries {
        let objects = entries.iter().map(|(name, summary)| json!({ "name": name, "summary": summary })).collect();
        fields.insert(title.to_owned(), Value::Array(objects));
        let widest = entries.iter().map(|r| r.0.chars().count()).max().unwrap_or(0);
        let lines = entries.iter().map(|(name, summary)| format!("  {name:widest$}  {summary}"));
        parts.push(std::iter::once(title.to_owned()).chain(lines).collect::<Vec<_>>().join("\n"));
    }
    output::result(common, "list", Value::Object(fields), || parts.join("\n\n"))
}

fn registry(kind: ListKind) -> Registry {
    let (title, entries) = entries(kind);
    Registry { title, entries }
}

fn entries(kind: ListKind) -> (&'static str, Vec<(String, String)>) {
    let pair = |name: &str, summary: &str| (name.to_owned(), summary.to_owned());
    match kind {
        ListKind::Manifolds => ("manifolds", MANIFOLDS.iter().map(|e| pair(e.usage, e.summary)).collect()),
        ListKind::Samplers => {
            let text = |nfe: usize, summary: &str| format!("{summary}; {nfe} evaluations by default");
            ("samplers", SAMPLERS.iter().map(|e| (e.name.to_owned(), text(e.nfe, e.summary))).collect())
        }
        ListKind::Methods => {
            let recipes = RECIPES.iter().map(|r| (format!("recipe={}", r.name), r.summary.to_owned()));
            let named = METHODS.iter().map(|m| pair(m.name, m.summary));
            let options = METHODS.iter().flat_map(|m| m.options.iter().map(move |option| (m, option)));
            let options = options.map(|(m, MethodOption { key, default })| {
                let text = format!("{} ({}); {default} by default", key.summary, key.allowed());
                (format!("{}:{}=", m.name, key.name), text)
            });
            ("methods", named.chain(options).chain(recipes).collect())
        }
        ListKind::Bases => ("bases", BASES.iter().map(|(name, summary)| pair(name, summary)).collect()),
        ListKind::Devices => ("devices", DEVICES.iter().map(|(name, summary)| pair(name, summary)).collect()),
        ListKind::Networks => ("networks", NETWORKS.iter().map(|e| pair(e.name, e.summary)).collect()),
        ListKind::Datasets => {
            let name = |e: &mad_core::catalogue::datasets::DatasetEntry| match e.parameters {
                [] => e.name.to_owned(),
                parameters => {
                    let words: Vec<String> = parameters.iter().map(|p| format!("{}={}", p.name, p.default)).collect();
                    format!("{}:{}", e.name, words.join(","))
                }
            };
            ("datasets", DATASETS.iter().map(|e| (name(e), e.summary.to_owned())).collect())
        }
        ListKind::Metrics => {
            let of_runs = OF_RUNS.iter().map(|(name, summary)| (name.to_string(), format!("{summary}; needs a run")));
            ("metrics", of_runs.chain(METRICS.iter().map(|e| pair(e.name, e.summary))).collect())
        }
        ListKind::Solids => {
            ("solids", SOLIDS.iter().map(|s| (format!("symsol:{s}"), s.summary().to_owned())).collect())
        }
        ListKind::Encoders => ("encoders", ENCODERS.iter().map(|e| pair(e.name, e.summary)).collect()),
        ListKind::Settings => {
            let text = |s: &Setting| format!("{} ({}{})", s.summary, s.allowed(), usual(s));
            ("settings", SETTINGS.iter().map(|s| (s.name.to_owned(), text(s))).collect())
        }
    }
}

/// The default of a setting on points and on pictures, where it does not follow from others.
fn usual(setting: &Setting) -> String {
    let value = |pictures: bool| setting.default_value(pictures).map(|value| value.to_string());
    match (setting.applies(false), setting.applies(true)) {
        (true, true) if value(false) == value(true) => value(false).map_or(String::new(), |v| format!("; default {v}")),
        (true, true) => {
            let of = |pictures: bool, name: &str| value(pictures).map(|v| format!("; default on {name} {v}"));
            [of(false, "points"), of(true, "pictures")].into_iter().flatten().collect()
        }
        (points, _) => {
            let name = if points { "points" } else { "pictures" };
            format!("; on {name} alone{}", value(!points).map_or(String::new(), |v| format!(", default {v}")))
        }
    }
}
