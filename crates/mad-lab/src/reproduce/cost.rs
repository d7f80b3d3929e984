//! How long runs took, as far as it is known.

use super::Score;

/// Seconds of training and scoring over some runs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Sum over the runs whose time is known.
    seconds: f64,
    /// How many these are.
    known: usize,
    /// All runs.
    runs: usize,
}

impl<'a> FromIterator<&'a Score> for Cost {
    fn from_iter<T: IntoIterator<Item = &'a Score>>(scores: T) -> Self {
        scores.into_iter().fold(Self::default(), |sum, score| {
            let seconds = score.total_seconds();
            Self {
                seconds: sum.seconds + seconds.unwrap_or(0.0),
                known: sum.known + usize::from(seconds.is_some()),
                runs: sum.runs + 1,
            }
        })
    }
}

impl Cost {
    /// The sum; `None` if no time is known.
    pub fn seconds(&self) -> Option<f64> {
        (self.known > 0).then_some(self.seconds)
    }

    /// Runs whose time is known.
    pub fn known(&self) -> usize {
        self.known
    }

    /// The sum in words, with the number of runs it is of where that is not all of them; `None` if no time is known.
    pub fn words(&self) -> Option<String> {
        let time = format!("{} of one core", duration(self.seconds()?));
        Some(match (self.known, self.runs) {
            (known, all) if known == all => time,
            (known, all) => format!("{time} for the {known} of {all} runs whose time is known"),
        })
    }
}

/// Seconds in words.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::testing;

    #[test]
    fn sums_say_how_many_runs_they_are_of() {
        let timed = |training: f64| Score { seconds: 100.0, ..testing::score("a", &[("train_seconds", training)]) };
        let unknown = testing::score("b", &[("nll", 1.0)]);
        let words = |scores: &[Score]| scores.iter().collect::<Cost>().words();
        assert_eq!(words(&[timed(200.0), timed(200.0)]).unwrap(), "10 min of one core");
        let some = [timed(200.0), unknown.clone(), timed(4400.0), unknown.clone(), unknown.clone()];
        assert_eq!(words(&some).unwrap(), "80 min of one core for the 2 of 5 runs whose time is known");
        assert_eq!((words(std::slice::from_ref(&unknown)), words(&[])), (None, None));
        assert_eq!([unknown].iter().collect::<Cost>().seconds(), None);
    }

    #[test]
    fn durations_are_short() {
        assert_eq!([duration(90.0), duration(1800.0), duration(9000.0)], ["90 s", "30 min", "2.5 h"]);
    }
}
