//! Checkerboards: uniform on every second square.

use super::{DatasetEntry, Parameter};
use rand::RngExt as _;

const SQUARES: Parameter = Parameter {
    name: "squares",
    default: 4.0,
    range: (2.0, 64.0),
    whole: true,
    summary: "squares along each side, an even number",
};

/// On the sphere, in squares of equal area.
pub(crate) const SPHERE: DatasetEntry = DatasetEntry {
    name: "checkerboard-s2",
    summary: "checkerboard on the sphere with squares of equal area, as lat, lon",
    parameters: &[SQUARES],
    manifold: |_| "sphere:2".into(),
    is_distribution: true,
    make: |request| {
        let squares = even(request.arguments.whole("squares"));
        Ok(request.numbers("checkerboard-s2", &["lat", "lon"], |rng, x| {
            let (u, v) = point(squares, rng);
            // Equal steps in sin(lat) are equal areas (Archimedes).
            x[0] = (2.0 * u - 1.0).asin().to_degrees();
            x[1] = 360.0 * v - 180.0;
        }))
    },
};

/// On the torus of two angles.
pub(crate) const TORUS: DatasetEntry = DatasetEntry {
    name: "checkerboard-t2",
    summary: "checkerboard on the torus of two angles, in degrees",
    parameters: &[SQUARES],
    manifold: |_| "torus:2".into(),
    is_distribution: true,
    make: |request| {
        let squares = even(request.arguments.whole("squares"));
        Ok(request.numbers("checkerboard-t2", &["phi_deg", "psi_deg"], |rng, x| {
            let (u, v) = point(squares, rng);
            x[0] = 360.0 * u - 180.0;
            x[1] = 360.0 * v - 180.0;
        }))
    },
};

/// Only an even number of squares closes up round the circle.
fn even(squares: usize) -> usize {
    squares.next_multiple_of(2)
}

/// A point of the unit square on a square whose row and column have the same parity.
fn point(squares: usize, rng: &mut crate::rng::Rng) -> (f64, f64) {
    let row = rng.random_range(0..squares);
    let column = 2 * rng.random_range(0..squares / 2) + row % 2;
    let inside = |cell: usize, rng: &mut crate::rng::Rng| (cell as f64 + rng.random::<f64>()) / squares as f64;
    (inside(row, rng), inside(column, rng))
}

/// Whether a point (latitude, longitude in degrees) lies on a dark square of the sphere's board.
pub fn on_sphere(squares: usize, lat: f64, lon: f64) -> bool {
    dark(squares, (lat.to_radians().sin() + 1.0) / 2.0, (lon + 180.0) / 360.0)
}

/// Whether two angles in degrees lie on a dark square of the torus' board.
pub fn on_torus(squares: usize, phi: f64, psi: f64) -> bool {
    dark(squares, (phi + 180.0) / 360.0, (psi + 180.0) / 360.0)
}

fn dark(squares: usize, u: f64, v: f64) -> bool {
    let cell = |t: f64| ((t * squares as f64) as usize).min(squares - 1);
    (cell(u) + cell(v)).is_multiple_of(2)
}
