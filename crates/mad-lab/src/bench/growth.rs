//! How cost grows with the size of the work.

use super::{median, time, work};
use mad_cli::plot::{CurvePanel, Figure, Scale, Series, curves};
use serde::Serialize;
use std::time::Instant;

/// One line of the picture: cost over one size, all else as in the defaults.
#[derive(Debug, Clone, Serialize)]
pub struct Growth {
    /// What is done once.
    pub work: &'static str,
    /// What grows.
    pub size: &'static str,
    /// Which of several lines over the same size.
    pub line: &'static str,
    /// Size and seconds.
    pub points: Vec<(f64, f64)>,
}

type Prepare = fn(usize) -> Box<dyn FnMut()>;

/// Work, size, line, sizes, and how to prepare it.
const LINES: &[(&str, &str, &str, &[usize], Prepare)] = &[
    ("training step", "batch", "5x512", &[64, 128, 256, 512, 1024, 2048, 4096], |n| {
        work::training("sphere:2", &format!("batch = {n}"))
    }),
    ("training step", "width", "depth 5", &[64, 128, 256, 512, 1024], |n| {
        work::training("sphere:2", &format!("width = {n}"))
    }),
    ("training step", "depth", "width 512", &[1, 2, 3, 5, 8], |n| work::training("sphere:2", &format!("depth = {n}"))),
    ("training step", "dimension of the sphere", "training step", &[2, 4, 8, 16, 32, 64, 128], |n| {
        work::training(&format!("sphere:{n}"), "")
    }),
    ("training step", "dimension of the sphere", "its base means alone", &[2, 4, 8, 16, 32, 64, 128], |n| {
        work::means(work::manifold(&format!("sphere:{n}")).uniform())
    }),
    ("512 base means", "support points", "sigma 0.01", &[1_000, 10_000, 100_000, 1_000_000], |n| {
        work::many_points(n, 0.01)
    }),
    ("512 base means", "support points", "sigma 0.1", &[1_000, 10_000, 100_000, 1_000_000], |n| {
        work::many_points(n, 0.1)
    }),
    ("512 base means", "support points", "sigma 1", &[1_000, 10_000, 100_000, 1_000_000], |n| {
        work::many_points(n, 1.0)
    }),
    ("sampling", "samples", "default sampler, S2", &[100, 300, 1_000, 3_000, 10_000], |n| {
        work::sampling("sphere:2", n)
    }),
];

/// Seconds to spend on one point of a line, if one repetition takes less.
const SECONDS: f64 = 0.5;

/// Measures all lines; `tell` hears how many of how many points are done.
pub fn measure(mut tell: impl FnMut(usize, usize)) -> Vec<Growth> {
    let total = LINES.iter().map(|line| line.3.len()).sum();
    let mut done = 0;
    let mut grown = Vec::new();
    for &(work, size, line, sizes, prepare) in LINES {
        let mut points = Vec::new();
        for &n in sizes {
            tell(done, total);
            let mut work = prepare(n);
            work();
            let start = Instant::now();
            work();
            let repeats = (SECONDS / start.elapsed().as_secs_f64()).ceil().clamp(1.0, 100.0);
            points.push((n as f64, median(&time(&mut work, repeats as usize))));
            done += 1;
        }
        grown.push(Growth { work, size, line, points });
    }
    grown
}

/// One panel for each size that grows, all axes logarithmic.
pub fn figure(grown: &[Growth], title: &str) -> Figure<'static> {
    let panels = grown.chunk_by(|a, b| (a.work, a.size) == (b.work, b.size)).map(|lines| CurvePanel {
        title: format!("{} by {}", lines[0].work, lines[0].size),
        x: (lines[0].size.to_owned(), Scale::Log),
        y: ("milliseconds".to_owned(), Scale::Log),
        series: lines.iter().map(series).collect(),
        ..CurvePanel::default()
    });
    curves(title, panels.collect())
}

fn series(growth: &Growth) -> Series {
    let points = growth.points.iter().map(|&(size, seconds)| (size, 1e3 * seconds)).collect();
    Series { label: growth.line.to_owned(), points, ..Series::default() }
}
