//! A part of the world, close up.

use super::{
    axis::{Axis, Scale},
    canvas::{Canvas, Path, Rect, Style},
    colour::{COAST, LAND, Rgb, WHITE},
    dots,
    figure::Panel,
    frame::{BOTTOM_ROOM, Frame, HEADING, heading},
    globe::WIDTH,
    land,
};
use mad_core::Points;
use std::borrow::Cow;

/// Longitudes and latitudes from one end to the other, degrees. Longitudes may run past 180.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// Western and eastern end.
    pub longitude: (f64, f64),
    /// Southern and northern end.
    pub latitude: (f64, f64),
}

impl Region {
    fn centre(&self) -> f64 {
        0.5 * (self.longitude.0 + self.longitude.1)
    }

    /// Longitude, next to the centre of the region, and latitude of a direction, in degrees.
    fn degrees(&self, p: &[f64]) -> (f64, f64) {
        let longitude = p[1].atan2(p[0]).to_degrees() - self.centre();
        let longitude = (longitude + 180.0).rem_euclid(360.0) - 180.0 + self.centre();
        (longitude, p[2].atan2(p[0].hypot(p[1])).to_degrees())
    }

    fn holds(&self, (longitude, latitude): (f64, f64)) -> bool {
        let within = |v: f64, (low, high): (f64, f64)| low <= v && v <= high;
        within(longitude, self.longitude) && within(latitude, self.latitude)
    }
}

/// Points over coastlines in a region, degrees of longitude shortened as at its middle latitude.
#[derive(Debug, Clone)]
pub struct RegionPanel<'a> {
    /// Heading.
    pub title: String,
    /// Line below the heading, before the number of points; may be empty.
    pub note: String,
    /// Unit vectors; those outside the region are not drawn.
    pub points: Cow<'a, Points>,
    /// Colour of the dots.
    pub colour: Rgb,
    /// What to show.
    pub region: Region,
}

impl RegionPanel<'_> {
    fn area_size(&self) -> (f64, f64) {
        let ((west, east), (south, north)) = (self.region.longitude, self.region.latitude);
        let shrink = (0.5 * (south + north)).to_radians().cos();
        let width = WIDTH - 58.0;
        (width, (width * (north - south) / ((east - west) * shrink)).clamp(100.0, WIDTH))
    }
}

impl Panel for RegionPanel<'_> {
    fn size(&self) -> (f64, f64) {
        (WIDTH, HEADING + self.area_size().1 + BOTTOM_ROOM)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let (width, height) = self.area_size();
        let axis = |(low, high)| Axis::new(Scale::Linear, low, high, 5);
        let area = Rect { left: left + 50.0, top: top + HEADING, width, height };
        let frame = Frame { area, x: axis(self.region.longitude), y: axis(self.region.latitude) };
        let inside: Vec<(f64, f64)> =
            self.points.rows().map(|p| self.region.degrees(p)).filter(|&p| self.region.holds(p)).collect();
        heading(canvas, area, &self.title, &dots::note_and_count(&self.note, inside.len()));
        canvas.path(&area.path(), Style::fill(WHITE));
        let centre = self.region.centre();
        let mut coast = Path::new();
        for ring in land::land(centre.to_radians()) {
            let corner = |&(lon, lat): &(f64, f64)| frame.place(lon.to_degrees() + centre, lat.to_degrees());
            coast.polygon(&ring.iter().map(corner).collect::<Vec<_>>());
        }
        let places: Vec<_> = dots::thinned(inside.len()).map(|i| frame.place(inside[i].0, inside[i].1)).collect();
        canvas.clipped(&area.path(), |canvas| {
            canvas.path(&coast, Style::fill(LAND));
            canvas.path(&coast, Style::line(COAST, 0.7));
            dots::draw(canvas, &places, self.colour);
        });
        frame.draw_axes(canvas, "longitude (°)", "latitude (°)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_across_the_dateline_hold_both_sides() {
        let region = Region { longitude: (150.0, 210.0), latitude: (-10.0, 60.0) };
        let direction = |lon: f64, lat: f64| {
            let (lon, lat) = (lon.to_radians(), lat.to_radians());
            [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
        };
        for (lon, lat, expected, inside) in [
            (170.0, 50.0, 170.0, true),
            (-170.0, 0.0, 190.0, true),
            (-140.0, 0.0, 220.0, false),
            (160.0, 70.0, 160.0, false),
        ] {
            let found = region.degrees(&direction(lon, lat));
            assert!((found.0 - expected).abs() < 1e-9 && (found.1 - lat).abs() < 1e-9, "{found:?}");
            assert_eq!(region.holds(found), inside, "{found:?}");
        }
    }
}
