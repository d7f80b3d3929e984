//! Where the clean rows of a batch come from.

use crate::config::require_distribution;
use mad_core::{
    Points,
    catalogue::datasets,
    manifold::Manifold,
    rng::Rng,
    table::{Columns, DataError},
};
use rand::{Rng as _, RngExt as _};
use std::sync::Arc;

/// Rows to learn from.
#[derive(Debug, Clone)]
pub enum Rows<'a> {
    /// A fixed set, drawn with replacement.
    Kept(&'a Points),
    /// New rows in every step.
    Fresh(&'a Fresh),
}

/// A data set whose distribution is known, so that rows can be made at will.
#[derive(Debug, Clone)]
pub struct Fresh {
    dataset: String,
    target: u64,
    columns: Columns,
    manifold: Arc<dyn Manifold>,
}

impl Fresh {
    /// Rows of `dataset`, whose distribution has the seed `target`, read as `columns` say. Fixed tables are refused.
    pub fn new(dataset: &str, target: u64, columns: Columns, manifold: Arc<dyn Manifold>) -> Result<Self, DataError> {
        require_distribution(dataset)?;
        let fresh = Self { dataset: dataset.into(), target, columns, manifold };
        fresh.make(1, 0)?;
        Ok(fresh)
    }

    /// `count` rows under `seed`.
    pub(super) fn make(&self, count: usize, seed: u64) -> Result<Points, DataError> {
        let table = datasets::make(&self.dataset, Some(count), seed, self.target, None)?;
        let mut points = self.columns.decode_on(&table, self.manifold.as_ref())?.points;
        points.rows_mut().for_each(|x| self.manifold.canonicalise(x));
        Ok(points)
    }
}

impl Rows<'_> {
    /// `count` rows and, where they come from a fixed set, their places in it.
    pub fn draw(&self, count: usize, rng: &mut Rng) -> (Points, Vec<usize>) {
        match self {
            Rows::Kept(points) => {
                let places: Vec<usize> = (0..count).map(|_| rng.random_range(0..points.len())).collect();
                (points.select(&places), places)
            }
            Rows::Fresh(fresh) => {
                let points = fresh.make(count, rng.next_u64()).expect("it made a row when the run was opened");
                (points, Vec::new())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::load::load;
    use mad_core::table::ColumnOptions;

    #[test]
    fn fixed_tables_make_no_new_rows() {
        let table = datasets::make("earthquakes-week", None, 0, 0, None).expect("built in");
        let loaded = load(&table, "sphere:2", &ColumnOptions::default()).expect("latitudes and longitudes");
        let fresh = Fresh::new("earthquakes-week", 0, loaded.columns, loaded.manifold);
        assert!(matches!(fresh, Err(DataError::DatasetArgument { .. })));
    }
}
