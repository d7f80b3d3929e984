//! How much each of several densities is believed, given points that none of them has seen.

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

/// Weighs candidates, and drops those that are worth less than they cost, and what is worth least of a class until at most `most` are
/// left of it. The first candidate stays: it keeps every point possible.
///
/// Every row has the same weight under the kernels: how it is spread over candidates of its class is free, how much there is of
/// it is not. Otherwise a class that is right in one region would gain weight in all of them.
///
/// A free weight gains 1/2n in the mean log-density of n points by chance (Akaike), and every component has its [`PRICE`].
pub(super) fn weigh(candidates: Vec<Candidate>, most: usize) -> Weighed {
    let mut weights = Weights::of(candidates);
    loop {
        let worths = weights.improve();
        let costly = weights.not_worth_it(&worths, most);
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
            for Layer { weight, densities, .. } in &mut self.layers {
                let share: f64 = densities.iter().zip(&totals).map(|(d, t)| d / t).sum();
                *weight = (*weight * share / rows).max(1e-12);
            }
            self.level();
            // The first one has half a point at least.
            self.layers[0].weight = self.layers[0].weight.max(0.5 / rows);
            let sum: f64 = self.layers.iter().map(|layer| layer.weight).sum();
            self.layers.iter_mut().for_each(|layer| layer.weight /= sum);
        }
        let totals = self.totals();
        let worth = |Layer { weight, densities, .. }: &Layer| {
            let shares = densities.iter().zip(&totals).map(|(d, t)| (weight * d / t).min(1.0 - 1e-9));
            -shares.map(|s| (-s).ln_1p()).sum::<f64>() / rows
        };
        self.layers.iter().map(worth).collect()
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

    /// Places of layers to drop: all kernels if they are not worth their cost together, else the worst few.
    fn not_worth_it(&self, worths: &[f64], most: usize) -> BTreeSet<usize> {
        let chance = 0.5 / self.scales.len() as f64;
        let cost = |i: usize| chance + PRICE * self.layers[i].size as f64;
        let class = |i: usize| self.layers[i].class.map(|(class, _)| class);
        let kernels: BTreeSet<usize> = (0..worths.len()).filter(|i| class(*i).is_some()).collect();
        if kernels.iter().map(|i| worths[*i]).sum::<f64>() < kernels.iter().map(|i| cost(*i)).sum() {
            return kernels;
        }
        let mut order: Vec<usize> = (1..worths.len()).collect();
        order.sort_by(|a, b| (worths[*a] / cost(*a)).total_cmp(&(worths[*b] / cost(*b))));
        order.retain(|&i| match class(i) {
            Some(own) => {
                let alternatives = kernels.iter().filter(|other| class(**other) == Some(own)).count();
                alternatives > most || (alternatives > 1 && worths[i] < cost(i))
            }
            None => worths[i] < cost(i),
        });
        // A few at a time, and one of a class: worths change with what is left.
        let mut classes = BTreeSet::new();
        order.retain(|&i| class(i).is_none_or(|class| classes.insert(class)));
        order.into_iter().take(worths.len().div_ceil(8)).collect()
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
        let weighed = weigh(candidates(&known_to, 4, |_| None), 1);
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
        let weighed = weigh(candidates(&known_to, 5, class), 2);
        let [first, second] = [weight(&weighed, 1) + weight(&weighed, 2), weight(&weighed, 3) + weight(&weighed, 4)];
        assert!((first / second - 1.0 / 3.0).abs() < 1e-9, "{first} and {second}");
        assert!((weight(&weighed, 1) / weight(&weighed, 2) - 5.0 / 3.0).abs() < 0.05, "{weighed:?}");
    }

    #[test]
    fn a_class_keeps_so_many_and_its_best() {
        let known_to: Vec<usize> = (0..1000).map(|i| [1, 1, 1, 1, 2, 2, 2, 3, 3, 4][i % 10]).collect();
        let weighed = weigh(candidates(&known_to, 5, |i| (i > 0).then_some((0, 1.0))), 2);
        assert_eq!(weighed.kept.iter().map(|kept| kept.0).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
