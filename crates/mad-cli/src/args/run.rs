//! Commands that use a trained model or a base measure.

use super::known::Known;
use super::{DataOut, Reading, Seed};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// How samples are drawn
#[derive(Debug, Clone, Args)]
pub struct Sampling {
    /// Sampler; that of the run if absent
    #[arg(long, value_name = "NAME", value_parser = Known::sampler())]
    pub sampler: Option<String>,
    /// Network evaluations per sample; those of the run if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub nfe: Option<u32>,
}

/// What a model is conditional on
#[derive(Debug, Clone, Args)]
pub struct Given {
    /// Value of a condition column, repeatable; or `picture=FILE` for a run on pictures
    #[arg(long = "given", value_name = "NAME=VALUE")]
    pub values: Vec<String>,
    /// Strength of the condition; 1, the model as trained, if absent
    #[arg(long, value_name = "W", requires = "values")]
    pub guidance: Option<f64>,
}

/// Draw samples from a trained model
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mad sample run -n 1000 -o samples.csv\n  \
    mad sample run -n 1000000 | head\n  \
    mad sample run --given picture=new.png -o poses.csv")]
pub struct Sample {
    /// Run folder
    pub run: PathBuf,
    /// Samples to draw
    #[arg(short = 'n', long, alias = "n", value_name = "N", default_value_t = 1000)]
    pub samples: usize,
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub sampling: Sampling,
    /// Leave the samples where the sampler stopped, as ambient coordinates `x0, x1, …`
    #[arg(long)]
    pub unprojected: bool,
    #[command(flatten)]
    pub seed: Seed,
    #[command(flatten)]
    pub out: DataOut,
}

/// Score a model, or a file of samples, against points it has not been trained on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mad eval run\n  \
    mad eval run --against new.csv --metrics nll,mmd\n  \
    mad eval samples.csv --against test.csv --manifold sphere:2")]
pub struct Eval {
    /// Run folder, or a file of samples
    pub what: PathBuf,
    /// Points to compare with: `test`, `validation` or `train`, the parts of a run, or a file; `test` if absent
    #[arg(long, value_name = "PART|FILE")]
    pub against: Option<OsString>,
    /// The set the points lie on, for a file of samples; a run knows its own
    #[arg(short, long, value_name = "SPEC")]
    pub manifold: Option<String>,
    /// Metrics to compute, separated by commas; all that apply if absent
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = Known::metric())]
    pub metrics: Vec<String>,
    /// Samples to draw, as many as there are points to compare with if absent; 16 of each picture
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(2..))]
    pub samples: Option<usize>,
    /// Test pictures to score a run on pictures with; 5000 if absent
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub pictures: Option<usize>,
    #[command(flatten)]
    pub sampling: Sampling,
    #[command(flatten)]
    pub seed: Seed,
    #[command(flatten)]
    pub reading: Reading,
}

/// Log-density of a model at given points or on an equal-area grid
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mad density run --at points.csv -o density.csv\n  mad density run --grid 10000 -o grid.csv",
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
    #[command(flatten)]
    pub given: Given,
    /// Integration steps of methods that follow a flow (`rfm`, `rsgm`)
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub flow_steps: u32,
    #[command(flatten)]
    pub out: DataOut,
    #[command(flatten)]
    pub reading: Reading,
}

/// What a run is and how its training went
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad info run")]
pub struct Info {
    /// Run folder
    pub run: PathBuf,
}

/// Posterior mean, score and log-density of a base measure under noise
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mad base --manifold sphere:2 --sigma 0.1 --at ambient.csv")]
pub struct Base {
    /// The set, such as `sphere:2`
    #[arg(short, long, value_name = "SPEC")]
    pub manifold: String,
    /// Noise level
    #[arg(long, value_name = "S")]
    pub sigma: f64,
    /// File of points in ambient space (`x0, x1, …`), or on the set in any form it is read in
    #[arg(long, value_name = "FILE")]
    pub at: PathBuf,
    /// `default`, `uniform`, or `mixture:FILE` with columns `x0…, kappa, weight`
    #[arg(long, value_name = "BASE", default_value = "default", value_parser = Known::base(), hide_possible_values = true)]
    pub base: String,
    #[command(flatten)]
    pub out: DataOut,
    #[command(flatten)]
    pub reading: Reading,
}

/// Draw a run: data with samples, density, and curves of the training
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mad plot run -o run.svg\n  mad plot run --what curves -o curves.png")]
pub struct Plot {
    /// Run folder
    pub run: PathBuf,
    /// What to draw
    #[arg(long, value_enum, default_value_t = PlotWhat::Samples)]
    pub what: PlotWhat,
    /// Samples to draw; as many as there are training rows if absent, at most 10000
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub samples: Option<usize>,
    /// Number of points of the equal-area grid on which a density is drawn; 12000 if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub grid: Option<u32>,
    /// The picture whose poses are drawn, for a run on pictures
    #[arg(long, value_name = "picture=FILE")]
    pub given: Vec<String>,
    #[command(flatten)]
    pub seed: Seed,
    /// SVG or PNG file; `RUN/plot.svg` if absent
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotWhat {
    /// Data with samples
    Samples,
    /// Density as shading, with the data
    Density,
    /// Loss and validation score over the steps
    Curves,
}

/// Write a page about a run: figures, scores, settings and the commands to repeat it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mad report run\n  mad report run -n 5000 -o quakes.html")]
pub struct Report {
    /// Run folder
    pub run: PathBuf,
    /// Samples in figures and tables; as many as training rows if absent, at most 5000; 16 of each picture
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub samples: Option<u32>,
    /// Test pictures to score a run on pictures with; 500 if absent
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub pictures: Option<usize>,
    #[command(flatten)]
    pub seed: Seed,
    /// HTML file that needs nothing else; `RUN/report.html` if absent
    #[arg(short, long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}
