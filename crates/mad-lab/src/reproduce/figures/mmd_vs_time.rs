//! `figure-mmd-vs-time`: how soon the samples are good.

use super::{
    colours,
    seeds::{Crossing, MethodCurves, bands, crossing, seeds_note},
};
use crate::reproduce::experiment::Method;
use mad_cli::plot::{CurvePanel, Figure, PlotError, Scale, Series, curves};

/// What the figure shows.
#[derive(Debug, Clone)]
pub struct Input {
    /// Heading; empty for none.
    pub title: String,
    /// For each method and seed the MMD to the training data over seconds of training; all methods of the experiment, those
    /// without a curve as well.
    pub methods: Vec<MethodCurves>,
    /// Which of them are compared.
    pub pairs: Vec<Pair>,
    /// The MMD between two samples of the data.
    pub floor: Option<f64>,
}

/// Two methods that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Label of the method that is expected to be faster.
    pub fast: String,
    /// Label of the method whose last value it is held to.
    pub slow: String,
}

impl Pair {
    /// A method and the one that it is to be faster than, if its experiment names one.
    pub fn of(method: &Method) -> Option<Self> {
        Some(Self { fast: method.label.clone(), slow: method.against.clone()? })
    }
}

impl Input {
    /// The pairs of which both have a curve.
    pub fn drawn_pairs(&self) -> impl Iterator<Item = &Pair> {
        let drawn =
            |label: &str| self.methods.iter().any(|m| m.label == label && m.seeds.iter().any(|c| !c.is_empty()));
        self.pairs.iter().filter(move |pair| drawn(&pair.fast) && drawn(&pair.slow))
    }

    /// How much sooner the faster method gets to the last value of the slower one, by the means over seeds; `None` if it
    /// never does, or if one of the two is missing.
    pub fn crossing(&self, pair: &Pair) -> Option<Crossing> {
        let series = bands(Scale::Log, &self.methods);
        let points = |label: &str| series.iter().find(|s| s.label == label).map(|s| &s.points);
        crossing(Scale::Log, points(&pair.fast)?, points(&pair.slow)?)
    }

    /// The crossing in words.
    pub fn crossing_text(&self, pair: &Pair) -> String {
        let Pair { fast, slow } = pair;
        match self.crossing(pair) {
            Some(c) => format!("“{fast}” reaches the final MMD of “{slow}” ({:.3}) {:.1}× sooner", c.value, c.factor()),
            None => format!("“{fast}” does not reach the final MMD of “{slow}”"),
        }
    }

    /// From one crossing to the other, in the colour of the faster method: the time that is saved, named in the legend.
    fn saved(&self, pair: &Pair) -> Series {
        let all = colours::of_methods(self.methods.iter().map(|m| m.label.as_str()));
        let colour = self.methods.iter().zip(all).find(|(m, _)| m.label == pair.fast).map(|(_, colour)| colour);
        let points = self.crossing(pair).map_or(Vec::new(), |c| vec![(c.fast, c.value), (c.slow, c.value)]);
        Series { label: self.crossing_text(pair), points, colour, dashed: true, ..Series::default() }
    }
}

/// Draws one curve with a band per method over a logarithmic time axis, the floor dashed.
pub fn draw(input: &Input) -> Result<Figure<'static>, PlotError> {
    let mut series = bands(Scale::Log, &input.methods);
    series.retain(|series| !series.points.is_empty());
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
    series.extend(input.drawn_pairs().map(|pair| input.saved(pair)));
    let panel = CurvePanel {
        title: input.title.clone(),
        note: seeds_note(&input.methods),
        x: ("training time (s)".to_owned(), Scale::Log),
        y: ("MMD to the training data".to_owned(), Scale::Log),
        series,
        area: Some((560.0, 320.0)),
        ..CurvePanel::default()
    };
    Ok(curves("", vec![panel]))
}
