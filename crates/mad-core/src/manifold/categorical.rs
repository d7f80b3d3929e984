//! Tables of categories: one one-hot block per column.

use super::{Manifold, ManifoldError};
use crate::{
    Points,
    measure::{BaseMeasure, Finite, ProductMeasure},
};
use std::sync::Arc;

/// Most one-hot coordinates of one table.
const MAX_COORDINATES: usize = 100_000;

/// Most combinations that [`Manifold::grid`] lists unasked.
const MAX_COMBINATIONS: usize = 10_000;

/// Columns of categories; a value is a unit vector in its column's block.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    levels: Option<Vec<usize>>,
}

impl Categorical {
    /// Columns with these numbers of levels, each at least 1.
    pub fn new(levels: Vec<usize>) -> Result<Self, ManifoldError> {
        let bad = |needs, got| Err(ManifoldError::dimension("categorical", needs, got));
        if levels.is_empty() {
            return bad("at least one column", 0);
        }
        if levels.contains(&0) {
            return bad("at least one level in every column", 0);
        }
        let total = levels.iter().fold(0usize, |sum, n| sum.saturating_add(*n));
        if total > MAX_COORDINATES {
            return bad("at most 100000 levels over all columns", total);
        }
        Ok(Self { levels: Some(levels) })
    }

    /// Columns not known yet: only `spec` means something before a file has been seen.
    pub(crate) fn unresolved() -> Self {
        Self { levels: None }
    }

    /// Numbers of levels, empty before a file has been seen.
    pub fn levels(&self) -> &[usize] {
        self.levels.as_deref().unwrap_or_default()
    }

    /// Index of the largest coordinate in each block; the first one among equals.
    pub fn categories<'a>(&'a self, x: &'a [f64]) -> impl Iterator<Item = usize> + 'a {
        self.levels().iter().scan(0, move |start, &n| {
            let block = &x[*start..*start + n];
            *start += n;
            Some((1..n).fold(0, |best, i| if block[i] > block[best] { i } else { best }))
        })
    }
}

/// The corners of the simplex with `n` levels.
fn one_hot(n: usize) -> Points {
    let mut corners = Points::zeros(n, n);
    for (i, row) in corners.rows_mut().enumerate() {
        row[i] = 1.0;
    }
    corners
}

impl Manifold for Categorical {
    fn spec(&self) -> String {
        match &self.levels {
            None => "categorical".into(),
            Some(levels) => {
                format!("categorical:{}", levels.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(","))
            }
        }
    }

    fn ambient_dim(&self) -> usize {
        self.levels().iter().sum()
    }

    fn intrinsic_dim(&self) -> usize {
        0
    }

    fn log_volume(&self) -> f64 {
        self.levels().iter().map(|n| (*n as f64).ln()).sum()
    }

    fn project(&self, x: &mut [f64]) {
        let categories: Vec<usize> = self.categories(x).collect();
        x.fill(0.0);
        let mut start = 0;
        for (category, n) in categories.into_iter().zip(self.levels()) {
            x[start + category] = 1.0;
            start += n;
        }
    }

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        let column = |&n: &usize| -> Arc<dyn BaseMeasure> {
            let Ok(corners) = Finite::uniform(one_hot(n)) else { unreachable!("{n} ≥ 1 finite corners") };
            Arc::new(corners)
        };
        Arc::new(ProductMeasure::new(self.levels().iter().map(column).collect()))
    }

    /// √2 for each column that differs, combined as in a product.
    ///
    /// # Formula
    /// √(2m), m the number of columns that differ: the straight distance between two corners, as nothing lies between them.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let differing = self.categories(a).zip(self.categories(b)).filter(|(a, b)| a != b).count();
        (2.0 * differing as f64).sqrt()
    }

    /// Every combination in lexicographic order, if there are at most `n` or 10 000 of them.
    fn grid(&self, n: usize) -> Option<Points> {
        let combinations = self.levels().iter().try_fold(1usize, |product, n| product.checked_mul(*n))?;
        if self.levels.is_none() || combinations > n.max(MAX_COMBINATIONS) {
            return None;
        }
        let mut grid = Points::zeros(combinations, self.ambient_dim());
        for (i, row) in grid.rows_mut().enumerate() {
            let (mut rest, mut end) = (i, row.len());
            for &n in self.levels().iter().rev() {
                row[end - n + rest % n] = 1.0;
                rest /= n;
                end -= n;
            }
        }
        Some(grid)
    }

    fn finite_factors(&self) -> Option<Vec<Points>> {
        self.levels.as_ref().map(|levels| levels.iter().map(|n| one_hot(*n)).collect())
    }
}
