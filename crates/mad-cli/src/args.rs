//! What the user typed. Nothing here knows what it means; see `commands/`.

use clap::builder::{OsStringValueParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use mad_core::table::EulerSequence;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Learn distributions of data that live on a known set: globe, rotations, angles, categories, and products of these.
#[derive(Debug, Parser)]
#[command(name = "mad", version, max_term_width = 110, arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  mad demo\n  mad fit quakes.csv --manifold sphere:2 --out run && mad plot run --out map.png"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Print one JSON object (with a `schema` number) on standard output; on standard error if data go to standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// How to show progress of long work on standard error
    #[arg(long, global = true, value_enum, default_value_t = Progress::Auto, value_name = "HOW")]
    pub progress: Progress,
    /// Say nothing but results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more: conventions, choices and timings
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Number of threads; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Folder with the earth and torus files
    #[arg(long, global = true, env = "MAD_DATA", value_name = "DIR", value_parser = any_path())]
    data_dir: Option<PathBuf>,
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
    Base(Base),
    Plot(Plot),
    Report(Report),
    Data(Data),
    List(List),
    Completions(Completions),
    Man(Man),
}

/// Train MAD and DSM on the embedded week of earthquakes, compare and draw them
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad demo --out quakes")]
pub struct Demo {
    /// Folder for runs, samples, table and map
    #[arg(long, value_name = "DIR", default_value = "mad-demo")]
    pub out: PathBuf,
    /// Training steps of each of the two models
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Seed of everything
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// How the columns of a data file are read
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Reading the file")]
pub struct Reading {
    /// Columns to use, by name or number: `phi,psi` or `3-9`
    #[arg(long, value_name = "LIST")]
    pub columns: Option<String>,
    /// Unit of angles, latitudes and longitudes whose names do not end in `_deg` or `_rad`
    #[arg(long, value_enum, value_name = "UNIT")]
    pub angle_unit: Option<AngleUnit>,
    /// Order of quaternion columns without telling names
    #[arg(long, value_enum, value_name = "ORDER")]
    pub quat_order: Option<QuatOrder>,
    /// What three columns of a rotation hold where their names (`rx`, `ry`, `rz`) leave it open
    #[arg(long, value_enum, value_name = "FORM")]
    pub rotation: Option<RotationForm>,
    /// Sequence of Euler angles as scipy writes it: `zyx` about fixed axes, `ZYX` about turning axes
    #[arg(long, value_name = "AXES")]
    pub euler: Option<EulerSequence>,
    /// Column separator: a character, `tab` or `space`; found out by itself if absent
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<String>,
    /// Whether the first row of a text file holds column names; found out by itself if absent
    #[arg(long, value_enum, value_name = "WHETHER")]
    pub header: Option<Header>,
    /// The array of an NPZ file; the only one if absent
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Leave out rows that cannot be read, and say how many and why
    #[arg(long)]
    pub skip_bad_rows: bool,
    /// Accept quaternions of any length but zero, and move points onto the set from any distance
    #[arg(long)]
    pub normalize: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AngleUnit {
    Deg,
    Rad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Header {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RotationForm {
    /// A rotation vector: the axis times the angle
    Rotvec,
    /// Euler angles; `--euler` gives their sequence
    Euler,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QuatOrder {
    Xyzw,
    Wxyz,
}

/// Train a model on a file of points
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mad fit quakes.csv --manifold sphere:2 --out run\n  \
    mad fit poses.csv --manifold 'product(so3,euclid:3)' --out run --set width=256\n  \
    mad fit torsions.tsv --manifold torus:7 --columns 3-9 --angle-unit deg --out run\n  \
    mad fit table.csv --manifold categorical --out run\n  \
    mad fit quakes.csv --manifold sphere:2 --out run --resume")]
pub struct Fit {
    /// CSV, TSV, Parquet, NPY, NPZ or GeoJSON file, also packed (.gz, .zst), `-` for standard input, or the name of a data set (`mad list datasets`)
    pub data: OsString,
    /// The set the points lie on, such as `sphere:2`, `so3`, `torus:7`, `points:FILE`, `categorical`, `euclid:3`,
    /// `product(so3,euclid:3)`; a named data set knows its own
    #[arg(long, value_name = "SPEC")]
    pub manifold: Option<String>,
    /// Run folder to write
    #[arg(long, value_name = "RUN")]
    pub out: PathBuf,
    /// `mad` (base measure as anchor), `dsm` (no anchor), or a rival such as `rfm` or `kde` (`mad list methods`)
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// Base measure: `uniform`, `mixture` or `kde` (fitted to the data first), `mixture:FILE`, `default` (the manifold's own).
    /// Without it a mixture on sphere:2 and so3, from 200 distinct points on, else the manifold's own
    #[arg(long, value_name = "BASE")]
    pub base: Option<String>,
    /// What the model is conditioned on: a numeric column, once per column, or `picture=COLUMN` for the column that names picture
    /// files
    #[arg(long, value_name = "COLUMN")]
    pub given: Vec<String>,
    /// For pictures of solids (`symsol:cube`): `orbit` (all poses that look the same) or `canonical` (one of them)
    #[arg(long, value_name = "WHICH")]
    pub targets: Option<String>,
    /// Rows to make or choose of a named data set
    #[arg(long, value_name = "N")]
    pub rows: Option<usize>,
    /// TOML file with settings
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// One setting; stronger than the file. `mad list settings` shows the keys
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Training steps
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Points per step
    #[arg(long, value_name = "N")]
    pub batch: Option<u64>,
    /// Seed of everything; drawn and printed if absent
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Where gradients are computed: `cpu`; `wgpu` or `cuda` in a build with that feature
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
    /// Continue from the newest checkpoint in the run folder
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Draw points from a trained model
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mad sample run --n 1000 --out samples.csv\n  mad sample run --n 1000000 --out - | head"
)]
pub struct Sample {
    /// Run folder
    pub run: PathBuf,
    /// Number of points
    #[arg(long, value_name = "N")]
    pub n: usize,
    /// Seed; drawn and printed if absent
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Name from `mad list samplers`
    #[arg(long, value_name = "NAME")]
    pub sampler: Option<String>,
    /// Network evaluations per point
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub nfe: Option<u32>,
    /// CSV, TSV, Parquet, NPY or GeoJSON file; `-` for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Leave the points where the sampler stopped, as ambient coordinates `x0, x1, …`
    #[arg(long)]
    pub unprojected: bool,
    /// Value of a condition column, `name=value`, once per column; or `picture=FILE` for a run on pictures
    #[arg(long, value_name = "NAME=VALUE")]
    pub given: Vec<String>,
    /// Strength of the condition; 1, the model as trained, if absent
    #[arg(long, value_name = "W", requires = "given")]
    pub guidance: Option<f64>,
}

/// Score a model, or a file of samples, against a file of points
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mad eval run --against test.csv\n  mad eval samples.csv --against test.csv --manifold sphere:2"
)]
pub struct Eval {
    /// Run folder, or a file of samples
    pub what: PathBuf,
    /// File of points that the model has not seen; for a run also `test`, `validation` or `train`, its own parts
    #[arg(long, value_name = "FILE")]
    pub against: OsString,
    /// The set the points lie on; a run knows its own
    #[arg(long, value_name = "SPEC")]
    pub manifold: Option<String>,
    /// Metrics to compute, separated by commas (`mad list metrics`); all that apply if absent
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// Samples to draw from a run, as many as the reference has if absent; test pictures of a pose run
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(2..))]
    pub n: Option<usize>,
    /// Poses sampled for each picture; 16 if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub draws: Option<u32>,
    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Name from `mad list samplers`
    #[arg(long, value_name = "NAME")]
    pub sampler: Option<String>,
    /// Network evaluations per point
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub nfe: Option<u32>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Log-density of a model at given points or on an equal-area grid
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mad density run --at points.csv --out density.csv\n  mad density run --grid 10000 --out grid.csv",
    group(clap::ArgGroup::new("where").required(true).args(["at", "grid"]))
)]
pub struct Density {
    /// Run folder
    pub run: PathBuf,
    /// File of points
    #[arg(long, value_name = "FILE")]
    pub at: Option<PathBuf>,
    /// Number of points of an equal-area grid
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub grid: Option<u32>,
    /// CSV, TSV, Parquet, NPY or GeoJSON file; `-` for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Steps of the flow, for methods that follow one (`rfm`, `rsgm`)
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub steps: u32,
    /// Value of a condition column, `name=value`, once per column; or `picture=FILE` for a run on pictures
    #[arg(long, value_name = "NAME=VALUE")]
    pub given: Vec<String>,
    /// Strength of the condition; 1, the model as trained, if absent
    #[arg(long, value_name = "W", requires = "given")]
    pub guidance: Option<f64>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Posterior mean, score and log-density of a base measure under noise
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad base --manifold sphere:2 --sigma 0.1 --at ambient.csv")]
pub struct Base {
    /// The set, such as `sphere:2`
    #[arg(long, value_name = "SPEC")]
    pub manifold: String,
    /// Noise level
    #[arg(long, value_name = "S")]
    pub sigma: f64,
    /// File of points in ambient space (`x0, x1, …`), or on the set in any form it is read in
    #[arg(long, value_name = "FILE")]
    pub at: PathBuf,
    /// `default` (the weights of a finite set, uniform elsewhere), `uniform`, or `mixture:FILE` with columns
    /// `x0…, kappa, weight`
    #[arg(long, value_name = "BASE", default_value = "default")]
    pub base: String,
    /// CSV, TSV, Parquet, NPY or GeoJSON file; `-` for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
}

/// Draw a run: data beside samples, density, and curves of the training
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mad plot run --out run.svg\n  mad plot run --what curves --out curves.png")]
pub struct Plot {
    /// Run folder
    pub run: PathBuf,
    /// SVG or PNG file; `RUN/plot.svg` if absent
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// What to draw
    #[arg(long, value_enum, default_value_t = PlotWhat::Samples)]
    pub what: PlotWhat,
    /// Samples to draw
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub n: Option<usize>,
    /// The picture whose poses are drawn beside it, `picture=FILE`, for a run on pictures
    #[arg(long, value_name = "picture=FILE")]
    pub given: Vec<String>,
    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotWhat {
    /// Data beside samples
    Samples,
    /// Density shading with the data
    Density,
    /// Loss and likelihood bound over the steps
    Curves,
}

/// Write a page about a run: figures, scores, settings and the commands to repeat it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mad report run\n  mad report run --out quakes.html --n 5000")]
pub struct Report {
    /// Run folder
    pub run: PathBuf,
    /// HTML file that needs nothing else; `RUN/report.html` if absent
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
    /// Samples in figures and tables; as many as training rows if absent, at most 5000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub n: Option<u32>,
    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// Make, check and list data
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mad data list\n  mad data make circle8-skewed --n 5000 --out circle.csv")]
pub struct Data {
    #[command(subcommand)]
    pub command: DataCommand,
}

/// What `mad data make symsol` draws
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pictures of solids (symsol)")]
pub struct Pictures {
    /// Solids among tet, cube, icosa, cone, cyl, tetX, cylO, sphereX, separated by commas; all if absent
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub shapes: Vec<String>,
    /// Pictures of each solid in the training part; 4500 if absent, a tenth of the original
    #[arg(long, value_name = "N")]
    pub train: Option<usize>,
    /// Pictures of each solid in the test part; 500 if absent, a tenth of the original
    #[arg(long, value_name = "N")]
    pub test: Option<usize>,
    /// Width and height in pixels; 224 if absent, as the original
    #[arg(long, value_name = "PIXELS")]
    pub size: Option<usize>,
}

impl Pictures {
    /// Whether any of them was given.
    pub fn is_given(&self) -> bool {
        !self.shapes.is_empty() || self.train.is_some() || self.test.is_some() || self.size.is_some()
    }
}

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// The data sets that can be made or named
    #[command(after_help = "Example:\n  mad data list --json")]
    List,
    /// Write a data set to a file, or pictures of solids to a folder
    #[command(after_help = "Examples:\n  \
        mad data make so3-mixture:32 --n 20000 --out rotations.csv\n  \
        mad data make symsol --shapes cube,cone --train 1000 --test 100 --size 64 --out solids")]
    Make {
        /// Name from `mad data list`
        name: String,
        /// Number of rows; 10000 where the data set is generated and all rows of a file if absent
        #[arg(long, value_name = "N")]
        n: Option<usize>,
        /// Seed of the rows
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
        /// Seed of the distribution itself (means, weights); the seed of the rows if absent
        #[arg(long, value_name = "N")]
        target_seed: Option<u64>,
        /// CSV, TSV, Parquet, NPY or GeoJSON file, `-` for standard output; for `symsol` a new folder
        #[arg(long, value_name = "FILE", default_value = "-")]
        out: PathBuf,
        #[command(flatten)]
        pictures: Pictures,
    },
    /// Read a file as `fit` would and report: columns, ranges, repeated and bad rows, and the command to go on with
    #[command(after_help = "Examples:\n  mad data check quakes.csv\n  \
        mad data check torsions.parquet --manifold torus:2 --columns phi,psi --angle-unit deg\n\
        Exit code 3 says that rows are bad; --skip-bad-rows accepts them.")]
    Check {
        /// CSV, TSV, Parquet, NPY, NPZ or GeoJSON file, also packed (.gz, .zst); `-` for standard input
        file: PathBuf,
        /// The set the points lie on; found from the names of the columns if absent
        #[arg(long, value_name = "SPEC")]
        manifold: Option<String>,
        #[command(flatten)]
        reading: Reading,
    },
}

/// What this program knows
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
    Networks,
    Datasets,
    Metrics,
    Settings,
    Solids,
    Encoders,
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
#[command(after_help = "Example:\n  mad man --out man1")]
pub struct Man {
    /// Folder for the pages
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
