//! The learning rate of each step.

use serde::{Deserialize, Serialize};

/// What the rate does after warming up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decline {
    /// Falls like half a cosine wave.
    Cosine,
    /// Stays.
    Constant,
}

/// A learning rate for every step of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Rate from which the warm-up grows.
    pub start: f64,
    /// Largest rate.
    pub peak: f64,
    /// Rate to which a cosine falls.
    pub end: f64,
    /// Steps over which it grows linearly.
    pub warmup: u64,
    /// Steps of the whole run.
    pub steps: u64,
    /// What follows the warm-up.
    pub decline: Decline,
}

impl Rate {
    /// The rate of step `step`, counted from 0.
    ///
    /// # Formula
    /// start + (peak − start) (s + 1)/w for s < w; then end + (peak − end) (1 + cos π(s − w)/(S − w))/2, or peak.
    pub fn at(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.start + (self.peak - self.start) * (step + 1) as f64 / self.warmup as f64;
        }
        match self.decline {
            Decline::Constant => self.peak,
            Decline::Cosine => {
                let done = (step - self.warmup) as f64 / self.steps.saturating_sub(self.warmup).max(1) as f64;
                self.end + (self.peak - self.end) * 0.5 * (1.0 + (std::f64::consts::PI * done.min(1.0)).cos())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warms_up_then_falls_to_zero() {
        let rate = Rate { start: 0.0, peak: 2.0, end: 0.0, warmup: 4, steps: 104, decline: Decline::Cosine };
        assert_eq!(rate.at(0), 0.5);
        assert_eq!(rate.at(3), 2.0);
        assert_eq!(rate.at(4), 2.0);
        assert!((rate.at(54) - 1.0).abs() < 1e-12);
        assert!(rate.at(103) < 1e-3 && rate.at(103) > 0.0);
        assert_eq!(Rate { decline: Decline::Constant, ..rate }.at(103), 2.0);
        let between = Rate { start: 0.2, end: 0.1, ..rate };
        assert_eq!((between.at(0), between.at(3)), (0.65, 2.0));
        assert!((between.at(104) - 0.1).abs() < 1e-12);
    }
}
