//! From the text of a file to an experiment: built in or not, whole or quick, with runs of its own or of another one.

use super::{
    EXPERIMENTS, Experiment, ExperimentError,
    experiment::{Only, Scoring},
};
use crate::error::LabError;
use mad_core::files::{ReadError, read_any};
use std::path::Path;
use toml::Table;

/// Most bytes of an experiment; the largest that is built in has 6000.
const MAX_EXPERIMENT: u64 = 1 << 20;

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

    /// The experiment in a file, whose name is that of its output.
    pub fn from_file(path: &Path, quick: bool) -> Result<Self, LabError> {
        let unusable = |problem: String| LabError::usage(format!("--file {}: {problem}", path.display()));
        let bytes = read_any(path, MAX_EXPERIMENT).map_err(|error| match error {
            ReadError::Io(source) => LabError::io(path, source),
            other => unusable(format!("{other}; give a TOML file like those of experiments/")),
        })?;
        let text = String::from_utf8(bytes)
            .map_err(|e| unusable(format!("not UTF-8 text: {}; save it as UTF-8", e.utf8_error())))?;
        let name = path.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy());
        let experiment = Self::read(&text, &name, &path.display().to_string(), quick)?;
        if experiment.methods.is_empty() || experiment.data.is_empty() {
            let (origin, key) = (experiment.origin, "method, data".to_owned());
            let problem = "nothing would run; give a [[method]] and a [[data]] at least".to_owned();
            return Err(ExperimentError::Value { origin, key, problem }.into());
        }
        Ok(experiment)
    }

    /// An experiment from its text. `name` is the name of its output.
    pub fn from_toml(text: &str, name: &str, quick: bool) -> Result<Self, ExperimentError> {
        Self::read(text, name, name, quick)
    }

    fn read(text: &str, name: &str, origin: &str, quick: bool) -> Result<Self, ExperimentError> {
        let mut experiment: Self = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            ExperimentError::Syntax { origin: origin.into(), line, problem: e.message().to_owned() }
        })?;
        (experiment.name, experiment.origin) = (name.to_owned(), origin.to_owned());
        let only = std::mem::take(&mut experiment.only);
        match experiment.from.clone() {
            None => {
                experiment.check()?;
                experiment.share_seeds();
                experiment.keep(&only, "only.")?;
            }
            Some(from) => {
                experiment.check_tables()?;
                // Names are checked against the whole experiment; its quick version may have fewer.
                let mut whole = experiment.clone();
                whole.adopt(Self::named(&from, false)?)?;
                whole.keep(&only, "only.")?;
                experiment.adopt(Self::named(&from, quick)?)?;
                experiment.retain(&only);
            }
        }
        if quick {
            let changes = std::mem::take(&mut experiment.quick);
            experiment.keep(&changes.only, "quick.only.")?;
            experiment.score = changes.score.unwrap_or(experiment.score);
            experiment.hurry(&changes.settings);
            let data = experiment.data.iter_mut().filter_map(|data| data.rows.as_mut());
            let methods = experiment.methods.iter_mut().filter_map(|method| method.rows.as_mut());
            for rows in data.chain(methods) {
                *rows = (*rows).min(changes.rows.unwrap_or(*rows));
            }
            experiment.check_score(true)?;
            experiment.hurried = true;
        }
        Ok(experiment)
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
            ("quick.rows", self.quick.rows.is_none()),
        ];
        if let Some((key, _)) = own.iter().find(|(_, empty)| !empty) {
            let problem = format!("with from = \"{}\" this comes from there; use [only] to choose", other.name);
            return Err(ExperimentError::Value { origin: self.origin.clone(), key: (*key).into(), problem });
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

    /// Drops all parts but those named. `prefix` says where the names come from.
    fn keep(&mut self, only: &Only, prefix: &str) -> Result<(), ExperimentError> {
        self.knows(only, prefix)?;
        self.retain(only);
        Ok(())
    }

    /// Drops all parts of these experiments but those named, and experiments of which nothing is left. Each name must be known to
    /// one of them; an experiment without runs has no parts and stays.
    pub fn keep_of_all(experiments: &mut Vec<Self>, only: &Only) -> Result<(), ExperimentError> {
        for name in only.names() {
            let asked = experiments.iter().filter(|experiment| !experiment.methods.is_empty());
            let outcomes: Vec<_> = asked.map(|experiment| experiment.knows(&name, "--")).collect();
            if outcomes.iter().all(Result::is_err) {
                outcomes.into_iter().next().unwrap_or(Ok(()))?;
            }
        }
        experiments.retain_mut(|experiment| {
            if experiment.methods.is_empty() {
                return true;
            }
            let divided = !experiment.protocols.is_empty();
            experiment.retain(only);
            let Self { seeds, data, methods, protocols, .. } = experiment;
            let nothing_left = seeds.is_empty() || data.is_empty() || methods.is_empty();
            !nothing_left && divided != protocols.is_empty()
        });
        Ok(())
    }

    /// Refuses names that it does not have; `prefix` stands before `seeds`, `data`, `methods` and `protocols` in the message.
    fn knows(&self, only: &Only, prefix: &str) -> Result<(), ExperimentError> {
        let origin = self.origin.clone();
        let missing = |what, name: &str, known: Vec<String>| ExperimentError::Name {
            origin: origin.clone(),
            key: format!("{prefix}{}", if what == "data set" { "data".to_owned() } else { format!("{what}s") }),
            what,
            name: name.to_owned(),
            known: known.join(", "),
        };
        if let Some(seed) = only.seeds.iter().flatten().find(|seed| !self.seeds.contains(seed)) {
            return Err(missing("seed", &seed.to_string(), self.seeds.iter().map(u64::to_string).collect()));
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
        labels(&only.protocols, self.protocols.iter().map(|p| p.key.clone()).collect(), "protocol")
    }

    fn retain(&mut self, only: &Only) {
        let wanted = |list: &Option<Vec<String>>, name: &String| list.as_ref().is_none_or(|names| names.contains(name));
        let methods = self.methods.iter_mut().map(|method| &mut method.seeds);
        for seeds in methods.chain([&mut self.seeds]) {
            seeds.retain(|seed| only.seeds.as_ref().is_none_or(|wanted| wanted.contains(seed)));
        }
        self.data.retain(|d| wanted(&only.data, &d.key));
        self.methods.retain(|m| wanted(&only.methods, &m.label) && !(m.run && m.seeds.is_empty()));
        self.protocols.retain(|p| wanted(&only.protocols, &p.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_experiments_are_sound_whole_and_quick() {
        for (name, _) in EXPERIMENTS {
            for quick in [false, true] {
                let experiment = Experiment::named(name, quick).unwrap_or_else(|e| panic!("{e}"));
                let runs = super::super::expand::expand(&experiment, false).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(runs.is_empty(), *name == "figure-base-s2", "{name}, quick {quick}");
                super::super::expand::expand(&experiment, true).unwrap_or_else(|e| panic!("{name}, grid: {e}"));
            }
        }
    }

    #[test]
    fn tables_have_all_values_of_the_paper() {
        let earth = Experiment::named("table-earth", false).unwrap();
        let value = |experiment: &Experiment, label: &str, quantity: &str, data: &str| {
            let method = experiment.methods.iter().find(|m| m.label == label).unwrap();
            method.paper(quantity, data).unwrap_or_else(|| panic!("{label}, {quantity}, {data}"))
        };
        let printed = |experiment: &Experiment, data: &[&str], rows: &[(&str, &[(f64, f64)])]| {
            for (label, cells) in rows {
                let found: Vec<_> = data.iter().map(|data| value(experiment, label, "mmd_mean", data)).collect();
                assert_eq!(found, *cells, "{label}");
            }
        };
        printed(
            &earth,
            &["volcano", "earthquake", "flood", "fire"],
            &[
                ("RSGM-divfree", &[(0.1272, 0.0289), (0.0602, 0.0101), (0.0579, 0.0094), (0.0779, 0.0172)]),
                ("RSGM-ambient", &[(0.1114, 0.0090), (0.0803, 0.0067), (0.0751, 0.0087), (0.0830, 0.0152)]),
                ("DSM (paper)", &[(0.1082, 0.0217), (0.0488, 0.0096), (0.0503, 0.0092), (0.0456, 0.0165)]),
                ("MAD (paper)", &[(0.1030, 0.0185), (0.0526, 0.0108), (0.0500, 0.0100), (0.0452, 0.0131)]),
            ],
        );
        let so3 = Experiment::named("table-so3", false).unwrap();
        printed(
            &so3,
            &["K16", "K32", "K64"],
            &[
                ("FFF", &[(0.0230, 0.0023), (0.0242, 0.0016), (0.0204, 0.0018)]),
                ("RSGM", &[(0.0155, 0.0025), (0.0171, 0.0024), (0.0190, 0.0043)]),
                ("DSM (paper)", &[(0.0222, 0.0021), (0.0209, 0.0046), (0.0178, 0.0031)]),
                ("MAD (paper)", &[(0.0229, 0.0026), (0.0220, 0.0052), (0.0180, 0.0029)]),
            ],
        );
        assert_eq!(value(&so3, "FFF", "sampling_seconds", "K32"), (0.0040, 0.0003));
    }

    #[test]
    fn faults_are_named_with_their_keys() {
        let base = "title = 't'\nseeds = [0]\n[[data]]\nkey = 'a'\n[[method]]\nlabel = 'm'\n";
        let error = |text: &str| Experiment::from_toml(text, "mine", false).unwrap_err().to_string();
        let says = |text: &str, words: &[&str]| {
            let error = error(text);
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        says("title = 't'\nsedes = [0]\n", &["mine, line 2", "sedes", "seeds"]);
        says("titel = 't'", &["mine", "titel"]);
        says(&format!("{base}on = {{ b = {{ steps = 1 }} }}"), &["method `m`, on", "`b`", "known: a"]);
        says(&format!("{base}paper = {{ mmm = {{ a = [1, 2] }} }}"), &["paper", "mmm", "mmd"]);
        says(&format!("tables = ['nl']\n{base}"), &["tables", "`nl`", "nll"]);
        says(&format!("only = {{ data = ['c'] }}\n{base}"), &["only", "`c`", "known: a"]);
        says(&format!("only = {{ seeds = [7] }}\n{base}"), &["only", "`7`"]);
        says(&format!("{base}[[method]]\nlabel = 'm'"), &["method", "twice"]);
        says(&base.replace("[0]", "[]"), &["seeds", "at least one"]);
        says(&format!("score = {{ fresh = 1 }}\n{base}"), &["mine: score.fresh", "at least 2"]);
        let quick = |text: &str| {
            let whole = "title = 't'\nseeds = [0]\nscore = { fresh = 9 }\n[[data]]\nkey = 'a'\nrows = 9\n";
            let text = format!("{whole}[[method]]\nlabel = 'm'\nrows = 8\n[quick]\n{text}");
            Experiment::from_toml(&text, "mine", false).unwrap();
            Experiment::from_toml(&text, "mine", true).unwrap_err().to_string()
        };
        assert!(quick("rows = 0").contains("mine: quick.rows: give at least one row"));
        assert!(quick("score = { samples = 0, fresh = 9 }").contains("quick.score.samples"));
        let text = quick("score = { samples = 9 }");
        assert!(text.contains("mine: quick.score.fresh: method `m`, rows are given"), "{text}");
        says("title = 't'\nfrom = 'table-earht'", &["table-earht", "did you mean `table-earth`"]);
        says("title = 't'\nfrom = 'table-earth'\nseeds = [0]", &["seeds", "[only]"]);
        says("title = 't'\nfrom = 'table-earth'\nonly = { methods = ['MED'] }", &["only.methods", "MED", "MAD"]);
    }

    #[test]
    fn names_asked_of_several_experiments_must_be_known_to_one() {
        let all = || EXPERIMENTS.iter().map(|(name, _)| Experiment::named(name, false).unwrap()).collect::<Vec<_>>();
        let list = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let mut chosen = all();
        Experiment::keep_of_all(&mut chosen, &Only { seeds: Some(vec![3]), data: list(&["fire"]), ..Only::default() })
            .unwrap();
        let names: Vec<_> = chosen.iter().map(|experiment| experiment.name.as_str()).collect();
        assert_eq!(names, ["table-earth", "figure-base-s2"], "one without runs stays");
        assert_eq!((&chosen[0].seeds, chosen[0].data.len()), (&vec![3], 1));
        for only in [
            Only { data: list(&["fire", "fyre"]), ..Only::default() },
            Only { seeds: Some(vec![77]), ..Only::default() },
            Only { protocols: list(&["ours"]), ..Only::default() },
        ] {
            let error = Experiment::keep_of_all(&mut all(), &only).unwrap_err().to_string();
            assert!(["fyre", "77", "ours"].iter().any(|name| error.contains(&format!("`{name}`"))), "{error}");
        }
    }

    #[test]
    fn quick_settings_win_and_figures_share_the_runs_of_tables() {
        for quick in [false, true] {
            let runs = |name: &str| {
                let experiment = Experiment::named(name, quick).unwrap();
                super::super::expand::expand(&experiment, false).unwrap()
            };
            let table = runs("table-so3");
            for name in ["figure-so3", "figure-loss"] {
                assert!(runs(name).iter().all(|run| table.contains(run)), "{name}");
            }
            let steps = if quick { 300 } else { 5000 };
            let mut trained = table
                .iter()
                .filter(|run| !["KDE", "vMF mixture", "fitted base alone"].contains(&run.place.method.as_str()));
            assert!(trained.clone().count() > 0);
            assert!(trained.all(|run| {
                let fewer = !quick && run.place.method == "MAD + fitted base";
                run.settings["steps"].as_integer() == Some(if fewer { 2000 } else { steps })
            }));
        }
    }
}
