//! Products of manifolds on neighbouring blocks of coordinates.

use super::{Manifold, ManifoldError};
use crate::{
    measure::{BaseMeasure, ProductMeasure, SphereBlock},
    rng::Rng,
};
use std::{ops::Range, sync::Arc};

/// M₁ × … × M_k.
#[derive(Debug, Clone)]
pub struct Product {
    blocks: Vec<(Range<usize>, Arc<dyn Manifold>)>,
}

impl Product {
    /// The product of these manifolds, in this order; at least one.
    pub fn new(factors: Vec<Arc<dyn Manifold>>) -> Result<Self, ManifoldError> {
        if factors.is_empty() {
            return Err(ManifoldError::dimension("product", "at least one factor", 0));
        }
        let mut end = 0;
        let place = |factor: Arc<dyn Manifold>| {
            let start = end;
            end += factor.ambient_dim();
            (start..end, factor)
        };
        Ok(Self { blocks: factors.into_iter().map(place).collect() })
    }

    fn each(&self) -> impl Iterator<Item = &dyn Manifold> {
        self.blocks.iter().map(|(_, factor)| factor.as_ref())
    }

    /// Root of the sum of squares of a distance taken block by block.
    fn root(&self, a: &[f64], b: &[f64], distance: impl Fn(&dyn Manifold, &[f64], &[f64]) -> f64) -> f64 {
        let squares = self.blocks.iter().map(|(r, f)| distance(f.as_ref(), &a[r.clone()], &b[r.clone()]).powi(2));
        squares.sum::<f64>().sqrt()
    }

    fn measure(&self, of: impl Fn(&dyn Manifold) -> Arc<dyn BaseMeasure>) -> Arc<dyn BaseMeasure> {
        Arc::new(ProductMeasure::new(self.each().map(of).collect()))
    }
}

impl Manifold for Product {
    fn spec(&self) -> String {
        format!("product({})", self.each().map(|f| f.spec()).collect::<Vec<_>>().join(","))
    }

    fn ambient_dim(&self) -> usize {
        self.blocks.last().map_or(0, |(range, _)| range.end)
    }

    fn intrinsic_dim(&self) -> usize {
        self.each().map(|f| f.intrinsic_dim()).sum()
    }

    fn log_volume(&self) -> f64 {
        self.each().map(|f| f.log_volume()).sum()
    }

    fn project(&self, x: &mut [f64]) {
        for (range, factor) in &self.blocks {
            factor.project(&mut x[range.clone()]);
        }
    }

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        self.measure(|f| f.uniform())
    }

    fn default_base(&self) -> Arc<dyn BaseMeasure> {
        self.measure(|f| f.default_base())
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        self.root(a, b, |f, a, b| f.distance(a, b))
    }

    fn chord(&self, a: &[f64], b: &[f64]) -> f64 {
        self.root(a, b, |f, a, b| f.chord(a, b))
    }

    fn spheres(&self) -> Option<Vec<SphereBlock>> {
        let shifted = |(range, factor): &(Range<usize>, Arc<dyn Manifold>)| {
            let start = range.start;
            let blocks = factor.spheres()?.into_iter();
            Some(blocks.map(move |b| SphereBlock { range: start + b.range.start..start + b.range.end, ..b }))
        };
        let blocks: Option<Vec<_>> = self.blocks.iter().map(shifted).collect();
        Some(blocks?.into_iter().flatten().collect())
    }

    /// A sign is free in each odd block separately, not in the whole product.
    fn odd_blocks(&self) -> Vec<Range<usize>> {
        let shifted = |(range, f): &(Range<usize>, Arc<dyn Manifold>)| {
            let start = range.start;
            f.odd_blocks().into_iter().map(move |r| start + r.start..start + r.end)
        };
        self.blocks.iter().flat_map(shifted).collect()
    }

    fn canonicalise(&self, x: &mut [f64]) {
        for (range, factor) in &self.blocks {
            factor.canonicalise(&mut x[range.clone()]);
        }
    }

    fn lift(&self, x: &mut [f64], rng: &mut Rng) {
        for (range, factor) in &self.blocks {
            factor.lift(&mut x[range.clone()], rng);
        }
    }

    fn is_angular(&self) -> bool {
        self.each().all(|f| f.is_angular())
    }

    fn factors(&self) -> &[(Range<usize>, Arc<dyn Manifold>)] {
        &self.blocks
    }

    fn is_quotient(&self) -> bool {
        self.each().any(|f| f.is_quotient())
    }
}
