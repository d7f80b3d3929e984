//! A batch of points in ambient space: n rows of d numbers, row-major, always `f64`.

use rayon::prelude::*;

/// `n × d` batch of ambient coordinates, stored row by row.
///
/// ```
/// use mad_core::Points;
/// let mut p = Points::new(2);
/// p.push(&[1.0, 2.0]);
/// p.push(&[3.0, 4.0]);
/// assert_eq!((p.len(), p.dim(), p.row(1)), (2, 2, &[3.0, 4.0][..]));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    data: Vec<f64>,
    dim: usize,
}

impl Points {
    /// An empty batch of points with `dim` coordinates each. Panics if `dim` is zero.
    pub fn new(dim: usize) -> Self {
        assert!(dim > 0, "points need at least one coordinate");
        Self { data: Vec::new(), dim }
    }

    /// `n` points at the origin.
    pub fn zeros(n: usize, dim: usize) -> Self {
        assert!(dim > 0, "points need at least one coordinate");
        Self { data: vec![0.0; n * dim], dim }
    }

    /// Takes row-major data. Panics if its length is not a multiple of `dim`.
    pub fn from_vec(data: Vec<f64>, dim: usize) -> Self {
        assert!(dim > 0 && data.len().is_multiple_of(dim), "{} numbers do not fill rows of {dim}", data.len());
        Self { data, dim }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Number of ambient coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Point `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// Point `i`, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// All points in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.data.chunks_exact(self.dim)
    }

    /// All points in order, to be changed.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, f64> {
        self.data.chunks_exact_mut(self.dim)
    }

    /// All points, to be read in parallel.
    pub fn par_rows(&self) -> rayon::slice::ChunksExact<'_, f64> {
        self.data.par_chunks_exact(self.dim)
    }

    /// All points, to be changed in parallel.
    pub fn par_rows_mut(&mut self) -> rayon::slice::ChunksExactMut<'_, f64> {
        self.data.par_chunks_exact_mut(self.dim)
    }

    /// Appends a point. Panics if it has another number of coordinates.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.dim, "row length");
        self.data.extend_from_slice(row);
    }

    /// Appends all points of `other`.
    pub fn extend(&mut self, other: &Points) {
        assert_eq!(other.dim, self.dim, "row length");
        self.data.extend_from_slice(&other.data);
    }

    /// The points with these indices, in this order; indices may repeat.
    pub fn select(&self, indices: &[usize]) -> Points {
        let mut out = Vec::with_capacity(indices.len() * self.dim);
        for &i in indices {
            out.extend_from_slice(self.row(i));
        }
        Points::from_vec(out, self.dim)
    }

    /// The first `n` points, or all if there are fewer.
    pub fn head(&self, n: usize) -> Points {
        Points::from_vec(self.data[..n.min(self.len()) * self.dim].to_vec(), self.dim)
    }

    /// Row-major numbers.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Row-major numbers, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Gives the row-major numbers away.
    pub fn into_vec(self) -> Vec<f64> {
        self.data
    }
}
