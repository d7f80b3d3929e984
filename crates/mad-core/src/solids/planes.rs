//! The planes of a polyhedron as a ray through the picture meets them.

use super::body::{MAX_FACES, Polyhedron};
use crate::rotation::{Matrix, turn};

/// What a ray meets: the nearest of the planes it enters through, and the last of those it leaves through.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Corner {
    pub(super) hit: bool,
    pub(super) front: usize,
    pub(super) back: usize,
}

/// The planes of a polyhedron in the camera's frame, those that face the camera first.
pub(super) struct Planes {
    count: usize,
    /// Number of planes that face the camera.
    fronts: usize,
    /// Numbers of the faces.
    pub(super) faces: [usize; MAX_FACES],
    pub(super) normals: [[f64; 3]; MAX_FACES],
    /// n/k: the coefficients of 1/s at (u, v, 1).
    inverse: [[f64; 3]; MAX_FACES],
}

impl Planes {
    pub(super) fn new(polyhedron: &Polyhedron, rotation: &Matrix, distance: f64) -> Self {
        let mut planes = Self {
            count: 0,
            fronts: 0,
            faces: [0; MAX_FACES],
            normals: [[0.0; 3]; MAX_FACES],
            inverse: [[0.0; 3]; MAX_FACES],
        };
        for facing in [true, false] {
            for (face, normal) in polyhedron.normals.iter().enumerate() {
                let n = turn(rotation, normal);
                let k = polyhedron.offsets[face] + n[2] * distance;
                if (k < 0.0) == facing {
                    // A plane through the camera is seen edge on.
                    let k = if k.abs() < 1e-12 { 1e-12 } else { k };
                    planes.faces[planes.count] = face;
                    planes.normals[planes.count] = n;
                    planes.inverse[planes.count] = n.map(|v| v / k);
                    planes.count += 1;
                }
            }
            if facing {
                planes.fronts = planes.count;
            }
        }
        planes
    }

    #[inline]
    fn at(&self, plane: usize, u: f64, v: f64) -> f64 {
        let [a, b, c] = self.inverse[plane];
        a * u + b * v + c
    }

    #[inline]
    pub(super) fn meet(&self, u: f64, v: f64) -> Corner {
        let (mut least, mut front) = (f64::INFINITY, 0);
        for i in 0..self.fronts {
            let w = self.at(i, u, v);
            if w < least {
                (least, front) = (w, i);
            }
        }
        let (mut most, mut back) = (f64::NEG_INFINITY, self.fronts);
        for i in self.fronts..self.count {
            let w = self.at(i, u, v);
            if w > most {
                (most, back) = (w, i);
            }
        }
        Corner { hit: self.fronts > 0 && least > most.max(0.0), front, back }
    }

    /// Whether the ray misses because of these two planes.
    pub(super) fn part(&self, pair: &Corner, u: f64, v: f64) -> bool {
        self.at(pair.front, u, v) <= self.at(pair.back, u, v)
    }
}
