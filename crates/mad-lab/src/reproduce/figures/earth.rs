//! `figure-earth`: the earth data next to samples of each method.

use super::grid::{Cell, GridSet, lay_out};
use mad_cli::plot::{Figure, MapPanel, Panel, PlotError, Region, RegionPanel};
use std::borrow::Cow;

/// What the figure shows.
#[derive(Debug, Clone)]
pub struct Input {
    /// Heading; empty for none.
    pub title: String,
    /// Data sets with samples of the same methods, as unit vectors.
    pub sets: Vec<GridSet>,
    /// A set and a part of the world to be shown close up below.
    pub close_up: Option<(usize, Region)>,
}

/// The volcanoes between Kamchatka and the Aleutians, where a method that leaves the lines of the data is seen to.
pub const PACIFIC_NORTH: Region = Region { longitude: (125.0, 215.0), latitude: (20.0, 66.0) };

/// Draws maps, one row per data set (or per method, if there are many).
pub fn draw(input: &Input) -> Result<Figure<'_>, PlotError> {
    let mut figure = lay_out(&input.title, &input.sets, 3, map, || None)?;
    if let Some((index, region)) = input.close_up {
        let Some(set) = input.sets.get(index) else {
            let (expected, found) = (index + 1, input.sets.len());
            return Err(PlotError::Count { title: input.title.clone(), what: "data sets", expected, found });
        };
        figure.append(lay_out("", std::slice::from_ref(set), 3, |cell| close_up(cell, region), || None)?);
    }
    Ok(figure)
}

fn map<'a>(cell: Cell<'a>) -> Box<dyn Panel + 'a> {
    Box::new(MapPanel {
        title: cell.title(),
        note: cell.note.to_owned(),
        points: Some(Cow::Borrowed(cell.points)),
        colour: cell.colour,
        density: None,
        centre: 0.0,
    })
}

fn close_up<'a>(cell: Cell<'a>, region: Region) -> Box<dyn Panel + 'a> {
    Box::new(RegionPanel {
        title: format!("{}, close up", cell.title()),
        note: String::new(),
        points: Cow::Borrowed(cell.points),
        colour: cell.colour,
        region,
    })
}
