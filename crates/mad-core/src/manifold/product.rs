//! Products of manifolds on neighbouring blocks of coordinates.

use super::{Form, Hints, Manifold, ManifoldEntry, ManifoldError, SphereBlock, View, build_spec};
use crate::base::{BaseMeasure, ProductMeasure};
use crate::{data::Layout, rng::Rng};
use std::{ops::Range, sync::Arc};

/// Registry entry.
pub(super) const ENTRY: ManifoldEntry = ManifoldEntry {
    name: "product",
    summary: "several manifolds side by side, such as poses: product(so3,euclid:3)",
    usage: "product(SPEC,SPEC,…)",
    form: Form::Blocks,
    examples: &[
        "product(so3,euclid:3)",
        "product(sphere:2,torus:2)",
        "product(sphere:1,categorical:3,2,points:circle8.csv)",
        "product(so3/C4,product(so3,sphere:3))",
    ],
    build: |spec, context| {
        let factors: Result<Vec<_>, _> = spec.blocks.iter().map(|block| build_spec(block, context)).collect();
        Ok(Arc::new(Product::new(factors?)?))
    },
};

/// M₁ × … × M_k.
#[derive(Debug, Clone)]
pub struct Product {
    blocks: Vec<(Range<usize>, Arc<dyn Manifold>)>,
}

impl Product {
    /// The product of these manifolds, in this order; at least one.
    pub fn new(factors: Vec<Arc<dyn Manifold>>) -> Result<Self, ManifoldError> {
        if factors.is_empty() {
            return Err(ManifoldError::Dimension { manifold: "product".into(), needs: "at least one factor", got: 0 });
        }
        let mut end = 0;
        let place = |factor: Arc<dyn Manifold>| {
            let start = end;
            end += factor.ambient_dim();
            (start..end, factor)
        };
        Ok(Self { blocks: factors.into_iter().map(place).collect() })
    }

    /// The factors with the coordinates each of them owns.
    pub fn blocks(&self) -> &[(Range<usize>, Arc<dyn Manifold>)] {
        &self.blocks
    }

    fn factors(&self) -> impl Iterator<Item = &dyn Manifold> {
        self.blocks.iter().map(|(_, factor)| factor.as_ref())
    }

    /// Root of the sum of squares of a distance taken block by block.
    fn root(&self, a: &[f64], b: &[f64], distance: impl Fn(&dyn Manifold, &[f64], &[f64]) -> f64) -> f64 {
        let squares = self.blocks.iter().map(|(r, f)| distance(f.as_ref(), &a[r.clone()], &b[r.clone()]).powi(2));
        squares.sum::<f64>().sqrt()
    }

    fn measure(&self, of: impl Fn(&dyn Manifold) -> Arc<dyn BaseMeasure>) -> Arc<dyn BaseMeasure> {
        Arc::new(ProductMeasure::new(self.factors().map(of).collect()))
    }
}

impl Manifold for Product {
    fn spec(&self) -> String {
        format!("product({})", self.factors().map(|f| f.spec()).collect::<Vec<_>>().join(","))
    }

    fn ambient_dim(&self) -> usize {
        self.blocks.last().map_or(0, |(range, _)| range.end)
    }

    fn intrinsic_dim(&self) -> usize {
        self.factors().map(|f| f.intrinsic_dim()).sum()
    }

    fn log_volume(&self) -> f64 {
        self.factors().map(|f| f.log_volume()).sum()
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

    fn layout(&self) -> Layout {
        Layout::Blocks(self.factors().map(|f| f.layout()).collect())
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

    /// A sign is free in each odd block by itself, not in the whole product.
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

    fn view(&self) -> View {
        View::Blocks(self.blocks.iter().map(|(range, f)| (range.len(), f.view())).collect())
    }

    fn is_quotient(&self) -> bool {
        self.factors().any(|f| f.is_quotient())
    }

    /// The widest range of noise, the most cautious learning rate and gain, the most calls, `silu` if any factor asks for it.
    /// Levels are drawn evenly, as factors differ in the levels that tell most.
    fn hints(&self) -> Hints {
        let hints: Vec<Hints> = self.factors().map(|f| f.hints()).collect();
        let least = |value: fn(&Hints) -> f64| hints.iter().map(value).fold(f64::INFINITY, f64::min);
        let sigma_max = hints.iter().map(|h| h.sigma.1).fold(0.0, f64::max);
        Hints {
            sigma: (least(|h| h.sigma.0), sigma_max),
            activation: if hints.iter().any(|h| h.activation == "silu") { "silu" } else { "sin" },
            input_gain: least(|h| h.input_gain),
            learning_rate: least(|h| h.learning_rate),
            nfe: hints.iter().map(|h| h.nfe).max().unwrap_or(Hints::default().nfe),
            ..Hints::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Euclid, Rotations, Sphere};
    use super::*;

    #[test]
    fn blocks_keep_their_own_facts() {
        let poses: Arc<dyn Manifold> =
            Arc::new(Product::new(vec![Arc::new(Euclid::new(3).unwrap()), Arc::new(Rotations::new(None))]).unwrap());
        let nested = Product::new(vec![Arc::new(Sphere::new(2).unwrap()), poses]).unwrap();
        assert_eq!(nested.spec(), "product(sphere:2,product(euclid:3,so3))");
        assert_eq!((nested.ambient_dim(), nested.intrinsic_dim()), (10, 8));
        assert!(!nested.is_odd());
        assert_eq!(nested.odd_blocks(), std::iter::once(6..10).collect::<Vec<_>>());
        let hints = nested.hints();
        assert_eq!((hints.sigma, hints.activation, hints.nfe), ((1e-3, 10.0), "silu", 24));
    }
}
