//! A box with axes around a plot, and the heading above it.

use super::{
    axis::Axis,
    canvas::{Anchor, Canvas, Font, Path, Rect, Style},
    colour::{FAINT, GREY, INK, WHITE},
    font::{fit_text, text_width},
};

/// Panel titles.
pub const TITLE: Font = Font { size: 13.0, colour: INK };
/// Lines below panel titles.
pub const NOTE: Font = Font { size: 10.0, colour: GREY };
/// Axis names.
pub const LABEL: Font = Font { size: 11.0, colour: INK };
/// Numbers at tick marks.
pub const TICK: Font = Font { size: 10.0, colour: INK };
/// Height that `heading` takes.
pub const HEADING: f64 = 38.0;

/// Title and note, centred over `area`, in the [`HEADING`] units above its top.
pub fn heading(canvas: &mut Canvas, area: Rect, title: &str, note: &str) {
    let room = area.width + 30.0;
    canvas.text(area.middle(), area.top - 22.0, &fit_text(title, TITLE.size, room), TITLE, Anchor::Middle);
    canvas.text(area.middle(), area.top - 8.0, &fit_text(note, NOTE.size, room), NOTE, Anchor::Middle);
}

/// The plotting area of a panel with its two axes.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Where the data go.
    pub area: Rect,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
}

impl Frame {
    /// Canvas position of a pair of values.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let area = &self.area;
        (area.left + area.width * self.x.position(x), area.bottom() - area.height * self.y.position(y))
    }

    /// Paper and grid lines, to be drawn before the data.
    pub fn draw_ground(&self, canvas: &mut Canvas) {
        canvas.path(&self.area.path(), Style::fill(WHITE));
        let mut grid = Path::new();
        for tick in self.x.ticks.iter().filter(|t| !t.label.is_empty()) {
            let x = self.place(tick.value, 1.0).0;
            grid.line(&[(x, self.area.top), (x, self.area.bottom())]);
        }
        for tick in self.y.ticks.iter().filter(|t| !t.label.is_empty()) {
            let y = self.place(1.0, tick.value).1;
            grid.line(&[(self.area.left, y), (self.area.right(), y)]);
        }
        canvas.path(&grid, Style::line(FAINT, 0.7));
    }

    /// Box, tick marks, numbers and names, to be drawn after the data.
    pub fn draw_axes(&self, canvas: &mut Canvas, x_name: &str, y_name: &str) {
        let area = self.area;
        let mut marks = area.path();
        for tick in &self.x.ticks {
            let x = self.place(tick.value, 1.0).0;
            let length = if tick.label.is_empty() { 2.5 } else { 4.5 };
            marks.line(&[(x, area.bottom()), (x, area.bottom() + length)]);
            canvas.text(x, area.bottom() + 16.0, &tick.label, TICK, Anchor::Middle);
        }
        let mut widest = 0f64;
        for tick in &self.y.ticks {
            let y = self.place(1.0, tick.value).1;
            let length = if tick.label.is_empty() { 2.5 } else { 4.5 };
            marks.line(&[(area.left, y), (area.left - length, y)]);
            canvas.text(area.left - 7.0, y + 3.6, &tick.label, TICK, Anchor::End);
            widest = widest.max(text_width(&tick.label, TICK.size));
        }
        canvas.path(&marks, Style::line(INK, 0.8));
        let x_name = fit_text(x_name, LABEL.size, area.width + 40.0);
        canvas.text(area.middle(), area.bottom() + 32.0, &x_name, LABEL, Anchor::Middle);
        let y_name = fit_text(y_name, LABEL.size, area.height + 40.0);
        let (x, y) = (area.left - 14.0 - widest, area.top + 0.5 * area.height);
        canvas.turned_text(x, y, &y_name, LABEL, Anchor::Middle, -90.0);
    }

    /// Room that numbers and name need left of the plotting area.
    pub fn left_room(y: &Axis) -> f64 {
        let widest = y.ticks.iter().map(|t| text_width(&t.label, TICK.size)).fold(0.0, f64::max);
        widest + 14.0 + LABEL.size + 4.0
    }
}

/// Room that numbers and name need below the plotting area.
pub const BOTTOM_ROOM: f64 = 40.0;
