//! `figure-base-s2`: the base score of the sphere, and samples made with nothing else.

use crate::error::LabError;
use mad_cli::plot::{
    Arrow, CurvePanel, Figure, OrthographicPanel, Panel, PlotError, QuiverPanel, Scale, Series, Window, superscript,
};
use mad_core::{
    Points,
    load::manifold_named,
    measure::{BaseMeasure, UniformSphere},
    metrics::Drift,
    noise::NoiseRange,
    sample::{BaseDenoiser, Generate, Samples, lookup},
};
use std::borrow::Cow;

/// What the figure shows.
#[derive(Debug, Clone)]
pub struct Input {
    /// Noise levels of the sections.
    pub sigmas: Vec<f64>,
    /// Samples drawn with the base score alone, not projected.
    pub samples: Points,
    /// Smallest noise level of these samples, and how far they stand off the sphere.
    pub drift: (f64, Drift),
    /// The same for samples that stopped at larger noise levels, falling.
    pub earlier: Vec<(f64, Drift)>,
}

impl Input {
    /// `n` samples by the ancestral sampler down to the paper's σ_min = 10⁻⁴, and down to larger levels for comparison.
    pub fn sampled(n: usize, seed: u64) -> Result<Self, LabError> {
        let earlier =
            [0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4].map(|sigma| Ok((sigma, base_samples(sigma, n, seed)?.drift)));
        let earlier = earlier.into_iter().collect::<Result<_, LabError>>()?;
        let sigma_min = 1e-4;
        let Samples { points, drift } = base_samples(sigma_min, n, seed)?;
        Ok(Self { sigmas: vec![1.0, 0.5, 0.2, 0.05], samples: points, drift: (sigma_min, drift), earlier })
    }
}

/// Samples of the uniform sphere with the base score alone, denoised at σ_min and not projected.
fn base_samples(sigma_min: f64, n: usize, seed: u64) -> Result<Samples, LabError> {
    let sphere = manifold_named("sphere:2").expect("a known manifold");
    let base = sphere.uniform();
    let range = NoiseRange::new(sigma_min, 10.0)?;
    let generate = Generate { nfe: 100, projected: false, ..Generate::new(lookup("ancestral")?, range, seed) };
    Ok(generate.collect(&BaseDenoiser(base.clone()), base.as_ref(), sphere.as_ref(), n)?)
}

/// Half the width of the sections.
const HALF: f64 = 1.7;
/// Arrows per row.
const ACROSS: i32 = 17;

/// Draws the score in a plane through the centre at each noise level, its radial part, and the samples.
pub fn draw(input: &Input) -> Result<Figure<'_>, PlotError> {
    if input.samples.dim() != 3 {
        let (title, found) = ("samples of the base".to_owned(), input.samples.dim());
        return Err(PlotError::Coordinates { title, expected: 3, found });
    }
    let base = UniformSphere::new(3);
    let mut figure = Figure::new("Base score of the sphere S²");
    figure.push_row(input.sigmas.iter().map(|&sigma| Box::new(section(&base, sigma)) as Box<dyn Panel>).collect());
    let note = format!("not projected, σ from 10 to {}", power_of_ten(input.drift.0));
    figure.push_row(vec![
        Box::new(radial(&base, &input.sigmas)),
        Box::new(OrthographicPanel {
            title: "Samples of the base score alone".to_owned(),
            note,
            points: Cow::Borrowed(&input.samples),
        }),
        Box::new(distances(input)),
    ]);
    Ok(figure)
}

fn score(base: &UniformSphere, x: [f64; 3], sigma: f64) -> [f64; 3] {
    let mut s = [0.0; 3];
    base.score(&x, sigma, &mut s);
    s
}

/// The plane x₂ = 0.
fn section(base: &UniformSphere, sigma: f64) -> QuiverPanel {
    let step = 2.0 * HALF / f64::from(ACROSS);
    let places = (0..ACROSS * ACROSS).map(|i| [i % ACROSS, i / ACROSS].map(|k| (f64::from(k) + 0.5) * step - HALF));
    let arrows: Vec<Arrow> = places
        .map(|at| {
            let [x, _, z] = score(base, [at[0], 0.0, at[1]], sigma);
            Arrow { at, value: [x, z] }
        })
        .collect();
    let longest = QuiverPanel::longest_of(&arrows);
    QuiverPanel {
        title: format!("σ = {sigma}"),
        note: format!("longest arrow {}", three_digits(longest)),
        arrows,
        longest,
        reach: 1.4 * step,
        marks: Vec::new(),
        circle: Some(1.0),
        window: Window::centred(HALF),
        names: ["x₁".to_owned(), "x₃".to_owned()],
    }
}

fn radial(base: &UniformSphere, sigmas: &[f64]) -> CurvePanel {
    let radii = || (0..=170).map(|i| f64::from(i) / 100.0);
    let series = sigmas.iter().map(|&sigma| Series {
        label: format!("σ = {sigma}"),
        points: radii().map(|r| (r, sigma * sigma * score(base, [r, 0.0, 0.0], sigma)[0])).collect(),
        ..Series::default()
    });
    CurvePanel {
        title: "Outward part of the base score".to_owned(),
        note: "times σ²: how far the base mean lies from x".to_owned(),
        x: ("|x|".to_owned(), Scale::Linear),
        y: ("σ² × base score".to_owned(), Scale::Linear),
        series: series.collect(),
        ..CurvePanel::default()
    }
}

/// How far samples stand off the sphere when they stop at a noise level.
///
/// # Formula
/// The last denoising leaves them at |E\[x₀ | x\]| = coth k − 1/k with k = |x|/σ² ≈ 1/σ²: at a distance of σ².
fn distances(input: &Input) -> CurvePanel {
    let levels: Vec<(f64, Drift)> = input.earlier.iter().copied().chain([input.drift]).rev().collect();
    let line = |label: &str, value: &dyn Fn(&(f64, Drift)) -> f64, dashed: bool| Series {
        label: label.to_owned(),
        points: levels.iter().map(|level| (level.0, value(level))).collect(),
        dashed,
        ..Series::default()
    };
    CurvePanel {
        title: "Distance of the samples from the sphere".to_owned(),
        note: "mean of | |x| − 1 | after the last denoising".to_owned(),
        x: ("last noise level σ".to_owned(), Scale::Log),
        y: ("distance".to_owned(), Scale::Log),
        series: vec![line("samples", &|level| level.1.mean, false), line("σ²", &|level| level.0 * level.0, true)],
        ..CurvePanel::default()
    }
}

/// A number with three digits that count, as long as it is not huge.
fn three_digits(value: f64) -> String {
    let decimals = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

/// 10ⁿ where the value is one, else the plain number.
fn power_of_ten(value: f64) -> String {
    let power = value.log10().round();
    if (value / 10f64.powf(power) - 1.0).abs() < 1e-9 {
        format!("10{}", superscript(power as i32))
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_is_radial_and_vanishes_on_the_sphere() {
        let panel = section(&UniformSphere::new(3), 0.05);
        for Arrow { at, value } in &panel.arrows {
            let cross = at[0] * value[1] - at[1] * value[0];
            assert!(cross.abs() < 1e-9, "{at:?} {value:?}");
            let (r, outward) = (at[0].hypot(at[1]), at[0] * value[0] + at[1] * value[1]);
            // Langevin: coth k − 1/k with k = r/σ², minus r, over σ².
            let k = r / 0.0025;
            if r > 0.0 {
                let exact = (1.0 / k.tanh() - 1.0 / k - r) / 0.0025;
                assert!((outward / r - exact).abs() < 1e-9 * panel.longest, "{at:?}: {} {exact}", outward / r);
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.6834, 32.01, 505.539].map(three_digits), ["1.68", "32.0", "506"]);
        assert_eq!([1e-4, 0.03].map(power_of_ten), ["10⁻⁴", "0.03"]);
    }
}
