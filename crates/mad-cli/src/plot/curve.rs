//! Curves: loss, bounds and metrics over steps or noise levels.

use super::{
    axis::{Axis, Scale},
    canvas::{Anchor, Canvas, Path, Rect, Style},
    colour::{Rgb, category},
    figure::{LegendEntry, Panel, draw_legend, legend_size},
    font::fit_text,
    frame::{BOTTOM_ROOM, Frame, HEADING, NOTE, TITLE},
};

/// One line.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Name in the legend.
    pub label: String,
    /// Points (x, y); a y that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper end of a band at each point; empty for none.
    pub band: Vec<(f64, f64)>,
    /// Whether the line is dashed, as for floors and reference values.
    pub dashed: bool,
    /// Colour, where the place in the list is not to decide it.
    pub colour: Option<Rgb>,
}

/// Several lines over the same axes.
#[derive(Debug, Clone, Default)]
pub struct CurvePanel {
    /// Heading.
    pub title: String,
    /// Line below the heading; may be empty.
    pub note: String,
    /// Name and scale of the horizontal axis.
    pub x: (String, Scale),
    /// Name and scale of the vertical axis.
    pub y: (String, Scale),
    /// Ends of the vertical axis, where the values are not to decide them.
    pub y_range: Option<(f64, f64)>,
    /// Width and height of the plotting area, where they are not the usual ones.
    pub area: Option<(f64, f64)>,
    /// The lines.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 220.0;
/// Room for the note.
const NOTE_LINE: f64 = 10.0;
/// Lines with more points are drawn with the extremes of each stretch only.
const MOST: usize = 2_000;

impl CurvePanel {
    /// The same panel with a plotting area this wide that ends `bottom` below the top of the panel, however many lines
    /// title, note and legend take: panels of a row then stand on one line.
    pub fn ending_at(self, width: f64, bottom: f64) -> Self {
        let height = (bottom - self.heading() - legend_size(&self.legend(), width).1).max(60.0);
        Self { area: Some((width, height)), ..self }
    }

    fn axes(&self) -> (Axis, Axis) {
        let xs = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.0));
        let ys = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.1));
        let bands = self.series.iter().flat_map(|s| s.band.iter().flat_map(|b| [b.0, b.1]));
        let usable = xs.filter(|v| v.is_finite() && (self.x.1 == Scale::Linear || *v > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let y = match self.y_range {
            Some((low, high)) => Axis::new(self.y.1, low, high, 6),
            None => Axis::around(self.y.1, ys.chain(bands), 6),
        };
        (Axis::new(self.x.1, low, high, 6), y)
    }

    fn colour(&self, index: usize) -> Rgb {
        self.series[index].colour.unwrap_or_else(|| category(index))
    }

    fn area(&self) -> (f64, f64) {
        self.area.unwrap_or((WIDTH, HEIGHT))
    }

    /// Height of title and note.
    fn heading(&self) -> f64 {
        HEADING + if self.note.is_empty() { 0.0 } else { NOTE_LINE }
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let entry =
            |(i, s): (usize, &Series)| LegendEntry { label: s.label.clone(), colour: self.colour(i), dashed: s.dashed };
        self.series.iter().enumerate().filter(|(_, s)| !s.label.is_empty()).map(entry).collect()
    }
}

impl Panel for CurvePanel {
    fn size(&self) -> (f64, f64) {
        let (_, y) = self.axes();
        let (width, height) = self.area();
        let legend = legend_size(&self.legend(), width).1;
        (Frame::left_room(&y) + width + 16.0, self.heading() + legend + height + BOTTOM_ROOM)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let (x, y) = self.axes();
        let legend = self.legend();
        let ((width, height), heading) = (self.area(), self.heading());
        let room = legend_size(&legend, width).1;
        let area = Rect { left: left + Frame::left_room(&y), top: top + heading + room, width, height };
        canvas.text(area.middle(), top + 16.0, &fit_text(&self.title, TITLE.size, width), TITLE, Anchor::Middle);
        canvas.text(area.middle(), top + 30.0, &fit_text(&self.note, NOTE.size, width + 30.0), NOTE, Anchor::Middle);
        draw_legend(canvas, &legend, area.left, top + heading - 8.0, width);
        let frame = Frame { area, x, y };
        frame.draw_ground(canvas);
        canvas.clipped(&area.path(), |canvas| {
            for (i, series) in self.series.iter().enumerate() {
                canvas.path(&band(&frame, series), Style::fill(self.colour(i)).opacity(0.18));
            }
            for (i, series) in self.series.iter().enumerate() {
                let style = Style::line(self.colour(i), 1.4);
                canvas.path(&line(&frame, series), if series.dashed { style.dashed() } else { style });
            }
        });
        frame.draw_axes(canvas, &self.x.0, &self.y.0);
    }
}

fn line(frame: &Frame, series: &Series) -> Path {
    let mut path = Path::new();
    let mut broken = true;
    for (x, y) in extremes(&series.points) {
        let (x, y) = frame.place(x, y);
        if !x.is_finite() || !y.is_finite() {
            broken = true;
        } else if std::mem::take(&mut broken) {
            path.move_to(x, y);
            path.line_to(x, y);
        } else {
            path.line_to(x, y);
        }
    }
    path
}

fn band(frame: &Frame, series: &Series) -> Path {
    let ends = || series.points.iter().zip(&series.band).map(|(p, b)| (frame.place(p.0, b.0), frame.place(p.0, b.1)));
    let finite = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let mut outline: Vec<_> = ends().map(|(_, upper)| upper).filter(finite).collect();
    let floor = frame.area.bottom();
    let lower: Vec<_> = ends().map(|(lower, _)| (lower.0, if lower.1.is_finite() { lower.1 } else { floor })).collect();
    outline.extend(lower.into_iter().rev().filter(finite));
    let mut path = Path::new();
    path.polygon(&outline);
    path
}

/// All points, or the lowest and highest of each stretch when there are very many: spikes stay visible.
fn extremes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(MOST / 2);
    let mut out = Vec::with_capacity(MOST + 2);
    for chunk in points.chunks(stretch) {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (low, high) = (chunk.iter().min_by(by), chunk.iter().max_by(by));
        let mut pair: Vec<(f64, f64)> = low.into_iter().chain(high).copied().collect();
        pair.sort_by(|a, b| a.0.total_cmp(&b.0));
        out.extend(pair);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_spikes() {
        let mut points: Vec<(f64, f64)> = (0..50_000).map(|i| (f64::from(i), 1.0)).collect();
        points[31_234].1 = 9.0;
        let kept = extremes(&points);
        assert!(kept.len() <= MOST + 2 && kept.contains(&(31_234.0, 9.0)));
        assert!(kept.windows(2).all(|w| w[0].0 <= w[1].0));
    }
}
