//! Progress of long work on standard error: a bar on a terminal, plain lines elsewhere.

use crate::args::{Common, Progress};
use crate::output;
use crate::pace::Pace;
use crate::printable::printable;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a plain line is written.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// Shows how far a piece of work of known length has come.
pub struct Meter {
    how: How,
    label: String,
    total: u64,
    pace: Pace,
}

enum How {
    Bar(ProgressBar),
    Plain { last: Instant },
    Nothing,
}

impl Meter {
    /// A meter for `total` units of work of which `from` are done already.
    pub fn start(common: &Common, label: &str, from: u64, total: u64) -> Self {
        let label = printable(label).into_owned();
        let how = match common.progress {
            _ if common.quiet => How::Nothing,
            Progress::None => How::Nothing,
            Progress::Auto if std::io::stderr().is_terminal() => How::Bar(bar(&label, from, total)),
            Progress::Auto | Progress::Plain => How::Plain { last: Instant::now() },
        };
        Self { how, label, total, pace: Pace::default() }
    }

    /// A meter that shows at once that work has begun: the first unit may take long.
    pub fn announced(common: &Common, label: &str, total: u64) -> Self {
        let meter = Self::start(common, label, 0, total);
        if let How::Plain { .. } = meter.how {
            output::say(if total > 1 { format!("{label} 0/{total}") } else { label.to_owned() });
        }
        meter
    }

    /// Reports that `done` units are done; `note` is shown with it, such as the loss.
    pub fn advance(&mut self, done: u64, note: impl FnOnce() -> String) {
        let now = Instant::now();
        self.pace.note(now, done);
        let pace = self.pace.rate().map_or_else(String::new, |rate| {
            format!(" {rate:.1}/s, {:.0}s left", self.total.saturating_sub(done) as f64 / rate)
        });
        match &mut self.how {
            How::Bar(bar) => {
                bar.set_position(done);
                bar.set_message(format!("{}{pace}", note()));
            }
            How::Plain { last } if now.duration_since(*last) >= PLAIN_INTERVAL && done < self.total => {
                *last = now;
                let (label, total, note) = (&self.label, self.total, note());
                let note = if note.is_empty() { note } else { format!(" {note}") };
                output::say(format!("{label} {done}/{total}{note}{pace}"));
            }
            How::Plain { .. } | How::Nothing => {}
        }
    }

    /// Takes the meter away.
    pub fn finish(self) {
        if let How::Bar(bar) = self.how {
            bar.finish_and_clear();
        }
    }
}

fn bar(label: &str, from: u64, total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total).with_position(from);
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.set_prefix(label.to_owned());
    bar
}
