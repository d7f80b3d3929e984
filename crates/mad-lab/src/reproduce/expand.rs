//! From an experiment to all combinations of protocol, data set, method, seed and grid.

use super::{Experiment, ExperimentError, experiment::DataSet, pictures};
use mad_nn::config::Partial;
use toml::{Table, Value};

/// One training, by place in the experiment and by settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    pub place: Place,
    /// Settings, without the seed.
    pub settings: Table,
}

/// Where a run belongs in an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Key of the protocol; empty if there is one only.
    pub protocol: String,
    /// Key of the data set.
    pub data: String,
    /// Label of the method.
    pub method: String,
    /// Values on the grid, as `key=value`; empty without a grid.
    pub grid: String,
    pub seed: u64,
}

impl Place {
    /// Whether it belongs to this cell of the tables.
    pub fn is_in(&self, protocol: &str, data: &str, method: &str) -> bool {
        self.protocol == protocol && self.data == data && self.method == method
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {}", self.method, self.data)?;
        for part in [&self.protocol, &self.grid].into_iter().filter(|part| !part.is_empty()) {
            write!(f, ", {part}")?;
        }
        write!(f, ", seed {}", self.seed)
    }
}

/// All combinations, in the order of the file: seeds outermost, so that every cell has a first value early.
pub fn expand(experiment: &Experiment, grid: bool) -> Result<Vec<Combination>, ExperimentError> {
    let mut combinations = Vec::new();
    let nameless = [(String::new(), Table::new(), None)];
    let protocols: Vec<_> = match experiment.protocols.is_empty() {
        true => nameless.to_vec(),
        false => experiment.protocols.iter().map(|p| (p.key.clone(), p.settings.clone(), p.methods.clone())).collect(),
    };
    for &seed in &experiment.seeds {
        for (protocol, protocol_settings, chosen) in &protocols {
            for data in &experiment.data {
                for method in experiment.methods.iter().filter(|m| m.run && m.seeds.contains(&seed)) {
                    if chosen.as_ref().is_some_and(|labels| !labels.contains(&method.label)) {
                        continue;
                    }
                    let mut settings = experiment.settings.clone();
                    for layer in [protocol_settings, &data.settings, &method.settings] {
                        settings.extend(layer.clone());
                    }
                    settings.extend(method.on.get(&data.key).cloned().unwrap_or_default());
                    if grid {
                        settings.extend(method.grid.clone());
                    }
                    if let Some((key, problem)) = settings.iter().find_map(|(key, v)| Some((key, list_problem(v)?))) {
                        return Err(ExperimentError::Value {
                            origin: experiment.origin.clone(),
                            key: format!("method `{}` on `{}`: {key}", method.label, data.key),
                            problem: problem.into(),
                        });
                    }
                    for (grid, settings) in points(settings) {
                        check(experiment, &method.label, data, &settings)?;
                        if !grid.is_empty() && mad_cli::solid_of(data.source()).is_some() {
                            return Err(ExperimentError::Value {
                                origin: experiment.origin.clone(),
                                key: format!("method `{}` on `{}`: {grid}", method.label, data.key),
                                problem: "runs on pictures have no validation part to choose by; give one value".into(),
                            });
                        }
                        let (data, method) = (data.key.clone(), method.label.clone());
                        let place = Place { protocol: protocol.clone(), data, method, grid, seed };
                        combinations.push(Combination { place, settings });
                    }
                }
            }
        }
    }
    Ok(combinations)
}

/// What is wrong with a list of values to be tried.
fn list_problem(value: &Value) -> Option<&'static str> {
    let values = value.as_array()?;
    if values.is_empty() {
        return Some("the list is empty, so that no run would be left; give at least one value");
    }
    let twice = values.iter().enumerate().any(|(i, value)| values[..i].contains(value));
    twice.then_some("a value occurs twice, so that its runs would count twice")
}

/// The points of the grid: every list is replaced by each of its values.
fn points(settings: Table) -> Vec<(String, Table)> {
    let mut all = vec![(String::new(), settings.clone())];
    for (key, value) in settings {
        let Value::Array(values) = value else { continue };
        let with = |(name, table): &(String, Table), value: &Value| {
            let gap = if name.is_empty() { "" } else { " " };
            let mut table = table.clone();
            table.insert(key.clone(), value.clone());
            (format!("{name}{gap}{key}={}", plain(value)), table)
        };
        all = all.iter().flat_map(|point| values.iter().map(|value| with(point, value)).collect::<Vec<_>>()).collect();
    }
    all
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether `mad fit` knows these keys and values.
fn check(experiment: &Experiment, method: &str, set: &DataSet, settings: &Table) -> Result<(), ExperimentError> {
    let data = &set.key;
    if let Some(solid) = mad_cli::solid_of(set.source()) {
        return match pictures::resolve(solid, settings, 0) {
            Ok(_) => Ok(()),
            Err(problem) => Err(ExperimentError::Value {
                origin: experiment.origin.clone(),
                key: format!("method `{method}` on `{data}`"),
                problem: problem.to_string(),
            }),
        };
    }
    match Partial::from_toml(&settings.to_string(), "settings") {
        Ok(partial) if partial.get("seed").is_some() => Err(ExperimentError::Value {
            origin: experiment.origin.clone(),
            key: format!("method `{method}` on `{data}`: seed"),
            problem: "seeds are given as `seeds` of the experiment".into(),
        }),
        Ok(_) => Ok(()),
        Err(problem) => Err(ExperimentError::Settings {
            origin: experiment.origin.clone(),
            method: method.to_owned(),
            data: data.to_owned(),
            problem: Box::new(problem),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const TEXT: &str = "
        title = 't'
        seeds = [3, 4]
        settings = { steps = 10, batch = 8 }
        [[protocol]]
        key = 'p'
        title = ''
        settings = { split = 'random' }
        [[protocol]]
        key = 'q'
        title = ''
        methods = ['A']
        [[data]]
        key = 'x'
        settings = { width = 8 }
        [[data]]
        key = 'y'
        [[method]]
        label = 'A'
        settings = { batch = 16, learning_rate = [1e-3, 1e-2], ema = [0.0, 0.5] }
        on = { y = { steps = 20 } }
        [[method]]
        label = 'B'
        grid = { learning_rate = [1e-3, 1e-2, 1e-1] }
        [[method]]
        label = 'paper only'
        run = false
    ";

    fn combinations(grid: bool) -> Vec<Combination> {
        expand(&Experiment::from_toml(TEXT, "t", false).unwrap(), grid).unwrap()
    }

    #[test]
    fn every_combination_occurs_once() {
        // 2 seeds × 2 data sets × (protocol p: 4 points of A and 1 of B; protocol q: 4 points of A).
        let all = combinations(false);
        assert_eq!(all.len(), 2 * 2 * (4 + 1 + 4));
        assert!(all.iter().enumerate().all(|(i, c)| all[..i].iter().all(|other| other.place != c.place)));
        assert_eq!(combinations(true).len(), 2 * 2 * (4 + 3 + 4));
        assert!(all.iter().all(|c| c.place.method != "paper only" && c.settings.values().all(|v| !v.is_array())));
        assert_eq!(all[0].place.to_string(), "A on x, p, ema=0.0 learning_rate=0.001, seed 3");
    }

    #[test]
    fn a_method_may_have_seeds_of_its_own() {
        let own = TEXT.replace("label = 'B'", "label = 'B'\n        seeds = [5, 4]");
        let experiment = Experiment::from_toml(&own, "t", false).unwrap();
        assert_eq!(experiment.seeds, [3, 4, 5]);
        let seeds = |method: &str| -> BTreeSet<u64> {
            let all = expand(&experiment, false).unwrap().into_iter();
            all.filter(|run| run.place.method == method).map(|run| run.place.seed).collect()
        };
        assert_eq!((seeds("A"), seeds("B")), ([3, 4].into(), [4, 5].into()));

        let chosen = |only: &str| {
            let text = format!("only = {{ {only} }}\n{own}");
            let chosen = Experiment::from_toml(&text, "t", false).unwrap();
            chosen.methods.into_iter().map(|method| method.label).collect::<Vec<_>>()
        };
        assert_eq!(chosen("seeds = [5]"), ["B", "paper only"]);
        assert_eq!(chosen("seeds = [3]"), ["A", "paper only"]);
    }

    #[test]
    fn narrower_settings_win() {
        let find = |protocol: &str, data: &str, method: &str| {
            let fits = |p: &Place| p.protocol == protocol && p.data == data && p.method == method;
            combinations(false).into_iter().find(|c| fits(&c.place)).unwrap().settings
        };
        let a = find("p", "y", "A");
        assert_eq!((a["steps"].as_integer(), a["batch"].as_integer()), (Some(20), Some(16)));
        assert_eq!(a["split"].as_str(), Some("random"));
        let b = find("p", "x", "B");
        assert_eq!((b["steps"].as_integer(), b["batch"].as_integer()), (Some(10), Some(8)));
        assert_eq!(b["width"].as_integer(), Some(8));
        assert!(find("q", "x", "A").get("split").is_none());
    }

    #[test]
    fn settings_that_fit_refuses_are_refused_here() {
        let error = |from: &str, to: &str| {
            let experiment = Experiment::from_toml(&TEXT.replace(from, to), "t", false).unwrap();
            expand(&experiment, false).unwrap_err().to_string()
        };
        let text = error("width = 8", "widht = 8");
        assert!(text.contains("t: method `A` on `x`") && text.contains("did you mean `width`"), "{text}");
        assert!(error("batch = 16", "batch = 'many'").contains("batch"));
        assert!(error("batch = 16", "seed = 16").contains("seeds"));
    }

    #[test]
    fn lists_that_are_empty_or_repeat_a_value_are_refused_with_their_key() {
        let error = |from: &str, to: &str, grid: bool| {
            let experiment = Experiment::from_toml(&TEXT.replace(from, to), "t", false).unwrap();
            expand(&experiment, grid).unwrap_err().to_string()
        };
        let text = error("ema = [0.0, 0.5]", "ema = []", false);
        assert!(text.contains("t: method `A` on `x`: ema") && text.contains("empty"), "{text}");
        let text = error("learning_rate = [1e-3, 1e-2]", "learning_rate = [1e-3, 0.001]", false);
        assert!(text.contains("t: method `A` on `x`: learning_rate") && text.contains("twice"), "{text}");
        let text = error("[1e-3, 1e-2, 1e-1]", "[]", true);
        assert!(text.contains("t: method `B` on `x`: learning_rate"), "{text}");
    }
}
