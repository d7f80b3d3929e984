//! Where pictures with known poses come from: rendered in every step, read from an archive, or from files that a table names.

use super::PictureError;
use crate::parts::{Part, Parts};
use mad_core::{
    Points,
    files::{ReadError, read_regular},
    rng::{Purpose, Rng, stream},
    rotation,
    rotation::{Quaternion, Symmetry, conjugate},
    solids::{Action, Archive, Picture, Solid, Split, View},
};
use rand::RngExt as _;
use rayon::prelude::*;
use std::path::Path;

/// Seeds of validation and test poses: the same for every run, and none that anybody trains with.
const VALIDATION_SEED: u64 = 0x5EED_07A1;
const TEST_SEED: u64 = 0x5EED_0F7E;

/// Most bytes that the pictures of one part may take.
const MAX_BYTES: u64 = 4 << 30;

/// Most bytes of a file of one picture.
const MAX_FILE: u64 = 64 << 20;

/// Pictures as numbers from 0 to 1, with their poses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PoseBatch {
    /// Pixels, picture after picture, row by row.
    pub images: Vec<f32>,
    /// Rotations from the object's frame to the camera's, one of those that look the same.
    pub poses: Vec<Quaternion>,
}

impl PoseBatch {
    /// Pictures with the points of a table as poses.
    pub(crate) fn new(images: Vec<f32>, poses: &Points) -> Self {
        Self { images, poses: poses.rows().map(|q| [q[0], q[1], q[2], q[3]]).collect() }
    }

    /// The first `count` of them.
    pub(crate) fn head(mut self, count: usize) -> Self {
        let pixels = self.images.len() / self.poses.len().max(1);
        self.poses.truncate(count);
        self.images.truncate(self.poses.len() * pixels);
        self
    }
}

/// Reads the files of each part at the size of a run, in `folder` unless their paths are absolute.
pub(crate) fn read_parts(
    folder: &Path,
    names: &Parts<Vec<String>>,
    size: usize,
) -> Result<Parts<Vec<f32>>, PictureError> {
    names.try_map(|names| {
        require_room(&folder.display().to_string(), names.len(), size)?;
        let mut images = vec![0.0; names.len() * size * size];
        let pairs = images.par_chunks_exact_mut(size * size).zip(names);
        pairs.try_for_each(|(image, name)| picture_from(&folder.join(name), size, image))?;
        Ok(images)
    })
}

/// Reads a picture in grey at the size of a run.
pub fn picture_from(path: &Path, size: usize, out: &mut [f32]) -> Result<(), PictureError> {
    let unreadable = |problem: String| PictureError::Unreadable { path: path.into(), problem };
    let bytes = read_regular(path, MAX_FILE).map_err(|error| match error {
        ReadError::Io(source) => PictureError::Io { path: path.into(), source },
        other => unreadable(other.to_string()),
    })?;
    Picture::from_bytes(&bytes).map_err(unreadable)?.grey(size, out);
    Ok(())
}

/// Where the pictures of training come from.
#[derive(Debug, Clone)]
pub enum Pictures {
    /// New poses for every step.
    Rendered {
        /// What is seen.
        solid: Solid,
        /// How.
        view: View,
    },
    /// Pictures that are held, at the size of the run.
    Kept {
        /// Pixels of a side.
        size: usize,
        /// All of them.
        train: PoseBatch,
        /// Whether a moved picture is one of the moved pose, and if so whether a flipped one is, too.
        mirror: Option<bool>,
    },
}

impl Pictures {
    /// Hash of the pictures and poses of an archive; empty for rendered ones, which the settings decide.
    pub fn hash(&self) -> String {
        let Pictures::Kept { train, .. } = self else { return String::new() };
        let mut hasher = blake3::Hasher::new();
        for value in &train.images {
            hasher.update(&value.to_le_bytes());
        }
        for value in train.poses.iter().flatten() {
            hasher.update(&value.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The pictures of training step `step`.
    pub fn batch(&self, count: usize, seed: u64, step: u64) -> PoseBatch {
        let mut rng = stream(seed, Purpose::Data, step);
        match self {
            Pictures::Rendered { solid, view } => {
                let poses = (0..count).map(|_| rotation::uniform(&mut rng)).collect();
                rendered(*solid, view, poses)
            }
            Pictures::Kept { size, train, mirror } => {
                let n = size * size;
                let mut batch = PoseBatch { images: vec![0.0; count * n], poses: Vec::with_capacity(count) };
                for image in batch.images.chunks_exact_mut(n) {
                    let place = rng.random_range(0..train.poses.len());
                    let turn = mirror.map_or(Turn::NONE, |mirror| Turn::draw(mirror, &mut rng));
                    turn.image(&train.images[place * n..(place + 1) * n], *size, image);
                    batch.poses.push(turn.pose(&train.poses[place]));
                }
                batch
            }
        }
    }
}

fn rendered(solid: Solid, view: &View, poses: Vec<Quaternion>) -> PoseBatch {
    let n = view.size * view.size;
    let mut images = vec![0.0; poses.len() * n];
    images.par_chunks_exact_mut(n).zip(&poses).for_each(|(image, pose)| view.grey(solid, pose, image));
    PoseBatch { images, poses }
}

/// Refuses pictures that would not fit into memory.
fn require_room(place: &str, count: usize, size: usize) -> Result<(), PictureError> {
    let bytes = count as u64 * (size * size) as u64 * 4;
    if bytes > MAX_BYTES {
        return Err(PictureError::TooMany { place: place.into(), count, size, bytes, limit: MAX_BYTES });
    }
    Ok(())
}

/// Pictures of a solid: rendered, or in an archive.
#[derive(Debug, Clone, Copy)]
pub struct SolidPictures<'a> {
    /// What is seen.
    pub solid: Solid,
    /// Folder or zip in the layout of SymSol; empty for rendered pictures.
    pub archive: &'a str,
    /// Pixels of a side.
    pub size: usize,
}

impl SolidPictures<'_> {
    /// Those of training.
    pub fn training(&self) -> Result<Pictures, PictureError> {
        let Self { solid, archive, size } = *self;
        if archive.is_empty() {
            return Ok(Pictures::Rendered { solid, view: self.view() });
        }
        let train = self.archived(Split::Train, usize::MAX)?;
        if train.poses.is_empty() {
            return Err(PictureError::None { path: archive.into(), solid: solid.name() });
        }
        Ok(Pictures::Kept { size, train, mirror: Some(solid.is_mirror_symmetric()) })
    }

    /// The first `count` pictures of a part that training does not see; all runs on the same solid see the same ones.
    pub fn part(&self, part: Part, count: usize) -> Result<PoseBatch, PictureError> {
        let seed = match part {
            Part::Test if !self.archive.is_empty() => return self.archived(Split::Test, count),
            Part::Test => TEST_SEED,
            Part::Validation if self.archive.is_empty() => VALIDATION_SEED,
            Part::Train | Part::Validation => return Ok(PoseBatch::default()),
        };
        let mut rng = stream(seed, Purpose::Data, 0);
        let poses = (0..count).map(|_| rotation::uniform(&mut rng)).collect();
        Ok(rendered(self.solid, &self.view(), poses))
    }

    fn view(&self) -> View {
        View { size: self.size, ..View::default() }
    }

    /// At most `most` pictures of a part of the archive.
    fn archived(&self, split: Split, most: usize) -> Result<PoseBatch, PictureError> {
        let Self { solid, archive: path, size } = *self;
        let archive = Archive::open(Path::new(path))?;
        let mut poses = archive.labels(split, solid)?;
        match archive.check_action() {
            Ok(Action::Right) => {}
            Ok(Action::Left) => poses.iter_mut().for_each(|q| *q = conjugate(q)),
            // Poses of a solid without symmetry list nothing that could tell.
            Err(_) if solid.symmetry() == Symmetry::Trivial => {}
            Err(e) => return Err(e.into()),
        }
        poses.truncate(most);
        require_room(path, poses.len(), size)?;
        let mut images = vec![0.0; poses.len() * size * size];
        for (index, image) in images.chunks_exact_mut(size * size).enumerate() {
            archive.image(split, solid, index)?.grey(size, image);
        }
        Ok(PoseBatch { images, poses })
    }
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
    pub(crate) fn undo(&self, q: &Quaternion) -> Quaternion {
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
    mad_core::rotation::multiply(&[0.0, 0.0, sin, cos], q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::solids::SOLIDS;

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
        let cone = SolidPictures { solid: Solid::lookup("cone").unwrap(), archive: "", size: 16 };
        let images = cone.training().unwrap();
        assert_eq!(images.batch(3, 1, 7), images.batch(3, 1, 7));
        assert_ne!(images.batch(3, 1, 7).poses, images.batch(3, 1, 8).poses);
        let poses = |part, count| cone.part(part, count).unwrap().poses;
        assert_eq!(poses(Part::Test, 2), poses(Part::Test, 5)[..2]);
        assert_ne!(poses(Part::Test, 2), poses(Part::Validation, 2));
    }
}
