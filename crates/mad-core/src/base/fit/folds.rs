//! Points judged by fits to the others.

use crate::Points;
use crate::groups::Groups;

/// Parts of which each is left out once.
pub(super) const FOLDS: usize = 5;

/// Points that are judged, and those that a fit may see.
pub(super) struct Fold {
    pub seen: Points,
    pub judged: Points,
}

impl Fold {
    /// Each fifth of all points against the rest. Equal points fall in the same fifth, unless the validation part repeats
    /// training points: then rows to come will repeat them as well, and the rows are divided. At most `most` points of a part are
    /// judged. With a row in each part there are two folds at least.
    pub fn all(train: &Points, validation: &Points, most: usize) -> Vec<Self> {
        let together = Points::from_vec([train.as_slice(), validation.as_slice()].concat(), train.dim());
        let groups = Groups::of(&together);
        let mut group_of = vec![0; together.len()];
        groups.iter().enumerate().for_each(|(group, rows)| rows.iter().for_each(|&row| group_of[row as usize] = group));
        let firsts = groups.firsts();
        let repeats = group_of[train.len()..].iter().any(|&group| firsts[group] < train.len());
        let fold_of = |row: usize| if repeats { row } else { group_of[row] } % FOLDS;
        let fold = |fold: usize| {
            let (judged, seen): (Vec<usize>, Vec<usize>) = (0..together.len()).partition(|&row| fold_of(row) == fold);
            let judged: Vec<usize> = judged.iter().copied().step_by(judged.len().div_ceil(most).max(1)).collect();
            let fold = || Self { seen: together.select(&seen), judged: together.select(&judged) };
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
    fn every_point_is_judged_once_by_the_others() {
        let angles: Vec<f64> = (0..23).map(|i| 0.1 * i as f64).collect();
        let folds = Fold::all(&circle(&angles[..20]), &circle(&angles[20..]), 10);
        assert_eq!(folds.len(), FOLDS);
        assert_eq!(folds.iter().map(|fold| fold.judged.len()).sum::<usize>(), 23);
        for Fold { seen, judged } in &folds {
            assert_eq!(seen.len() + judged.len(), 23);
            assert!(judged.rows().all(|x| seen.rows().all(|y| x != y)));
        }
    }

    #[test]
    fn equal_points_stay_together_unless_validation_repeats_them() {
        // Each training point comes three times.
        let angles: Vec<f64> = (0..30).map(|i| 0.1 * (i % 10) as f64).collect();
        let shared =
            |folds: &[Fold]| folds.iter().any(|fold| fold.judged.rows().any(|x| fold.seen.rows().any(|y| x == y)));
        assert!(!shared(&Fold::all(&circle(&angles), &circle(&[2.0, 2.1]), 10)));
        assert!(shared(&Fold::all(&circle(&angles), &circle(&[0.1, 2.1]), 10)));
    }

    #[test]
    fn two_rows_judge_each_other() {
        for validation in [0.5, 0.6] {
            let folds = Fold::all(&circle(&[0.5]), &circle(&[validation]), 10);
            let sizes: Vec<_> = folds.iter().map(|fold| (fold.seen.len(), fold.judged.len())).collect();
            assert_eq!(sizes, [(1, 1), (1, 1)]);
        }
    }
}
