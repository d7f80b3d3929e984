//! Points of a file, read as the run reads them.

use super::Run;
use mad_core::{
    Points,
    table::{DataError, Table},
};

impl Run {
    /// The rows of a table as points, read in the columns and units of the training file.
    pub fn decode(&self, table: &Table) -> Result<Points, DataError> {
        let manifold = self.manifold().as_ref();
        let mut points = self.columns().points.decode_on(table, manifold)?.points;
        points.rows_mut().for_each(|x| manifold.canonicalise(x));
        Ok(points)
    }
}
