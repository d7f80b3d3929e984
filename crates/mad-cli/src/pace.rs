//! How fast work proceeds, by what it did lately.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Marks are at least this far apart.
const SPACING: Duration = Duration::from_secs(1);

/// Work before this is forgotten: a first validation, a slow start or a suspended machine are no measure of the rest.
const WINDOW: Duration = Duration::from_secs(60);

/// No rate before this much time and this many units.
const LEAST_TIME: Duration = Duration::from_secs(3);
const LEAST_UNITS: u64 = 3;

/// The times at which units of work were done.
#[derive(Debug, Default)]
pub struct Pace {
    marks: VecDeque<(Instant, u64)>,
    latest: Option<(Instant, u64)>,
}

impl Pace {
    /// Notes that `done` units are done at `now`. The first unit is only a start: what it took may have been preparation.
    pub fn note(&mut self, now: Instant, done: u64) {
        if self.marks.back().is_none_or(|(at, _)| now.duration_since(*at) >= SPACING) {
            self.marks.push_back((now, done));
        }
        while self.marks.len() > 2 && now.duration_since(self.marks[1].0) >= WINDOW {
            self.marks.pop_front();
        }
        self.latest = Some((now, done));
    }

    /// Units per second lately; `None` while too little is known.
    pub fn rate(&self) -> Option<f64> {
        let (&(begun, from), (now, done)) = (self.marks.front()?, self.latest?);
        let (time, units) = (now.duration_since(begun), done.saturating_sub(from));
        (time >= LEAST_TIME && units >= LEAST_UNITS).then(|| units as f64 / time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_does_not_spoil_the_estimate() {
        let (start, mut pace) = (Instant::now(), Pace::default());
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        assert_eq!(pace.rate(), None);
        // Half a minute of preparation, then ten steps a second.
        pace.note(at(30.0), 1);
        assert_eq!(pace.rate(), None);
        for i in 1..=29 {
            pace.note(at(30.0 + 0.1 * f64::from(i)), 1 + i as u64);
            assert_eq!(pace.rate(), None, "too early");
        }
        for i in 30..2000 {
            pace.note(at(30.0 + 0.1 * f64::from(i)), 1 + i as u64);
            let rate = pace.rate().expect("known by now");
            assert!((rate - 10.0).abs() < 0.01, "{rate}");
        }
        // Work that becomes slower is noticed within a minute or so.
        for i in 1..=70 {
            pace.note(at(230.0 + f64::from(i)), 2000 + i as u64);
        }
        assert!((pace.rate().expect("known") - 1.0).abs() < 0.2, "{:?}", pace.rate());
    }

    #[test]
    fn few_units_give_no_rate_however_long_they_took() {
        let (start, mut pace) = (Instant::now(), Pace::default());
        for done in 1..=3 {
            pace.note(start + Duration::from_secs(20 * done), done);
            assert_eq!(pace.rate(), None);
        }
        pace.note(start + Duration::from_secs(80), 4);
        assert!(pace.rate().is_some());
    }
}
