//! Commands that train.

use super::known::Known;
use super::{Reading, Seed};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Train MAD and DSM on the embedded week of earthquakes, compare and draw them
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad demo -o quakes")]
pub struct Demo {
    /// Folder for runs, samples, table and map
    #[arg(short, long, value_name = "DIR", default_value = "mad-demo")]
    pub out: PathBuf,
    /// Training steps of each model
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub steps: u64,
    #[command(flatten)]
    pub seed: Seed,
}

/// Train a model on a file of points
#[derive(Debug, Args)]
#[command(
    after_help = "Example (`mad fit --help` shows more, and all flags):\n  mad fit quakes.csv --manifold sphere:2 -o run",
    after_long_help = "Examples:\n  \
        mad fit quakes.csv --manifold sphere:2 -o run\n  \
        mad fit poses.csv --manifold 'product(so3,euclid:3)' -o run --set width=256\n  \
        mad fit torsions.tsv --manifold torus:7 --columns 3-9 --angle-unit deg -o run\n  \
        mad fit table.csv --manifold categorical -o run\n  \
        mad fit poses.csv --manifold so3 --given picture=file -o run\n  \
        mad fit symsol:cube -o run\n  \
        mad fit quakes.csv --manifold sphere:2 -o run --resume"
)]
pub struct Fit {
    /// Data file, `-` for standard input, or the name of a data set (`mad list datasets`)
    ///
    /// CSV, TSV, Parquet, NPY, NPZ or GeoJSON, also packed (.gz, .zst). `symsol:cube` is a model of the poses of a solid given a
    /// picture of it (`mad list solids`).
    pub data: OsString,
    /// The set the points lie on, such as `sphere:2`, `so3`, `torus:7` or `categorical`
    ///
    /// `product(so3,euclid:3)` joins sets, `points:FILE` is a finite set (`mad list manifolds`). Without it, the names of the
    /// columns must leave no doubt; a named data set knows its own.
    #[arg(short, long, value_name = "SPEC", help_heading = "Data")]
    pub manifold: Option<String>,
    /// What the model is conditional on: a numeric column, or `picture=COLUMN`; repeatable
    ///
    /// The column of `picture=COLUMN` names picture files.
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub given: Vec<String>,
    /// Rows to draw or choose of a named data set
    #[arg(short = 'n', long, alias = "n", value_name = "N", help_heading = "Data")]
    pub rows: Option<usize>,
    #[command(flatten)]
    pub reading: Reading,
    /// What is learned and how; `mad` if absent
    ///
    /// Options follow the name, as in `fff:newton=20` (`mad list methods`).
    #[arg(long, value_name = "NAME", value_parser = Known::method(), help_heading = "Model")]
    pub method: Option<String>,
    /// Base measure, or `mixture:FILE`
    ///
    /// Without it, `mixture` on sphere:2 and so3 from 200 distinct points on, else `default`.
    #[arg(long, value_name = "BASE", value_parser = Known::base(), help_heading = "Model")]
    pub base: Option<String>,
    /// A setting, such as `width=256`; repeatable, takes precedence over the file (`mad list settings`)
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Model")]
    pub set: Vec<String>,
    /// TOML file with settings
    #[arg(long, value_name = "FILE.toml", help_heading = "Model")]
    pub config: Option<PathBuf>,
    /// Training steps
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub steps: Option<u64>,
    /// Points per step
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub batch: Option<u64>,
    /// Random seed; 0 if absent, so that the same command gives the same result
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub seed: Option<u64>,
    /// Where gradients are computed
    #[arg(long, value_name = "NAME", value_parser = Known::device(), default_value = "cpu", help_heading = "Training")]
    pub device: String,
    /// Continue from the newest checkpoint in the run folder
    #[arg(long, help_heading = "Training")]
    pub resume: bool,
    /// Run folder to write
    #[arg(short, long, value_name = "RUN", help_heading = "Output")]
    pub out: PathBuf,
}
