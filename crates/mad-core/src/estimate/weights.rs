//! How much each of several densities is believed, given points that none of them has seen.

use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Iterations for the weights between two looks at what can be left out.
const ITERATIONS: usize = 20;

/// What a component must be worth, in nats of the mean log-density: each of them takes time in every answer.
const PRICE: f64 = 1e-7;

/// A density that may become part of the answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Log-density at each point that was left out.
    pub logs: Vec<f64>,
    /// Number of components.
    pub size: usize,
    /// For kernels the class of the points they stand on, and which part of all rows that is.
    pub class: Option<(usize, f64)>,
}

/// Densities that are part of the answer.
#[derive(Debug, Clone)]
pub(super) struct Weighed {
    /// Their places among the candidates, and their weights.
    pub kept: Vec<(usize, f64)>,
    /// Mean log-density of the points that were left out.
    pub value: f64,
}

/// Weighs candidates, and drops those that are worth less than they cost. The first candidate stays: it keeps every point
/// possible. Kernels stay or go together: of many similar widths none is worth much without being useless as a whole, and the
/// weighted mean of all of them predicts better than the best few.
///
/// Every row has the same weight under the kernels: how it is spread over candidates of its class is free, how much there is of
/// it is not. Otherwise a class that is right in one region would gain weight in all of them.
///
/// A free weight gains 1/2n in the mean log-density of n points by chance (Akaike), and every component has its [`PRICE`].
pub(super) fn weigh(candidates: Vec<Candidate>) -> Weighed {
    let mut weights = Weights::of(candidates);
    loop {
        let worths = weights.improve();
        let costly = weights.not_worth_it(&worths);
        if costly.is_empty() {
            let kept = weights.layers.iter().map(|layer| (layer.place, layer.weight)).collect();
            return Weighed { kept, value: weights.value() };
        }
        weights.layers =
            weights.layers.into_iter().enumerate().filter(|(i, _)| !costly.contains(i)).map(|l| l.1).collect();
    }
}

/// A candidate that is still there.
struct Layer {
    place: usize,
    size: usize,
    class: Option<(usize, f64)>,
    weight: f64,
    /// Densities at the points that were left out, relative to the largest of all candidates at the point.
    densities: Vec<f64>,
}

struct Weights {
    layers: Vec<Layer>,
    /// Logs of the largest densities.
    scales: Vec<f64>,
}

impl Weights {
    /// Equal weights for all.
    fn of(candidates: Vec<Candidate>) -> Self {
        let rows = candidates.first().map_or(0, |c| c.logs.len());
        let largest = |row: usize| candidates.iter().map(|c| c.logs[row]).fold(f64::NEG_INFINITY, f64::max);
        let scales: Vec<f64> = (0..rows).map(largest).collect();
        let weight = 1.0 / candidates.len() as f64;
        let layer = |(place, Candidate { logs, size, class }): (usize, Candidate)| {
            // The smallest number keeps points possible that only dropped candidates knew.
            let densities = logs.iter().zip(&scales).map(|(log, scale)| (log - scale).exp().max(1e-280)).collect();
            Layer { place, size, class, weight, densities }
        };
        Self { layers: candidates.into_iter().enumerate().map(layer).collect(), scales }
    }

    /// Density of the whole at each point, relative to the scales.
    fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.scales.len()];
        for Layer { weight, densities, .. } in &self.layers {
            totals.iter_mut().zip(densities).for_each(|(t, d)| *t += weight * d);
        }
        totals
    }

    /// Improves the weights by expectation maximisation, and answers what each layer is worth: how much the mean log-density
    /// falls without it.
    fn improve(&mut self) -> Vec<f64> {
        let rows = self.scales.len() as f64;
        for _ in 0..ITERATIONS {
            let totals = self.totals();
            self.layers.par_iter_mut().for_each(|Layer { weight, densities, .. }| {
                let share: f64 = densities.iter().zip(&totals).map(|(d, t)| d / t).sum();
                *weight = (*weight * share / rows).max(1e-12);
            });
            self.level();
            // The first one has half a point at least.
            self.layers[0].weight = self.layers[0].weight.max(0.5 / rows);
            let sum: f64 = self.layers.iter().map(|layer| layer.weight).sum();
            self.layers.iter_mut().for_each(|layer| layer.weight /= sum);
        }
        (0..self.layers.len()).into_par_iter().map(|i| self.worth(&BTreeSet::from([i]))).collect()
    }

    /// Gives every row under the kernels the same weight.
    fn level(&mut self) {
        let (mut whole, mut mass, mut totals) = (0.0, 0.0, BTreeMap::new());
        for layer in &self.layers {
            let Some((class, part)) = layer.class else { continue };
            let total = totals.entry(class).or_insert_with(|| {
                mass += part;
                0.0
            });
            *total += layer.weight;
            whole += layer.weight;
        }
        for layer in &mut self.layers {
            if let Some((class, part)) = layer.class {
                layer.weight *= whole * part / mass / totals[&class];
            }
        }
    }

    /// Places of layers to drop: all kernels if they are not worth their cost together, else the worst few of the others.
    fn not_worth_it(&self, worths: &[f64]) -> BTreeSet<usize> {
        let chance = 0.5 / self.scales.len() as f64;
        let kernels: BTreeSet<usize> = (0..worths.len()).filter(|i| self.layers[*i].class.is_some()).collect();
        let classes: BTreeSet<usize> =
            self.layers.iter().filter_map(|layer| layer.class.map(|class| class.0)).collect();
        let sizes: usize = kernels.iter().map(|i| self.layers[*i].size).sum();
        if !kernels.is_empty() && self.worth(&kernels) < chance * classes.len() as f64 + PRICE * sizes as f64 {
            return kernels;
        }
        let cost = |i: usize| chance + PRICE * self.layers[i].size as f64;
        let mut order: Vec<usize> =
            (1..worths.len()).filter(|i| !kernels.contains(i) && worths[*i] < cost(*i)).collect();
        order.sort_by(|a, b| (worths[*a] / cost(*a)).total_cmp(&(worths[*b] / cost(*b))));
        // A few at a time: worths change with what is left.
        order.into_iter().take(worths.len().div_ceil(8)).collect()
    }

    /// How much the mean log-density falls without these layers.
    fn worth(&self, layers: &BTreeSet<usize>) -> f64 {
        let totals = self.totals();
        let mut shares = vec![0.0; totals.len()];
        for Layer { weight, densities, .. } in layers.iter().map(|i| &self.layers[*i]) {
            shares.iter_mut().zip(densities).zip(&totals).for_each(|((s, d), t)| *s += weight * d / t);
        }
        -shares.iter().map(|s| (-s.min(1.0 - 1e-9)).ln_1p()).sum::<f64>() / totals.len() as f64
    }

    /// Mean log-density of the points that were left out.
    fn value(&self) -> f64 {
        let logs = self.totals().into_iter().zip(&self.scales).map(|(t, s)| t.ln() + s);
        logs.sum::<f64>() / self.scales.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of which each is known to one of the densities; the first one is 1 everywhere.
    fn candidates(known_to: &[usize], count: usize, class: impl Fn(usize) -> Option<(usize, f64)>) -> Vec<Candidate> {
        let of = |i: usize| {
            let log = |known: &usize| {
                if i == 0 {
                    0.0
                } else if *known == i {
                    5.0
                } else {
                    f64::NEG_INFINITY
                }
            };
            Candidate { logs: known_to.iter().map(log).collect(), size: 10, class: class(i) }
        };
        (0..count).map(of).collect()
    }

    fn weight(weighed: &Weighed, place: usize) -> f64 {
        weighed.kept.iter().find(|kept| kept.0 == place).map_or(0.0, |kept| kept.1)
    }

    #[test]
    fn weights_are_shares_of_the_points_and_what_nobody_needs_is_dropped() {
        let known_to: Vec<usize> = (0..1000).map(|i| if i < 600 { 1 } else { 2 }).collect();
        let weighed = weigh(candidates(&known_to, 4, |_| None));
        assert_eq!(weighed.kept.iter().map(|kept| kept.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert!((weight(&weighed, 1) - 0.6).abs() < 0.01 && (weight(&weighed, 2) - 0.4).abs() < 0.01, "{weighed:?}");
        assert!((weighed.kept.iter().map(|kept| kept.1).sum::<f64>() - 1.0).abs() < 1e-12);
        let entropy = 0.6 * 0.6_f64.ln() + 0.4 * 0.4_f64.ln();
        assert!((weighed.value - 5.0 - entropy).abs() < 0.02, "{}", weighed.value);
    }

    #[test]
    fn rows_under_kernels_have_equal_weight_whatever_their_class() {
        // Points come near kernels of the first class (1 and 2, a quarter of the rows), seldom of the second (3 and 4).
        let known_to: Vec<usize> = (0..1000).map(|i| [1, 1, 1, 2, 2, 2, 1, 1, 3, 4][i % 10]).collect();
        let class = |i: usize| (i > 0).then_some(if i < 3 { (7, 0.25) } else { (8, 0.75) });
        let weighed = weigh(candidates(&known_to, 5, class));
        let [first, second] = [weight(&weighed, 1) + weight(&weighed, 2), weight(&weighed, 3) + weight(&weighed, 4)];
        assert!((first / second - 1.0 / 3.0).abs() < 1e-9, "{first} and {second}");
        assert!((weight(&weighed, 1) / weight(&weighed, 2) - 5.0 / 3.0).abs() < 0.05, "{weighed:?}");
    }

    #[test]
    fn kernels_stay_or_go_together() {
        // Three widths share what is known to kernels: little is lost without one of them, much without all.
        let shared = |known: bool| {
            let log = |i: usize| if known && i.is_multiple_of(2) { 3.0 } else { -2.0 };
            let logs: Vec<f64> = (0..1000).map(log).collect();
            let kernel = Candidate { logs, size: 10, class: Some((0, 1.0)) };
            let background = Candidate { logs: vec![0.0; 1000], size: 1, class: None };
            weigh(vec![background, kernel.clone(), kernel.clone(), kernel]).kept.len()
        };
        assert_eq!((shared(true), shared(false)), (4, 1));
    }
}
