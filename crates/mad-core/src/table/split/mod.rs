//! Division of rows into a training, a validation and a test part.

mod blocks;
mod column;
mod division;
mod error;
mod rule;

pub use error::SplitError;
pub use rule::{Distance, SplitRule};

use super::{DataError, Table};
use crate::{
    Points,
    groups::Groups,
    manifold::Manifold,
    rng::{Purpose, stream},
};
use division::Division;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

/// Shares of the training, validation and test part, as in the paper.
pub const FRACTIONS: [f64; 3] = [0.8, 0.1, 0.1];

/// What is drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitKind {
    /// Row by row, as in the paper: a repeated point may stand in several parts.
    Random,
    /// Point by point: equal points always fall in the same part.
    #[default]
    Distinct,
}

/// Row numbers of each part, in random order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Block, period or group of each training row; empty where rows or points are the units.
    pub train_units: Vec<u32>,
    /// Rows to choose settings by.
    pub validation: Vec<usize>,
    /// Rows to judge by.
    pub test: Vec<usize>,
    /// What the parts are made of.
    pub summary: SplitSummary,
}

/// What the parts of a split are made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SplitSummary {
    /// What stays in one part: `rows`, `points`, `blocks`, `times` or `groups`.
    pub units: &'static str,
    /// How many of them the training, validation and test part have.
    pub counts: [usize; 3],
    /// Rows in no part, because they are too close to a row of another one.
    pub left_out: usize,
}

/// How often points repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Number of rows.
    pub rows: usize,
    /// Number of distinct points.
    pub distinct: usize,
    /// How often the most frequent point occurs.
    pub most: usize,
}

impl Duplicates {
    /// A sentence about repeated rows, if there are any.
    pub fn notice(&self) -> Option<String> {
        let repeated = self.rows - self.distinct;
        (repeated > 0).then(|| {
            let share = 100.0 * repeated as f64 / self.rows as f64;
            format!(
                "{repeated} of {} rows ({share:.1} %) repeat an earlier point; one point occurs {} times",
                self.rows, self.most
            )
        })
    }

    /// Refuses so few rows that a part of their split would be empty.
    pub(crate) fn require_parts(&self, kind: SplitKind, fractions: [f64; 3]) -> Result<(), DataError> {
        let Self { rows, distinct, .. } = *self;
        let units = if kind == SplitKind::Random { rows } else { distinct };
        let random = kind == SplitKind::Distinct && empty_part(rows, fractions).is_none();
        match empty_part(units, fractions) {
            Some(part) => Err(DataError::EmptyPart { part, rows, distinct, random }),
            None => Ok(()),
        }
    }
}

impl Split {
    /// Splits the rows of `points` by shares of the whole.
    ///
    /// Parts have ⌊f₁ N⌋, ⌊f₂ N⌋ and the remaining units, where the N units are rows (`Random`) or distinct points
    /// (`Distinct`). A part that was asked for must not be empty; a part of share 0 is.
    pub fn new(points: &Points, kind: SplitKind, fractions: [f64; 3], seed: u64) -> Result<Self, DataError> {
        require_shares(fractions)?;
        let groups = match kind {
            SplitKind::Random => Groups::single(points.len()),
            SplitKind::Distinct => Groups::of(points),
        };
        let mut units: Vec<u32> = (0..groups.len() as u32).collect();
        let mut rng = stream(seed, Purpose::Split, 0);
        shuffle(&mut units, &mut rng);
        let units_count = units.len();
        let [first, second, _] = sizes(units_count, fractions);
        let part = |units: &[u32]| {
            let mut rows: Vec<usize> =
                units.iter().flat_map(|&unit| groups.rows(unit as usize)).map(|&row| row as usize).collect();
            shuffle(&mut rows, &mut rng);
            rows
        };
        let mut parts = [&units[..first], &units[first..first + second], &units[first + second..]].map(part);
        if empty_part(units_count, fractions).is_some() {
            duplicates(points).require_parts(kind, fractions)?;
        }
        let [train, validation, test] = parts.each_mut().map(std::mem::take);
        let units = if kind == SplitKind::Random { "rows" } else { "points" };
        let summary = SplitSummary { units, counts: sizes(units_count, fractions), left_out: 0 };
        Ok(Self { train, train_units: Vec::new(), validation, test, summary })
    }

    /// Splits `points` on `manifold`, read from the rows of `table`, by a rule.
    ///
    /// Shares are shares of the rows. Equal seeds give equal splits; a split by time does not depend on the seed.
    pub fn by(
        rule: &SplitRule,
        table: &Table,
        manifold: &dyn Manifold,
        points: &Points,
        fractions: [f64; 3],
        seed: u64,
    ) -> Result<Self, DataError> {
        require_shares(fractions)?;
        let division = match rule {
            SplitRule::Random => return Self::new(points, SplitKind::Random, fractions, seed),
            SplitRule::Distinct => return Self::new(points, SplitKind::Distinct, fractions, seed),
            SplitRule::Blocks(distance) => {
                blocks::divide(points, manifold, distance.on(manifold)?, rule, fractions, seed)?
            }
            SplitRule::Time(column) => column::by_time(table, column, rule, fractions)?,
            SplitRule::Group(column) => column::by_group(table, column, rule, fractions, seed)?,
        };
        let mut rng = stream(seed, Purpose::Split, 2);
        let Division { parts, units, counts, left_out, unit_of } = division;
        let [train, validation, test] = parts.map(|part| {
            let mut rows: Vec<usize> = part.into_iter().map(|row| row as usize).collect();
            rows.sort_unstable();
            shuffle(&mut rows, &mut rng);
            rows
        });
        let train_units = train.iter().map(|&row| unit_of[row]).collect();
        Ok(Self { train, train_units, validation, test, summary: SplitSummary { units, counts, left_out } })
    }
}

/// Refuses shares that are no division of a whole.
fn require_shares(fractions: [f64; 3]) -> Result<(), DataError> {
    let bad = fractions.iter().any(|f| !(0.0..=1.0).contains(f)) || (fractions.iter().sum::<f64>() - 1.0).abs() > 1e-9;
    if bad { Err(DataError::Fractions(fractions)) } else { Ok(()) }
}

/// Numbers of units in the three parts of `n`.
fn sizes(n: usize, fractions: [f64; 3]) -> [usize; 3] {
    let count = |f: f64| (f * n as f64 + 1e-9) as usize;
    let first = count(fractions[0]);
    let second = if fractions[2] == 0.0 { n - first } else { count(fractions[1]) };
    [first, second, n - first - second]
}

/// The first part of `n` units that was asked for and would be empty.
fn empty_part(n: usize, fractions: [f64; 3]) -> Option<&'static str> {
    let parts = sizes(n, fractions).into_iter().zip(fractions).zip(["training", "validation", "test"]);
    parts.into_iter().find(|((size, share), _)| *size == 0 && *share > 0.0).map(|(_, part)| part)
}

/// Counts repeated points.
pub fn duplicates(points: &Points) -> Duplicates {
    let groups = Groups::of(points);
    let most = (0..groups.len()).map(|group| groups.rows(group).len()).max().unwrap_or(0);
    Duplicates { rows: points.len(), distinct: groups.len(), most }
}

/// Fisher–Yates.
fn shuffle<T>(items: &mut [T], rng: &mut crate::rng::Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, rng.random_range(0..=i));
    }
}
