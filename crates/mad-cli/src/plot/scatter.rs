//! The first two coordinates as dots, equal scales on both axes; one coordinate as a histogram.

use super::{
    axis::{Axis, Scale, grouped},
    canvas::{Canvas, Path, Rect, Style},
    colour::{INK, Rgb},
    dots,
    figure::Panel,
    frame::{BOTTOM_ROOM, Frame, HEADING, heading},
};
use mad_core::Points;
use std::{borrow::Cow, collections::BTreeMap};

/// Width and height of the plotting area of scatter plots and fields of arrows.
pub const SIDE: f64 = 260.0;
/// Usual radius of the rings around points of the set.
const RING: f64 = 6.0;
/// Radius of discs when all places are equally frequent.
const DISC: f64 = 6.0;
/// Points at so few distinct places are drawn as discs, one per place.
const MOST_PLACES: usize = 64;

/// A window in the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    x: (f64, f64),
    y: (f64, f64),
}

/// Smallest and largest value of a coordinate but for the most extreme thousandth on each side.
fn range<'p>(sets: impl Iterator<Item = &'p Points>, column: usize) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for set in sets.filter(|set| set.dim() > column) {
        let mut values: Vec<f64> = set.rows().map(|row| row[column]).filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        if let Some(last) = values.len().checked_sub(1) {
            let cut = last / 1000;
            (low, high) = (low.min(values[cut]), high.max(values[last - cut]));
        }
    }
    if low > high { (0.0, 0.0) } else { (low, high) }
}

impl Window {
    /// The square from −`half` to `half` on both axes.
    pub fn centred(half: f64) -> Self {
        Self { x: (-half, half), y: (-half, half) }
    }

    /// Axes over this window.
    pub fn axes(&self) -> (Axis, Axis) {
        let axis = |(low, high)| Axis::new(Scale::Linear, low, high, 5);
        (axis(self.x), axis(self.y))
    }

    /// The smallest square around all sets but for their most extreme thousandth on each side, with a margin.
    pub fn around<'p>(sets: impl Iterator<Item = &'p Points> + Clone) -> Self {
        let (x, y) = (range(sets.clone(), 0), range(sets, 1));
        let half = 0.56 * (x.1 - x.0).max(y.1 - y.0);
        let half = if half > 0.0 { half } else { 1.0 };
        let widen = |(low, high): (f64, f64)| (0.5 * (low + high) - half, 0.5 * (low + high) + half);
        Self { x: widen(x), y: widen(y) }
    }

    /// The same with a scale of its own for each axis: for numbers of different kinds.
    pub fn filled<'p>(sets: impl Iterator<Item = &'p Points> + Clone) -> Self {
        let widened = |column| {
            let (low, high) = range(sets.clone(), column);
            let margin = if high > low { 0.06 * (high - low) } else { 1.0 };
            (low - margin, high + margin)
        };
        Self { x: widened(0), y: widened(1) }
    }
}

/// A scatter plot with a heading.
#[derive(Debug, Clone)]
pub struct ScatterPanel<'a> {
    /// Heading.
    pub title: String,
    /// Line below the heading, before the number of points; may be empty.
    pub note: String,
    /// Points with at least two coordinates.
    pub points: Cow<'a, Points>,
    /// Colour of the dots.
    pub colour: Rgb,
    /// Points of the set itself, drawn as rings.
    pub support: Option<&'a Points>,
    /// A share for each point of the set, shown as the area of a pale disc there.
    pub shares: Option<Vec<f64>>,
    /// Radius of the rings in units of the axes, where it is to mean something.
    pub ring: Option<f64>,
    /// What to show.
    pub window: Window,
    /// Names of the two axes.
    pub names: [String; 2],
}

/// Size of a panel with a square plotting area of this side.
pub fn square_size(side: f64) -> (f64, f64) {
    (side + 58.0, HEADING + side + BOTTOM_ROOM)
}

/// The plotting area of such a panel.
pub fn square_area(side: f64, left: f64, top: f64) -> Rect {
    Rect { left: left + 50.0, top: top + HEADING, width: side, height: side }
}

/// Distinct places with a radius each, its square in proportion to the share of points there, so that panels of one set can be
/// compared; `None` if there are many.
fn heaps(points: &Points, support: Option<&Points>) -> Option<Vec<(f64, f64, f64)>> {
    let mut counts: BTreeMap<(i64, i64), (f64, f64, f64)> = BTreeMap::new();
    for p in points.rows() {
        let key = ((p[0] * 1e9).round() as i64, (p[1] * 1e9).round() as i64);
        counts.entry(key).or_insert((p[0], p[1], 0.0)).2 += 1.0;
        if counts.len() > MOST_PLACES {
            return None;
        }
    }
    let all = points.len() as f64;
    // A place that never occurs counts as well.
    let places = counts.len().max(support.map_or(1, Points::len)) as f64;
    let disc = |(x, y, count)| (x, y, disc_radius(count / all * places));
    (all >= 4.0 * counts.len().max(1) as f64).then(|| counts.into_values().map(disc).collect())
}

/// Radius of a disc for a place `times` as frequent as the average place.
fn disc_radius(times: f64) -> f64 {
    (DISC * times.sqrt()).clamp(1.0, 3.0 * DISC)
}

impl Panel for ScatterPanel<'_> {
    fn size(&self) -> (f64, f64) {
        square_size(SIDE)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let (x, y) = self.window.axes();
        let frame = Frame { area: square_area(SIDE, left, top), x, y };
        let inside = |p: &[f64]| {
            let fits = |v: f64, (low, high): (f64, f64)| low <= v && v <= high;
            fits(p[0], self.window.x) && fits(p[1], self.window.y)
        };
        let outside = self.points.rows().filter(|p| !inside(p)).count();
        let heaps = heaps(self.points.as_ref(), self.support);
        let mut notes = vec![self.note.clone()];
        match &heaps {
            Some(heaps) => {
                notes.push(format!("n = {} at {} places, area = share", grouped(self.points.len()), heaps.len()));
            }
            // Shares without points are a distribution, not a sample.
            None if self.points.is_empty() && self.shares.is_some() => {}
            None => notes.push(dots::count_note(self.points.len())),
        }
        if outside > 0 {
            notes.push(format!("{} outside the frame", grouped(outside)));
        }
        if self.points.dim() > 2 {
            notes.push(format!("first 2 of {} coordinates", self.points.dim()));
        }
        notes.retain(|note| !note.is_empty());
        let note = notes.join(", ");
        heading(canvas, frame.area, &self.title, &note);
        frame.draw_ground(canvas);
        canvas.clipped(&frame.area.path(), |canvas| {
            self.draw_shares(canvas, &frame);
            match &heaps {
                Some(heaps) => {
                    let mut discs = Path::new();
                    for &(x, y, radius) in heaps {
                        let (x, y) = frame.place(x, y);
                        discs.circle(x, y, radius);
                    }
                    canvas.path(&discs, Style::fill(self.colour).opacity(0.8));
                }
                None => {
                    let rows = dots::thinned(self.points.len()).map(|i| self.points.row(i)).filter(|p| inside(p));
                    let places: Vec<_> = rows.map(|p| frame.place(p[0], p[1])).collect();
                    dots::draw(canvas, &places, self.colour);
                }
            }
            let ring = self.ring.map_or(RING, |radius| frame.place(frame.x.low + radius, 0.0).0 - frame.area.left);
            let mut rings = Path::new();
            for p in self.support.into_iter().flat_map(Points::rows).filter(|p| p.len() > 1 && inside(p)) {
                let (x, y) = frame.place(p[0], p[1]);
                rings.circle(x, y, ring);
            }
            canvas.path(&rings, Style::line(INK, 1.1));
        });
        frame.draw_axes(canvas, &self.names[0], &self.names[1]);
    }
}

impl ScatterPanel<'_> {
    fn draw_shares(&self, canvas: &mut Canvas, frame: &Frame) {
        let (Some(support), Some(shares)) = (self.support, &self.shares) else { return };
        let mut discs = Path::new();
        for (p, share) in support.rows().zip(shares) {
            let (x, y) = frame.place(p[0], p[1]);
            discs.circle(x, y, disc_radius(share * support.len() as f64));
        }
        canvas.path(&discs, Style::fill(self.colour).opacity(0.3));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_places_become_discs_by_share() {
        let mut points = Points::new(2);
        (0..100).for_each(|i| points.push(if i % 5 == 0 { &[0.0, 1.0] } else { &[1.0, 0.0] }));
        let compared = heaps(&points, Some(&Points::zeros(4, 2))).unwrap();
        let heaps = heaps(&points, None).unwrap();
        assert_eq!(heaps.len(), 2);
        assert!(((compared[0].2 / heaps[0].2).powi(2) - 2.0).abs() < 1e-9, "twice as many places");
        assert!(((heaps[1].2 / heaps[0].2).powi(2) - 4.0).abs() < 1e-9, "{heaps:?}");
        let spread = Points::from_vec((0..400).map(f64::from).collect(), 2);
        assert!(super::heaps(&spread, None).is_none());
    }

    #[test]
    fn windows_are_square_and_ignore_the_extreme_thousandth() {
        let mut points = Points::from_vec((0..20_000).map(|i| f64::from(i % 100) / 99.0).collect(), 2);
        points.push(&[1e9, -1e9]);
        let window = Window::around(std::iter::once(&points));
        assert!((window.x.1 - window.x.0 - (window.y.1 - window.y.0)).abs() < 1e-12 && window.x.1 < 1.2, "{window:?}");
    }
}
