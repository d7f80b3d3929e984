//! The sphere as a Mollweide ellipse on the canvas.

use super::{
    canvas::{Canvas, Path, Rect, Style},
    colour::{FAINT, GREY, Rgb},
    field::unit,
    land, mollweide,
};
use std::f64::consts::{PI, SQRT_2, TAU};

/// Width of a map; its height is half of it.
pub const WIDTH: f64 = 440.0;

/// A Mollweide map inside a rectangle twice as wide as high.
#[derive(Debug, Clone, Copy)]
pub struct Globe {
    /// Bounding box of the ellipse.
    pub area: Rect,
    /// Longitude in the middle, radians.
    pub centre: f64,
}

impl Globe {
    /// A map of the usual size with its corner at (left, top).
    pub fn at(left: f64, top: f64, centre: f64) -> Self {
        Self { area: Rect { left, top, width: WIDTH, height: 0.5 * WIDTH }, centre }
    }

    fn radius(&self) -> f64 {
        self.area.width / (4.0 * SQRT_2)
    }

    /// Canvas position of plane coordinates of the projection.
    fn to_canvas(self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.area.middle() + self.radius() * x, self.area.top + 0.5 * self.area.height - self.radius() * y)
    }

    /// Canvas position of a direction; `None` if it has no direction.
    pub fn place(&self, vector: &[f64]) -> Option<(f64, f64)> {
        let [x, y, z] = unit(vector)?;
        let longitude = (y.atan2(x) - self.centre + PI).rem_euclid(TAU) - PI;
        Some(self.to_canvas(mollweide::forward(longitude, z.atan2(x.hypot(y)))))
    }

    /// Direction shown at a canvas position; positions outside the ellipse give the nearest direction at their height.
    pub fn direction(&self, (left, top): (f64, f64)) -> [f64; 3] {
        let y = (self.area.top + 0.5 * self.area.height - top) / self.radius();
        let y = y.clamp(-SQRT_2, SQRT_2);
        let edge = mollweide::half_width(y);
        let x = ((left - self.area.middle()) / self.radius()).clamp(-edge, edge);
        let (longitude, latitude) = mollweide::inverse(x, y).unwrap_or((0.0, 0.0));
        let (sin, cos) = (longitude + self.centre).sin_cos();
        [latitude.cos() * cos, latitude.cos() * sin, latitude.sin()]
    }

    /// The edge of the map.
    pub fn ellipse(&self) -> Path {
        let points: Vec<_> = (0..180)
            .map(|i| {
                let (sin, cos) = (f64::from(i) * TAU / 180.0).sin_cos();
                self.to_canvas((2.0 * SQRT_2 * cos, SQRT_2 * sin))
            })
            .collect();
        let mut path = Path::new();
        path.polygon(&points);
        path
    }

    /// Fills the ellipse.
    pub fn fill(&self, canvas: &mut Canvas, colour: Rgb) {
        canvas.path(&self.ellipse(), Style::fill(colour));
    }

    /// Meridians every 60°, parallels every 30°.
    pub fn graticule(&self, canvas: &mut Canvas, style: Style) {
        let mut path = Path::new();
        let latitudes = || (-45..=45).map(|i| (2.0 * f64::from(i)).to_radians());
        for longitude in [-120, -60, 0, 60, 120] {
            let longitude = f64::from(longitude).to_radians();
            path.line(&latitudes().map(|lat| self.to_canvas(mollweide::forward(longitude, lat))).collect::<Vec<_>>());
        }
        for latitude in [-60, -30, 0, 30, 60] {
            let latitude = f64::from(latitude).to_radians();
            path.line(&[-PI, PI].map(|lon| self.to_canvas(mollweide::forward(lon, latitude))));
        }
        canvas.path(&path, style);
    }

    /// Land, filled or as an outline.
    pub fn land(&self, canvas: &mut Canvas, style: Style) {
        let mut path = Path::new();
        for ring in land::land(self.centre) {
            let points: Vec<_> = ring.iter().map(|&(lon, lat)| self.to_canvas(mollweide::forward(lon, lat))).collect();
            path.polygon(&points);
        }
        canvas.clipped(&self.ellipse(), |canvas| canvas.path(&path, style));
    }

    /// The line around the map.
    pub fn border(&self, canvas: &mut Canvas) {
        canvas.path(&self.ellipse(), Style::line(GREY, 1.0));
    }

    /// The usual style of the graticule on white.
    pub fn graticule_style() -> Style {
        Style::line(FAINT, 0.7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_directions_are_inverse() {
        for centre in [0.0, 2.6] {
            let globe = Globe::at(10.0, 20.0, centre);
            for v in [[0.6, 0.64, 0.48], [-0.8, 0.0, -0.6], [0.0, -1.0, 0.0], [0.001, 0.002, -0.999_99]] {
                let u = unit(&v).unwrap();
                let back = globe.direction(globe.place(&v).unwrap());
                assert!(u.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-9), "{u:?} {back:?}");
            }
            assert_eq!(globe.place(&[0.0, 0.0, 0.0]), None);
        }
    }
}
