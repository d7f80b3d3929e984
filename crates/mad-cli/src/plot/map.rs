//! World maps: points over coastlines, or a density as shading.

use super::{
    axis::{Axis, Scale},
    canvas::{Anchor, Canvas, Path, Rect, Style},
    colour::{COAST, INK, LAND, Rgb, WHITE, sequential},
    contour::Raster,
    dots,
    field::SphereField,
    figure::Panel,
    frame::{HEADING, LABEL, TICK, heading},
    globe::{Globe, WIDTH},
};
use mad_core::Points;
use std::borrow::Cow;

/// A density at points that cover the sphere.
#[derive(Debug, Clone)]
pub struct Density<'a> {
    /// Unit vectors, on an equal-area or a regular grid.
    pub grid: &'a Points,
    /// Log of the density per steradian at each.
    pub log_density: &'a [f64],
    /// Densities from the lightest to the darkest shade.
    pub axis: Axis,
}

/// A world map with a heading.
#[derive(Debug, Clone)]
pub struct MapPanel<'a> {
    /// Heading.
    pub title: String,
    /// Line below the heading, before the number of points.
    pub note: String,
    /// Unit vectors to draw as dots.
    pub points: Option<Cow<'a, Points>>,
    /// Colour of the dots.
    pub colour: Rgb,
    /// Shading below the dots.
    pub density: Option<Density<'a>>,
    /// Longitude in the middle of the map, degrees.
    pub centre: f64,
}

/// Room for the colour bar below the map.
pub const BAR_ROOM: f64 = 52.0;
/// Nodes of the shading are this far apart on the canvas.
const CELL: f64 = 2.0;
/// Shades from the lightest to the darkest.
pub const SHADES: usize = 48;

impl Panel for MapPanel<'_> {
    fn size(&self) -> (f64, f64) {
        (WIDTH, HEADING + 0.5 * WIDTH + 4.0 + if self.density.is_some() { BAR_ROOM } else { 0.0 })
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let globe = Globe::at(left, top + HEADING, self.centre.to_radians());
        let count = self.points.as_ref().map(|points| dots::count_note(points.len()));
        let note: Vec<String> = [self.note.clone()].into_iter().filter(|note| !note.is_empty()).chain(count).collect();
        heading(canvas, globe.area, &self.title, &note.join(", "));
        match &self.density {
            Some(density) => {
                density.shade(canvas, globe.area, &globe.ellipse(), |at| globe.direction(at));
                density.bar(canvas, globe.area);
                globe.graticule(canvas, Style::line(INK, 0.6).opacity(0.14));
                globe.land(canvas, Style::line(INK, 0.7).opacity(0.6));
            }
            None => {
                globe.fill(canvas, WHITE);
                globe.land(canvas, Style::fill(LAND));
                globe.graticule(canvas, Globe::graticule_style());
                globe.land(canvas, Style::line(COAST, 0.6));
            }
        }
        if let Some(points) = &self.points {
            let places: Vec<_> = dots::thinned(points.len()).filter_map(|i| globe.place(points.row(i))).collect();
            canvas.clipped(&globe.ellipse(), |canvas| dots::draw(canvas, &places, self.colour));
        }
        globe.border(canvas);
    }
}

impl Density<'_> {
    /// Shades the region inside `edge`, where `direction` tells which direction is seen at a place of `area`.
    pub fn shade(&self, canvas: &mut Canvas, area: Rect, edge: &Path, direction: impl Fn((f64, f64)) -> [f64; 3]) {
        let axis = &self.axis;
        // Shades are chosen by position on the axis; what lies below it takes the lightest.
        let positions: Vec<f64> = self.log_density.iter().map(|v| axis.position(v.exp()).max(0.0)).collect();
        let field = SphereField::new(self.grid.rows(), &positions);
        let (columns, rows) = ((area.width / CELL) as usize + 1, (area.height / CELL) as usize + 1);
        let at = |i: f64, j: f64| (area.left + CELL * i, area.top + CELL * j);
        let raster = Raster::new(columns, rows, |i, j| field.at(direction(at(i as f64, j as f64))));
        canvas.path(edge, Style::fill(sequential(0.0)));
        canvas.clipped(edge, |canvas| {
            for shade in 1..SHADES {
                let mut path = Path::coarse();
                for line in raster.above(shade as f64 / SHADES as f64) {
                    path.polygon(&line.iter().map(|&(i, j)| at(i, j)).collect::<Vec<_>>());
                }
                canvas.path(&path, Style::fill(sequential((shade as f64 + 0.5) / SHADES as f64)));
            }
        });
    }

    /// Draws the colour bar below `area`.
    pub fn bar(&self, canvas: &mut Canvas, area: Rect) {
        let bar = Rect {
            left: area.left + 0.2 * area.width,
            top: area.bottom() + 12.0,
            width: 0.6 * area.width,
            height: 9.0,
        };
        colour_bar(canvas, bar, &self.axis, "density per steradian");
    }
}

/// An axis for all these log densities: from zero, or over at most four decades.
pub fn density_axis(scale: Scale, log_densities: impl Iterator<Item = f64>) -> Axis {
    let finite = log_densities.filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    match scale {
        Scale::Linear => Axis::new(scale, 0.0, high.exp(), 5),
        Scale::Log => Axis::new(scale, low.exp().max(1e-4 * high.exp()), high.exp(), 5),
    }
}

/// A horizontal bar of the sequential colours with the axis below it.
pub fn colour_bar(canvas: &mut Canvas, bar: Rect, axis: &Axis, name: &str) {
    for shade in 0..SHADES {
        // Each stripe reaches to the right end, so that no gap shows between stripes.
        let left = bar.left + bar.width * shade as f64 / SHADES as f64;
        let stripe = Rect { left, width: bar.right() - left, ..bar };
        canvas.path(&stripe.path(), Style::fill(sequential((shade as f64 + 0.5) / SHADES as f64)));
    }
    let mut marks = bar.path();
    for tick in &axis.ticks {
        let x = bar.left + bar.width * axis.position(tick.value);
        let length = if tick.label.is_empty() { 2.0 } else { 4.0 };
        marks.line(&[(x, bar.bottom()), (x, bar.bottom() + length)]);
        canvas.text(x, bar.bottom() + 15.0, &tick.label, TICK, Anchor::Middle);
    }
    canvas.path(&marks, Style::line(INK, 0.7));
    canvas.text(bar.middle(), bar.bottom() + 30.0, name, LABEL, Anchor::Middle);
}
