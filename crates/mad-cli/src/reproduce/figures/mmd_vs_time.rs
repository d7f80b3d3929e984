//! `figure-mmd-vs-time`: how soon the samples are good.

use super::{
    colours,
    loss::seeds_note,
    seeds::{Crossing, MethodCurves, bands, crossing},
};
use crate::plot::{CurvePanel, Figure, PlotError, Scale, Series, curves};

/// What the figure shows.
#[derive(Debug, Clone)]
pub struct Input {
    /// Heading; empty for none.
    pub title: String,
    /// For each method and seed the MMD to the training data over seconds of training.
    pub methods: Vec<MethodCurves>,
    /// The MMD between two samples of the data.
    pub floor: Option<f64>,
    /// Label of the method that is expected to be faster.
    pub fast: String,
    /// Label of the method whose last value it is held to.
    pub slow: String,
}

impl Input {
    /// MAD against DSM.
    pub fn new(title: &str, methods: Vec<MethodCurves>, floor: Option<f64>) -> Self {
        Self { title: title.to_owned(), methods, floor, fast: "MAD".into(), slow: "DSM".into() }
    }

    /// How much sooner the faster method gets to the last value of the slower one, by the means over seeds; `None` if it
    /// never does, or if one of the two is missing.
    pub fn crossing(&self) -> Option<Crossing> {
        let series = bands(Scale::Log, &self.methods);
        let points = |label: &str| series.iter().find(|s| s.label == label).map(|s| &s.points);
        crossing(Scale::Log, points(&self.fast)?, points(&self.slow)?)
    }

    /// The crossing in words.
    pub fn crossing_text(&self) -> String {
        let (fast, slow) = (&self.fast, &self.slow);
        match self.crossing() {
            Some(c) => format!("{fast} reaches {slow}'s final MMD ({:.3}) {:.1}× sooner", c.value, c.factor()),
            None => format!("{fast} does not reach {slow}'s final MMD"),
        }
    }
}

/// Draws one curve with a band per method over a logarithmic time axis, the floor dashed.
pub fn draw(input: &Input) -> Result<Figure<'static>, PlotError> {
    let mut series = bands(Scale::Log, &input.methods);
    let times = || series.iter().flat_map(|s| s.points.iter().map(|p| p.0));
    let (first, last) = times().fold((f64::INFINITY, 0.0), |(a, b), t| (f64::min(a, t), f64::max(b, t)));
    if first > last {
        return Err(PlotError::Empty { title: input.title.clone(), what: "values of the MMD" });
    }
    if let Some(floor) = input.floor {
        let points = vec![(first, floor), (last, floor)];
        let label = format!("floor {floor:.3}");
        series.push(Series { label, points, dashed: true, colour: Some(colours::DATA), ..Series::default() });
    }
    let compared = [&input.fast, &input.slow].iter().all(|l| input.methods.iter().any(|m| m.label == **l));
    let seeds = input.methods.iter().map(|m| m.seeds.len()).max().unwrap_or(0);
    let mut note = seeds_note(seeds);
    if compared {
        note = format!("{}; {note}", input.crossing_text());
    }
    if let Some(c) = input.crossing() {
        // From one crossing to the other: the time that is saved.
        let points = vec![(c.fast, c.value), (c.slow, c.value)];
        series.push(Series { points, colour: Some(crate::plot::category(7)), ..Series::default() });
    }
    let panel = CurvePanel {
        title: input.title.clone(),
        note,
        x: ("training time (s)".to_owned(), Scale::Log),
        y: ("MMD to the training data".to_owned(), Scale::Log),
        series,
        area: Some((560.0, 320.0)),
        ..CurvePanel::default()
    };
    Ok(curves("", vec![panel]))
}
