//! Mixtures of several sizes laid over each other, with weights from the validation part.
//!
//! A fit of few components is smooth, a fit of many is sharp and knows some points by heart. Which to believe differs from
//! place to place and from component to component, and the training part cannot tell. So components of all fits are kept,
//! sorted into [`Layer`]s of a kind, and the few numbers that weigh the layers against each other come from points that no
//! fit has seen.

use crate::Points;
use crate::base::{BaseMeasure, Component, MixtureError, VonMisesFisherMixture};
use crate::manifold::Manifold;
use rayon::prelude::*;

/// Components of one fit are sorted by the number of training points they stand for.
const OCCUPANCIES: [f64; 4] = [1.5, 3.0, 6.0, 12.0];

/// A layer is offered a second time with concentrations divided by this: the tails that a sharp component lacks.
const TAIL: f64 = 4.0;

/// Iterations for the weights. They start from the training weights; to stop early is to believe in these a little.
const ITERATIONS: usize = 10;

/// Components of one fit and of one kind.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    components: Vec<Component>,
    /// Its share of the whole.
    weight: f64,
    /// Log-density at each validation point, with respect to volume.
    logs: Vec<f64>,
}

/// Sorts the components of a fit to `rows` training points into layers.
pub(super) fn layers(
    manifold: &dyn Manifold,
    fit: &[Component],
    rows: f64,
    validation: &Points,
) -> Result<Vec<Layer>, MixtureError> {
    let mut layers = Vec::new();
    for kind in 0..=OCCUPANCIES.len() {
        let belongs = |c: &&Component| OCCUPANCIES.iter().filter(|o| c.weight * rows >= **o).count() == kind;
        let sharp: Vec<Component> = fit.iter().filter(belongs).cloned().collect();
        if sharp.is_empty() {
            continue;
        }
        let mut wide = sharp.clone();
        wide.iter_mut().flat_map(|c| &mut c.concentrations).for_each(|k| *k /= TAIL);
        for components in [sharp, wide] {
            let weight = components.iter().map(|c| c.weight).sum();
            let mixture = VonMisesFisherMixture::on(manifold, components)?;
            let logs = validation.par_rows().with_min_len(64).map(|x| mixture.log_weight(x)).collect();
            layers.push(Layer { components: mixture.components().to_vec(), weight, logs });
        }
    }
    Ok(layers)
}

/// Layers with their weights.
#[derive(Debug, Clone)]
pub(super) struct Joined {
    /// All components.
    pub components: Vec<Component>,
    /// Mean log-density of the validation points.
    pub value: f64,
    /// Number of layers.
    pub layers: usize,
}

/// Weighs layers, drops what is worth least until at most `most` components are left, and joins the rest.
///
/// A layer is dropped as well if the mean log-density of n validation points falls by less than 1/2n without it: a free
/// weight gains that much by chance (Akaike).
pub(super) fn join(layers: &[Layer], most: usize) -> Joined {
    let rows = layers.first().map_or(0, |l| l.logs.len());
    let chance = 0.5 / rows as f64;
    let mut kept = Kept::new(layers, rows);
    loop {
        let worths = kept.weigh();
        let count: usize = kept.places.iter().map(|p| layers[*p].components.len()).sum();
        let size = |i: usize| layers[kept.places[i]].components.len() as f64;
        let mut order: Vec<usize> = (0..worths.len()).collect();
        let too_many = count > most;
        let price = |i: usize| if too_many { worths[i] / size(i) } else { worths[i] };
        order.sort_by(|a, b| price(*a).total_cmp(&price(*b)));
        // A few at a time: worths change with what is left.
        order.truncate(if too_many { order.len().div_ceil(8) } else { order.len().div_ceil(4) });
        order.retain(|i| too_many || worths[*i] < chance);
        order.truncate(worths.len() - 1);
        if order.is_empty() {
            break;
        }
        kept.drop(order);
    }
    let weighted = |(place, weight): (&usize, &f64)| {
        let weight = *weight;
        layers[*place].components.iter().map(move |c| Component { weight: weight * c.weight, ..c.clone() })
    };
    let components = kept.places.iter().zip(&kept.weights).flat_map(weighted).collect();
    Joined { components, value: kept.value(), layers: kept.places.len() }
}

/// The layers still in use.
struct Kept {
    places: Vec<usize>,
    weights: Vec<f64>,
    /// Densities at the validation points, layer by layer, relative to the largest of all layers at the point.
    densities: Vec<Vec<f64>>,
    /// Logs of the largest densities.
    scales: Vec<f64>,
}

impl Kept {
    fn new(layers: &[Layer], rows: usize) -> Self {
        let largest = |row: usize| layers.iter().map(|l| l.logs[row]).fold(f64::NEG_INFINITY, f64::max);
        let scales: Vec<f64> = (0..rows).map(largest).collect();
        // The smallest number keeps points possible that only dropped layers knew.
        let relative = |l: &Layer| l.logs.iter().zip(&scales).map(|(l, s)| (l - s).exp().max(1e-280)).collect();
        Self {
            places: (0..layers.len()).collect(),
            weights: layers.iter().map(|l| l.weight).collect(),
            densities: layers.iter().map(relative).collect(),
            scales,
        }
    }

    /// Density of the whole at each validation point, relative to the scales.
    fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.scales.len()];
        for (weight, densities) in self.weights.iter().zip(&self.densities) {
            totals.iter_mut().zip(densities).for_each(|(t, d)| *t += weight * d);
        }
        totals
    }

    /// Improves the weights by expectation maximisation, and answers what each layer is worth: how much the mean log-density
    /// falls without it.
    fn weigh(&mut self) -> Vec<f64> {
        let rows = self.scales.len() as f64;
        for _ in 0..ITERATIONS {
            let totals = self.totals();
            for (weight, densities) in self.weights.iter_mut().zip(&self.densities) {
                let share: f64 = densities.iter().zip(&totals).map(|(d, t)| d / t).sum();
                *weight = (*weight * share / rows).max(1e-12);
            }
            let sum: f64 = self.weights.iter().sum();
            self.weights.iter_mut().for_each(|w| *w /= sum);
        }
        let totals = self.totals();
        let without = |(weight, densities): (&f64, &Vec<f64>)| {
            let shares = densities.iter().zip(&totals).map(|(d, t)| (weight * d / t).min(1.0 - 1e-9));
            -shares.map(|s| (-s).ln_1p()).sum::<f64>() / rows
        };
        self.weights.iter().zip(&self.densities).map(without).collect()
    }

    fn drop(&mut self, mut which: Vec<usize>) {
        which.sort_unstable();
        for i in which.into_iter().rev() {
            self.places.remove(i);
            self.weights.remove(i);
            self.densities.remove(i);
        }
    }

    /// Mean log-density of the validation points.
    fn value(&self) -> f64 {
        let logs = self.totals().into_iter().zip(&self.scales).map(|(t, s)| t.ln() + s);
        logs.sum::<f64>() / self.scales.len() as f64
    }
}
