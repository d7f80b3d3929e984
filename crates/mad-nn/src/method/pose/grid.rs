//! A nested grid of the rotations whose cells all have the same volume.

use mad_core::{
    rng::Rng,
    rotation::{Quaternion, multiply},
};
use rand::RngExt as _;
use std::f64::consts::{FRAC_PI_4, PI};

/// ln of the volume 8π² of the rotations.
pub(super) const LN_VOLUME: f64 = 4.368_901_313_378_636;

/// Row of the lowest corner of each base pixel of HEALPix, and its longitude in eighths of a turn.
const CORNERS: [(f64, f64); 12] = [
    (2.0, 1.0),
    (2.0, 3.0),
    (2.0, 5.0),
    (2.0, 7.0),
    (3.0, 0.0),
    (3.0, 2.0),
    (3.0, 4.0),
    (3.0, 6.0),
    (4.0, 1.0),
    (4.0, 3.0),
    (4.0, 5.0),
    (4.0, 7.0),
];

/// One of the 72 · 8ˡ cells of level l: a pixel of HEALPix times a piece of the turn about the direction in it.
///
/// # Formula
/// R = Rx(φ) Rz(θ) Rx(ψ) with (φ, cos θ) in the pixel and ψ in one of 6 · 2ˡ equal pieces. Pieces and pixels are halved and quartered
/// from level to level, so that a cell is the union of its eight children; the published grid has the same points but for a
/// turn by half a piece.
///
/// # Reference
/// Yershova, Jain, LaValle, Mitchell (2010); Górski et al. (2005); Murphy et al. (2021).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    level: u32,
    face: u32,
    x: u32,
    y: u32,
    tilt: u32,
}

impl Cell {
    /// All cells of a level.
    pub fn all(level: u32) -> impl Iterator<Item = Cell> {
        let side = 1 << level;
        let places = (0..12).flat_map(move |face| (0..side).flat_map(move |y| (0..side).map(move |x| (face, x, y))));
        places.flat_map(move |(face, x, y)| (0..6 * side).map(move |tilt| Cell { level, face, x, y, tilt }))
    }

    /// The eight cells of the next level that fill this one.
    pub fn children(self) -> [Cell; 8] {
        std::array::from_fn(|i| {
            let bit = |k: usize| (i >> k & 1) as u32;
            let Cell { level, face, x, y, tilt } = self;
            Cell { level: level + 1, face, x: 2 * x + bit(0), y: 2 * y + bit(1), tilt: 2 * tilt + bit(2) }
        })
    }

    /// ln of its volume, of 8π² in all.
    pub(crate) fn ln_volume(self) -> f64 {
        LN_VOLUME - ln_cells(self.level)
    }

    /// Its middle.
    pub fn centre(self) -> Quaternion {
        self.at(0.5, 0.5, 0.5)
    }

    /// A point drawn uniformly from it.
    pub fn draw(self, rng: &mut Rng) -> Quaternion {
        self.at(rng.random(), rng.random(), rng.random())
    }

    /// The point at these shares of its edges. The map keeps volumes.
    fn at(self, u: f64, v: f64, w: f64) -> Quaternion {
        let side = f64::from(1u32 << self.level);
        let (x, y) = ((f64::from(self.x) + u) / side, (f64::from(self.y) + v) / side);
        let (azimuth, height) = on_sphere(self.face as usize, x, y);
        let tilt = 2.0 * PI * (f64::from(self.tilt) + w) / (6.0 * side);
        let half = |angle: f64| (0.5 * angle).sin_cos();
        let ((sf, cf), (sp, cp)) = (half(azimuth), half(tilt));
        // Half of θ from cos θ.
        let (st, ct) = ((0.5 * (1.0 - height)).max(0.0).sqrt(), (0.5 * (1.0 + height)).max(0.0).sqrt());
        multiply(&multiply(&[sf, 0.0, 0.0, cf], &[0.0, 0.0, st, ct]), &[sp, 0.0, 0.0, cp])
    }
}

/// ln of the number of cells of a level.
fn ln_cells(level: u32) -> f64 {
    72f64.ln() + f64::from(level) * 8f64.ln()
}

/// Longitude and cosine of the polar angle at a point of a base pixel of HEALPix, a square of side 1.
fn on_sphere(face: usize, x: f64, y: f64) -> (f64, f64) {
    let (lowest, longitude) = CORNERS[face];
    let row = lowest - x - y;
    let (radius, height) = match row {
        row if row < 1.0 => (row, 1.0 - row * row / 3.0),
        row if row > 3.0 => (4.0 - row, (4.0 - row).powi(2) / 3.0 - 1.0),
        row => (1.0, (2.0 - row) * 2.0 / 3.0),
    };
    let along = (longitude * radius + x - y).rem_euclid(8.0 * radius.max(1e-300));
    (if radius < 1e-15 { 0.0 } else { FRAC_PI_4 * along / radius }, height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::{
        rng::{Purpose, stream},
        rotation,
    };

    /// Centres of HEALPix pixels in ring order, from the published formulas.
    fn rings(side: usize) -> Vec<(f64, f64)> {
        let cap = 2 * side * (side - 1);
        let (count, n) = (12 * side * side, side as f64);
        let north = |p: usize| {
            let i = (((1 + 2 * p) as f64).sqrt() as usize).div_ceil(2);
            (i as f64, (p + 1 - 2 * i * (i - 1)) as f64)
        };
        let place = |p: usize| {
            if p < cap {
                let (i, j) = north(p);
                (PI / (2.0 * i) * (j - 0.5), 1.0 - i * i / (3.0 * n * n))
            } else if p < count - cap {
                let q = p - cap;
                let (i, j) = (q / (4 * side) + side, (q % (4 * side)) as f64);
                let shift = if (i - side).is_multiple_of(2) { 0.5 } else { 0.0 };
                (PI / (2.0 * n) * (j + shift), 4.0 / 3.0 - 2.0 * i as f64 / (3.0 * n))
            } else {
                let (i, j) = north(count - 1 - p);
                (PI / (2.0 * i) * (4.0 * i + 1.0 - j - 0.5), i * i / (3.0 * n * n) - 1.0)
            }
        };
        (0..count).map(place).collect()
    }

    #[test]
    fn pixels_are_those_of_healpix() {
        for level in [1, 2] {
            let side = 1 << level;
            let expected = rings(side as usize);
            let step = 1.0 / f64::from(side);
            let mut met = vec![false; expected.len()];
            for face in 0..12 {
                for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
                    let (f, z) = on_sphere(face, (f64::from(i) + 0.5) * step, (f64::from(j) + 0.5) * step);
                    let same = |e: &(f64, f64)| {
                        (e.1 - z).abs() < 1e-12 && ((e.0 - f).sin().abs() + (1.0 - (e.0 - f).cos())) < 1e-9
                    };
                    let place = expected.iter().position(same).expect("a centre of the ring order");
                    assert!(!std::mem::replace(&mut met[place], true), "twice at {f}, {z}");
                }
            }
        }
    }

    #[test]
    fn cells_cover_the_rotations_evenly() {
        for level in [0, 1, 2] {
            let centres: Vec<Quaternion> = Cell::all(level).map(Cell::centre).collect();
            assert_eq!(centres.len(), 72 * 8usize.pow(level));
            let mut mean = [[0.0; 3]; 3];
            for q in &centres {
                let m = rotation::matrix(q);
                (0..9).for_each(|k| mean[k / 3][k % 3] += m[k / 3][k % 3] / centres.len() as f64);
            }
            assert!(mean.iter().flatten().all(|v| v.abs() < 1e-12), "{mean:?}");
            let mut rng = stream(1, Purpose::Metric, u64::from(level));
            let nearest = |q: &Quaternion| centres.iter().map(|c| rotation::angle(c, q)).fold(f64::MAX, f64::min);
            let farthest = (0..400).map(|_| nearest(&rotation::uniform(&mut rng))).fold(0.0, f64::max);
            let spacing = PI / 3.0 / f64::from(1 << level);
            assert!(farthest < spacing, "level {level}: {} of {}", farthest, spacing);
        }
    }

    #[test]
    fn children_fill_their_cell() {
        let mut rng = stream(2, Purpose::Metric, 0);
        for cell in Cell::all(1).step_by(37) {
            let children = cell.children();
            let total: f64 = children.iter().map(|c| c.ln_volume().exp()).sum();
            assert!((total / cell.ln_volume().exp() - 1.0).abs() < 1e-12);
            for child in children {
                let centre = child.centre();
                assert!(rotation::angle(&centre, &cell.centre()) < PI / 6.0);
            }
            let q = cell.draw(&mut rng);
            let near = |c: &Cell| rotation::angle(&c.centre(), &q);
            assert!(near(&cell) < PI / 3.0);
            assert!((q.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn draws_of_all_cells_are_uniform() {
        let mut rng = stream(3, Purpose::Metric, 0);
        // E R_ij² = 1/3 and E (tr R) = 0 under the uniform distribution.
        let (mut square, mut trace, mut n) = (0.0, 0.0, 0.0);
        for cell in Cell::all(1) {
            for _ in 0..20 {
                let m = rotation::matrix(&cell.draw(&mut rng));
                square += m[0][0] * m[0][0];
                trace += m[0][0] + m[1][1] + m[2][2];
                n += 1.0;
            }
        }
        assert!((square / n - 1.0 / 3.0).abs() < 0.01 && (trace / n).abs() < 0.03, "{} {}", square / n, trace / n);
        assert!((LN_VOLUME - (8.0 * PI * PI).ln()).abs() < 1e-12);
    }
}
