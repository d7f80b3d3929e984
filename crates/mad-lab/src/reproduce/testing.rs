//! Plans, scores and flags without runs, for tests.

use super::expand::expand;
use super::job::{JobData, JobScore};
use super::{Experiment, Job, Plan, Planned, Score};
use crate::args::Cli;
use clap::Parser;
use mad_cli::Common;
use std::collections::BTreeMap;

/// Flags as if none had been typed.
pub fn common() -> Common {
    Cli::parse_from(["mad-lab", "list"]).common
}

/// The plan of an experiment from its text; its jobs cannot be done.
pub fn plan(text: &str) -> Plan {
    plan_of(Experiment::from_toml(text, "test", false).expect("an experiment"))
}

/// The plan of an experiment; its jobs cannot be done.
pub fn plan_of(experiment: Experiment) -> Plan {
    let combinations = expand(&experiment, false).expect("settings").into_iter().enumerate();
    let runs = combinations.map(|(index, combination)| {
        let place = combination.place;
        Planned { job: job(&format!("job-{index}"), place.seed), place }
    });
    Plan { runs: runs.collect(), experiment }
}

/// A job with this id.
pub fn job(id: &str, seed: u64) -> Job {
    Job {
        id: id.into(),
        data: JobData { source: "none".into(), manifold: None, rows: None, hash: String::new() },
        seed,
        settings: String::new(),
        score: JobScore { samples: 2, fresh: None, kernels: Vec::new(), curve: None },
        steps: 1,
        base_hash: None,
    }
}

/// A score of a job, without times.
pub fn score(id: &str, values: &[(&str, f64)]) -> Score {
    Score {
        id: id.into(),
        version: "1".into(),
        data_hash: String::new(),
        values: values.iter().map(|(name, value)| ((*name).to_owned(), Some(*value))).collect(),
        bounds: Vec::new(),
        kernels: BTreeMap::new(),
        samples: 2,
        draws: None,
        times: Vec::new(),
        seconds: 0.0,
    }
}
