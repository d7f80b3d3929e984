//! The paper's experiments as data: files in `experiments/` of this crate, expanded into jobs, run side by side, put into tables.
//!
//! ```text
//! experiment.rs  what a file holds             quantity.rs  what is measured
//! read.rs        a file → Experiment           check.rs     whether it makes sense
//! expand.rs      method × data × seed × grid   figures/     what figures show
//! plan.rs        jobs with ids                 schedule.rs  jobs side by side, progress, interrupts
//! queue.rs       which job is next             claim.rs     one worker per job
//! worker.rs      a process for one job         job.rs       what it does: train
//! score.rs       what it does: score           pictures.rs  runs on pictures of solids
//! summary.rs     mean and deviation            report.rs    text, Markdown, CSV, JSON
//! draw.rs        figures from finished jobs    results.rs   everything in one document
//! ledger.rs      scores without their runs     cost.rs      how long runs took
//! identity.rs    what ids depend on besides settings
//! ```
//!
//! A job is a folder `OUT/runs/ID`, and ID a hash of everything it is made from. So experiments share jobs, and a job whose
//! `score.json` is there is not done again, unless a figure needs its run and that is gone.

mod check;
mod claim;
mod cost;
mod draw;
mod error;
mod expand;
mod experiment;
pub mod figures;
mod identity;
mod job;
mod ledger;
mod pictures;
mod plan;
mod quantity;
mod queue;
mod read;
mod report;
mod results;
mod schedule;
mod score;
mod summary;
#[cfg(test)]
mod testing;
mod worker;

pub use cost::Cost;
pub use draw::{Easel, draw, needs_runs};
pub use error::ExperimentError;
pub use experiment::{Experiment, Only};
pub use job::{Job, run_worker};
pub use ledger::Ledger;
pub use plan::{Plan, Planned, plan};
pub use report::Report;
pub use results::{machine, write_results};
pub use schedule::{Outcomes, Schedule, Wanted, program};
pub use score::Score;
pub use summary::Summary;

/// Every experiment that is built in: name and file.
pub const EXPERIMENTS: &[(&str, &str)] = &[
    ("table-earth", include_str!("../../experiments/table-earth.toml")),
    ("table-so3", include_str!("../../experiments/table-so3.toml")),
    ("search-earth", include_str!("../../experiments/search-earth.toml")),
    ("search-so3", include_str!("../../experiments/search-so3.toml")),
    ("paper-readings", include_str!("../../experiments/paper-readings.toml")),
    ("figure-front", include_str!("../../experiments/figure-front.toml")),
    ("figure-intro", include_str!("../../experiments/figure-intro.toml")),
    ("figure-earth", include_str!("../../experiments/figure-earth.toml")),
    ("figure-so3", include_str!("../../experiments/figure-so3.toml")),
    ("figure-mmd-vs-time", include_str!("../../experiments/figure-mmd-vs-time.toml")),
    ("figure-discrete", include_str!("../../experiments/figure-discrete.toml")),
    ("figure-base-s2", include_str!("../../experiments/figure-base-s2.toml")),
    ("figure-loss", include_str!("../../experiments/figure-loss.toml")),
    ("table-symsol", include_str!("../../experiments/table-symsol.toml")),
    ("figure-symsol", include_str!("../../experiments/figure-symsol.toml")),
    ("figure-symsol-training", include_str!("../../experiments/figure-symsol-training.toml")),
];

/// The name that stands for all of them.
pub const ALL: &str = "all";
