//! Pairs of angles as dots in a square of degrees, as in a Ramachandran plot.

use super::{
    axis::Axis,
    canvas::Canvas,
    colour::Rgb,
    dots,
    figure::Panel,
    frame::{Frame, heading},
    scatter::{square_area, square_size},
};
use mad_core::Points;
use std::borrow::Cow;

/// Width and height of the plotting area.
const SIDE: f64 = 220.0;

/// Two of the angles of each point.
#[derive(Debug, Clone)]
pub struct AnglesPanel<'a> {
    /// Heading.
    pub title: String,
    /// Points as pairs (cos, sin), one pair per angle.
    pub points: Cow<'a, Points>,
    /// Which angles, counted from 0.
    pub pair: (usize, usize),
    /// Colour of the dots.
    pub colour: Rgb,
    /// Names of the two angles.
    pub names: [String; 2],
}

/// Angle number `index` of a point, in degrees from −180 to 180.
pub fn degrees(point: &[f64], index: usize) -> f64 {
    match point.get(2 * index..2 * index + 2) {
        Some(&[cos, sin]) => sin.atan2(cos).to_degrees(),
        _ => f64::NAN,
    }
}

impl Panel for AnglesPanel<'_> {
    fn size(&self) -> (f64, f64) {
        square_size(SIDE)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let frame = Frame { area: square_area(SIDE, left, top), x: Axis::degrees(), y: Axis::degrees() };
        heading(canvas, frame.area, &self.title, &dots::count_note(self.points.len()));
        frame.draw_ground(canvas);
        let rows = dots::thinned(self.points.len()).map(|i| self.points.row(i));
        let places: Vec<_> = rows.map(|p| frame.place(degrees(p, self.pair.0), degrees(p, self.pair.1))).collect();
        canvas.clipped(&frame.area.path(), |canvas| dots::draw(canvas, &places, self.colour));
        let [x, y] = &self.names;
        frame.draw_axes(canvas, &format!("{x} (°)"), &format!("{y} (°)"));
    }
}
