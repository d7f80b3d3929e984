//! Units that stay together, assigned to parts.

use super::{SplitError, SplitRule, shuffle};
use crate::rng::Rng;

/// Rows of each part and what they were made of.
pub(super) struct Division {
    /// Rows of the training, validation and test part.
    pub parts: [Vec<u32>; 3],
    /// What stays together, such as `blocks`.
    pub units: &'static str,
    /// How many of them each part has.
    pub counts: [usize; 3],
    /// Rows that are in no part.
    pub left_out: usize,
    /// Number of the unit of every row.
    pub unit_of: Vec<u32>,
}

impl Division {
    /// Assigns units of rows to parts in random order.
    ///
    /// A unit goes to the test part if that brings the part nearer to its share of the rows, else to the validation part by the
    /// same rule, else to the training part. A part that is still empty is given the smallest unit of the training part.
    pub(crate) fn assign(
        mut blocks: Vec<Vec<u32>>,
        units: &'static str,
        rule: &SplitRule,
        fractions: [f64; 3],
        rng: &mut Rng,
    ) -> Result<Self, SplitError> {
        let needed = fractions.iter().filter(|share| **share > 0.0).count();
        if blocks.len() < needed {
            return Err(too_few(rule, blocks.len(), units, needed));
        }
        shuffle(&mut blocks, rng);
        let unit_of = numbers(&blocks);
        let rows = unit_of.len() as f64;
        let mut sizes = [0; 3];
        let mut assigned: [Vec<Vec<u32>>; 3] = Default::default();
        for block in blocks {
            let nearer = |part: &usize| sizes[*part] as f64 + 0.5 * block.len() as f64 <= fractions[*part] * rows;
            let part = [2, 1].into_iter().find(nearer).unwrap_or(0);
            sizes[part] += block.len();
            assigned[part].push(block);
        }
        for part in [2, 1, 0] {
            if !assigned[part].is_empty() || fractions[part] == 0.0 {
                continue;
            }
            // The units are enough for all parts, so that one of the others has a unit to spare.
            let from = (0..3).max_by_key(|other| assigned[*other].len()).unwrap_or(0);
            let smallest = (0..assigned[from].len()).min_by_key(|unit| assigned[from][*unit].len()).unwrap_or(0);
            let unit = assigned[from].remove(smallest);
            assigned[part].push(unit);
        }
        let counts = [0, 1, 2].map(|part| assigned[part].len());
        Ok(Self { parts: assigned.map(|units| units.concat()), units, counts, left_out: 0, unit_of })
    }
}

/// The number of the unit that each row is in.
pub(super) fn numbers(units: &[Vec<u32>]) -> Vec<u32> {
    let mut numbers = vec![0; units.iter().map(Vec::len).sum()];
    for (number, rows) in units.iter().enumerate() {
        rows.iter().for_each(|&row| numbers[row as usize] = number as u32);
    }
    numbers
}

/// The refusal of too few units.
pub(super) fn too_few(rule: &SplitRule, found: usize, units: &'static str, parts: usize) -> SplitError {
    let advice = match rule {
        SplitRule::Blocks(_) => "choose a smaller distance or give more rows",
        SplitRule::Group(_) => "choose a column with more different values",
        _ => "choose a column with more different times",
    };
    SplitError::TooFew { rule: rule.to_string(), found, units, parts, advice }
}
