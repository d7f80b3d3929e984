//! An experiment as its file describes it.

use super::{EXPERIMENTS, ExperimentError, quantity};
use mad_core::metrics::Kernel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Table;

/// One table or figure. Lists keep their order, which is the order of the output.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name, from the registry or the file.
    #[serde(skip)]
    pub name: String,
    /// Whether this is the smaller version of `--quick`.
    #[serde(skip)]
    pub hurried: bool,
    /// Headline.
    pub title: String,
    /// What it shows, in a sentence or two; Markdown.
    #[serde(default)]
    pub about: String,
    /// Where the paper's values come from.
    #[serde(default)]
    pub source: String,
    /// Another experiment whose data, methods, seeds and scores this one uses.
    pub from: Option<String>,
    /// Which parts of them.
    #[serde(default)]
    pub only: Only,
    /// Seeds of rows, weights, noise and samples.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// Quantities to print, each as a table of methods by data sets.
    #[serde(default)]
    pub tables: Vec<String>,
    /// Settings of every run, as `mad fit --set` takes them. A list is a grid.
    #[serde(default)]
    pub settings: Table,
    /// How runs are scored.
    #[serde(default)]
    pub score: Scoring,
    /// Ways of judging; one nameless way if there are none.
    #[serde(default, rename = "protocol")]
    pub protocols: Vec<Protocol>,
    /// Data sets.
    #[serde(default)]
    pub data: Vec<DataSet>,
    /// Methods.
    #[serde(default, rename = "method")]
    pub methods: Vec<Method>,
    /// What `--quick` changes.
    #[serde(default)]
    pub quick: Quick,
}

/// Parts of an experiment; what is not named is kept whole.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    pub seeds: Option<Vec<u64>>,
    pub data: Option<Vec<String>>,
    pub methods: Option<Vec<String>>,
    pub protocols: Option<Vec<String>>,
}

/// How a run is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scoring {
    /// Most points on each side of the MMD; fewer if the test part is smaller.
    #[serde(default = "thousand")]
    pub samples: usize,
    /// Rows of a fresh test set, for data sets that are generated; the run's own test part if absent.
    pub fresh: Option<usize>,
    /// Kernels of the MMD: the first one is `mmd`, others are `mmd_NAME`. The manifold's own if there are none.
    #[serde(default)]
    pub kernels: Vec<Kernel>,
}

fn thousand() -> usize {
    1000
}

impl Default for Scoring {
    fn default() -> Self {
        Self { samples: thousand(), fresh: None, kernels: Vec::new() }
    }
}

/// A way of judging.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Short name in files.
    pub key: String,
    /// What it means, said above its tables.
    pub title: String,
    /// Settings that make it so.
    #[serde(default)]
    pub settings: Table,
    /// Methods judged so; all if absent.
    pub methods: Option<Vec<String>>,
    /// Whether values of the paper were found so, and are printed beside ours.
    #[serde(default)]
    pub paper: bool,
}

/// A data set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// Short name in this file and in output.
    pub key: String,
    /// Head of its column; the key if absent.
    pub title: Option<String>,
    /// A name from `mad list datasets` or a file; the key if absent.
    pub source: Option<String>,
    /// The manifold of a file.
    pub manifold: Option<String>,
    /// Rows made of a generated set.
    pub rows: Option<usize>,
    /// Points on a curve of MMD over training time; none if absent.
    pub curve: Option<u64>,
    /// Settings on this set.
    #[serde(default)]
    pub settings: Table,
}

/// A row of the tables.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Name in output.
    pub label: String,
    /// Whether it is run; if not, it has values of the paper only.
    #[serde(default = "yes")]
    pub run: bool,
    /// Settings.
    #[serde(default)]
    pub settings: Table,
    /// Settings on some data sets, by key.
    #[serde(default)]
    pub on: BTreeMap<String, Table>,
    /// Lists to search over with `--grid`, instead of the settings above.
    #[serde(default)]
    pub grid: Table,
    /// Settings of a quick run, stronger than those of `[quick]`.
    #[serde(default)]
    pub quick: Table,
    /// The paper's mean and deviation: by quantity, then by data set or `*`.
    #[serde(default)]
    pub paper: BTreeMap<String, BTreeMap<String, (f64, f64)>>,
}

fn yes() -> bool {
    true
}

/// A smaller version that takes minutes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Parts to keep.
    #[serde(default)]
    pub only: Only,
    /// Settings of every run, stronger than all others.
    #[serde(default)]
    pub settings: Table,
    /// How runs are scored.
    pub score: Option<Scoring>,
}

impl Experiment {
    /// The built-in experiment called `name`, whole or in its quick version.
    pub fn named(name: &str, quick: bool) -> Result<Self, ExperimentError> {
        let Some((name, text)) = EXPERIMENTS.iter().find(|(known, _)| *known == name) else {
            let near = |known: &str| strsim::jaro_winkler(known, name);
            let nearest = EXPERIMENTS.iter().map(|e| e.0).max_by(|a, b| near(a).total_cmp(&near(b)));
            let hint = nearest.filter(|n| near(n) > 0.8).map_or(String::new(), |n| format!(" (did you mean `{n}`?)"));
            let known: Vec<&str> = EXPERIMENTS.iter().map(|e| e.0).collect();
            return Err(ExperimentError::Unknown { name: name.into(), hint, known: known.join(", ") });
        };
        Self::from_toml(text, name, quick)
    }

    /// An experiment from the text of its file. `name` is the name of its output.
    pub fn from_toml(text: &str, name: &str, quick: bool) -> Result<Self, ExperimentError> {
        let mut experiment: Self = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            ExperimentError::Syntax { origin: name.into(), line, problem: e.message().to_owned() }
        })?;
        experiment.name = name.to_owned();
        let only = std::mem::take(&mut experiment.only);
        match experiment.from.clone() {
            None => {
                experiment.check()?;
                experiment.keep(&only, "only")?;
            }
            Some(from) => {
                experiment.check_tables()?;
                // Names are checked against the whole experiment; its quick version may have fewer.
                let mut whole = experiment.clone();
                whole.adopt(Self::named(&from, false)?)?;
                whole.keep(&only, "only")?;
                experiment.adopt(Self::named(&from, quick)?)?;
                experiment.retain(&only);
            }
        }
        if quick {
            let changes = std::mem::take(&mut experiment.quick);
            experiment.keep(&changes.only, "quick.only")?;
            experiment.score = changes.score.unwrap_or(experiment.score);
            experiment.hurry(&changes.settings);
            experiment.hurried = true;
        }
        Ok(experiment)
    }

    /// Name of its folder of results.
    pub fn output(&self) -> String {
        if self.hurried { format!("{}-quick", self.name) } else { self.name.clone() }
    }

    /// Takes over the runs of another experiment.
    fn adopt(&mut self, other: Self) -> Result<(), ExperimentError> {
        let own = [
            ("data", self.data.is_empty()),
            ("method", self.methods.is_empty()),
            ("protocol", self.protocols.is_empty()),
            ("settings", self.settings.is_empty()),
            ("seeds", self.seeds.is_empty()),
            ("score", self.score == Scoring::default()),
            ("quick.settings", self.quick.settings.is_empty()),
        ];
        if let Some((key, _)) = own.iter().find(|(_, empty)| !empty) {
            let problem = format!("with from = \"{}\" this comes from there; use [only] to choose", other.name);
            return Err(ExperimentError::Value { origin: self.name.clone(), key: (*key).into(), problem });
        }
        let Self { seeds, settings, score, protocols, data, methods, .. } = other;
        *self = Self { seeds, settings, score, protocols, data, methods, ..self.clone() };
        Ok(())
    }

    /// Makes every run a quick one: quick settings win over all others.
    fn hurry(&mut self, settings: &Table) {
        for method in &mut self.methods {
            let mut quick = settings.clone();
            quick.extend(std::mem::take(&mut method.quick));
            for table in method.on.values_mut() {
                table.retain(|key, _| !quick.contains_key(key));
            }
            method.grid.retain(|key, _| !quick.contains_key(key));
            method.settings.extend(quick);
        }
    }

    /// Drops all parts but those named.
    fn keep(&mut self, only: &Only, key: &str) -> Result<(), ExperimentError> {
        let origin = self.name.clone();
        let missing = |what, name: &str, known: Vec<String>| ExperimentError::Name {
            origin: origin.clone(),
            key: format!("{key}.{what}s"),
            what,
            name: name.to_owned(),
            known: known.join(", "),
        };
        if let Some(seeds) = &only.seeds {
            if let Some(seed) = seeds.iter().find(|seed| !self.seeds.contains(seed)) {
                return Err(missing("seed", &seed.to_string(), self.seeds.iter().map(u64::to_string).collect()));
            }
        }
        let labels = |list: &Option<Vec<String>>, known: Vec<String>, what| match list {
            None => Ok(()),
            Some(names) => match names.iter().find(|name| !known.contains(name)) {
                Some(name) => Err(missing(what, name, known)),
                None => Ok(()),
            },
        };
        labels(&only.data, self.data.iter().map(|d| d.key.clone()).collect(), "data set")?;
        labels(&only.methods, self.methods.iter().map(|m| m.label.clone()).collect(), "method")?;
        labels(&only.protocols, self.protocols.iter().map(|p| p.key.clone()).collect(), "protocol")?;
        self.retain(only);
        Ok(())
    }

    fn retain(&mut self, only: &Only) {
        let wanted = |list: &Option<Vec<String>>, name: &String| list.as_ref().is_none_or(|names| names.contains(name));
        self.seeds.retain(|seed| only.seeds.as_ref().is_none_or(|seeds| seeds.contains(seed)));
        self.data.retain(|d| wanted(&only.data, &d.key));
        self.methods.retain(|m| wanted(&only.methods, &m.label));
        self.protocols.retain(|p| wanted(&only.protocols, &p.key));
    }

    fn check_tables(&self) -> Result<(), ExperimentError> {
        let known: Vec<&str> = quantity::QUANTITIES.iter().map(|q| q.name).collect();
        match self.tables.iter().find(|t| !known.contains(&t.as_str())) {
            None => Ok(()),
            Some(wrong) => Err(ExperimentError::Name {
                origin: self.name.clone(),
                key: "tables".into(),
                what: "quantity",
                name: wrong.clone(),
                known: known.join(", "),
            }),
        }
    }

    fn check(&self) -> Result<(), ExperimentError> {
        let origin = || self.name.clone();
        let value = |key: &str, problem: &str| ExperimentError::Value {
            origin: origin(),
            key: key.to_owned(),
            problem: problem.to_owned(),
        };
        let labels: Vec<&str> = self.methods.iter().map(|m| m.label.as_str()).collect();
        let keys: Vec<&str> = self.data.iter().map(|d| d.key.as_str()).collect();
        let protocols: Vec<&str> = self.protocols.iter().map(|p| p.key.as_str()).collect();
        for (key, names) in [("method", &labels), ("data", &keys), ("protocol", &protocols)] {
            if let Some((_, name)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
                return Err(ExperimentError::Twice { origin: origin(), key, name: (*name).to_owned() });
            }
        }
        if !self.methods.is_empty() && self.seeds.is_empty() {
            return Err(value("seeds", "give at least one seed"));
        }
        if let Some(method) = self.methods.iter().find(|m| !m.run && !(m.settings.is_empty() && m.on.is_empty())) {
            return Err(value(
                "method",
                &format!("`{}` has run = false and settings; it can have one only", method.label),
            ));
        }
        if self.score.samples < 2 {
            return Err(value("score.samples", "give at least 2"));
        }
        let name = |key: String, what, name: &str, known: &[&str]| ExperimentError::Name {
            origin: origin(),
            key,
            what,
            name: name.to_owned(),
            known: known.join(", "),
        };
        self.check_tables()?;
        let quantities: Vec<&str> = quantity::QUANTITIES.iter().map(|q| q.name).collect();
        for protocol in &self.protocols {
            let wrong = protocol.methods.iter().flatten().find(|label| !labels.contains(&label.as_str()));
            if let Some(wrong) = wrong {
                return Err(name(format!("protocol.{}.methods", protocol.key), "method", wrong, &labels));
            }
        }
        for Method { label, on, paper, .. } in &self.methods {
            if let Some(wrong) = on.keys().find(|key| !keys.contains(&key.as_str())) {
                return Err(name(format!("method `{label}`, on"), "data set", wrong, &keys));
            }
            for (quantity, values) in paper {
                if !quantities.contains(&quantity.as_str()) {
                    return Err(name(format!("method `{label}`, paper"), "quantity", quantity, &quantities));
                }
                if let Some(wrong) = values.keys().find(|key| *key != "*" && !keys.contains(&key.as_str())) {
                    return Err(name(format!("method `{label}`, paper.{quantity}"), "data set", wrong, &keys));
                }
            }
        }
        Ok(())
    }
}

impl DataSet {
    /// Name or file of the data.
    pub fn source(&self) -> &str {
        self.source.as_deref().unwrap_or(&self.key)
    }

    /// Head of its column.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.key)
    }
}

impl Method {
    /// The paper's mean and deviation of a quantity on a data set.
    pub fn paper(&self, quantity: &str, data: &str) -> Option<(f64, f64)> {
        let values = self.paper.get(quantity)?;
        values.get(data).or_else(|| values.get("*")).copied()
    }
}
