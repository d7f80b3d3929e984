//! What the user typed. Nothing here knows what it means; see `commands/`.

mod data;
mod fit;
mod known;
mod reading;
mod run;

pub use data::{Data, DataCommand, Make, Render};
pub use fit::{Demo, Fit};
pub use known::{BASES, DEVICES};
pub use reading::{AngleUnit, Header, QuatOrder, Reading, RotationForm};
pub use run::{Base, Density, Eval, Given, Info, Plot, PlotWhat, Report, Sample, Sampling};

use crate::version;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

/// Learn distributions of data on a known set: globe, rotations, angles, categories, and products of these
#[derive(Debug, Parser)]
#[command(name = "mad", version, long_version = version::long(), max_term_width = 110, arg_required_else_help = true)]
#[command(disable_help_flag = true, disable_version_flag = true)]
#[command(
    after_help = "Examples:\n  mad demo\n  mad fit quakes.csv --manifold sphere:2 -o run && mad plot run -o map.png"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// Flags of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Common {
    /// Print one JSON object on standard output, for results and for errors
    ///
    /// Nothing else goes to standard output, so commands that write data need `--out FILE`. Every object has a `schema` number.
    #[arg(long, global = true)]
    pub json: bool,
    /// How to show the progress of long work on standard error
    #[arg(long, global = true, value_enum, default_value_t = Progress::Auto, value_name = "HOW")]
    pub progress: Progress,
    /// Print results and errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print conventions, choices and timings as well
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Number of threads; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Folder with the earth and torus files
    #[arg(long, global = true, env = "MAD_DATA", value_name = "DIR", value_parser = any_path())]
    data_dir: Option<PathBuf>,
    /// Print help; `-h` a summary, `--help` everything
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version; `--version` with commit, features and instruction set
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// A path that may be empty, as an unset variable often is.
fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

impl Common {
    /// Folder with the earth and torus files, if one was named.
    pub fn data_dir(&self) -> Option<&Path> {
        self.data_dir.as_deref().filter(|path| !path.as_os_str().is_empty())
    }
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// A bar on a terminal, plain lines elsewhere
    Auto,
    /// One line now and then
    Plain,
    /// Nothing
    None,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(Demo),
    Fit(Fit),
    Sample(Sample),
    Eval(Eval),
    Density(Density),
    Info(Info),
    Plot(Plot),
    Report(Report),
    Data(Data),
    Base(Base),
    List(List),
    Completions(Completions),
    Man(Man),
}

/// The random seed of a command. One rule for all: 0 unless another is given, so that the same command gives the same result.
#[derive(Debug, Clone, Args)]
pub struct Seed {
    /// Random seed; the same command gives the same result
    #[arg(long = "seed", value_name = "N", default_value_t = 0)]
    pub value: u64,
}

/// Where data are written.
#[derive(Debug, Clone, Args)]
pub struct DataOut {
    /// CSV, TSV, Parquet, NPY or GeoJSON file; `-` for standard output
    #[arg(short = 'o', long = "out", value_name = "FILE", default_value = "-")]
    pub path: PathBuf,
}

/// Names that this program knows: manifolds, methods, metrics, settings and others
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad list samplers")]
pub struct List {
    /// One kind only
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListKind {
    Manifolds,
    Samplers,
    Methods,
    Bases,
    Networks,
    Datasets,
    Metrics,
    Settings,
    Solids,
    Encoders,
    Devices,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad completions bash > ~/.local/share/bash-completion/completions/mad")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Write manual pages, one per command
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad man -o man1")]
pub struct Man {
    /// Folder for the pages
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}
