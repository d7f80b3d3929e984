//! Pictures of the solids, by ray casting with a lamp at the camera.
//!
//! The camera stands at the origin and looks along z; x goes to the right of the picture and y downwards. The solid's centre is
//! on the optical axis. A lamp at the camera makes turns about the axis turns of the picture, exactly.

use super::body::{Body, Paint, Polyhedron, dot};
use super::planes::{Corner, Planes};
use super::solid::Solid;
use crate::rng::Rng;
use crate::rotation::{Matrix, matrix};
use rand_distr::{Distribution, StandardNormal};
use std::cell::RefCell;

/// How solids are seen: camera, light, background, resolution.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Width and height of the picture in pixels.
    pub size: usize,
    /// Rays per pixel in each direction; a pixel is their mean.
    pub supersampling: usize,
    /// Red, green and blue of what is behind the solid, 0 to 255.
    pub background: [f64; 3],
    /// Brightness of surfaces that get no light, 0 to 255.
    pub ambient: f64,
    /// Red, green and blue added where light falls square on a plain surface.
    pub light: [f64; 3],
    /// Place of the lamp relative to the camera.
    pub light_offset: [f64; 3],
    /// Distance of the solid's centre from the camera; solids reach 1.8 from their centre.
    pub distance: f64,
    /// Focal length over the width of the picture.
    pub focal: f64,
    /// Standard deviation of the noise of [`View::disturb`], of pixels from 0 to 1.
    pub noise: f64,
}

impl Default for View {
    /// As the published pictures look, at 32 pixels with 4 × 4 rays each.
    fn default() -> Self {
        Self {
            size: 32,
            supersampling: 4,
            background: [255.0; 3],
            ambient: 10.2,
            light: [226.0, 240.9, 246.9],
            light_offset: [0.0; 3],
            distance: 6.0,
            focal: 1.389,
            noise: 0.0,
        }
    }
}

/// Red, green and blue added where light falls square on a mark.
const RED: [f64; 3] = [179.0, 74.0, 34.0];
const BLUE: [f64; 3] = [45.0, 125.0, 165.0];

/// A view that cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("view: {key} is {value}; wanted {wanted}")]
pub struct ViewError {
    /// The setting.
    pub key: &'static str,
    /// Its value.
    pub value: f64,
    /// What would do.
    pub wanted: &'static str,
}

/// What the rays of one pixel met.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// Number of rays that met the solid.
    hits: f64,
    /// Sum of n·l over them, for each paint.
    shade: [f64; 3],
}

impl Tally {
    fn add(&mut self, paint: Paint, shade: f64) {
        self.hits += 1.0;
        self.shade[paint as usize] += shade.max(0.0);
    }
}

impl View {
    /// Refuses settings that no picture can be made with.
    pub fn check(&self) -> Result<(), ViewError> {
        let bad = |key, value, wanted| Err(ViewError { key, value, wanted });
        match self {
            v if !(1..=4096).contains(&v.size) => bad("size", v.size as f64, "1 to 4096 pixels"),
            v if !(1..=16).contains(&v.supersampling) => {
                bad("supersampling", v.supersampling as f64, "1 to 16 rays in each direction")
            }
            v if !(v.distance.is_finite() && v.distance > 2.0) => bad("distance", v.distance, "more than 2"),
            v if !(v.focal.is_finite() && v.focal > 0.0) => bad("focal", v.focal, "a positive number"),
            v if !(v.noise.is_finite() && v.noise >= 0.0) => bad("noise", v.noise, "0 or more"),
            _ => Ok(()),
        }
    }

    /// Draws a solid in pose `q` in grey: `size`² numbers from 0 to 1 row by row, the mean of the three channels.
    ///
    /// Nothing is allocated after the first call of a thread with these settings.
    pub fn grey(&self, solid: Solid, q: &[f64], out: &mut [f32]) {
        assert_eq!(out.len(), self.size * self.size, "a picture of {0} × {0} pixels", self.size);
        self.cast(solid, q, true, |pixel, tally| {
            let [r, g, b] = self.colour(tally);
            out[pixel] = ((r + g + b) / (3.0 * 255.0)) as f32;
        });
    }

    /// Draws a solid in pose `q` in colour: `size`² pixels row by row, three bytes each.
    pub fn rgb(&self, solid: Solid, q: &[f64]) -> Vec<u8> {
        let mut out = vec![0; 3 * self.size * self.size];
        self.cast(solid, q, true, |pixel, tally| {
            for (byte, value) in out[3 * pixel..3 * pixel + 3].iter_mut().zip(self.colour(tally)) {
                *byte = value.round() as u8;
            }
        });
        out
    }

    /// Adds the view's noise to a picture in grey, and keeps it between 0 and 1.
    pub fn disturb(&self, picture: &mut [f32], rng: &mut Rng) {
        if self.noise > 0.0 {
            for pixel in picture {
                let z: f64 = StandardNormal.sample(rng);
                *pixel = (f64::from(*pixel) + self.noise * z).clamp(0.0, 1.0) as f32;
            }
        }
    }

    /// # Formula
    /// Each ray that meets the solid sees ambient + c max(0, n·l) with c the light or the colour of a mark, the others the
    /// background; the pixel is their mean, cut at 255.
    fn colour(&self, tally: &Tally) -> [f64; 3] {
        let rays = (self.supersampling * self.supersampling) as f64;
        let [plain, red, blue] = tally.shade;
        std::array::from_fn(|k| {
            let lit = self.light[k] * plain + RED[k] * red + BLUE[k] * blue;
            let sum = (rays - tally.hits) * self.background[k] + tally.hits * self.ambient + lit;
            (sum / rays).clamp(0.0, 255.0)
        })
    }

    /// Calls `paint` for all pixels, in order. Without `shortcuts` every ray is cast; the result is the same.
    fn cast(&self, solid: Solid, q: &[f64], shortcuts: bool, paint: impl FnMut(usize, &Tally)) {
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.prepare(self);
            let body = solid.body();
            let flat = match body {
                Body::Polyhedron(polyhedron) if shortcuts && self.light_offset == [0.0; 3] => Some(&**polyhedron),
                _ => None,
            };
            let around = flat.or_else(|| body.hull().filter(|_| shortcuts));
            let scene = Scene::new(self, scratch, matrix(q), body);
            let planes = around.map(|polyhedron| Planes::new(polyhedron, &scene.rotation, self.distance));
            scene.draw(flat, planes.as_ref(), paint);
        });
    }
}

/// What a thread keeps from picture to picture.
struct Scratch {
    /// Size, supersampling and focal length that the rest belongs to.
    key: (usize, usize, f64),
    /// Picture coordinates of the columns of rays, in units of the focal length; the rows have the same.
    rays: Vec<f64>,
    /// The same of the borders between pixels.
    borders: Vec<f64>,
    /// For each pixel the mean of d/|d| over its rays d.
    directions: Vec<[f64; 3]>,
    /// What a ray through the corners of the pixels above and below meets.
    corners: [Vec<Corner>; 2],
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = const {
        RefCell::new(Scratch {
            key: (0, 0, 0.0),
            rays: Vec::new(),
            borders: Vec::new(),
            directions: Vec::new(),
            corners: [Vec::new(), Vec::new()],
        })
    };
}

impl Scratch {
    fn prepare(&mut self, view: &View) {
        let key = (view.size, view.supersampling, view.focal);
        if self.key == key {
            return;
        }
        let (size, fine) = (view.size, view.supersampling);
        // Exactly antisymmetric about the middle, so that turned and mirrored pictures have the same numbers.
        let place = |twice: usize, parts: usize| (twice as f64 - parts as f64) / (2 * parts) as f64 / view.focal;
        self.rays = (0..size * fine).map(|i| place(2 * i + 1, size * fine)).collect();
        self.borders = (0..=size).map(|i| place(2 * i, size)).collect();
        self.directions.clear();
        for row in 0..size {
            for column in 0..size {
                let mut mean = [0.0; 3];
                for v in &self.rays[row * fine..(row + 1) * fine] {
                    for u in &self.rays[column * fine..(column + 1) * fine] {
                        let scale = 1.0 / ((u * u + v * v + 1.0).sqrt() * (fine * fine) as f64);
                        mean = [mean[0] + u * scale, mean[1] + v * scale, mean[2] + scale];
                    }
                }
                self.directions.push(mean);
            }
        }
        self.corners.iter_mut().for_each(|row| row.resize(size + 1, Corner::default()));
        self.key = key;
    }
}

struct Scene<'a> {
    view: &'a View,
    scratch: &'a mut Scratch,
    rotation: Matrix,
    body: Body,
    /// Camera and lamp in the frame of the solid.
    camera: [f64; 3],
    lamp: [f64; 3],
    /// Radius of the circle in picture coordinates that the solid stays inside of, squared.
    reach_squared: f64,
}

impl<'a> Scene<'a> {
    fn new(view: &'a View, scratch: &'a mut Scratch, rotation: Matrix, body: Body) -> Self {
        let m = &rotation;
        let back =
            |v: [f64; 3]| -> [f64; 3] { std::array::from_fn(|j| m[0][j] * v[0] + m[1][j] * v[1] + m[2][j] * v[2]) };
        let camera = back([0.0, 0.0, -view.distance]);
        let [x, y, z] = view.light_offset;
        let lamp = back([x, y, z - view.distance]);
        let (radius, distance) = (body.radius(), view.distance);
        let reach_squared = radius * radius / (distance * distance - radius * radius).max(1e-12);
        Self { view, scratch, rotation, body, camera, lamp, reach_squared }
    }

    /// Whether a pixel lies outside the circle.
    fn is_outside(&self, row: usize, column: usize) -> bool {
        let nearest = |i: usize| 0.0f64.clamp(self.scratch.borders[i], self.scratch.borders[i + 1]);
        let (u, v) = (nearest(column), nearest(row));
        u * u + v * v > self.reach_squared
    }

    /// Goes through the pixels, passing over those that are seen to be empty.
    ///
    /// # Formula
    /// The plane n·x = k of the camera's frame meets the ray s d at 1/s = n·d/k, linear in the picture coordinates. With k < 0
    /// for the planes that face the camera, a ray meets a polyhedron if the least 1/s of these exceeds the largest of the
    /// others and zero. If two planes part all four corners of a pixel from it, all of the pixel is empty. The pictures of
    /// faces are convex: if the corners of a pixel show one face, all of it does, and under a lamp at the camera Σ n·l over
    /// its rays is −n·Σ d/|d|. So the result is that of casting every ray.
    fn draw(self, flat: Option<&Polyhedron>, planes: Option<&Planes>, mut paint: impl FnMut(usize, &Tally)) {
        let size = self.view.size;
        let reach = self.reach_squared.sqrt();
        // Pixels that the circle touches, in either direction.
        let first = self.scratch.borders[1..].iter().take_while(|b| **b < -reach).count();
        let busy = first..size - first;
        let [mut above, mut below] = std::mem::take(&mut self.scratch.corners);
        let borders = &self.scratch.borders;
        let look = |row: usize, out: &mut [Corner]| {
            if let Some(planes) = planes {
                for i in busy.start..=busy.end {
                    out[i] = planes.meet(borders[i], borders[row]);
                }
            }
        };
        for row in 0..size {
            if row == first {
                look(row, &mut below);
            }
            if busy.contains(&row) {
                std::mem::swap(&mut above, &mut below);
                look(row + 1, &mut below);
            }
            for column in 0..size {
                let mut tally = Tally::default();
                if busy.contains(&row) && busy.contains(&column) && !self.is_outside(row, column) {
                    let corners = [above[column], above[column + 1], below[column], below[column + 1]];
                    let pixel = Pixel { row, column, corners };
                    match (planes, flat) {
                        (Some(planes), _) if self.is_empty(planes, &pixel) => {}
                        (Some(planes), Some(polyhedron)) => self.shade_faces(polyhedron, planes, &pixel, &mut tally),
                        _ => self.cast_rays(&pixel, &mut tally),
                    }
                }
                paint(row * size + column, &tally);
            }
        }
        self.scratch.corners = [above, below];
    }

    /// Whether two planes part a pixel from the polyhedron.
    fn is_empty(&self, planes: &Planes, pixel: &Pixel) -> bool {
        let Pixel { row, column, corners } = pixel;
        let borders = &self.scratch.borders;
        let parted = |pair: &Corner| {
            let mut places = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter();
            places.all(|(down, right)| planes.part(pair, borders[column + right], borders[row + down]))
        };
        corners.iter().all(|c| !c.hit) && corners.iter().any(parted)
    }

    /// The picture coordinates of the rays of a pixel.
    fn rays(&self, pixel: &Pixel) -> impl Iterator<Item = (f64, f64)> {
        let (fine, rays) = (self.view.supersampling, &self.scratch.rays);
        let columns = &rays[pixel.column * fine..(pixel.column + 1) * fine];
        rays[pixel.row * fine..(pixel.row + 1) * fine].iter().flat_map(move |v| columns.iter().map(move |u| (*u, *v)))
    }

    /// A pixel of any body, ray by ray.
    fn cast_rays(&self, pixel: &Pixel, tally: &mut Tally) {
        let m = &self.rotation;
        let at_camera = self.view.light_offset == [0.0; 3];
        for (u, v) in self.rays(pixel) {
            let square = u * u + v * v;
            if square > self.reach_squared {
                continue;
            }
            let d: [f64; 3] = std::array::from_fn(|j| u * m[0][j] + v * m[1][j] + m[2][j]);
            let Some(hit) = self.body.trace(&self.camera, &d) else { continue };
            let shade = if at_camera {
                -dot(&hit.normal, &d) / (square + 1.0).sqrt()
            } else {
                let l: [f64; 3] = std::array::from_fn(|j| self.lamp[j] - self.camera[j] - hit.depth * d[j]);
                dot(&hit.normal, &l) / dot(&l, &l).sqrt()
            };
            tally.add(hit.paint, shade);
        }
    }

    /// A pixel of a polyhedron under a lamp at the camera.
    fn shade_faces(&self, polyhedron: &Polyhedron, planes: &Planes, pixel: &Pixel, tally: &mut Tally) {
        let front = pixel.corners[0].front;
        if pixel.corners.iter().all(|c| c.hit && c.front == front) {
            let rays = self.view.supersampling.pow(2) as f64;
            let direction = &self.scratch.directions[pixel.row * self.view.size + pixel.column];
            let shade = -dot(&planes.normals[front], direction) * rays;
            tally.hits = rays;
            tally.shade[polyhedron.paint(planes.faces[front]) as usize] = shade.max(0.0);
            return;
        }
        for (u, v) in self.rays(pixel) {
            let ray = planes.meet(u, v);
            if ray.hit {
                let shade = -dot(&planes.normals[ray.front], &[u, v, 1.0]) / (u * u + v * v + 1.0).sqrt();
                tally.add(polyhedron.paint(planes.faces[ray.front]), shade);
            }
        }
    }
}

/// A pixel, with what the rays through its corners meet.
#[derive(Debug, Clone, Copy)]
struct Pixel {
    row: usize,
    column: usize,
    corners: [Corner; 4],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::rotation::uniform;
    use crate::solids::SOLIDS;

    #[test]
    fn shortcuts_change_nothing() {
        let mut rng = stream(1, Purpose::Metric, 0);
        for (size, supersampling) in [(32, 4), (7, 1), (45, 3)] {
            let view = View { size, supersampling, ..View::default() };
            for &solid in SOLIDS {
                for _ in 0..60 {
                    let q = uniform(&mut rng);
                    let picture = |shortcuts| {
                        let mut list = Vec::new();
                        view.cast(solid, &q, shortcuts, |_, tally| list.push(*tally));
                        list
                    };
                    let (short, long) = (picture(true), picture(false));
                    assert_eq!((short.len(), long.len()), (size * size, size * size));
                    for (pixel, (a, b)) in short.iter().zip(&long).enumerate() {
                        let same = (0..3).all(|k| (a.shade[k] - b.shade[k]).abs() < 1e-12);
                        assert!(a.hits == b.hits && same, "{solid} at {q:?}, pixel {pixel}: {a:?} {b:?}");
                    }
                }
            }
        }
    }
}
