//! `figure-discrete`: eight points on the circle, samples where the models left them.

use super::{colours, grid::Labelled};
use crate::error::LabError;
use mad_cli::plot::{BarsPanel, Figure, LegendEntry, Panel, PlotError, Rgb, SIDE, ScatterPanel, Window};
use mad_core::{Points, catalogue::datasets::circle, metrics::Drift};
use mad_nn::{Run, method::SampleRequest};
use std::borrow::Cow;

/// A sample farther than this from every point of the set counts as far.
pub const FAR: f64 = Drift::FAR;

/// Panels in a row, so that their text can be read on a page.
const ACROSS: usize = 3;

/// What the figure shows.
#[derive(Debug, Clone)]
pub struct Input {
    /// Heading; empty for none.
    pub title: String,
    /// Points of the set, in the plane.
    pub support: Points,
    /// Target distributions with the samples of each method.
    pub targets: Vec<Target>,
}

/// A distribution on the set and samples meant to follow it.
#[derive(Debug, Clone)]
pub struct Target {
    /// Name of the distribution.
    pub title: String,
    /// Probability of each point of the set.
    pub probabilities: Vec<f64>,
    /// Samples of the methods, not projected.
    pub methods: Vec<Labelled>,
}

/// How well samples that were not projected follow a distribution on a finite set.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Share of the samples whose nearest point is each point.
    pub frequencies: Vec<f64>,
    /// Share of the samples farther than [`FAR`] from every point.
    pub far: f64,
    /// Total variation between the frequencies and the target.
    pub total_variation: f64,
}

/// Scores samples against probabilities of the points of a set.
pub fn score(support: &Points, probabilities: &[f64], samples: &Points) -> Score {
    let mut frequencies = vec![0.0; support.len()];
    let mut far = 0.0;
    let share = 1.0 / samples.len().max(1) as f64;
    for x in samples.rows() {
        let square = |u: &[f64]| x.iter().zip(u).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let distances = support.rows().map(square).enumerate();
        let Some((nearest, square)) = distances.min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        frequencies[nearest] += share;
        if square.sqrt() > FAR {
            far += share;
        }
    }
    let total_variation = 0.5 * frequencies.iter().zip(probabilities).map(|(f, p)| (f - p).abs()).sum::<f64>();
    Score { frequencies, far, total_variation }
}

impl Input {
    /// The paper's two targets on eight points: `uniform` and `skewed` are runs by method, each asked for `n` samples.
    pub fn from_runs(uniform: &[(&str, &Run)], skewed: &[(&str, &Run)], n: usize, seed: u64) -> Result<Self, LabError> {
        let target = |title: &str, probabilities: Vec<f64>, runs: &[(&str, &Run)]| {
            let methods = runs.iter().map(|(label, run)| {
                let points = unprojected(run, n, seed)?;
                Ok(Labelled { label: (*label).to_owned(), note: String::new(), points })
            });
            let methods = methods.collect::<Result<_, LabError>>()?;
            Ok::<_, LabError>(Target { title: title.to_owned(), probabilities, methods })
        };
        let equal = vec![1.0 / circle::COUNT as f64; circle::COUNT];
        let targets = vec![
            target("uniform", equal, uniform)?,
            target("skewed", circle::skewed_probabilities().to_vec(), skewed)?,
        ];
        Ok(Self { title: "Eight points on the circle".to_owned(), support: circle::support(), targets })
    }
}

/// Samples of a run where its sampler left them.
pub fn unprojected(run: &Run, n: usize, seed: u64) -> Result<Points, LabError> {
    let request = SampleRequest { projected: false, ..SampleRequest::new(seed) };
    Ok(run.fitted()?.draw(&request, n)?.0)
}

/// Draws for each target the distribution, the samples of each method, and all frequencies as bars.
pub fn draw(input: &Input) -> Result<Figure<'_>, PlotError> {
    if input.targets.is_empty() {
        return Err(PlotError::Empty { title: input.title.clone(), what: "targets" });
    }
    let mut labels: Vec<&str> = Vec::new();
    for method in input.targets.iter().flat_map(|t| &t.methods) {
        if !labels.contains(&method.label.as_str()) {
            labels.push(&method.label);
        }
    }
    let colours = colours::of_methods(labels.iter().copied());
    let entry = |label: &str, colour| LegendEntry { label: label.to_owned(), colour, dashed: false };
    let legend = labels.iter().zip(&colours).map(|(label, &colour)| entry(label, colour));
    let legend = std::iter::once(entry("target", colours::DATA)).chain(legend).collect();
    let mut figure = Figure::new(input.title.clone()).with_legend(legend);
    for target in &input.targets {
        let colour = |label: &str| labels.iter().position(|l| *l == label).map_or(colours::DATA, |i| colours[i]);
        let mut panels = panels(input, target, colour)?.into_iter();
        while panels.len() > 0 {
            figure.push_row(panels.by_ref().take(ACROSS).collect());
        }
    }
    Ok(figure)
}

fn panels<'a>(
    input: &'a Input,
    target: &'a Target,
    colour: impl Fn(&str) -> Rgb,
) -> Result<Vec<Box<dyn Panel + 'a>>, PlotError> {
    let count = input.support.len();
    if target.probabilities.len() != count {
        let (title, found) = (target.title.clone(), target.probabilities.len());
        return Err(PlotError::Count { title, what: "probabilities", expected: count, found });
    }
    for (title, dim) in std::iter::once(("support", input.support.dim()))
        .chain(target.methods.iter().map(|m| (m.label.as_str(), m.points.dim())))
    {
        if dim != 2 {
            return Err(PlotError::Coordinates { title: title.to_owned(), expected: 2, found: dim });
        }
    }
    let scatter = |title: String, note: String, points: Cow<'a, Points>, colour, shares: &[f64]| ScatterPanel {
        title,
        note,
        points,
        colour,
        support: Some(&input.support),
        shares: Some(shares.to_vec()),
        ring: Some(FAR),
        window: Window::centred(1.35),
        names: ["x₁".to_owned(), "x₂".to_owned()],
    };
    let mut panels: Vec<Box<dyn Panel + 'a>> = vec![Box::new(scatter(
        format!("{}: target", target.title),
        "area of discs = probability".to_owned(),
        Cow::Owned(Points::new(2)),
        colours::DATA,
        &target.probabilities,
    ))];
    let (mut shares, mut shades) = (vec![target.probabilities.clone()], vec![colours::DATA]);
    let mut notes = Vec::new();
    for method in &target.methods {
        let found = score(&input.support, &target.probabilities, &method.points);
        let shade = colour(&method.label);
        let note = format!("far {:.1} %, TV {:.3}", 100.0 * found.far, found.total_variation);
        notes.push(format!("TV of {} {:.3}", method.label, found.total_variation));
        let title = format!("{}: {}", target.title, method.label);
        panels.push(Box::new(scatter(title, note, Cow::Borrowed(&method.points), shade, &found.frequencies)));
        shares.push(found.frequencies);
        shades.push(shade);
    }
    let angle = |p: &[f64]| format!("{:.0}°", p[1].atan2(p[0]).to_degrees().rem_euclid(360.0));
    panels.push(Box::new(BarsPanel {
        title: format!("{}: share of the nearest point", target.title),
        levels: input.support.rows().map(angle).collect(),
        shares,
        colours: shades,
        note: notes.join(", "),
        height: SIDE,
    }));
    Ok(panels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::{
        manifold::{FiniteSet, PointTable},
        metrics::total_variation_to,
    };

    #[test]
    fn scores_count_frequencies_and_far_samples_as_metrics_do() {
        let support = Points::from_vec(vec![1.0, 0.0, -1.0, 0.0], 2);
        // Three near the right point, one of them 0.06 off; one exactly left.
        let samples = Points::from_vec(vec![1.0, 0.01, 0.97, 0.0, 1.0, 0.06, -1.0, 0.0], 2);
        let found = score(&support, &[0.5, 0.5], &samples);
        assert_eq!((found.frequencies.as_slice(), found.far), (&[0.75, 0.25][..], 0.25));
        assert!((found.total_variation - 0.25).abs() < 1e-15);
        let set = FiniteSet::new("two", PointTable { points: support.clone(), weights: None }).unwrap();
        assert_eq!(found.far, Drift::of(&set, &samples).far);
        let expected = total_variation_to(&set, &samples, &support, &[0.5, 0.5]).unwrap();
        assert!((found.total_variation - expected).abs() < 1e-15);
    }
}
