//! `figure-so3`: mixtures of rotations next to samples of each method.

use super::grid::{Cell, GridSet, lay_out};
use mad_cli::plot::{Figure, Panel, PlotError, RotationsPanel, TiltWheel};
use std::borrow::Cow;

/// What the figure shows.
#[derive(Debug, Clone)]
pub struct Input {
    /// Heading; empty for none.
    pub title: String,
    /// Mixtures with samples of the same methods, as unit quaternions x, y, z, w.
    pub sets: Vec<GridSet>,
}

/// Draws rotations, one row per mixture (or per method, if there are many).
pub fn draw(input: &Input) -> Result<Figure<'_>, PlotError> {
    lay_out(&input.title, &input.sets, 4, panel, || Some(Box::new(TiltWheel)))
}

fn panel<'a>(cell: Cell<'a>) -> Box<dyn Panel + 'a> {
    let points = Cow::Borrowed(cell.points);
    Box::new(RotationsPanel { title: cell.title(), note: cell.note.to_owned(), points, marks: None, fan: 0.0 })
}
