//! Points scored by fits to the others.

use crate::Points;
use crate::groups::Groups;

/// Parts of which each is left out once.
pub(super) const FOLDS: usize = 5;

/// Points that are scored, and those that a fit may see.
pub(super) struct Fold {
    pub seen: Points,
    pub judged: Points,
}

impl Fold {
    /// Each fifth of the distinct points, with all of their rows, against the rest: equal rows never stand on both sides, so that
    /// every scored point is a new place. At most `most` rows of a part are scored. There are no folds of a single point.
    pub fn all(rows: &Points, most: usize) -> Vec<Self> {
        let groups = Groups::of(rows);
        let mut fold_of = vec![0; rows.len()];
        for (group, equal) in groups.iter().enumerate() {
            equal.iter().for_each(|&row| fold_of[row as usize] = group % FOLDS);
        }
        let fold = |fold: usize| {
            let (judged, seen): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&row| fold_of[row] == fold);
            let judged: Vec<usize> = judged.iter().copied().step_by(judged.len().div_ceil(most).max(1)).collect();
            let fold = || Self { seen: rows.select(&seen), judged: rows.select(&judged) };
            (!judged.is_empty() && !seen.is_empty()).then(fold)
        };
        (0..FOLDS).filter_map(fold).collect()
    }
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
        let folds = Fold::all(&circle(&angles), 10);
        assert_eq!(folds.len(), FOLDS);
        assert_eq!(folds.iter().map(|fold| fold.judged.len()).sum::<usize>(), 23);
        assert!(folds.iter().all(|fold| fold.seen.len() + fold.judged.len() == 23));
    }

    #[test]
    fn equal_points_stay_in_one_fold() {
        let angles: Vec<f64> = (0..90).map(|i| 0.1 * (i * i % 31) as f64).collect();
        let folds = Fold::all(&circle(&angles), 1000);
        assert_eq!(folds.iter().map(|fold| fold.judged.len()).sum::<usize>(), 90);
        for Fold { seen, judged } in &folds {
            assert!(judged.rows().all(|x| seen.rows().all(|y| x != y)));
        }
    }

    #[test]
    fn two_points_score_each_other_and_one_none() {
        let sizes = |angles: &[f64]| -> Vec<(usize, usize)> {
            Fold::all(&circle(angles), 10).iter().map(|fold| (fold.seen.len(), fold.judged.len())).collect()
        };
        assert_eq!(sizes(&[0.5, 0.6, 0.5]), [(1, 2), (2, 1)]);
        assert_eq!(sizes(&[0.5, 0.5]), []);
    }
}
