//! Where images with known poses come from: rendered on the way, or read from an archive.

use super::{PoseConfig, PoseError};
use mad_core::{
    manifold::{Quaternion, conjugate},
    pose::{Action, Archive, Solid, Split, Symmetry, View, rotation},
    rng::{Purpose, Rng, stream},
};
use rand::RngExt as _;
use rayon::prelude::*;
use std::path::Path;

/// Seed of test poses: the same for every run, and not one that anybody trains with.
const TEST_SEED: u64 = 0x5EED_0F7E;

/// Most bytes that the images of one part of an archive may take.
const MAX_BYTES: u64 = 4 << 30;

/// Images of one solid, as numbers from 0 to 1, with their poses.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseBatch {
    /// Pixels, image after image, row by row.
    pub images: Vec<f32>,
    /// Rotations from the solid's frame to the camera's, one of those that look the same.
    pub poses: Vec<Quaternion>,
}

/// Where the images of training come from.
#[derive(Debug, Clone)]
pub enum Images {
    /// New poses for every step.
    Rendered {
        /// What is seen.
        solid: Solid,
        /// How.
        view: View,
    },
    /// Images of an archive, shrunk to the size of the run.
    Kept {
        /// What is seen.
        solid: Solid,
        /// Pixels of a side.
        size: usize,
        /// All of them.
        train: PoseBatch,
    },
}

impl Images {
    /// The source that the settings name.
    pub fn open(config: &PoseConfig) -> Result<Self, PoseError> {
        let (solid, size) = (config.solid(), config.size);
        if config.archive.is_empty() {
            return Ok(Images::Rendered { solid, view: view(config) });
        }
        let train = kept(config, Split::Train, usize::MAX)?;
        if train.poses.is_empty() {
            return Err(PoseError::NoImages { path: config.archive.clone().into(), solid: solid.name() });
        }
        Ok(Images::Kept { solid, size, train })
    }

    /// Hash of the images and poses of an archive; empty for rendered ones, which the settings decide.
    pub fn hash(&self) -> String {
        let Images::Kept { train, .. } = self else { return String::new() };
        let mut hasher = blake3::Hasher::new();
        for value in &train.images {
            hasher.update(&value.to_le_bytes());
        }
        for value in train.poses.iter().flatten() {
            hasher.update(&value.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The images of training step `step`.
    pub fn batch(&self, count: usize, seed: u64, step: u64) -> PoseBatch {
        let mut rng = stream(seed, Purpose::Data, step);
        match self {
            Images::Rendered { solid, view } => {
                let poses = (0..count).map(|_| rotation::uniform(&mut rng)).collect();
                rendered(*solid, view, poses)
            }
            Images::Kept { solid, size, train } => {
                let n = size * size;
                let mut batch = PoseBatch { images: vec![0.0; count * n], poses: Vec::with_capacity(count) };
                for image in batch.images.chunks_exact_mut(n) {
                    let place = rng.random_range(0..train.poses.len());
                    let turn = Turn::draw(solid.is_mirror_symmetric(), &mut rng);
                    turn.image(&train.images[place * n..(place + 1) * n], *size, image);
                    batch.poses.push(turn.pose(&train.poses[place]));
                }
                batch
            }
        }
    }
}

/// The first `count` images of the test part; all runs on the same solid see the same ones.
pub fn test_images(config: &PoseConfig, count: usize) -> Result<PoseBatch, PoseError> {
    if !config.archive.is_empty() {
        return kept(config, Split::Test, count);
    }
    let mut rng = stream(TEST_SEED, Purpose::Data, 0);
    let poses = (0..count).map(|_| rotation::uniform(&mut rng)).collect();
    Ok(rendered(config.solid(), &view(config), poses))
}

fn view(config: &PoseConfig) -> View {
    View { size: config.size, ..View::default() }
}

fn rendered(solid: Solid, view: &View, poses: Vec<Quaternion>) -> PoseBatch {
    let n = view.size * view.size;
    let mut images = vec![0.0; poses.len() * n];
    images.par_chunks_exact_mut(n).zip(&poses).for_each(|(image, pose)| view.grey(solid, pose, image));
    PoseBatch { images, poses }
}

/// At most `most` images of a part of the archive that the settings name.
fn kept(config: &PoseConfig, split: Split, most: usize) -> Result<PoseBatch, PoseError> {
    let (path, solid, size) = (Path::new(&config.archive), config.solid(), config.size);
    let archive = Archive::open(path)?;
    let mut poses = archive.labels(split, solid)?;
    match archive.check_action() {
        Ok(Action::Right) => {}
        Ok(Action::Left) => poses.iter_mut().for_each(|q| *q = conjugate(q)),
        // Poses of a solid without symmetry list nothing that could tell.
        Err(_) if solid.symmetry() == Symmetry::Trivial => {}
        Err(e) => return Err(e.into()),
    }
    poses.truncate(most);
    let bytes = poses.len() as u64 * (size * size) as u64 * 4;
    if bytes > MAX_BYTES {
        let problem = format!(
            "{}: {} images of {size} pixels a side take {bytes} bytes, more than {MAX_BYTES}; set a smaller size",
            path.display(),
            poses.len()
        );
        return Err(PoseError::Setting { problem });
    }
    let mut images = vec![0.0; poses.len() * size * size];
    for (index, image) in images.chunks_exact_mut(size * size).enumerate() {
        archive.image(split, solid, index)?.grey(size, image);
    }
    Ok(PoseBatch { images, poses })
}

/// A move of the picture that is a move of the pose: quarter turns about the line of sight, perhaps after a reflection.
///
/// # Formula
/// With the light at the camera, image(R_z(a) R) is the image turned by a; with M = diag(−1, 1, 1), a reflection of the solid in
/// its own frame, image(M R M) is the image flipped from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Quarter turns.
    pub quarters: usize,
    /// Whether the picture is flipped first.
    pub flipped: bool,
}

impl Turn {
    /// The move that leaves everything where it is.
    pub const NONE: Turn = Turn { quarters: 0, flipped: false };

    /// All moves for a solid with a mirror, or without.
    pub fn all(mirror: bool) -> Vec<Turn> {
        let flips: &[bool] = if mirror { &[false, true] } else { &[false] };
        flips.iter().flat_map(|&flipped| (0..4).map(move |quarters| Turn { quarters, flipped })).collect()
    }

    fn draw(mirror: bool, rng: &mut Rng) -> Turn {
        Turn { quarters: rng.random_range(0..4), flipped: mirror && rng.random::<bool>() }
    }

    /// The moved picture. Pixel (row, column); a quarter turn takes the x axis of the camera to its y axis.
    pub fn image(&self, from: &[f32], size: usize, to: &mut [f32]) {
        for y in 0..size {
            for x in 0..size {
                let (mut i, mut j) = (x, y);
                for _ in 0..self.quarters {
                    (i, j) = (j, size - 1 - i);
                }
                if self.flipped {
                    i = size - 1 - i;
                }
                to[y * size + x] = from[j * size + i];
            }
        }
    }

    /// Several pictures, moved.
    pub fn images(&self, from: &[f32], size: usize) -> Vec<f32> {
        let mut moved = vec![0.0; from.len()];
        let pairs = from.chunks_exact(size * size).zip(moved.chunks_exact_mut(size * size));
        pairs.for_each(|(from, to)| self.image(from, size, to));
        moved
    }

    /// The pose of the moved picture.
    pub fn pose(&self, q: &Quaternion) -> Quaternion {
        let [x, y, z, w] = *q;
        // M R M turns by the opposite angle about the reflected axis.
        let q = if self.flipped { [x, -y, -z, w] } else { *q };
        turned(&q, self.angle())
    }

    /// The pose that becomes `q` by this move.
    pub fn undo(&self, q: &Quaternion) -> Quaternion {
        let [x, y, z, w] = turned(q, -self.angle());
        if self.flipped { [x, -y, -z, w] } else { [x, y, z, w] }
    }

    fn angle(&self) -> f64 {
        self.quarters as f64 * std::f64::consts::FRAC_PI_2
    }
}

/// The pose after a turn about the line of sight; a turn and its opposite give back the very quaternion, not its other sign.
fn turned(q: &Quaternion, angle: f64) -> Quaternion {
    let (sin, cos) = (0.5 * angle).sin_cos();
    mad_core::manifold::multiply(&[0.0, 0.0, sin, cos], q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::pose::SOLIDS;

    #[test]
    fn moved_pictures_are_pictures_of_moved_poses() {
        let view = View { size: 16, supersampling: 2, ..View::default() };
        let n = view.size * view.size;
        let mut rng = stream(3, Purpose::Data, 0);
        for &solid in SOLIDS {
            for turn in Turn::all(solid.is_mirror_symmetric()) {
                let pose = rotation::uniform(&mut rng);
                let (mut before, mut moved, mut after) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                view.grey(solid, &pose, &mut before);
                turn.image(&before, view.size, &mut moved);
                view.grey(solid, &turn.pose(&pose), &mut after);
                let off = moved.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0_f32, f32::max);
                assert!(off < 0.02, "{solid} {turn:?}: {off}");
                let back = turn.undo(&turn.pose(&pose));
                assert!(rotation::angle(&back, &pose) < 1e-7, "{turn:?}");
            }
        }
    }

    #[test]
    fn steps_have_their_own_pictures_and_tests_are_always_the_same() {
        let config = PoseConfig::new("cone", &"size = 16".parse().unwrap()).unwrap();
        let images = Images::open(&config).unwrap();
        assert_eq!(images.batch(3, 1, 7), images.batch(3, 1, 7));
        assert_ne!(images.batch(3, 1, 7).poses, images.batch(3, 1, 8).poses);
        let test = |count| test_images(&config, count).unwrap();
        assert_eq!(test(2).poses, test(5).poses[..2]);
    }
}
