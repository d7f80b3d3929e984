//! Mean and standard deviation over seeds, with the grid point that validation chose.

use super::{Outcomes, Plan, Planned, Score, quantity::Quantity};
use std::collections::BTreeMap;

/// An experiment with what came of its jobs.
pub struct Summary<'a> {
    pub plan: &'a Plan,
    pub outcomes: &'a Outcomes,
    /// Grid point by protocol, data set and method, where there is more than one.
    chosen: BTreeMap<(&'a str, &'a str, &'a str), &'a str>,
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
                scores.map(|scores| (grid, mean(&scores)))
            });
            complete.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(grid, _)| grid)
        };
        let searched = points.into_iter().filter(|(_, points)| points.len() > 1);
        let chosen = searched.filter_map(|(cell, points)| Some((cell, best(points)?))).collect();
        Self { plan, outcomes, chosen }
    }

    /// The grid point of a cell, if there was a search.
    pub fn choice(&self, protocol: &str, data: &str, method: &str) -> Option<&'a str> {
        self.chosen.get(&(protocol, data, method)).copied()
    }

    /// Runs of a cell, at the chosen grid point.
    pub fn runs(&self, protocol: &str, data: &str, method: &str) -> Vec<&'a Planned> {
        let choice = self.choice(protocol, data, method);
        let fits =
            |place: &super::expand::Place| place.protocol == protocol && place.data == data && place.method == method;
        let here = self.plan.runs.iter().filter(|run| fits(&run.place));
        here.filter(|run| choice.is_none_or(|grid| run.place.grid == grid)).collect()
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
        (!self.values.is_empty()).then(|| mean(&self.values))
    }

    /// The mean, if no run is missing: other seeds are other test sets, so that only these can be compared.
    pub fn complete_mean(&self) -> Option<f64> {
        self.mean().filter(|_| self.values.len() == self.runs)
    }

    /// Standard deviation of the values, if there are two.
    pub fn deviation(&self) -> Option<f64> {
        let n = self.values.len();
        let mean = self.mean().filter(|_| n > 1)?;
        Some((self.values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt())
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

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
