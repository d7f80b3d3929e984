//! One real coordinate as a histogram of several sets.

use super::{
    axis::{Axis, Scale},
    canvas::{Canvas, Path, Rect, Style},
    colour::category,
    figure::Panel,
    frame::{BOTTOM_ROOM, Frame},
};

/// Histograms of the same quantity in several sets, as outlines over each other.
#[derive(Debug, Clone)]
pub struct HistogramPanel {
    /// Name of the horizontal axis.
    pub name: String,
    /// Values of each set, in the order of the figure's legend.
    pub sets: Vec<Vec<f64>>,
    /// Whether the values are angles in degrees.
    pub degrees: bool,
}

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 200.0;
const BINS: usize = 60;

impl Panel for HistogramPanel {
    fn size(&self) -> (f64, f64) {
        (WIDTH + 70.0, 12.0 + HEIGHT + BOTTOM_ROOM)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let area = Rect { left: left + 62.0, top: top + 12.0, width: WIDTH, height: HEIGHT };
        let values = || self.sets.iter().flatten().copied();
        let x = if self.degrees { Axis::degrees() } else { Axis::around(Scale::Linear, values(), 6) };
        let width = (x.high - x.low) / BINS as f64;
        let shares: Vec<Vec<f64>> = self.sets.iter().map(|set| histogram(set, x.low, width)).collect();
        let highest = shares.iter().flatten().copied().fold(0.0, f64::max);
        let frame = Frame { area, x, y: Axis::new(Scale::Linear, 0.0, 1.08 * highest, 4) };
        frame.draw_ground(canvas);
        for (index, share) in shares.iter().enumerate() {
            let mut line = Vec::new();
            for (i, &value) in share.iter().enumerate() {
                let from = frame.x.low + i as f64 * width;
                line.extend([frame.place(from, value), frame.place(from + width, value)]);
            }
            let mut closed = vec![frame.place(frame.x.low, 0.0)];
            closed.extend(&line);
            closed.push(frame.place(frame.x.high, 0.0));
            let (mut outline, mut filled) = (Path::new(), Path::new());
            outline.line(&line);
            filled.polygon(&closed);
            canvas.path(&filled, Style::fill(category(index)).opacity(0.12));
            canvas.path(&outline, Style::line(category(index), 1.4));
        }
        frame.draw_axes(canvas, &self.name, "density");
    }
}

/// Share of the values per bin and unit.
fn histogram(values: &[f64], low: f64, width: f64) -> Vec<f64> {
    let mut counts = vec![0.0; BINS];
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    for value in &finite {
        let bin = ((value - low) / width).clamp(0.0, BINS as f64 - 1.0) as usize;
        counts[bin] += 1.0 / (finite.len() as f64 * width);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_integrate_to_one() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 100.0).chain([f64::NAN]).collect();
        let shares = histogram(&values, 0.0, 10.0 / BINS as f64);
        assert!((shares.iter().sum::<f64>() * 10.0 / BINS as f64 - 1.0).abs() < 1e-9);
        assert!(shares.iter().all(|s| (s - 0.1).abs() < 0.02));
    }
}
