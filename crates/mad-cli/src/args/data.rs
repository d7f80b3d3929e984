//! Commands on data.

use super::known::Known;
use super::{DataOut, Reading, Seed};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Make, check and list data
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mad data list\n  mad data make circle8-skewed -n 5000 -o circle.csv")]
pub struct Data {
    #[command(subcommand)]
    pub command: DataCommand,
}

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// List the data sets that can be made or named
    #[command(after_help = "Example:\n  mad data list --json")]
    List,
    Make(Make),
    Render(Render),
    /// Read a file as `fit` would and report columns, ranges, repeated and bad rows, and the next command
    #[command(after_help = "Examples:\n  mad data check quakes.csv\n  \
        mad data check torsions.parquet --manifold torus:2 --columns phi,psi --angle-unit deg\n\
        Exit code 3 means that rows are bad; --skip-bad-rows accepts them.")]
    Check {
        /// CSV, TSV, Parquet, NPY, NPZ or GeoJSON file, also packed (.gz, .zst); `-` for standard input
        file: PathBuf,
        /// The set the points lie on; found from the names of the columns if absent
        #[arg(short, long, value_name = "SPEC")]
        manifold: Option<String>,
        #[command(flatten)]
        reading: Reading,
    },
}

/// Write a named data set to a file
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad data make so3-mixture:32 -n 20000 -o rotations.csv")]
pub struct Make {
    /// Name, perhaps with parameters, as in `so3-mixture:32`
    #[arg(value_parser = Known::dataset())]
    pub name: String,
    /// Number of rows; 10000 where they are drawn and all rows of a file if absent
    #[arg(short = 'n', long, value_name = "N", aliases = ["n", "samples"])]
    pub rows: Option<usize>,
    #[command(flatten)]
    pub seed: Seed,
    /// Seed of the distribution itself (means, weights); that of the rows if absent
    #[arg(long, value_name = "N")]
    pub target_seed: Option<u64>,
    #[command(flatten)]
    pub out: DataOut,
}

/// Draw pictures of solids with their poses into a folder, in the layout of SymSol
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad data render cube cone --train 1000 --test 100 --size 64 -o solids")]
pub struct Render {
    /// Solids; all if absent
    #[arg(value_name = "SOLID", value_parser = Known::solid())]
    pub solids: Vec<String>,
    /// Pictures of each solid in the training part; a tenth of those of SymSol if absent
    #[arg(long, value_name = "N", default_value_t = 4500)]
    pub train: usize,
    /// Pictures of each solid in the test part
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub test: usize,
    /// Width and height of a picture
    #[arg(long, value_name = "PIXELS", default_value_t = 224)]
    pub size: usize,
    #[command(flatten)]
    pub seed: Seed,
    /// New folder
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}
