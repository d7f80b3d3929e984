//! `figure-intro`: two points with unequal weights. The score, the base score, and the difference that is left to learn.

use super::colours;
use crate::error::LabError;
use mad_cli::plot::{
    Arrow, CurvePanel, Figure, HEADING, Panel, PlotError, QuiverPanel, SIDE, Scale, Series, Window, category,
};
use mad_core::{
    Points,
    measure::{BaseMeasure, Finite},
    rng::{Purpose, stream},
    sample::Denoiser,
};
use mad_nn::Run;

/// What the figure shows besides the exact values.
#[derive(Debug, Clone)]
pub struct Input {
    /// Probability of the right point (1, 0); the left one is (−1, 0).
    pub right: f64,
    /// Noise level of the fields of arrows.
    pub field_sigma: f64,
    /// Noise levels of the sections.
    pub section_sigmas: Vec<f64>,
    /// What networks have learned: root mean squares of their remainders over noise levels.
    pub learned: Vec<Learned>,
}

/// Root mean square of what a network adds to its anchor, as a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// Name of the method.
    pub label: String,
    /// Points (σ, √E|D − m|²/σ²).
    pub points: Vec<(f64, f64)>,
}

impl Default for Input {
    /// The values of the paper.
    fn default() -> Self {
        Self { right: 0.9, field_sigma: 0.8, section_sigmas: vec![0.4, 0.8, 1.5], learned: Vec::new() }
    }
}

/// Noised points per level at which networks are evaluated.
const ASKED: usize = 4096;

impl Input {
    /// The exact values, and those of runs on the two points.
    pub fn from_runs(runs: &[(&str, &Run)]) -> Result<Self, LabError> {
        let exact = Self::default();
        let target = exact.toy();
        let learned = runs.iter().map(|(label, run)| {
            let (denoiser, anchor) = (run.denoiser()?, run.anchor()?);
            let level = |(i, sigma): (usize, f64)| {
                let mut x = Points::zeros(ASKED, 2);
                let mut rng = stream(0, Purpose::Evaluate, i as u64);
                x.rows_mut().for_each(|row| target.p.sample_prior(sigma, &mut rng, row));
                let (d, m) = (denoiser.denoise(&x, sigma), anchor.means(&x, &[sigma; ASKED]));
                let square: f64 = d.as_slice().iter().zip(m.as_slice()).map(|(d, m)| (d - m) * (d - m)).sum();
                (sigma, (square / ASKED as f64).sqrt() / (sigma * sigma))
            };
            let range = run.config().noise_range();
            let levels = levels().filter(|s| (range.min..=range.max).contains(s));
            Ok(Learned { label: (*label).to_owned(), points: levels.enumerate().map(level).collect() })
        });
        let learned = learned.collect::<Result<_, LabError>>()?;
        Ok(Self { learned, ..exact })
    }

    fn toy(&self) -> Toy {
        let points = Points::from_vec(vec![-1.0, 0.0, 1.0, 0.0], 2);
        let right = self.right.clamp(1e-6, 1.0 - 1e-6);
        Toy {
            p: Finite::weighted(points.clone(), &[1.0 - right, right]).expect("two points with positive weights"),
            base: Finite::uniform(points).expect("two points"),
        }
    }
}

/// The two measures.
struct Toy {
    p: Finite,
    base: Finite,
}

/// Score, base score, and their difference.
type Scores = [[f64; 2]; 3];

impl Toy {
    fn at(&self, x: [f64; 2], sigma: f64) -> Scores {
        let (mut s, mut base) = ([0.0; 2], [0.0; 2]);
        self.p.score(&x, sigma, &mut s);
        self.base.score(&x, sigma, &mut base);
        [s, base, [s[0] - base[0], s[1] - base[1]]]
    }

    /// Root mean squares of the three over noised points of p.
    ///
    /// # Formula
    /// E f(x₀ + σ ε) over the two points, by the trapezoidal rule in the first coordinate of ε. The second coordinate of
    /// both scores is −ε₂/σ, with mean square 1/σ², and their difference has none.
    fn root_mean_squares(&self, sigma: f64) -> [f64; 3] {
        const HALF: i32 = 320;
        let mut sums = [0.0; 3];
        let mut total = 0.0;
        for (point, log_weight) in self.p.points().rows().zip(self.p.log_weights()) {
            for z in (-HALF..=HALF).map(|i| f64::from(i) * 8.0 / f64::from(HALF)) {
                let weight = (log_weight - 0.5 * z * z).exp();
                let scores = self.at([point[0] + sigma * z, 0.0], sigma);
                sums.iter_mut().zip(scores).for_each(|(sum, v)| *sum += weight * v[0] * v[0]);
                total += weight;
            }
        }
        let across = [1.0, 1.0, 0.0].map(|v| v / (sigma * sigma));
        std::array::from_fn(|k| (sums[k] / total + across[k]).sqrt())
    }
}

/// Noise levels of the curves: 61 from 0.05 to 10.
fn levels() -> impl Iterator<Item = f64> {
    (0..=60).map(|i| 0.05 * 200f64.powf(f64::from(i) / 60.0))
}

/// Names of the three fields.
const NAMES: [&str; 3] = ["score s", "base score", "difference s − base score"];
/// Half the width of the fields of arrows.
const HALF: f64 = 2.0;
/// Arrows per row.
const ACROSS: i32 = 15;
/// The smallest magnitude shown.
const FAINTEST: f64 = 1e-3;
/// Where the fields end below the top of their panels.
const FIELD_BOTTOM: f64 = HEADING + SIDE;
/// Height of the sections.
const SECTION: f64 = 200.0;

/// Draws fields of arrows, sections along the first axis, and magnitudes over noise levels.
pub fn draw(input: &Input) -> Result<Figure<'static>, PlotError> {
    let toy = input.toy();
    let title = format!("Two points with weights {:.1} and {:.1}", 1.0 - input.right, input.right);
    let mut figure = Figure::new(title);
    let mut row = fields(input, &toy);
    row.push(Box::new(mean_panel(input, &toy)));
    figure.push_row(row);
    let mut row = sections(input, &toy);
    row.push(Box::new(point_panel(&toy)));
    figure.push_row(row);
    Ok(figure)
}

fn fields(input: &Input, toy: &Toy) -> Vec<Box<dyn Panel>> {
    let sigma = input.field_sigma;
    let step = 2.0 * HALF / f64::from(ACROSS);
    let places = || (0..ACROSS * ACROSS).map(|i| [i % ACROSS, i / ACROSS].map(|k| (f64::from(k) + 0.5) * step - HALF));
    let field = |k: usize| places().map(|at| Arrow { at, value: toy.at(at, sigma)[k] }).collect::<Vec<_>>();
    let fields: [Vec<Arrow>; 3] = std::array::from_fn(field);
    let longest = QuiverPanel::longest_of(fields.iter().flatten());
    let panel = |(arrows, name): (Vec<Arrow>, &str)| {
        let own = QuiverPanel::longest_of(&arrows);
        Box::new(QuiverPanel {
            title: name.to_owned(),
            note: format!("σ = {sigma}, longest arrow {own:.1}, same scale in all three"),
            arrows,
            longest,
            reach: 1.25 * step,
            marks: vec![[-1.0, 0.0], [1.0, 0.0]],
            circle: None,
            window: Window::centred(HALF),
            names: ["x₁".to_owned(), "x₂".to_owned()],
        }) as Box<dyn Panel>
    };
    fields.into_iter().zip(NAMES).map(panel).collect()
}

fn sections(input: &Input, toy: &Toy) -> Vec<Box<dyn Panel>> {
    let xs = || (-120..=120).map(|i| f64::from(i) / 60.0);
    let panel = |k: usize| {
        // The first two colours are those of the methods.
        let series = input.section_sigmas.iter().enumerate().map(|(i, &sigma)| Series {
            label: format!("σ = {sigma}"),
            points: xs().map(|x| (x, toy.at([x, 0.0], sigma)[k][0])).collect(),
            colour: Some(category(2 + i)),
            ..Series::default()
        });
        Box::new(CurvePanel {
            title: NAMES[k].to_owned(),
            note: "first component where x₂ = 0".to_owned(),
            x: ("x₁".to_owned(), Scale::Linear),
            y: ("first component".to_owned(), Scale::Linear),
            y_range: Some((-8.0, 8.0)),
            series: series.collect(),
            area: Some((SIDE, SECTION)),
        }) as Box<dyn Panel>
    };
    (0..3).map(panel).collect()
}

fn magnitudes(title: &str, note: &str, series: Vec<Series>) -> CurvePanel {
    let highest = series.iter().flat_map(|s| s.points.iter().map(|p| p.1)).fold(1.0, f64::max);
    CurvePanel {
        title: title.to_owned(),
        note: note.to_owned(),
        x: ("noise level σ".to_owned(), Scale::Log),
        y: ("magnitude".to_owned(), Scale::Log),
        y_range: Some((FAINTEST, 2.0 * highest)),
        series,
        area: Some((SIDE, SECTION)),
    }
}

/// Colours of DSM's and MAD's target.
fn target_series(label: &str, method: &str, points: Vec<(f64, f64)>) -> Series {
    let colour = colours::of_methods([method])[0];
    Series { label: label.to_owned(), points, colour: Some(colour), ..Series::default() }
}

fn mean_panel(input: &Input, toy: &Toy) -> CurvePanel {
    let values: Vec<(f64, [f64; 3])> = levels().map(|sigma| (sigma, toy.root_mean_squares(sigma))).collect();
    let curve = |k: usize| values.iter().map(|(sigma, v)| (*sigma, v[k])).collect();
    let mut series = vec![
        target_series("|s|, target of DSM", "DSM", curve(0)),
        target_series("|s − base|, target of MAD", "MAD", curve(2)),
    ];
    let colours = colours::of_methods(input.learned.iter().map(|l| l.label.as_str()));
    for (learned, colour) in input.learned.iter().zip(colours) {
        series.push(Series {
            label: format!("{} network", learned.label),
            points: learned.points.clone(),
            dashed: true,
            colour: Some(colour),
            ..Series::default()
        });
    }
    magnitudes("size of what is learned", "root mean square over noised data", series).ending_at(SIDE, FIELD_BOTTOM)
}

fn point_panel(toy: &Toy) -> CurvePanel {
    let curve = |x: f64, k: usize| {
        levels().map(move |sigma| {
            let value = toy.at([x, 0.0], sigma)[k];
            (sigma, value[0].hypot(value[1]))
        })
    };
    let mut series = vec![
        target_series("|s|", "DSM", curve(1.0, 0).collect()),
        target_series("|s − base|", "MAD", curve(1.0, 2).collect()),
    ];
    for (method, k) in [("DSM", 0), ("MAD", 2)] {
        series.push(Series { dashed: true, ..target_series("", method, curve(-1.0, k).collect()) });
    }
    magnitudes("size at the two points", "at (1, 0); dashed at (−1, 0)", series)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E[x₀ | x] of ±1 with weights 1 − w and w is tanh(x/σ² + ½ ln(w/(1 − w))).
    fn exact(x: f64, sigma: f64, w: f64) -> f64 {
        ((x / sigma / sigma + 0.5 * (w / (1.0 - w)).ln()).tanh() - x) / (sigma * sigma)
    }

    #[test]
    fn scores_are_hyperbolic_tangents() {
        let toy = Input::default().toy();
        for sigma in [0.2, 0.8, 3.0] {
            for x in [-2.0, -1.0, -0.1, 0.0, 0.4, 1.0, 1.7] {
                let [s, base, difference] = toy.at([x, 0.3], sigma);
                let (a, b) = (exact(x, sigma, 0.9), exact(x, sigma, 0.5));
                let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12 / (sigma * sigma);
                assert!(near(s[0], a) && near(base[0], b) && near(difference[0], a - b), "{x} {sigma}: {s:?} {a} {b}");
                let across = -0.3 / (sigma * sigma);
                assert!(near(s[1], across) && near(base[1], across) && difference[1] == 0.0);
            }
        }
    }

    #[test]
    fn mean_squares_agree_with_the_known_ends() {
        let toy = Input::default().toy();
        // Small noise: the score is that of one Gaussian, E|s|² = 2/σ²; the difference has vanished.
        let [s, base, difference] = toy.root_mean_squares(0.1);
        assert!((s * 0.1 / 2f64.sqrt() - 1.0).abs() < 1e-6 && (base / s - 1.0).abs() < 1e-6 && difference < 1e-6);
        // Large noise: |s| is that of one Gaussian again; the difference is that of the means, 0.8/σ².
        let [s, _, difference] = toy.root_mean_squares(10.0);
        assert!((s * 10.0 / 2f64.sqrt() - 1.0).abs() < 1e-2 && (difference * 100.0 / 0.8 - 1.0).abs() < 1e-2);
    }
}
