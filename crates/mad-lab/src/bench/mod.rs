//! What `mad-lab bench` measures: pieces of work that are repeated in rounds.

pub mod growth;
mod peers;
mod report;
mod work;

pub use peers::{Peer, PeerError};
pub use report::{Ratio, Row, ratios, times};
pub use work::BENCHES;

use std::time::Instant;

/// One piece of work.
pub struct Bench {
    /// Name on the command line. Peers use the same name.
    pub name: &'static str,
    /// What is done once.
    pub summary: &'static str,
    /// How often it is done in a round.
    pub repeats: usize,
    /// Prepares it; what is returned does it once.
    pub prepare: fn() -> Box<dyn FnMut()>,
}

/// Seconds that each repetition of a round took.
pub fn time(work: &mut dyn FnMut(), repeats: usize) -> Vec<f64> {
    (0..repeats)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect()
}

/// The middle of some numbers; not a number if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = BENCHES.iter().map(|bench| bench.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BENCHES.len());
    }

    #[test]
    fn medians_of_even_and_odd_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
