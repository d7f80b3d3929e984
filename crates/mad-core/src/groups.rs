//! Rows that are the same point.

use crate::Points;
use rayon::prelude::*;
use std::collections::HashSet;

/// Bits by which equal points are known.
pub(crate) fn key(x: &[f64]) -> impl Iterator<Item = u64> + '_ {
    // Adding zero makes minus zero plus zero.
    x.iter().map(|v| (v + 0.0).to_bits())
}

/// Which of `points` are equal to one of `others`, number by number; minus zero is zero.
///
/// Points of quotients must be canonical, as those of a run folder are.
pub fn copies(points: &Points, others: &Points) -> Vec<bool> {
    let known: HashSet<Vec<u64>> = others.rows().map(|x| key(x).collect()).collect();
    points.rows().map(|x| known.contains(&key(x).collect::<Vec<_>>())).collect()
}

/// Rows of equal points, in the order of their first row. Takes eight bytes per row, so that millions of rows are no burden.
pub(crate) struct Groups {
    /// All rows, group by group.
    rows: Vec<u32>,
    /// Where each group ends.
    ends: Vec<u32>,
}

impl Groups {
    /// Every row for itself.
    pub fn single(rows: usize) -> Self {
        assert!(rows < u32::MAX as usize, "more rows than can be counted");
        Self { rows: (0..rows as u32).collect(), ends: (1..=rows as u32).collect() }
    }

    /// Equal points together.
    pub fn of(points: &Points) -> Self {
        let key = |row: u32| key(points.row(row as usize));
        let mut single = Self::single(points.len());
        single.rows.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        let mut groups: Vec<(u32, u32)> = Vec::new();
        let mut start = 0;
        for alike in single.rows.chunk_by(|&a, &b| key(a).eq(key(b))) {
            groups.push((start, alike.len() as u32));
            start += alike.len() as u32;
        }
        groups.par_sort_unstable_by_key(|(start, _)| single.rows[*start as usize]);
        let mut rows = Vec::with_capacity(points.len());
        single.ends.clear();
        for (start, count) in groups {
            rows.extend_from_slice(&single.rows[start as usize..(start + count) as usize]);
            single.ends.push(rows.len() as u32);
        }
        Self { rows, ends: single.ends }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Rows of a group, in order.
    pub fn rows(&self, group: usize) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.rows[start as usize..self.ends[group] as usize]
    }

    /// All groups.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|group| self.rows(group))
    }

    /// The first row of every group.
    pub(crate) fn firsts(&self) -> Vec<usize> {
        self.iter().map(|rows| rows[0] as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_points_equal_in_every_number() {
        let known = Points::from_vec(vec![1.0, 0.0, 0.5, 0.5], 2);
        let asked = Points::from_vec(vec![0.5, 0.5, 1.0, -0.0, 1.0, 1e-300, 0.5, 0.5], 2);
        assert_eq!(copies(&asked, &known), [true, true, false, true]);
    }

    #[test]
    fn equal_points_are_together_in_the_order_of_their_first_row() {
        let points = Points::from_vec(vec![2.0, 1.0, 0.0, 1.0, 2.0, -0.0, 3.0], 1);
        let groups = Groups::of(&points);
        let rows: Vec<&[u32]> = groups.iter().collect();
        assert_eq!(rows, [&[0, 4][..], &[1, 3], &[2, 5], &[6]]);
        assert_eq!(groups.firsts(), [0, 1, 2, 6]);
    }
}
