//! The globe as it is seen from far away: coastlines, shading and dots of the near side.

use super::{
    canvas::{Canvas, Path, Rect, Style},
    colour::{COAST, FAINT, GREY, INK, Rgb, WHITE},
    dots,
    figure::Panel,
    frame::{HEADING, heading},
    land,
    map::{BAR_ROOM, Density},
};
use mad_core::Points;
use std::borrow::Cow;
use std::f64::consts::{FRAC_PI_2, PI};

/// Width and height of the globe.
const SIDE: f64 = 340.0;
/// Points of a coast nearer than this to the seam of the land's outline or to a pole belong to the cut, radians.
const SEAM: f64 = 1e-6;

/// Half of the globe with a heading.
#[derive(Debug, Clone)]
pub struct EarthPanel<'a> {
    /// Heading.
    pub title: String,
    /// Direction of the eye; need not have length 1.
    pub eye: [f64; 3],
    /// Unit vectors to draw as dots, those of the near side.
    pub points: Option<Cow<'a, Points>>,
    /// Colour of the dots.
    pub colour: Rgb,
    /// Shading below the dots.
    pub density: Option<Density<'a>>,
}

/// A disc that shows the half of the unit sphere nearest to the eye.
struct Disc {
    area: Rect,
    /// Directions to the right, up, and towards the eye.
    axes: [[f64; 3]; 3],
}

impl Disc {
    fn new(area: Rect, eye: [f64; 3]) -> Self {
        let length = eye.iter().map(|x| x * x).sum::<f64>().sqrt();
        let ahead = if length > 0.0 { eye.map(|x| x / length) } else { [1.0, 0.0, 0.0] };
        let longitude = ahead[1].atan2(ahead[0]);
        let (sin, cos) = longitude.sin_cos();
        let height = ahead[0].hypot(ahead[1]);
        let up = [-ahead[2] * cos, -ahead[2] * sin, height];
        Self { area, axes: [[-sin, cos, 0.0], up, ahead] }
    }

    fn radius(&self) -> f64 {
        0.5 * self.area.width
    }

    fn middle(&self) -> (f64, f64) {
        (self.area.middle(), self.area.top + self.radius())
    }

    /// Canvas position of a direction, if it is on the near side.
    fn place(&self, vector: &[f64]) -> Option<(f64, f64)> {
        let [right, up, ahead] = self.axes.map(|axis| axis.iter().zip(vector).map(|(a, b)| a * b).sum::<f64>());
        let (x, y) = self.middle();
        (ahead >= 0.0).then(|| (x + self.radius() * right, y - self.radius() * up))
    }

    /// Direction seen at a canvas position; outside the disc that of the nearest point of its edge.
    fn direction(&self, (left, top): (f64, f64)) -> [f64; 3] {
        let (x, y) = self.middle();
        let (right, up) = ((left - x) / self.radius(), (y - top) / self.radius());
        let length = right.hypot(up).max(1.0);
        let (right, up) = (right / length, up / length);
        let ahead = (1.0 - right * right - up * up).max(0.0).sqrt();
        let [a, b, c] = self.axes;
        std::array::from_fn(|i| right * a[i] + up * b[i] + ahead * c[i])
    }

    fn edge(&self) -> Path {
        let (x, y) = self.middle();
        let mut path = Path::new();
        path.circle(x, y, self.radius());
        path
    }

    /// The stretches of a line that are on the near side; `None` interrupts it.
    fn trace(&self, path: &mut Path, line: impl Iterator<Item = Option<(f64, f64)>>) {
        let mut stretch = Vec::new();
        for point in line.chain([None]) {
            let place = point.and_then(|(longitude, latitude)| self.place(&vector(longitude, latitude)));
            match place {
                Some(place) => stretch.push(place),
                None => path.line(&std::mem::take(&mut stretch)),
            }
        }
    }

    fn coasts(&self) -> Path {
        let cut =
            |&(longitude, latitude): &(f64, f64)| longitude.abs() > PI - SEAM || latitude.abs() > FRAC_PI_2 - SEAM;
        let mut path = Path::coarse();
        for ring in land::land(0.0) {
            let closed = ring.iter().chain(ring.first());
            self.trace(&mut path, closed.map(|point| Some(*point).filter(|point| !cut(point))));
        }
        path
    }

    /// Meridians every 30°, parallels every 30°.
    fn graticule(&self) -> Path {
        let mut path = Path::coarse();
        let turn = |i: i32, steps: i32| f64::from(i) * 2.0 * PI / f64::from(steps);
        for meridian in 0..12 {
            self.trace(&mut path, (-45..=45).map(|i| Some((turn(meridian, 12), f64::from(2 * i).to_radians()))));
        }
        for parallel in -2..=2 {
            self.trace(&mut path, (0..=180).map(|i| Some((turn(i, 180), f64::from(30 * parallel).to_radians()))));
        }
        path
    }
}

fn vector(longitude: f64, latitude: f64) -> [f64; 3] {
    let ((sin_lon, cos_lon), (sin_lat, cos_lat)) = (longitude.sin_cos(), latitude.sin_cos());
    [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]
}

/// A direction as degrees of longitude and latitude.
fn named(eye: [f64; 3]) -> String {
    let longitude = eye[1].atan2(eye[0]).to_degrees();
    let latitude = eye[2].atan2(eye[0].hypot(eye[1])).to_degrees();
    let side =
        |value: f64, plus: char, minus: char| format!("{:.0}° {}", value.abs(), if value < 0.0 { minus } else { plus });
    format!("seen from above {}, {}", side(latitude, 'N', 'S'), side(longitude, 'E', 'W'))
}

impl Panel for EarthPanel<'_> {
    fn size(&self) -> (f64, f64) {
        (SIDE, HEADING + SIDE + 4.0 + if self.density.is_some() { BAR_ROOM } else { 0.0 })
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let disc = Disc::new(Rect { left, top: top + HEADING, width: SIDE, height: SIDE }, self.eye);
        let edge = disc.edge();
        heading(canvas, disc.area, &self.title, &named(self.eye));
        match &self.density {
            Some(density) => {
                density.shade(canvas, disc.area, &edge, |at| disc.direction(at));
                density.bar(canvas, disc.area);
                canvas.path(&disc.graticule(), Style::line(INK, 0.6).opacity(0.14));
                canvas.path(&disc.coasts(), Style::line(INK, 0.7).opacity(0.6));
            }
            None => {
                canvas.path(&edge, Style::fill(WHITE));
                canvas.path(&disc.graticule(), Style::line(FAINT, 0.7));
                canvas.path(&disc.coasts(), Style::line(COAST, 0.9));
            }
        }
        if let Some(points) = &self.points {
            let shown = dots::thinned(points.len()).filter_map(|i| disc.place(points.row(i)));
            dots::draw(canvas, &shown.collect::<Vec<_>>(), self.colour);
        }
        canvas.path(&edge, Style::line(GREY, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_near_side_is_seen_and_nothing_behind_it() {
        let area = Rect { left: 5.0, top: 7.0, width: 200.0, height: 200.0 };
        for eye in [[1.0, 0.0, 0.0], [-0.3, 2.0, 0.7], [0.0, 0.0, 1.0], [0.0, 0.0, -4.0]] {
            let disc = Disc::new(area, eye);
            let (x, y) = disc.place(&eye.map(|v| v / eye.iter().map(|x| x * x).sum::<f64>().sqrt())).expect("in front");
            assert!((x - 105.0).abs() < 1e-9 && (y - 107.0).abs() < 1e-9, "{eye:?}: {x} {y}");
            assert_eq!(disc.place(&eye.map(|v| -v)), None);
            for at in [(60.0, 80.0), (150.0, 130.0), (105.0, 30.0)] {
                let back = disc.place(&disc.direction(at)).expect("in front");
                assert!((back.0 - at.0).hypot(back.1 - at.1) < 1e-9, "{at:?} {back:?}");
            }
            let outside = disc.direction((-500.0, 107.0));
            assert!((outside.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn north_is_up_and_east_is_right() {
        let disc = Disc::new(Rect { left: 0.0, top: 0.0, width: 2.0, height: 2.0 }, [1.0, 0.0, 0.0]);
        let (_, y) = disc.place(&vector(0.0, 0.5)).expect("in front");
        let (x, _) = disc.place(&vector(0.5, 0.0)).expect("in front");
        assert!(y < 1.0 && x > 1.0, "{x} {y}");
    }
}
