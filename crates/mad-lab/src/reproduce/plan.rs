//! From combinations to jobs: data read, settings resolved, everything hashed.

use super::{
    Experiment, ExperimentError, Job,
    expand::{Combination, Place, expand},
    experiment::{DataSet, Scoring},
    identity,
    job::{JobData, JobScore, Made},
    pictures,
};
use crate::error::LabError;
use mad_cli::{Common, Reading, table_of};
use mad_core::catalogue::datasets;
use mad_core::load;
use mad_core::manifold::Manifold;
use mad_core::table::{self, ColumnOptions};
use mad_nn::config::Partial;
use mad_nn::{Config, ConfigError};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// An experiment with all its jobs.
pub struct Plan {
    pub experiment: Experiment,
    pub runs: Vec<Planned>,
}

/// A job and its place in the experiment.
pub struct Planned {
    pub place: Place,
    pub job: Job,
}

/// Plans an experiment. Everything that a job needs is looked at, so that mistakes show before hours have passed.
pub fn plan(common: &Common, experiment: Experiment, grid: bool) -> Result<Plan, LabError> {
    let mut sources = BTreeMap::new();
    let mut runs = Vec::new();
    for Combination { place, mut settings } in expand(&experiment, grid)? {
        let data = experiment.data.iter().find(|data| data.key == place.data).expect("a place names a data set");
        if let Some(solid) = mad_cli::solid_of(data.source()) {
            runs.push(Planned { job: picture_job(&experiment, data, &place, settings, solid)?, place });
            continue;
        }
        let method = experiment.methods.iter().find(|m| m.label == place.method).expect("a place names a method");
        let rows = method.rows.or(data.rows);
        let key = (place.data.clone(), rows, place.seed);
        let source = match sources.get(&key) {
            Some(known) => known,
            None => {
                if experiment.score.fresh.is_some() {
                    must_have_fresh_rows(&experiment.origin, data)?;
                }
                let read = Source::read(common, &experiment.origin, data, rows, place.seed)?;
                must_know_kernels(&experiment, data, read.manifold.as_ref())?;
                sources.entry(key).or_insert(read)
            }
        };
        let failed = |problem: ConfigError| ExperimentError::Settings {
            origin: experiment.origin.clone(),
            method: place.method.clone(),
            data: place.data.clone(),
            problem: Box::new(problem),
        };
        let resolve = |settings: &toml::Table| {
            let mut partial = Partial::from_toml(&settings.to_string(), "settings")?;
            partial.put("seed", place.seed as i64, "seeds")?;
            Config::resolve_for(&partial, source.manifold.as_ref(), Some(source.distinct))
        };
        let mut config = resolve(&settings).map_err(failed)?;
        let curve = data.curve.map(|points| (config.steps / points.max(1)).max(1));
        if let Some(every) = curve {
            settings.insert("checkpoint_every".into(), (every as i64).into());
            config = resolve(&settings).map_err(failed)?;
        }
        let score = JobScore {
            samples: experiment.score.samples,
            fresh: experiment.score.fresh,
            kernels: experiment.score.kernels.clone(),
            curve,
        };
        let hash = source.hash.clone();
        let data = JobData { source: data.source().into(), manifold: Some(source.spec.clone()), rows, hash };
        let name = if config.recipe == "default" { config.method.as_str() } else { &config.recipe };
        let (base_hash, fit) = (identity::of_base(config.base.as_str())?, config.fit_version());
        let made = Made { name, text: &config.to_toml(), steps: config.steps, base_hash, fit };
        let job = Job::new(data, place.seed, settings.to_string(), score, &made);
        runs.push(Planned { place, job });
    }
    Ok(Plan { experiment, runs })
}

/// A job on pictures, which are made from the settings alone.
fn picture_job(
    experiment: &Experiment,
    data: &DataSet,
    place: &Place,
    mut settings: toml::Table,
    solid: &str,
) -> Result<Job, LabError> {
    let config = pictures::resolve(solid, &settings, place.seed)?;
    // Only walks in ambient space have a drift to follow.
    let walks = ["mad", "dsm"].contains(&config.method.as_str());
    let curve = data.curve.filter(|_| walks).map(|points| (config.steps / points.max(1)).max(1));
    if let Some(every) = curve {
        settings.insert("checkpoint_every".into(), (every as i64).into());
    }
    let Scoring { samples, fresh, kernels } = experiment.score.clone();
    let score = JobScore { samples, fresh, kernels, curve };
    let source = JobData { source: data.source().into(), manifold: None, rows: None, hash: String::new() };
    let made =
        Made { name: config.method.as_str(), text: &config.to_toml(), steps: config.steps, base_hash: None, fit: None };
    Ok(Job::new(source, place.seed, settings.to_string(), score, &made))
}

/// Refuses fresh rows of files and of tables: they would be training rows again.
fn must_have_fresh_rows(origin: &str, data: &DataSet) -> Result<(), ExperimentError> {
    let what = match datasets::dataset(data.source()) {
        _ if load::names_file(Path::new(data.source())) => "a file",
        Ok((entry, _)) if !entry.is_distribution => "a table",
        // Names that nobody knows are refused when they are read.
        _ => return Ok(()),
    };
    let fresh = datasets::DATASETS.iter().filter(|entry| entry.is_distribution);
    let names: Vec<&str> = fresh.map(|entry| entry.name).collect();
    Err(ExperimentError::NoFreshRows {
        origin: origin.to_owned(),
        data: data.source().to_owned(),
        what,
        distributions: names.join(", "),
    })
}

/// Refuses kernels of other manifolds, which would give numbers without meaning.
fn must_know_kernels(experiment: &Experiment, data: &DataSet, manifold: &dyn Manifold) -> Result<(), ExperimentError> {
    for (index, kernel) in experiment.score.kernels.iter().enumerate() {
        if let Some(problem) = kernel.refuses(manifold) {
            let key = format!("score.kernels, entry {} on data `{}`", index + 1, data.key);
            return Err(ExperimentError::Value { origin: experiment.origin.clone(), key, problem });
        }
    }
    Ok(())
}

/// Data as one seed sees them.
struct Source {
    spec: String,
    manifold: Arc<dyn Manifold>,
    hash: String,
    /// Distinct points, on which some settings depend.
    distinct: usize,
}

impl Source {
    fn read(common: &Common, origin: &str, data: &DataSet, rows: Option<usize>, seed: u64) -> Result<Self, LabError> {
        let (name, options) = (data.source(), ColumnOptions::default());
        let wrong = |key: &str, problem: String| {
            let key = format!("data `{}`, {key}", data.key);
            LabError::from(ExperimentError::Value { origin: origin.to_owned(), key, problem })
        };
        if rows.is_some() && load::names_file(Path::new(name)) {
            let problem = format!("{name} is a file, which is taken whole; leave rows out, here and of methods");
            return Err(wrong("rows", problem));
        }
        let (table, own) = table(common, name, rows, seed)?;
        let certain = || load::suggest(&table, &options).into_iter().find(|s| s.certain && s.settings.is_empty());
        let Some(spec) = data.manifold.clone().or(own).or_else(|| certain().map(|s| s.spec)) else {
            let problem = format!("is missing, and the columns of {name} do not tell it; `mad data check {name}`");
            return Err(wrong("manifold", problem));
        };
        let loaded = load::load(&table, &spec, &options).map_err(|error| match error {
            load::LoadError::Manifold(problem) => wrong("manifold", problem.to_string()),
            other => other.into(),
        })?;
        let (hash, distinct) = (identity::of_rows(&loaded), table::duplicates(&loaded.points).distinct);
        Ok(Self { spec, manifold: loaded.manifold, hash, distinct })
    }
}

/// The table of a data set or file, and the manifold of a data set.
pub fn table(
    common: &Common,
    source: &str,
    rows: Option<usize>,
    seed: u64,
) -> Result<(table::Table, Option<String>), LabError> {
    Ok(table_of(common, &Reading::default(), source.as_ref(), rows, seed)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::testing;

    #[test]
    fn a_method_may_have_rows_of_its_own() {
        let text = "
            title = 't'
            seeds = [0]
            score = { fresh = 20 }
            [[data]]
            key = 'd'
            source = 'so3-mixture:4'
            rows = 50
            [[method]]
            label = 'as many as the set has'
            [[method]]
            label = 'its own'
            rows = 80
            [quick]
            rows = 60
        ";
        let jobs = |quick: bool| -> Vec<Job> {
            let experiment = Experiment::from_toml(text, "mine", quick).unwrap();
            plan(&testing::common(), experiment, false).unwrap().runs.into_iter().map(|run| run.job).collect()
        };
        let rows = |quick: bool| jobs(quick).iter().map(|job| job.data.rows).collect::<Vec<_>>();
        assert_eq!(rows(false), [Some(50), Some(80)]);
        assert_eq!(rows(true), [Some(50), Some(60)]);
        let hashes: Vec<String> = jobs(false).into_iter().map(|job| job.data.hash).collect();
        assert_ne!(hashes[0], hashes[1]);
    }

    #[test]
    fn kernels_of_other_manifolds_are_refused() {
        let refusal = |source: &str, kernel: &str| {
            let score = format!("score = {{ kernels = [{{ kind = 'gaussian' }}, {{ {kernel} }}] }}");
            let rest = format!("[[data]]\nkey = 'd'\nsource = '{source}'\nrows = 50\n[[method]]\nlabel = 'm'");
            let text = format!("title = 't'\nseeds = [0]\n{score}\n{rest}");
            let experiment = Experiment::from_toml(&text, "mine", false).unwrap();
            plan(&testing::common(), experiment, false).err().map(|error| error.to_string())
        };
        assert_eq!(refusal("so3-mixture:4", "kind = 'heat-rotations'"), None);
        assert_eq!(refusal("checkerboard-s2", "kind = 'heat-sphere'"), None);
        for (source, kernel, why) in [
            ("so3-mixture:4", "kind = 'heat-sphere'", "sphere:2"),
            ("checkerboard-s2", "kind = 'heat-quaternion'", "so3"),
            ("checkerboard-s2", "kind = 'gaussian', bandwidth = 0.0", "above zero"),
        ] {
            let error = refusal(source, kernel).unwrap();
            assert!(error.contains("mine: score.kernels, entry 2 on data `d`") && error.contains(why), "{error}");
        }
    }

    #[test]
    fn fresh_rows_come_from_distributions_only() {
        let refusal = |source: &str| {
            let text = format!("title = 't'\n[[data]]\nkey = 'd'\nsource = '{source}'");
            let experiment = Experiment::from_toml(&text, "mine", false).unwrap();
            must_have_fresh_rows(&experiment.origin, &experiment.data[0]).err().map(|error| error.to_string())
        };
        assert_eq!(refusal("so3-mixture:64"), None);
        for (source, what) in [("earthquakes-week", "a table"), ("earthquake", "a table"), ("Cargo.toml", "a file")] {
            let error = refusal(source).unwrap();
            assert!(error.contains("mine: score.fresh") && error.contains(source) && error.contains(what), "{error}");
            assert!(error.contains("so3-mixture") && !error.contains("one of earthquake"), "{error}");
        }
    }
}
