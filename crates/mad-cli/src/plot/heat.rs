//! A density on pairs of angles as shading in a square of degrees.

use super::{
    angles::degrees,
    axis::Axis,
    canvas::{Canvas, Path, Rect, Style},
    colour::{Rgb, sequential},
    contour::Raster,
    dots,
    figure::Panel,
    frame::{Frame, HEADING, heading},
    map::{SHADES, colour_bar},
    scatter::{SIDE, square_area, square_size},
};
use mad_core::Points;

/// Room for the colour bar below the names of the axis.
const BAR_ROOM: f64 = 56.0;

/// A density of two angles, with points over it where wanted.
#[derive(Debug, Clone)]
pub struct HeatPanel<'a> {
    /// Heading.
    pub title: String,
    /// Line below the heading; may be empty.
    pub note: String,
    /// A square lattice of points (cos, sin, cos, sin) that covers the torus.
    pub grid: &'a Points,
    /// Log of the density per square radian at each.
    pub log_density: &'a [f64],
    /// Densities from the lightest to the darkest shade.
    pub axis: Axis,
    /// Points to draw over the shading.
    pub points: Option<&'a Points>,
    /// Colour of the dots.
    pub colour: Rgb,
    /// Names of the two angles.
    pub names: [String; 2],
}

impl HeatPanel<'_> {
    /// Nodes of the lattice in a turn, its offset in nodes from −180°, and the values at the nodes from one before −180° to
    /// one after 180°.
    fn raster(&self) -> (usize, f64, Raster) {
        let side = (self.grid.len() as f64).sqrt().round().max(1.0) as usize;
        let turns = |point: &[f64], index: usize| (degrees(point, index) / 360.0 + 0.5) * side as f64;
        let offset = self.grid.rows().next().map_or(0.0, |point| turns(point, 0).rem_euclid(1.0));
        let node = |point: &[f64], index: usize| (turns(point, index) - offset).round().max(0.0) as usize % side;
        let mut values = vec![0.0; side * side];
        for (point, density) in self.grid.rows().zip(self.log_density) {
            values[node(point, 1) * side + node(point, 0)] = self.axis.position(density.exp()).max(0.0);
        }
        let wrapped = |i: usize| (i + side - 1) % side;
        let raster = Raster::new(side + 3, side + 3, |column, row| values[wrapped(row) * side + wrapped(column)]);
        (side, offset, raster)
    }
}

impl Panel for HeatPanel<'_> {
    fn size(&self) -> (f64, f64) {
        let (width, height) = square_size(SIDE);
        (width, height + BAR_ROOM)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let frame = Frame { area: square_area(SIDE, left, top), x: Axis::degrees(), y: Axis::degrees() };
        let area = frame.area;
        heading(canvas, area, &self.title, &self.note);
        canvas.path(&area.path(), Style::fill(sequential(0.0)));
        let (side, offset, raster) = self.raster();
        let place = |i: f64| (i - 1.0 + offset) * area.width / side as f64;
        canvas.clipped(&area.path(), |canvas| {
            for shade in 1..SHADES {
                let mut path = Path::coarse();
                for line in raster.above(shade as f64 / SHADES as f64) {
                    let places = line.iter().map(|&(i, j)| (area.left + place(i), area.bottom() - place(j)));
                    path.polygon(&places.collect::<Vec<_>>());
                }
                canvas.path(&path, Style::fill(sequential((shade as f64 + 0.5) / SHADES as f64)));
            }
            if let Some(points) = self.points {
                let rows = dots::thinned(points.len()).map(|i| points.row(i));
                let places: Vec<_> = rows.map(|p| frame.place(degrees(p, 0), degrees(p, 1))).collect();
                dots::draw(canvas, &places, self.colour);
            }
        });
        let [x, y] = &self.names;
        frame.draw_axes(canvas, &format!("{x} (°)"), &format!("{y} (°)"));
        let bar_top = top + HEADING + area.height + 50.0;
        let bar = Rect { left: area.left, top: bar_top, width: area.width, height: 9.0 };
        colour_bar(canvas, bar, &self.axis, "density per square radian");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Scale;

    /// A peak at (90°, −90°) is found there for lattices of even and odd sides.
    #[test]
    fn the_shading_stands_where_the_density_is() {
        for side in [40, 41] {
            let mut grid = Points::new(4);
            let angle = |i: usize| (i as f64 / f64::from(side) * 360.0).to_radians();
            for (a, b) in (0..side as usize).flat_map(|a| (0..side as usize).map(move |b| (angle(a), angle(b)))) {
                grid.push(&[a.cos(), a.sin(), b.cos(), b.sin()]);
            }
            let log_density: Vec<f64> = grid.rows().map(|p| 8.0 * (p[1] - p[3])).collect();
            let panel = HeatPanel {
                title: String::new(),
                note: String::new(),
                grid: &grid,
                log_density: &log_density,
                axis: Axis::new(Scale::Log, 1e-2, 16f64.exp(), 5),
                points: None,
                colour: Rgb(0, 0, 0),
                names: [String::new(), String::new()],
            };
            let (side, offset, raster) = panel.raster();
            let top = raster.above(0.98);
            assert_eq!(top.len(), 1, "one peak, {top:?}");
            let n = top[0].len() as f64;
            let middle = |pick: fn(&(f64, f64)) -> f64| top[0].iter().map(pick).sum::<f64>() / n;
            let degrees = |i: f64| (i - 1.0 + offset) / side as f64 * 360.0 - 180.0;
            let (x, y) = (degrees(middle(|p| p.0)), degrees(middle(|p| p.1)));
            assert!((x - 90.0).abs() < 3.0 && (y + 90.0).abs() < 3.0, "side {side}: {x} {y}");
        }
    }
}
