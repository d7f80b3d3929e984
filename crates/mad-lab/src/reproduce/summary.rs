//! Mean and standard deviation over seeds, with the grid point that validation chose.

use super::{Outcomes, Plan, Planned, Score, expand::Place, quantity::Quantity};
use mad_core::Moments;
use std::collections::BTreeMap;

/// An experiment with what came of its jobs.
pub struct Summary<'a> {
    pub plan: &'a Plan,
    pub outcomes: &'a Outcomes,
    /// By protocol, data set and method, where there are several grid points: the one chosen, if one of them is complete.
    searched: BTreeMap<(&'a str, &'a str, &'a str), Option<&'a str>>,
}

/// One number of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// Runs that belong to it.
    pub runs: usize,
    /// How many of them have a score.
    pub scored: usize,
    /// How many of them failed; the others were not run.
    pub failed: usize,
    /// Their values; a score may lack some.
    pub values: Vec<f64>,
    /// Whether the values are upper bounds.
    pub bound: bool,
}

impl<'a> Summary<'a> {
    /// Chooses grid points by the mean validation score over seeds.
    pub fn new(plan: &'a Plan, outcomes: &'a Outcomes) -> Self {
        let mut points: BTreeMap<_, BTreeMap<&str, Vec<Option<f64>>>> = BTreeMap::new();
        for Planned { place, job } in &plan.runs {
            let cell = (place.protocol.as_str(), place.data.as_str(), place.method.as_str());
            let score = outcomes.scores.get(&job.id).and_then(|score| score.get("nll_validation"));
            points.entry(cell).or_default().entry(&place.grid).or_default().push(score);
        }
        let best = |points: BTreeMap<&'a str, Vec<Option<f64>>>| {
            let complete = points.into_iter().filter_map(|(grid, scores)| {
                let scores: Option<Vec<f64>> = scores.into_iter().collect();
                scores.map(|scores| (grid, Moments::of(&scores).mean))
            });
            complete.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(grid, _)| grid)
        };
        let searched = points.into_iter().filter(|(_, points)| points.len() > 1);
        let searched = searched.map(|(cell, points)| (cell, best(points))).collect();
        Self { plan, outcomes, searched }
    }

    /// The grid point of a cell, if there was a search and it came to an end.
    pub fn choice(&self, protocol: &str, data: &str, method: &str) -> Option<&'a str> {
        self.searched.get(&(protocol, data, method)).copied().flatten()
    }

    /// Whether a search has scores, but no grid point with all its seeds.
    pub fn undecided(&self, protocol: &str, data: &str, method: &str) -> bool {
        let open = self.searched.get(&(protocol, data, method)).is_some_and(Option::is_none);
        open && self.plan.runs.iter().any(|run| run.place.is_in(protocol, data, method) && self.score(run).is_some())
    }

    /// Whether a run counts: the grid point of its cell is the chosen one, or the only one.
    pub fn counts(&self, run: &Planned) -> bool {
        let Place { protocol, data, method, grid, .. } = &run.place;
        let searched = self.searched.get(&(protocol.as_str(), data.as_str(), method.as_str()));
        searched.is_none_or(|choice| choice.is_some_and(|chosen| chosen == grid))
    }

    /// Runs of a cell, at the chosen grid point; none as long as nothing can be chosen.
    pub fn runs(&self, protocol: &str, data: &str, method: &str) -> Vec<&'a Planned> {
        self.plan.runs.iter().filter(|run| run.place.is_in(protocol, data, method) && self.counts(run)).collect()
    }

    /// The score of a run, if it has one.
    pub fn score(&self, run: &Planned) -> Option<&'a Score> {
        self.outcomes.scores.get(&run.job.id)
    }

    /// The number called `name` for a method.
    pub fn cell(&self, protocol: &str, data: &str, method: &str, name: &str) -> Cell {
        let runs = self.runs(protocol, data, method);
        let scores: Vec<&Score> = runs.iter().filter_map(|run| self.score(run)).collect();
        Cell {
            runs: runs.len(),
            scored: scores.len(),
            failed: runs.iter().filter(|run| self.outcomes.failures.contains_key(&run.job.id)).count(),
            values: scores.iter().filter_map(|score| score.get(name)).collect(),
            bound: scores.iter().any(|score| score.bounds.iter().any(|bound| bound == name)),
        }
    }

    /// A number that is the same for every method, a floor for instance: from the method that has most seeds.
    pub fn common(&self, protocol: &str, data: &str, name: &str) -> Cell {
        let cells = self.plan.experiment.methods.iter().map(|method| self.cell(protocol, data, &method.label, name));
        cells.max_by_key(|cell| cell.values.len()).unwrap_or_default()
    }
}

impl Cell {
    /// Mean of the values.
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| Moments::of(&self.values).mean)
    }

    /// The mean, if no run is missing: other seeds are other test sets, so that only these can be compared.
    pub fn complete_mean(&self) -> Option<f64> {
        self.mean().filter(|_| self.values.len() == self.runs)
    }

    /// Standard deviation of the values, if there are two.
    pub fn deviation(&self) -> Option<f64> {
        Moments::of(&self.values).deviation()
    }

    /// The cell as text.
    pub fn show(&self, quantity: &Quantity) -> String {
        let Some(mean) = self.mean() else {
            return match (self.runs, self.scored, self.failed) {
                (0, ..) => String::new(),
                (_, 0, 1..) => "failed".into(),
                _ => "–".into(),
            };
        };
        let mark = if self.bound { "≤ " } else { "" };
        let spread = self.deviation().map_or(String::new(), |sd| format!(" ± {}", quantity.show(sd)));
        let (n, runs) = (self.values.len(), self.runs);
        let missing = if n < runs { format!(" ({n} of {runs})") } else { String::new() };
        format!("{mark}{}{spread}{missing}", quantity.show(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::testing;

    #[test]
    fn without_a_complete_grid_point_a_cell_is_empty() {
        let text = "
            title = 't'
            seeds = [0, 1]
            [[data]]
            key = 'd'
            [[method]]
            label = 'A'
            settings = { learning_rate = [1e-3, 1e-4] }
        ";
        let plan = testing::plan(text);
        let mut outcomes = Outcomes::default();
        let mut finish = |grid: &str, seed: u64, nll: f64| {
            let run = plan.runs.iter().find(|run| run.place.grid == grid && run.place.seed == seed).unwrap();
            let score = testing::score(&run.job.id, &[("nll", nll), ("nll_validation", nll)]);
            outcomes.scores.insert(run.job.id.clone(), score);
        };
        finish("learning_rate=0.001", 0, 5.0);
        finish("learning_rate=0.0001", 1, 1.0);
        let summary = Summary::new(&plan, &outcomes);
        assert!(summary.undecided("", "d", "A") && summary.runs("", "d", "A").is_empty());
        assert_eq!(summary.cell("", "d", "A", "nll"), Cell::default());
        assert!(!plan.runs.iter().any(|run| summary.counts(run)));

        let run = plan.runs.iter().find(|run| run.place.grid == "learning_rate=0.001" && run.place.seed == 1).unwrap();
        let score = testing::score(&run.job.id, &[("nll", 7.0), ("nll_validation", 7.0)]);
        outcomes.scores.insert(run.job.id.clone(), score);
        let summary = Summary::new(&plan, &outcomes);
        assert!(!summary.undecided("", "d", "A"));
        assert_eq!(summary.choice("", "d", "A"), Some("learning_rate=0.001"));
        assert_eq!(summary.cell("", "d", "A", "nll").values, [5.0, 7.0]);
    }

    #[test]
    fn cells_show_mean_deviation_bounds_and_gaps() {
        let nll = Quantity::lookup("nll").unwrap();
        let cell = |values: &[f64], bound| Cell {
            runs: 3,
            scored: values.len(),
            failed: 3 - values.len(),
            values: values.into(),
            bound,
        };
        // Deviations from the mean 2: −1, 0, 1; their squares over n − 1 are 1.
        assert_eq!(cell(&[1.0, 2.0, 3.0], false).show(nll), "2.000 ± 1.000");
        assert_eq!(cell(&[1.0, 3.0], true).show(nll), "≤ 2.000 ± 1.414 (2 of 3)");
        assert_eq!((cell(&[1.0, 3.0], true).complete_mean(), cell(&[1.0; 3], true).complete_mean()), (None, Some(1.0)));
        assert_eq!(cell(&[], false).show(nll), "failed");
        assert_eq!(Cell { runs: 1, ..Cell::default() }.show(nll), "–");
        assert_eq!(Cell { runs: 1, scored: 1, values: vec![0.5], ..Cell::default() }.show(nll), "0.500");
        assert_eq!(Cell { runs: 1, scored: 1, ..Cell::default() }.show(nll), "–");
        assert_eq!(Cell::default().show(nll), "");
    }
}
