//! Rotations as coloured dots on a sphere.

use super::{
    canvas::{Anchor, Canvas, Path, Rect, Style},
    colour::{GREY, Rgb, WHITE, cyclic},
    dots,
    figure::Panel,
    frame::{HEADING, NOTE, TICK, heading},
    globe::{Globe, WIDTH},
};
use mad_core::Points;
use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

/// Directions of the turned x axis on a map, with the turn about it as colour.
#[derive(Debug, Clone)]
pub struct RotationsPanel<'a> {
    /// Heading.
    pub title: String,
    /// Line below the heading, before the number of points; may be empty.
    pub note: String,
    /// Unit quaternions x, y, z, w.
    pub points: Cow<'a, Points>,
    /// Rotations to be marked with rings, such as the true ones.
    pub marks: Option<Points>,
    /// How far a dot stands off its direction, towards its tilt: rotations that share a direction stay apart. 0 for not at all.
    pub fan: f64,
}

/// Distance at which the turns about one direction can be told apart.
pub const FAN: f64 = 7.0;

/// Radius of a ring.
const RING: f64 = 3.0;

/// Colours into which tilts are sorted.
const COLOURS: usize = 48;

fn palette() -> Vec<Rgb> {
    (0..COLOURS).map(|i| cyclic(-PI + (i as f64 + 0.5) * TAU / COLOURS as f64)).collect()
}

/// Direction R e₁ and tilt of a rotation; q and −q give the same. `None` for a zero quaternion.
///
/// # Formula
/// R = R_z(λ) R_y(−φ) R_x(tilt): R e₁ has longitude λ and latitude φ; tilt = atan2(R₃₂, R₃₃).
///
/// # Reference
/// The picture of K. Murphy et al., Implicit-PDF (2021), section 4.
fn direction_and_tilt(q: &[f64]) -> Option<([f64; 3], f64)> {
    let &[x, y, z, w] = q else { return None };
    let square = x * x + y * y + z * z + w * w;
    if !(square > 0.0 && square.is_finite()) {
        return None;
    }
    let direction = [w * w + x * x - y * y - z * z, 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)].map(|v| v / square);
    Some((direction, (2.0 * (y * z + x * w)).atan2(w * w - x * x - y * y + z * z)))
}

impl Panel for RotationsPanel<'_> {
    fn size(&self) -> (f64, f64) {
        (WIDTH, HEADING + 0.5 * WIDTH + 4.0)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let globe = Globe::at(left, top + HEADING, 0.0);
        heading(canvas, globe.area, &self.title, &dots::note_and_count(&self.note, self.points.len()));
        globe.fill(canvas, WHITE);
        globe.graticule(canvas, Globe::graticule_style());
        let places: Vec<_> = dots::thinned(self.points.len())
            .filter_map(|i| direction_and_tilt(self.points.row(i)))
            .filter_map(|(direction, tilt)| {
                let (x, y) = globe.place(&direction)?;
                let (x, y) = (x + self.fan * tilt.cos(), y - self.fan * tilt.sin());
                Some((x, y, ((tilt + PI) / TAU * COLOURS as f64) as usize % COLOURS))
            })
            .collect();
        canvas.clipped(&globe.ellipse(), |canvas| dots::draw_coloured(canvas, &places, &palette()));
        let mut rings = Path::new();
        for (direction, tilt) in self.marks.iter().flat_map(Points::rows).filter_map(direction_and_tilt) {
            if let Some((x, y)) = globe.place(&direction) {
                rings.circle(x + self.fan * tilt.cos(), y - self.fan * tilt.sin(), RING);
            }
        }
        canvas.path(&rings, Style::line(GREY, 0.8));
        globe.border(canvas);
    }
}

/// The colours of the tilt, as a ring.
#[derive(Debug, Clone, Copy)]
pub struct TiltWheel;

impl Panel for TiltWheel {
    fn size(&self) -> (f64, f64) {
        (104.0, HEADING + 0.5 * WIDTH + 4.0)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let (x, y) = (left + 52.0, top + HEADING + 0.25 * WIDTH);
        let at = |angle: f64, radius: f64| (x + radius * angle.cos(), y - radius * angle.sin());
        for (i, colour) in palette().into_iter().enumerate() {
            let from = -PI + i as f64 * TAU / COLOURS as f64;
            // A little overlap hides the seams.
            let to = from + 1.15 * TAU / COLOURS as f64;
            let mut path = Path::new();
            path.polygon(&[at(from, 17.0), at(from, 29.0), at(to, 29.0), at(to, 17.0)]);
            canvas.path(&path, Style::fill(colour));
        }
        let mut marks = Path::new();
        for angle in [0.0, 0.25, 0.5, 0.75].map(|t| t * TAU) {
            marks.line(&[at(angle, 29.0), at(angle, 32.0)]);
        }
        canvas.path(&marks, Style::line(GREY, 0.8));
        canvas.text(x + 35.0, y + 3.5, "0°", TICK, Anchor::Start);
        canvas.text(x, y - 36.0, "90°", TICK, Anchor::Middle);
        canvas.text(x - 34.0, y + 3.5, "180°", TICK, Anchor::End);
        canvas.text(x, y + 43.0, "−90°", TICK, Anchor::Middle);
        canvas.text(x, y - 54.0, "tilt", TICK, Anchor::Middle);
        let area = Rect { left, top: y, width: 104.0, height: 0.0 };
        for (line, text) in ["position:", "rotated x axis", "colour: turn", "about it"].iter().enumerate() {
            canvas.text(area.middle(), y + 66.0 + 13.0 * line as f64, text, NOTE, Anchor::Middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(axis: usize, angle: f64) -> [f64; 4] {
        let mut q = [0.0, 0.0, 0.0, (0.5 * angle).cos()];
        q[axis] = (0.5 * angle).sin();
        q
    }

    fn times([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    }

    #[test]
    fn direction_and_tilt_are_the_three_turns() {
        for (longitude, latitude, tilt) in [(0.3, 0.5, 1.2), (-2.9, -1.3, -3.0), (3.0, 0.0, 0.0), (1.0, 1.5, 2.0)] {
            let q = times(times(turn(2, longitude), turn(1, -latitude)), turn(0, tilt));
            for q in [q, q.map(|v| -3.0 * v)] {
                let (d, t) = direction_and_tilt(&q).unwrap();
                assert!((d[1].atan2(d[0]) - longitude).abs() < 1e-12, "longitude {longitude}");
                assert!((d[2].asin() - latitude).abs() < 1e-12, "latitude {latitude}");
                assert!((t - tilt).abs() < 1e-12, "tilt {tilt}");
            }
        }
        assert_eq!(direction_and_tilt(&[0.0; 4]), None);
    }
}
