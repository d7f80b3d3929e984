//! What is measured of a run, and how it is written.

/// One kind of number in `score.json`.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// Name in files.
    pub name: &'static str,
    /// Head of its table.
    pub title: &'static str,
    /// How it is measured.
    pub how: &'static str,
    /// How it is written.
    pub style: Style,
    /// What stands below its table: title and name of the number that a perfect model would have.
    pub ideal: Option<(&'static str, &'static str)>,
    /// Whether methods are compared by it: lower is then better. Not by MMD, as good models all stand at its
    /// floor, nor by times, which are kept of some runs only.
    pub ranks: bool,
    /// Whether it is a standard error, so that the one of a mean is the root of the sum of squares over the number.
    pub is_error: bool,
}

/// How a number is written.
#[derive(Debug, Clone, Copy)]
pub enum Style {
    /// With this many digits after the point.
    Fixed(usize),
    /// With a power of ten.
    Scientific,
}

const fn quantity(name: &'static str, title: &'static str, style: Style, how: &'static str) -> Quantity {
    Quantity { name, title, how, style, ideal: None, ranks: true, is_error: false }
}

impl Quantity {
    const fn with_ideal(self, title: &'static str, name: &'static str) -> Self {
        Quantity { ideal: Some((title, name)), ..self }
    }

    const fn unranked(self) -> Self {
        Quantity { ranks: false, ..self }
    }

    const fn error(self) -> Self {
        Quantity { ranks: false, is_error: true, ..self }
    }

    /// The value for the mean over data sets; `None` if one is missing.
    pub fn mean(&self, values: &[Option<f64>]) -> Option<f64> {
        let n = values.len().max(1) as f64;
        match self.is_error {
            true => values.iter().map(|v| v.map(|v| v * v)).sum::<Option<f64>>().map(|sum| sum.sqrt() / n),
            false => values.iter().copied().sum::<Option<f64>>().map(|sum| sum / n),
        }
    }

    /// The quantity called `name`.
    pub fn lookup(name: &str) -> Option<&'static Quantity> {
        QUANTITIES.iter().find(|q| q.name == name)
    }

    /// A value in its style.
    pub fn show(&self, value: f64) -> String {
        match self.style {
            Style::Fixed(digits) => format!("{value:.digits$}"),
            Style::Scientific => format!("{value:.1e}"),
        }
    }
}

/// All quantities that may be printed as a table.
pub const QUANTITIES: &[Quantity] = &[
    quantity("mmd", "MMD", Style::Fixed(4), "the paper's metric: biased, root, against the test set")
        .with_ideal("floor", "mmd_floor")
        .unranked(),
    quantity("mmd_heat-rotations", "MMD, heat kernel of SO(3)", Style::Fixed(4), "ours: blind to the sign of quaternions")
        .with_ideal("floor", "mmd_heat-rotations_floor")
        .unranked(),
    quantity("mmd_mean", "MMD, mean over draws", Style::Fixed(4), "ours: the same over as many draws as 10 000 samples make, ten at least")
        .with_ideal("floor", "mmd_floor")
        .unranked(),
    quantity(
        "mmd_mean_over_floor",
        "mean MMD over its floor",
        Style::Fixed(2),
        "1 is as near as other data of the same distribution",
    )
    .unranked(),
    quantity("mmd2_unbiased", "unbiased MMD²", Style::Scientific, "ours: 0 on average for equal distributions, so it may be negative")
        .unranked(),
    quantity(
        "nll",
        "NLL, nats",
        Style::Fixed(3),
        "ours: mean negative log-likelihood of the test set w.r.t. volume; ≤ marks an upper bound read off the denoising loss",
    )
    .with_ideal("true density", "nll_oracle"),
    quantity(
        "nll_new",
        "NLL of rows that are not copies, nats",
        Style::Fixed(3),
        "ours: test rows that do not equal a training row; ≤ marks an upper bound",
    ),
    quantity("nll_copies", "NLL of rows that are copies, nats", Style::Fixed(3), "ours: test rows that equal a training row")
        .unranked(),
    quantity("copies", "copies, share of test rows", Style::Fixed(3), "test rows that equal a training row").unranked(),
    quantity("nll_gap", "NLL above that of the true density, nats", Style::Fixed(3), "ours; ≤ marks an upper bound"),
    quantity(
        "spread",
        "spread, degrees",
        Style::Fixed(3),
        "mean distance of samples to the nearest true pose: expectation over 16 samples of each test picture, exact for axes",
    ),
    quantity("spread_error", "standard error of the spread, degrees", Style::Fixed(3), "over test pictures").error(),
    quantity("spread_median", "median distance, degrees", Style::Fixed(3), "over samples"),
    quantity("spread_95", "95th percentile of the distance, degrees", Style::Fixed(3), "over samples"),
    quantity(
        "evenness",
        "evenness over poses that look the same",
        Style::Fixed(2),
        "χ² over its mean, 1 if each is sampled as often as the others; finite groups only",
    )
    .unranked(),
    quantity("spread_far", "samples off by more than 10 degrees, %", Style::Fixed(2), "share of all samples"),
    quantity(
        "mode_error",
        "mode error, degrees",
        Style::Fixed(3),
        "distance of the most likely pose, or of the most central of the samples",
    ),
    quantity("recall", "recall, degrees", Style::Fixed(2), "mean over true poses of the distance to the nearest sample"),
    quantity("tv", "total variation", Style::Fixed(4), "ours: frequencies on the finite set, nearest points"),
    quantity("drift_mean", "drift", Style::Scientific, "mean distance of samples from the set before projection")
        .unranked(),
    quantity("drift_far", "share of samples off the set", Style::Fixed(4), "farther than 0.05 before projection"),
    quantity(
        "step_ms",
        "time per training step, ms",
        Style::Fixed(2),
        "loss and update, with the drawing of the batch, so an upper bound of the paper's rule; one thread, all cores busy",
    )
    .unranked(),
    quantity("train_seconds", "training, s", Style::Fixed(1), "with validation and checkpoints; one thread").unranked(),
    quantity("sampling_seconds", "sampling, s per 1000", Style::Fixed(3), "one thread, all cores busy").unranked(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_means_are_smaller_than_means_of_errors() {
        let (spread, error) = (Quantity::lookup("spread").unwrap(), Quantity::lookup("spread_error").unwrap());
        assert_eq!(spread.mean(&[Some(3.0), Some(4.0)]), Some(3.5));
        assert_eq!(error.mean(&[Some(3.0), Some(4.0)]), Some(2.5));
        assert_eq!(spread.mean(&[Some(3.0), None]), None);
    }
}
