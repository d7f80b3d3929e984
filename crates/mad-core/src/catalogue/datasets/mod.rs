//! Data sets by name: synthetic ones with known distributions, one that is built in, and files of a data directory.
//!
//! Each makes the table that a user would hand in. A name may carry parameters: `so3-mixture:64`,
//! `vmf-mixture:dim=3,k=4,kappa=100`. A value without a name belongs to the first parameter.

mod arguments;
pub mod categorical;
pub mod checkerboard;
pub mod circle;
mod directory;
mod earth;
mod earthquakes_week;
mod ramachandran;
pub mod so3_mixture;
pub mod two_points;
pub mod vmf_mixture;

pub use arguments::{Arguments, Parameter};

use crate::registry::{Named, find};
use crate::rng::{Purpose, Rng, stream};
use crate::table::{DataError, Table};
use rand::RngExt as _;
use std::path::Path;

/// Rows made with one random stream, so that the first rows do not depend on how many are made.
const BLOCK: usize = 1024;

/// Rows made where no number is given.
pub(crate) const DEFAULT_ROWS: usize = 10_000;

/// What to make.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Parameters of the set.
    pub arguments: &'a Arguments,
    /// Number of rows; if absent, 10 000 of a synthetic set and all of a file.
    pub rows: Option<usize>,
    /// Seed of the rows.
    pub seed: u64,
    /// Seed of the distribution itself, such as the means of a mixture; two requests that share it draw from one distribution.
    pub target: u64,
    /// Directory of data files.
    pub directory: Option<&'a Path>,
}

/// One data set.
pub struct DatasetEntry {
    /// Name, without parameters.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Parameters with their defaults; the first may be given without its name.
    pub parameters: &'static [Parameter],
    /// The manifold to fit it on, as text for [`crate::manifold`].
    pub manifold: fn(&Arguments) -> String,
    /// Whether it is a distribution, of which new independent rows can be drawn without end, and not a table.
    pub is_distribution: bool,
    make: fn(&Request) -> Result<Table, DataError>,
}

impl Named for DatasetEntry {
    const KIND: &'static str = "data set";

    fn name(&self) -> &'static str {
        self.name
    }
}

/// All data sets.
pub const DATASETS: &[DatasetEntry] = &[
    earthquakes_week::ENTRY,
    vmf_mixture::ENTRY,
    so3_mixture::ENTRY,
    circle::UNIFORM,
    circle::SKEWED,
    circle::SUPPORT,
    two_points::ENTRY,
    two_points::SUPPORT,
    checkerboard::SPHERE,
    checkerboard::TORUS,
    categorical::ENTRY,
    earth::VOLCANO,
    earth::EARTHQUAKE,
    earth::FLOOD,
    earth::FIRE,
    ramachandran::ENTRY,
];

/// Finds a data set and reads its parameters from text such as `so3-mixture:64`.
pub fn dataset(text: &str) -> Result<(&'static DatasetEntry, Arguments), DataError> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let entry = find(DATASETS, name)?;
    Ok((entry, Arguments::parse(entry, rest)?))
}

/// Makes a data set: `text` is its name, with parameters if wanted; `rows` and `directory` as in [`Request`].
pub fn make(
    text: &str,
    rows: Option<usize>,
    seed: u64,
    target: u64,
    directory: Option<&Path>,
) -> Result<Table, DataError> {
    let (entry, arguments) = dataset(text)?;
    (entry.make)(&Request { arguments: &arguments, rows, seed, target, directory })
}

impl Request<'_> {
    /// Number of rows of a synthetic set.
    fn count(&self) -> usize {
        self.rows.unwrap_or(DEFAULT_ROWS)
    }

    /// A table of numbers made row by row.
    fn numbers(&self, source: &str, header: &[&str], mut row: impl FnMut(&mut Rng, &mut [f64])) -> Table {
        let mut data = vec![0.0; self.count() * header.len()];
        for (block, rows) in data.chunks_mut(BLOCK * header.len()).enumerate() {
            let mut rng = stream(self.seed, Purpose::Data, 1 + block as u64);
            rows.chunks_exact_mut(header.len()).for_each(|x| row(&mut rng, x));
        }
        Table::numbers(source, Some(header.iter().map(|s| s.to_string()).collect()), header.len(), data)
    }

    /// The stream for the parameters of a set, apart from its rows.
    fn parameters(&self) -> Rng {
        stream(self.seed, Purpose::Data, 0)
    }

    /// All rows of a fixed table, or a random choice of them in their order.
    fn choose(&self, name: &str, table: Table) -> Result<Table, DataError> {
        let Some(wanted) = self.rows else { return Ok(table) };
        if wanted > table.len() {
            let problem = format!("it has {} rows; {wanted} were asked for", table.len());
            return Err(DataError::DatasetArgument { name: name.into(), problem });
        }
        // Selection sampling: row i is taken with probability (still wanted)/(still left).
        let mut rng = self.parameters();
        let mut chosen = Vec::with_capacity(wanted);
        for row in 0..table.len() {
            if rng.random_range(0..table.len() - row) < wanted - chosen.len() {
                chosen.push(row);
            }
        }
        Ok(table.select(&chosen))
    }
}

/// An index drawn with these probabilities.
fn draw(probabilities: impl IntoIterator<Item = f64>, rng: &mut Rng) -> usize {
    let mut left: f64 = rng.random();
    let mut last = 0;
    for (i, p) in probabilities.into_iter().enumerate() {
        if p > 0.0 {
            last = i;
        }
        left -= p;
        if left < 0.0 {
            return i;
        }
    }
    last
}
