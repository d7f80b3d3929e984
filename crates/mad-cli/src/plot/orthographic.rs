//! Points of space seen from far away, in front of and behind the unit sphere.

use super::{
    canvas::{Canvas, Path, Rect, Style},
    colour::{FAINT, GREY, Rgb, WHITE, sequential},
    dots,
    figure::Panel,
    frame::{HEADING, heading},
    scatter::{SIDE, square_size},
};
use mad_core::Points;
use std::{borrow::Cow, f64::consts::TAU};

/// Points of R³ around the unit sphere, coloured by height.
#[derive(Debug, Clone)]
pub struct OrthographicPanel<'a> {
    /// Heading.
    pub title: String,
    /// Line below the heading, before the number of points; may be empty.
    pub note: String,
    /// Points near the unit sphere, where they are: nothing is projected.
    pub points: Cow<'a, Points>,
}

/// Longitude and latitude of the eye, degrees.
const EYE: (f64, f64) = (30.0, 22.0);
/// The picture shows this many radii to each side.
const REACH: f64 = 1.12;
/// Colours of height.
const COLOURS: usize = 24;

/// Position on the picture (right, up) and towards the eye.
fn seen(p: &[f64]) -> [f64; 3] {
    let ((sin_lon, cos_lon), (sin_lat, cos_lat)) = (EYE.0.to_radians().sin_cos(), EYE.1.to_radians().sin_cos());
    let (right, ahead) = (cos_lon * p[1] - sin_lon * p[0], cos_lon * p[0] + sin_lon * p[1]);
    [right, cos_lat * p[2] - sin_lat * ahead, sin_lat * p[2] + cos_lat * ahead]
}

impl Panel for OrthographicPanel<'_> {
    fn size(&self) -> (f64, f64) {
        square_size(SIDE)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let area = Rect { left: left + 29.0, top: top + HEADING, width: SIDE, height: SIDE };
        let unit = 0.5 * SIDE / REACH;
        let (x, y) = (area.middle(), area.top + 0.5 * SIDE);
        let place = |[right, up, _]: [f64; 3]| (x + unit * right, y - unit * up);
        heading(canvas, area, &self.title, &dots::note_and_count(&self.note, self.points.len()));
        let palette: Vec<Rgb> =
            (0..COLOURS).map(|i| sequential(0.25 + 0.75 * (i as f64 + 0.5) / COLOURS as f64)).collect();
        let mut sides = [Vec::new(), Vec::new()];
        for i in dots::thinned(self.points.len()) {
            let p = self.points.row(i);
            let position = seen(p);
            let colour = (0.5 * (p[2] + 1.0) * COLOURS as f64).clamp(0.0, COLOURS as f64 - 1.0) as usize;
            let (x, y) = place(position);
            sides[usize::from(position[2] > 0.0)].push((x, y, colour));
        }
        let mut disc = Path::new();
        disc.circle(x, y, unit);
        let [behind, front] = sides;
        dots::draw_coloured(canvas, &behind, &palette);
        canvas.path(&disc, Style::fill(WHITE).opacity(0.75));
        let mut lines = Path::new();
        for latitude in [-60.0, -30.0, 0.0, 30.0, 60.0f64] {
            let (z, r) = latitude.to_radians().sin_cos();
            // Begins behind, so that what is seen is one stretch.
            let round = (0..=120).map(|i| (f64::from(i) * TAU / 120.0 + EYE.0.to_radians() - 0.5 * TAU).sin_cos());
            let front = round.map(|(sin, cos)| seen(&[r * cos, r * sin, z])).filter(|position| position[2] >= 0.0);
            lines.line(&front.map(place).collect::<Vec<_>>());
        }
        canvas.path(&lines, Style::line(FAINT, 0.8));
        dots::draw_coloured(canvas, &front, &palette);
        canvas.path(&disc, Style::line(GREY, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eye_sees_its_own_direction_in_the_middle() {
        let ((sin_lon, cos_lon), (sin_lat, cos_lat)) = (EYE.0.to_radians().sin_cos(), EYE.1.to_radians().sin_cos());
        let middle = seen(&[cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]);
        assert!(middle.iter().zip([0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{middle:?}");
        let north = seen(&[0.0, 0.0, 1.0]);
        assert!(north[0] == 0.0 && north[1] > 0.9 && north[2] > 0.0, "{north:?}");
        let p = [0.3, -0.5, 1.7];
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        assert!((length(&seen(&p)) - length(&p)).abs() < 1e-12, "a turn keeps lengths");
    }
}
