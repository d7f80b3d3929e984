//! Weights of several densities, given points that none of them was fitted to.

use crate::estimate::constants::{COST_PER_COMPONENT, WEIGHT_ITERATIONS};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A density that may become part of the stack.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Log-density at each point that was left out.
    pub logs: Vec<f64>,
    /// Number of components.
    pub size: usize,
    /// For kernels the class of the points they stand on, and which part of all rows that is.
    pub class: Option<(usize, f64)>,
}

/// Densities that are part of the stack.
#[derive(Debug, Clone)]
pub(super) struct Weighted {
    /// Their places among the candidates, and their weights.
    pub kept: Vec<(usize, f64)>,
    /// Mean log-density of the points that were left out.
    pub value: f64,
}

/// Fits weights of candidates, and drops those that gain less than they cost. The first candidate stays: it keeps every point
/// possible. Kernels stay or go together: of many similar widths none gains much alone, though all together do, and the
/// weighted mean of all of them predicts better than the best few.
///
/// Every row has the same weight under the kernels: how it is spread over candidates of its class is free, how much there is of
/// it is not. Otherwise a class that is right in one region would gain weight in all of them.
///
/// A free weight gains 1/2n in the mean log-density of n points by chance (Akaike), and every component has its [cost](COST_PER_COMPONENT).
pub(super) fn fit_weights(candidates: Vec<Candidate>) -> Weighted {
    let mut weights = Weights::of(candidates);
    loop {
        let gains = weights.update();
        let costly = weights.to_drop(&gains);
        if costly.is_empty() {
            let kept = weights.active.iter().map(|one| (one.place, one.weight)).collect();
            return Weighted { kept, value: weights.value() };
        }
        weights.active =
            weights.active.into_iter().enumerate().filter(|(i, _)| !costly.contains(i)).map(|l| l.1).collect();
    }
}

/// A candidate that has not been dropped.
struct Active {
    place: usize,
    size: usize,
    class: Option<(usize, f64)>,
    weight: f64,
    /// Densities at the points that were left out, relative to the largest of all candidates at the point.
    densities: Vec<f64>,
}

struct Weights {
    active: Vec<Active>,
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
        let start = |(place, Candidate { logs, size, class }): (usize, Candidate)| {
            // The smallest number keeps points possible that only dropped candidates knew.
            let densities = logs.iter().zip(&scales).map(|(log, scale)| (log - scale).exp().max(1e-280)).collect();
            Active { place, size, class, weight, densities }
        };
        Self { active: candidates.into_iter().enumerate().map(start).collect(), scales }
    }

    /// Density of the whole at each point, relative to the scales.
    fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.scales.len()];
        for Active { weight, densities, .. } in &self.active {
            totals.iter_mut().zip(densities).for_each(|(t, d)| *t += weight * d);
        }
        totals
    }

    /// Improves the weights by expectation maximisation, and returns the gain of each candidate: how much the mean log-density
    /// falls without it.
    fn update(&mut self) -> Vec<f64> {
        let rows = self.scales.len() as f64;
        for _ in 0..WEIGHT_ITERATIONS {
            let totals = self.totals();
            self.active.par_iter_mut().for_each(|Active { weight, densities, .. }| {
                let share: f64 = densities.iter().zip(&totals).map(|(d, t)| d / t).sum();
                *weight = (*weight * share / rows).max(1e-12);
            });
            self.equalise_kernels();
            // The first one has half a point at least.
            self.active[0].weight = self.active[0].weight.max(0.5 / rows);
            let sum: f64 = self.active.iter().map(|one| one.weight).sum();
            self.active.iter_mut().for_each(|one| one.weight /= sum);
        }
        (0..self.active.len()).into_par_iter().map(|i| self.gain_of(&BTreeSet::from([i]))).collect()
    }

    /// Gives every row the same weight under the kernels.
    fn equalise_kernels(&mut self) {
        let (mut whole, mut mass, mut totals) = (0.0, 0.0, BTreeMap::new());
        for one in &self.active {
            let Some((class, part)) = one.class else { continue };
            let total = totals.entry(class).or_insert_with(|| {
                mass += part;
                0.0
            });
            *total += one.weight;
            whole += one.weight;
        }
        for one in &mut self.active {
            if let Some((class, part)) = one.class {
                one.weight *= whole * part / mass / totals[&class];
            }
        }
    }

    /// Places of candidates to drop: all kernels if together they gain less than their cost, else the worst few of the others.
    fn to_drop(&self, gains: &[f64]) -> BTreeSet<usize> {
        let chance = 0.5 / self.scales.len() as f64;
        let kernels: BTreeSet<usize> = (0..gains.len()).filter(|i| self.active[*i].class.is_some()).collect();
        let classes: BTreeSet<usize> = self.active.iter().filter_map(|one| one.class.map(|class| class.0)).collect();
        let sizes: usize = kernels.iter().map(|i| self.active[*i].size).sum();
        if !kernels.is_empty()
            && self.gain_of(&kernels) < chance * classes.len() as f64 + COST_PER_COMPONENT * sizes as f64
        {
            return kernels;
        }
        let cost = |i: usize| chance + COST_PER_COMPONENT * self.active[i].size as f64;
        let mut order: Vec<usize> = (1..gains.len()).filter(|i| !kernels.contains(i) && gains[*i] < cost(*i)).collect();
        order.sort_by(|a, b| (gains[*a] / cost(*a)).total_cmp(&(gains[*b] / cost(*b))));
        // A few at a time: gains change with what is left.
        order.into_iter().take(gains.len().div_ceil(8)).collect()
    }

    /// How much the mean log-density falls without these candidates.
    fn gain_of(&self, active: &BTreeSet<usize>) -> f64 {
        let totals = self.totals();
        let mut shares = vec![0.0; totals.len()];
        for Active { weight, densities, .. } in active.iter().map(|i| &self.active[*i]) {
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

    fn weight(weighted: &Weighted, place: usize) -> f64 {
        weighted.kept.iter().find(|kept| kept.0 == place).map_or(0.0, |kept| kept.1)
    }

    #[test]
    fn weights_are_shares_of_the_points_and_what_nobody_needs_is_dropped() {
        let known_to: Vec<usize> = (0..1000).map(|i| if i < 600 { 1 } else { 2 }).collect();
        let weighted = fit_weights(candidates(&known_to, 4, |_| None));
        assert_eq!(weighted.kept.iter().map(|kept| kept.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert!((weight(&weighted, 1) - 0.6).abs() < 0.01 && (weight(&weighted, 2) - 0.4).abs() < 0.01, "{weighted:?}");
        assert!((weighted.kept.iter().map(|kept| kept.1).sum::<f64>() - 1.0).abs() < 1e-12);
        let entropy = 0.6 * 0.6_f64.ln() + 0.4 * 0.4_f64.ln();
        assert!((weighted.value - 5.0 - entropy).abs() < 0.02, "{}", weighted.value);
    }

    #[test]
    fn rows_under_kernels_have_equal_weight_whatever_their_class() {
        // Points come near kernels of the first class (1 and 2, a quarter of the rows), seldom of the second (3 and 4).
        let known_to: Vec<usize> = (0..1000).map(|i| [1, 1, 1, 2, 2, 2, 1, 1, 3, 4][i % 10]).collect();
        let class = |i: usize| (i > 0).then_some(if i < 3 { (7, 0.25) } else { (8, 0.75) });
        let weighted = fit_weights(candidates(&known_to, 5, class));
        let [first, second] =
            [weight(&weighted, 1) + weight(&weighted, 2), weight(&weighted, 3) + weight(&weighted, 4)];
        assert!((first / second - 1.0 / 3.0).abs() < 1e-9, "{first} and {second}");
        assert!((weight(&weighted, 1) / weight(&weighted, 2) - 5.0 / 3.0).abs() < 0.05, "{weighted:?}");
    }

    #[test]
    fn kernels_stay_or_go_together() {
        // Three widths share what is known to kernels: little is lost without one of them, much without all.
        let shared = |known: bool| {
            let log = |i: usize| if known && i.is_multiple_of(2) { 3.0 } else { -2.0 };
            let logs: Vec<f64> = (0..1000).map(log).collect();
            let kernel = Candidate { logs, size: 10, class: Some((0, 1.0)) };
            let background = Candidate { logs: vec![0.0; 1000], size: 1, class: None };
            fit_weights(vec![background, kernel.clone(), kernel.clone(), kernel]).kept.len()
        };
        assert_eq!((shared(true), shared(false)), (4, 1));
    }
}
