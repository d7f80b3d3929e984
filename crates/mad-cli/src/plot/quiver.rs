//! A field of arrows in the plane.

use super::{
    axis::Axis,
    canvas::{Canvas, Path, Style},
    colour::{INK, category, sequential},
    figure::Panel,
    frame::{Frame, heading},
    scatter::{SIDE, Window, square_area, square_size},
};
use std::f64::consts::TAU;

/// A vector at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrow {
    /// Where it begins.
    pub at: [f64; 2],
    /// The vector.
    pub value: [f64; 2],
}

/// Arrows over equal axes.
#[derive(Debug, Clone)]
pub struct QuiverPanel {
    /// Heading.
    pub title: String,
    /// Line below the heading; may be empty.
    pub note: String,
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// A vector of this length is drawn `reach` long and darkest; longer ones are cut to it. Panels that share it can be
    /// compared.
    pub longest: f64,
    /// Length of the longest arrow in units of the axes: about the spacing of the arrows.
    pub reach: f64,
    /// Places to mark, such as the points of a finite set.
    pub marks: Vec<[f64; 2]>,
    /// Radius of a circle around the origin, such as the section of a sphere.
    pub circle: Option<f64>,
    /// What to show.
    pub window: Window,
    /// Names of the two axes.
    pub names: [String; 2],
}

/// Arrows are sorted into this many shades.
const SHADES: usize = 12;
/// Half the width of a shaft.
const HALF_SHAFT: f64 = 0.55;
/// Arrows shorter than this on the canvas are drawn as dots of this diameter.
const SHORTEST: f64 = 1.2;

impl QuiverPanel {
    /// The largest length among `arrows`.
    pub fn longest_of<'a>(arrows: impl IntoIterator<Item = &'a Arrow>) -> f64 {
        arrows.into_iter().map(|a| a.value[0].hypot(a.value[1])).filter(|v| v.is_finite()).fold(0.0, f64::max)
    }

    fn draw_arrows(&self, canvas: &mut Canvas, frame: &Frame) {
        let unit = frame.area.width / (frame.x.high - frame.x.low);
        let mut shades = vec![Path::new(); SHADES];
        for arrow in &self.arrows {
            let length = arrow.value[0].hypot(arrow.value[1]);
            let share = (length / self.longest).min(1.0);
            if !share.is_finite() {
                continue;
            }
            let shade = ((share * SHADES as f64) as usize).min(SHADES - 1);
            let at = frame.place(arrow.at[0], arrow.at[1]);
            let drawn = share * self.reach * unit;
            if drawn < SHORTEST {
                shades[shade].circle(at.0, at.1, 0.5 * SHORTEST);
            } else {
                // The canvas points down.
                let direction = (arrow.value[0] / length, -arrow.value[1] / length);
                shades[shade].polygon(&outline(at, direction, drawn));
            }
        }
        for (i, path) in shades.iter().enumerate() {
            canvas.path(path, Style::fill(sequential(0.4 + 0.6 * (i as f64 + 0.5) / SHADES as f64)));
        }
    }
}

/// Corners of an arrow of the given length on the canvas.
fn outline((x, y): (f64, f64), (dx, dy): (f64, f64), length: f64) -> [(f64, f64); 7] {
    let head = (0.45 * length).clamp(1.2, 6.0).min(length);
    let (half_head, neck) = (0.42 * head, length - head);
    let half_shaft = HALF_SHAFT.min(0.6 * half_head);
    let at = |along: f64, across: f64| (x + along * dx - across * dy, y + along * dy + across * dx);
    [
        at(0.0, half_shaft),
        at(neck, half_shaft),
        at(neck, half_head),
        at(length, 0.0),
        at(neck, -half_head),
        at(neck, -half_shaft),
        at(0.0, -half_shaft),
    ]
}

impl Panel for QuiverPanel {
    fn size(&self) -> (f64, f64) {
        square_size(SIDE)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let (x, y): (Axis, Axis) = self.window.axes();
        let frame = Frame { area: square_area(SIDE, left, top), x, y };
        heading(canvas, frame.area, &self.title, &self.note);
        frame.draw_ground(canvas);
        canvas.clipped(&frame.area.path(), |canvas| {
            if let Some(radius) = self.circle {
                let point = |i: i32| {
                    let (sin, cos) = (f64::from(i) * TAU / 120.0).sin_cos();
                    frame.place(radius * cos, radius * sin)
                };
                let mut circle = Path::new();
                circle.polygon(&(0..120).map(point).collect::<Vec<_>>());
                canvas.path(&circle, Style::line(category(1), 2.2).opacity(0.75));
            }
            self.draw_arrows(canvas, &frame);
            let mut marks = Path::new();
            for mark in &self.marks {
                let (x, y) = frame.place(mark[0], mark[1]);
                marks.circle(x, y, 5.0);
            }
            canvas.path(&marks, Style::fill(category(1)));
            canvas.path(&marks, Style::line(INK, 0.8));
        });
        frame.draw_axes(canvas, &self.names[0], &self.names[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_point_where_the_vectors_do() {
        let corners = outline((10.0, 20.0), (0.6, -0.8), 15.0);
        let tip = corners[3];
        assert!((tip.0 - 19.0).abs() < 1e-12 && (tip.1 - 8.0).abs() < 1e-12, "{tip:?}");
        let middle = (0.5 * (corners[0].0 + corners[6].0), 0.5 * (corners[0].1 + corners[6].1));
        assert!((middle.0 - 10.0).abs() < 1e-12 && (middle.1 - 20.0).abs() < 1e-12, "{middle:?}");
    }

    #[test]
    fn longest_ignores_what_is_not_a_number() {
        let arrows = [[3.0, 4.0], [f64::NAN, 1.0], [f64::INFINITY, 0.0]].map(|value| Arrow { at: [0.0; 2], value });
        assert_eq!(QuiverPanel::longest_of(&arrows), 5.0);
    }
}
