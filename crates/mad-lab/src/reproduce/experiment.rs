//! An experiment as its file describes it.

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
    /// Where messages say it comes from: its name, or the path of its file.
    #[serde(skip)]
    pub origin: String,
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
    /// Seeds of rows, weights, noise and samples; once read, those of all methods.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// Quantities to print, each as a table of methods by data sets.
    #[serde(default)]
    pub tables: Vec<String>,
    /// Whether tables end with the mean over data sets.
    #[serde(default)]
    pub mean: bool,
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

impl Only {
    /// Each name alone.
    pub fn names(&self) -> Vec<Self> {
        let seeds = self.seeds.iter().flatten().map(|seed| Self { seeds: Some(vec![*seed]), ..Self::default() });
        let data = self.data.iter().flatten().map(|name| Self { data: Some(vec![name.clone()]), ..Self::default() });
        let methods =
            self.methods.iter().flatten().map(|name| Self { methods: Some(vec![name.clone()]), ..Self::default() });
        let protocols =
            self.protocols.iter().flatten().map(|name| Self { protocols: Some(vec![name.clone()]), ..Self::default() });
        seeds.chain(data).chain(methods).chain(protocols).collect()
    }
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
    /// What it means, printed above its tables.
    pub title: String,
    /// Settings that make it so.
    #[serde(default)]
    pub settings: Table,
    /// Methods judged so; all if absent.
    pub methods: Option<Vec<String>>,
    /// Whether the values of the paper were found so, and are printed with ours.
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
    /// Label of a method that it is to be faster than; figures over training time compare the two.
    pub against: Option<String>,
    /// Seeds, if not those of the experiment; once read, never empty in a method that is run.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// Rows made of a generated set, if not as many as the set says.
    pub rows: Option<usize>,
    /// Settings.
    #[serde(default)]
    pub settings: Table,
    /// Settings on some data sets, by key.
    #[serde(default)]
    pub on: BTreeMap<String, Table>,
    /// Lists to search over with `--search`, instead of the settings above.
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
    /// Most rows of data sets and methods that say how many they have.
    pub rows: Option<usize>,
}

impl Experiment {
    /// Gives every method its seeds, and the experiment the seeds of all methods.
    pub(super) fn share_seeds(&mut self) {
        for method in self.methods.iter_mut().filter(|method| method.run) {
            if method.seeds.is_empty() {
                method.seeds.clone_from(&self.seeds);
            }
        }
        self.seeds.clear();
        for &seed in self.methods.iter().flat_map(|method| &method.seeds) {
            if !self.seeds.contains(&seed) {
                self.seeds.push(seed);
            }
        }
    }

    /// Name of its folder of results.
    pub fn output(&self) -> String {
        if self.hurried { format!("{}-quick", self.name) } else { self.name.clone() }
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
