//! What the user typed. Nothing here knows what it means; see `commands/`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use mad_cli::Common;
use std::path::PathBuf;

/// The paper's tables and figures made with `mad`, and benchmarks.
#[derive(Debug, Parser)]
#[command(
    name = "mad-lab",
    version,
    long_version = mad_cli::long_version(),
    max_term_width = 110,
    arg_required_else_help = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
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

/// Repeat the paper's experiments: train, score, and tabulate with the paper's numbers
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mad-lab reproduce table-earth --quick\n  \
    mad-lab reproduce all --results results.md\n  \
    mad-lab reproduce table-symsol --methods 'MAD, orbit' --methods embedding --seeds 0\n  \
    mad-lab reproduce --file mine.toml\n\
    Rerun the same command to resume: finished runs are not repeated.")]
pub struct Reproduce {
    /// Names from `mad-lab list experiments`, or `all`
    #[arg(value_name = "NAME", required_unless_present = "file", conflicts_with = "file")]
    pub names: Vec<String>,
    /// An experiment of your own, in the form of `experiments/*.toml`
    #[arg(long, value_name = "FILE.toml")]
    pub file: Option<PathBuf>,
    /// The small version: minutes instead of hours
    #[arg(long)]
    pub quick: bool,
    /// Search the grids of hyperparameters, choosing on validation rows
    ///
    /// Without it every method has the settings that the paper found best.
    #[arg(long)]
    pub search: bool,
    /// Only these seeds
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    pub seeds: Vec<u64>,
    /// Only this data set, by key; repeatable
    #[arg(long, value_name = "KEY")]
    pub data: Vec<String>,
    /// Only this method, by label; repeatable
    #[arg(long, value_name = "LABEL")]
    pub methods: Vec<String>,
    /// Only this protocol, by key; repeatable
    #[arg(long, value_name = "KEY")]
    pub protocols: Vec<String>,
    /// Folder for runs, tables and figures
    #[arg(short, long, value_name = "DIR", default_value = "mad-reproduce")]
    pub out: PathBuf,
    /// File of scores: what it has is not run again, new scores are added
    #[arg(long, value_name = "FILE.jsonl")]
    pub scores: Option<PathBuf>,
    /// Runs at a time; by default as many as the cores allow
    ///
    /// `--threads` is the number of threads of each run, by default one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Markdown document that tables and figures are written into
    ///
    /// They replace those of the same experiments there. Those of other experiments, and what stands above them, are kept.
    #[arg(long, value_name = "FILE.md")]
    pub results: Option<PathBuf>,
    /// Run nothing; make tables and figures of the finished runs
    ///
    /// Cells with missing seeds say how many they have.
    #[arg(long, conflicts_with = "dry_run")]
    pub finished: bool,
    /// List the runs and stop
    #[arg(long)]
    pub dry_run: bool,
}

/// One run of `reproduce`, in a process of its own
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct ReproduceJob {
    /// Folder of the job
    pub folder: PathBuf,
}

/// Measure how long training, sampling, base scores, metrics and loading take
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mad-lab bench train sample\n  bench/peers/setup && mad-lab bench train --peers bench/peers"
)]
pub struct Bench {
    /// Benchmarks by name or beginning of a name; all by default
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Rounds, in each of which every program is measured once
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Folder of other programs to measure in the same rounds
    ///
    /// `bench/peers` of the source tree has such programs.
    #[arg(long, value_name = "DIR")]
    pub peers: Option<PathBuf>,
    /// Draw how cost grows with size into this file instead
    ///
    /// Sizes are batch, width, depth, dimension, support points and samples.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "peers", "rounds"])]
    pub growth: Option<PathBuf>,
}

/// List experiments and benchmarks
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad-lab list experiments")]
pub struct List {
    /// List this kind alone
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListKind {
    Experiments,
    Benches,
}
