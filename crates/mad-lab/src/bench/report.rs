//! What was measured, as a table and as JSON.

use super::median;
use mad_cli::output;
use serde::Serialize;

/// Middle and spread of the rounds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Spread {
    /// Median over rounds.
    pub median: f64,
    /// Smallest round.
    pub least: f64,
    /// Largest round.
    pub most: f64,
}

impl Spread {
    /// Of one number per round.
    pub fn of(rounds: &[f64]) -> Self {
        Self {
            median: median(rounds),
            least: rounds.iter().copied().fold(f64::INFINITY, f64::min),
            most: rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Times of one program at one piece of work.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The bench.
    pub bench: &'static str,
    /// Who did it.
    pub program: String,
    /// Under which name.
    pub job: String,
    /// Seconds, the median of each round.
    pub rounds: Vec<f64>,
}

/// Our time over another's in the same rounds.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    /// The bench.
    pub bench: &'static str,
    /// Against whom, at its best.
    pub against: String,
    /// One ratio per round.
    pub rounds: Vec<f64>,
}

impl Ratio {
    /// Round by round.
    pub fn new(ours: &Row, theirs: &Row) -> Self {
        let rounds = ours.rounds.iter().zip(&theirs.rounds).map(|(a, b)| a / b).collect();
        let work = if theirs.bench == ours.bench { theirs.job.as_str() } else { theirs.bench };
        Self { bench: ours.bench, against: format!("{} {work}", theirs.program), rounds }
    }
}

/// Times in milliseconds.
pub fn times(rows: &[Row]) -> String {
    let cells = rows.iter().map(|row| {
        let Spread { median, least, most } = Spread::of(&row.rounds);
        let milliseconds = |seconds: f64| format!("{:.3}", 1e3 * seconds);
        vec![
            row.bench.to_owned(),
            format!("{} {}", row.program, row.job).trim_end().to_owned(),
            milliseconds(median),
            milliseconds(least),
            milliseconds(most),
        ]
    });
    output::table(&["bench", "program", "median ms", "least", "most"], cells)
}

/// Ratios with their spread.
pub fn ratios(ratios: &[Ratio]) -> String {
    let cells = ratios.iter().map(|ratio| {
        let Spread { median, least, most } = Spread::of(&ratio.rounds);
        let number = |ratio: f64| format!("{ratio:.3}");
        vec![ratio.bench.to_owned(), ratio.against.clone(), number(median), number(least), number(most)]
    });
    output::table(&["bench", "mad over", "median ratio", "least", "most"], cells)
}
