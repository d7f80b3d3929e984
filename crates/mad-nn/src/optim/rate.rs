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
