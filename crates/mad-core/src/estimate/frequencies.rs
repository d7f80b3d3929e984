//! Frequencies on finite sets, smoothed.

use super::constants::PSEUDO_COUNTS;
use super::line_search::maximise;
use super::{BaseChoice, FiniteColumn, FitError, Fitted, Tried, finite_columns, refuse_empty};
use crate::Points;
use crate::manifold::Manifold;

/// Smoothed frequencies of the points of a finite set, or of the levels of each column of a table.
///
/// # Formula
/// w_i = (n_i + α)/(N + α K) with n_i of N training points in category i of K. α maximises Σ n_i ln((n_i − 1 + α)/(N − 1 + α K)), the
/// log-probability of every training point under the frequencies of all others, column by column. Validation points are
/// scored only, since training may be stopped by them.
pub(super) fn fit(manifold: &dyn Manifold, train: &Points, validation: &Points) -> Result<Fitted, FitError> {
    refuse_empty(train, validation)?;
    let columns = finite_columns(manifold).ok_or_else(|| FitError::Manifold { spec: manifold.spec() })?;
    let (mut weights, mut tried, mut total) = (Vec::new(), Vec::new(), 0.0);
    for (place, column) in columns.iter().enumerate() {
        let [known, new] = [train, validation].map(|points| counts(column, points));
        let (rows, categories) = (train.len() as f64, known.len() as f64);
        let smooth = |alpha: f64| -> Vec<f64> {
            let whole: f64 = known.iter().map(|n| n + alpha).sum();
            known.iter().map(|n| (n + alpha) / whole).collect()
        };
        let (low, high) = (PSEUDO_COUNTS.0.ln(), PSEUDO_COUNTS.1.ln());
        let (log_alpha, _) = maximise((low, 0.0, high), |log_alpha| {
            let alpha = log_alpha.exp();
            let whole = (rows - 1.0 + alpha * categories).ln();
            let occurring = known.iter().filter(|n| **n > 0.0);
            Ok::<f64, FitError>(occurring.map(|n| n * ((n - 1.0 + alpha).ln() - whole)).sum::<f64>() / rows)
        })?;
        let smoothed = smooth(log_alpha.exp());
        let value = new.iter().zip(&smoothed).map(|(n, w)| n * w.ln()).sum::<f64>() / validation.len() as f64;
        let what = format!("column {place}: {:.3e} imagined points per category", log_alpha.exp());
        tried.push(Tried { what, validation: value });
        weights.push(smoothed);
        total += value;
    }
    Ok(Fitted { choice: BaseChoice::Frequencies { weights }, tried, validation: total })
}

/// How many points fall in each category.
fn counts(column: &FiniteColumn, points: &Points) -> Vec<f64> {
    let mut counts = vec![0.0; column.measure.points().len()];
    for x in points.rows() {
        counts[column.measure.nearest(&x[column.range.clone()])] += 1.0;
    }
    counts
}
