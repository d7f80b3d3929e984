//! Cross-validation: points scored by fits to the others.

use crate::Points;
use crate::estimate::{constants::FOLDS, new_places};
use crate::groups::Groups;
use std::collections::HashMap;

/// Points that are scored, and those of the fit.
pub(in crate::estimate) struct Fold {
    pub train: Points,
    pub scored: Points,
}

impl Fold {
    /// Each fifth of the distinct points, with all of their rows, against the rest; each fifth of the `units` if there are any,
    /// given row by row. Every scored point is a new place: it equals none of the other side. At most `most` rows of a part are
    /// scored. There are no folds of a single point or unit.
    pub fn all(rows: &Points, units: &[u32], most: usize) -> Vec<Self> {
        let fold_of = if units.is_empty() { by_point(rows) } else { by_unit(&units[..rows.len()]) };
        let fold = |fold: usize| {
            let (scored, train): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&row| fold_of[row] == fold);
            let scored: Vec<usize> = scored.iter().copied().step_by(scored.len().div_ceil(most).max(1)).collect();
            let (train, mut scored) = (rows.select(&train), rows.select(&scored));
            if !units.is_empty() {
                // Equal points may stand in two units.
                scored = new_places(&train, &scored);
            }
            (!scored.is_empty() && !train.is_empty()).then_some(Self { train, scored })
        };
        (0..FOLDS).filter_map(fold).collect()
    }
}

/// The fold of each row: equal points in one.
fn by_point(rows: &Points) -> Vec<usize> {
    let mut fold_of = vec![0; rows.len()];
    for (group, equal) in Groups::of(rows).iter().enumerate() {
        equal.iter().for_each(|&row| fold_of[row as usize] = group % FOLDS);
    }
    fold_of
}

/// The fold of each row: a unit in one, the larger ones first and each to the smallest fold.
fn by_unit(units: &[u32]) -> Vec<usize> {
    let mut rows_of: HashMap<u32, usize> = HashMap::new();
    units.iter().for_each(|unit| *rows_of.entry(*unit).or_default() += 1);
    let mut ordered: Vec<(u32, usize)> = rows_of.into_iter().collect();
    ordered.sort_unstable_by_key(|(unit, rows)| (std::cmp::Reverse(*rows), *unit));
    let mut sizes = [0; FOLDS];
    let mut fold_of = HashMap::new();
    for (unit, rows) in ordered {
        let smallest = (0..FOLDS).min_by_key(|fold| sizes[*fold]).unwrap_or(0);
        sizes[smallest] += rows;
        fold_of.insert(unit, smallest);
    }
    units.iter().map(|unit| fold_of[unit]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(angles: &[f64]) -> Points {
        Points::from_vec(angles.iter().flat_map(|a| [a.cos(), a.sin()]).collect(), 2)
    }

    #[test]
    fn every_point_is_scored_once_by_the_others() {
        let angles: Vec<f64> = (0..23).map(|i| 0.1 * i as f64).collect();
        let folds = Fold::all(&circle(&angles), &[], 10);
        assert_eq!(folds.len(), FOLDS);
        assert_eq!(folds.iter().map(|fold| fold.scored.len()).sum::<usize>(), 23);
        assert!(folds.iter().all(|fold| fold.train.len() + fold.scored.len() == 23));
    }

    #[test]
    fn equal_points_stay_in_one_fold() {
        let angles: Vec<f64> = (0..90).map(|i| 0.1 * (i * i % 31) as f64).collect();
        let folds = Fold::all(&circle(&angles), &[], 1000);
        assert_eq!(folds.iter().map(|fold| fold.scored.len()).sum::<usize>(), 90);
        for Fold { train, scored } in &folds {
            assert!(scored.rows().all(|x| train.rows().all(|y| x != y)));
        }
    }

    #[test]
    fn rows_of_a_unit_stay_in_one_fold_and_are_scored_as_new_places() {
        // Ten units of different sizes; one point occurs in two of them.
        let units: Vec<u32> = (0..90).map(|i| [0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9][i % 14]).collect();
        let angles: Vec<f64> = (0..90).map(|i| if i == 6 || i == 7 { 9.0 } else { 0.01 * i as f64 }).collect();
        let rows = circle(&angles);
        let unit_of = |x: &[f64]| (0..90).find(|&i| rows.row(i) == x).map(|i| units[i]);
        let shared = circle(&[9.0]);
        let folds = Fold::all(&rows, &units, 1000);
        assert_eq!(folds.len(), FOLDS);
        let mut scored_rows = 0;
        for Fold { train, scored } in &folds {
            scored_rows += scored.len();
            for x in scored.rows() {
                assert!(train.rows().all(|y| x != y && (y == shared.row(0) || unit_of(x) != unit_of(y))));
            }
        }
        assert_eq!(scored_rows, 88, "the point of two units is no new place for either");
    }

    #[test]
    fn two_points_score_each_other_and_one_none() {
        let sizes = |angles: &[f64]| -> Vec<(usize, usize)> {
            Fold::all(&circle(angles), &[], 10).iter().map(|fold| (fold.train.len(), fold.scored.len())).collect()
        };
        assert_eq!(sizes(&[0.5, 0.6, 0.5]), [(1, 2), (2, 1)]);
        assert_eq!(sizes(&[0.5, 0.5]), []);
    }
}
