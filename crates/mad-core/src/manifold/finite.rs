//! Finite sets of points.

use super::{Extent, Manifold, ManifoldError};
use crate::{
    Points,
    measure::{BaseMeasure, Finite},
    special::distance_squared,
};
use std::sync::Arc;

/// Points and optional weights, as read from the file of a `points:FILE` spec.
#[derive(Debug, Clone, PartialEq)]
pub struct PointTable {
    /// Columns x0, x1, ….
    pub points: Points,
    /// Column `weight`, if there is one.
    pub weights: Option<Vec<f64>>,
}

/// Finitely many distinct points of R^d.
#[derive(Debug, Clone)]
pub struct FiniteSet {
    file: String,
    uniform: Arc<Finite>,
    weighted: Arc<Finite>,
    extent: Extent,
}

impl FiniteSet {
    /// The points of `table`, known to files and run folders as `file`.
    pub fn new(file: &str, table: PointTable) -> Result<Self, ManifoldError> {
        let refuse = |source| ManifoldError::Finite { file: file.into(), source };
        let uniform = Arc::new(Finite::uniform(table.points.clone()).map_err(refuse)?);
        let weighted = match &table.weights {
            None => uniform.clone(),
            Some(weights) => Arc::new(Finite::weighted(table.points.clone(), weights).map_err(refuse)?),
        };
        let (spacing, pair) = closest_pair(&table.points);
        if spacing == 0.0 {
            return Err(ManifoldError::Duplicate { file: file.into(), first: pair.0 + 1, second: pair.1 + 1 });
        }
        let extent = Extent { spacing, radius: rms_radius(&table.points) };
        Ok(Self { file: file.into(), uniform, weighted, extent })
    }

    /// The points.
    pub fn points(&self) -> &Points {
        self.uniform.points()
    }
}

/// Smallest distance between two rows and their indices; infinite for a single row.
///
/// Rows are sorted by their most spread coordinate, and pairs already farther apart in it are not looked at.
fn closest_pair(points: &Points) -> (f64, (usize, usize)) {
    let spread = |axis: usize| {
        let values = points.rows().map(|r| r[axis]);
        values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
    };
    let axis = (0..points.dim()).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points.row(a)[axis].total_cmp(&points.row(b)[axis]));
    let (mut best, mut pair) = (f64::INFINITY, (0, 0));
    for (place, &i) in order.iter().enumerate() {
        for &j in &order[place + 1..] {
            let gap = points.row(j)[axis] - points.row(i)[axis];
            if gap * gap > best || best == 0.0 {
                break;
            }
            let distance = distance_squared(points.row(i), points.row(j));
            if distance < best {
                (best, pair) = (distance, (i.min(j), i.max(j)));
            }
        }
    }
    (best.sqrt(), pair)
}

fn rms_radius(points: &Points) -> f64 {
    let n = points.len() as f64;
    let mut centre = vec![0.0; points.dim()];
    for row in points.rows() {
        centre.iter_mut().zip(row).for_each(|(c, x)| *c += x / n);
    }
    (points.rows().map(|row| distance_squared(row, &centre)).sum::<f64>() / n).sqrt()
}

impl Manifold for FiniteSet {
    fn spec(&self) -> String {
        format!("points:{}", self.file)
    }

    fn ambient_dim(&self) -> usize {
        self.uniform.ambient_dim()
    }

    fn intrinsic_dim(&self) -> usize {
        0
    }

    fn log_volume(&self) -> f64 {
        (self.points().len() as f64).ln()
    }

    fn project(&self, x: &mut [f64]) {
        let i = self.uniform.nearest(x);
        x.copy_from_slice(self.points().row(i));
    }

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        self.uniform.clone()
    }

    fn default_base(&self) -> Arc<dyn BaseMeasure> {
        self.weighted.clone()
    }

    /// All points, whatever `n`: they share the counting measure equally.
    fn grid(&self, _n: usize) -> Option<Points> {
        Some(self.points().clone())
    }

    fn extent(&self) -> Option<Extent> {
        Some(self.extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(points: Vec<f64>) -> PointTable {
        PointTable { points: Points::from_vec(points, 2), weights: None }
    }

    #[test]
    fn duplicate_points_are_refused_by_row() {
        let error = FiniteSet::new("p.csv", table(vec![0.0, 1.0, 2.0, 3.0, 0.0, 1.0])).unwrap_err();
        assert!(matches!(error, ManifoldError::Duplicate { first: 1, second: 3, .. }), "{error}");
    }

    #[test]
    fn spacing_is_the_closest_pair_and_nearest_wins() {
        let set = FiniteSet::new("p.csv", table(vec![0.0, 0.0, 5.0, 0.1, 5.0, 0.4, 9.0, 9.0])).unwrap();
        assert!((set.extent.spacing - 0.3).abs() < 1e-15);
        let mut x = [4.0, 0.26];
        set.project(&mut x);
        assert_eq!(x, [5.0, 0.4]);
    }

    #[test]
    fn weights_change_the_default_base_only() {
        let mut table = table(vec![0.0, 0.0, 1.0, 0.0]);
        table.weights = Some(vec![1.0, 3.0]);
        let set = FiniteSet::new("p.csv", table).unwrap();
        assert!((set.default_base().log_weight(&[1.0, 0.0]) - 0.75_f64.ln()).abs() < 1e-15);
        assert!((set.uniform().log_weight(&[1.0, 0.0]) - 0.5_f64.ln()).abs() < 1e-15);
    }
}
