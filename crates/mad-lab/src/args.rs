//! What the user typed. Nothing here knows what it means; see `commands/`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use mad_cli::Common;
use std::path::PathBuf;

/// The laboratory of `mad`: the paper's tables and figures, and how long things take.
#[derive(Debug, Parser)]
#[command(name = "mad-lab", version, max_term_width = 110, arg_required_else_help = true)]
#[command(after_help = "Example:\n  mad-lab reproduce table-earth --quick")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Reproduce(Reproduce),
    ReproduceJob(ReproduceJob),
    Bench(Bench),
    List(List),
}

/// Repeat the paper's experiments: train, score, and put our numbers beside the paper's
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mad-lab reproduce table-earth --quick\n  \
    mad-lab reproduce all --out mad-reproduce --results results.md\n  \
    mad-lab reproduce --file mine.toml\n\
    Started again, it goes on where it stopped: finished runs are not repeated.")]
pub struct Reproduce {
    /// Names from `mad-lab list experiments`, or `all`
    #[arg(value_name = "NAME", required_unless_present = "file", conflicts_with = "file")]
    pub names: Vec<String>,
    /// An experiment of one's own, in the form of `experiments/*.toml`
    #[arg(long, value_name = "FILE.toml")]
    pub file: Option<PathBuf>,
    /// The smaller version: minutes instead of hours
    #[arg(long)]
    pub quick: bool,
    /// Search the grids of the file instead of using the settings that the paper found; chosen on validation rows only
    #[arg(long)]
    pub grid: bool,
    /// Only these seeds of the experiment
    #[arg(long, value_name = "N;…", value_delimiter = ';')]
    pub seeds: Vec<u64>,
    /// Only these data sets, by key
    #[arg(long, value_name = "KEY;…", value_delimiter = ';')]
    pub data: Vec<String>,
    /// Only these methods, by label
    #[arg(long, value_name = "LABEL;…", value_delimiter = ';')]
    pub methods: Vec<String>,
    /// Only these protocols, by key
    #[arg(long, value_name = "KEY;…", value_delimiter = ';')]
    pub protocols: Vec<String>,
    /// Folder for runs, tables and figures
    #[arg(long, value_name = "DIR", default_value = "mad-reproduce")]
    pub out: PathBuf,
    /// A file of scores, one per line: jobs found there are not repeated, new scores are added
    #[arg(long, value_name = "FILE.jsonl")]
    pub scores: Option<PathBuf>,
    /// Runs at a time; as many as there are cores for if absent. `--threads` is the number of threads of each, 1 if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Write tables and figures into a Markdown document: they replace those of the same experiments there; those of others, and what stands above them, are kept
    #[arg(long, value_name = "FILE.md")]
    pub results: Option<PathBuf>,
    /// Run nothing: tables and figures of the runs that are finished, with the number of seeds where some are missing
    #[arg(long, conflicts_with = "dry_run")]
    pub finished: bool,
    /// Say which runs there are, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// One run of `reproduce`, which starts it
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct ReproduceJob {
    /// Folder of the job
    pub folder: PathBuf,
}

/// Measure how long training, sampling, base scores, metrics and loading take here
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mad-lab bench train sample\n  bench/peers/setup && mad-lab bench train --peers bench/peers"
)]
pub struct Bench {
    /// Benches, or how their names start; all if none is named
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Rounds; every program is measured once in each, one after the other
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Folder with other programs that do the same work (`bench/peers` of the source tree), to be measured in the same rounds
    #[arg(long, value_name = "DIR")]
    pub peers: Option<PathBuf>,
    /// Measure instead how cost grows with batch, width, depth, dimension, support points and samples; draw it there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "peers", "rounds"])]
    pub growth: Option<PathBuf>,
}

/// What this program knows
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad-lab list experiments")]
pub struct List {
    /// One kind only
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListKind {
    Experiments,
    Benches,
}
