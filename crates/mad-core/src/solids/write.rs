//! Data sets of our own pictures, written in the layout of SymSol.

use super::archive::Split;
use super::error::PoseError;
use super::names::picture_name;
use super::picture::write_png;
use super::render::View;
use super::solid::Solid;
use crate::files::Sibling;
use crate::rng::{Purpose, stream};
use crate::rotation::{Quaternion, matrix, multiply, uniform};
use crate::table::npy_file::header_bytes;
use rayon::prelude::*;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Most pictures of one solid in one part: their names have five digits.
const MAX_PICTURES: usize = 100_000;

/// Pictures between two looks at the clock.
const BLOCK: usize = 64;

/// What to write.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The solids.
    pub shapes: Vec<Solid>,
    /// Pictures of each in the training part; 45 000 in the original.
    pub train: usize,
    /// Pictures of each in the test part; 5 000 in the original.
    pub test: usize,
    /// How they are seen; 224 pixels in the original.
    pub view: View,
    /// Seed of the poses.
    pub seed: u64,
}

impl Request {
    /// Number of pictures in all.
    pub fn pictures(&self) -> usize {
        self.shapes.len() * (self.train + self.test)
    }

    fn count(&self, split: Split) -> usize {
        match split {
            Split::Train => self.train,
            Split::Test => self.test,
        }
    }

    fn check(&self) -> Result<(), PoseError> {
        self.view.check()?;
        for (i, solid) in self.shapes.iter().enumerate() {
            if self.shapes[..i].contains(solid) {
                return Err(PoseError::Request(format!("solid `{solid}` is named twice")));
            }
        }
        match self {
            r if r.pictures() == 0 => Err(PoseError::Request("no pictures are asked for".into())),
            r if r.train.max(r.test) > MAX_PICTURES => {
                Err(PoseError::Request(format!("at most {MAX_PICTURES} pictures of one solid fit in a part")))
            }
            _ => Ok(()),
        }
    }
}

/// The pose of a picture: uniform, and the same whatever else is drawn under this seed.
pub fn pose(seed: u64, split: Split, solid: Solid, index: usize) -> Quaternion {
    // Above the streams of tables, which count blocks of rows.
    let number = (1 << 48) | ((split as u64) << 40) | ((solid.class() as u64) << 32) | index as u64;
    uniform(&mut stream(seed, Purpose::Data, number))
}

/// Draws a data set into a new or empty folder, on all threads; the bytes do not depend on their number.
///
/// Each file appears whole or not at all, and the poses of a part after its pictures. `progress` hears the number of pictures
/// done; once `stop` is set, the work ends.
pub fn write(
    folder: &Path,
    request: &Request,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> Result<(), PoseError> {
    request.check()?;
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(true) => return Err(PoseError::Occupied { path: folder.into() }),
        Ok(false) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(PoseError::io(folder, "list", e)),
    }
    let mut done = 0;
    for split in Split::ALL.into_iter().filter(|split| request.count(*split) > 0) {
        let images = folder.join(split.name()).join("images");
        fs::create_dir_all(&images).map_err(|e| PoseError::io(&images, "create", e))?;
        let all: Vec<(Solid, usize)> =
            request.shapes.iter().flat_map(|s| (0..request.count(split)).map(|i| (*s, i))).collect();
        for block in all.chunks(BLOCK) {
            if stop.load(Ordering::Relaxed) {
                return Err(PoseError::Stopped { done, total: request.pictures() });
            }
            block.par_iter().try_for_each(|(solid, index)| picture(folder, request, split, *solid, *index))?;
            done += block.len();
            progress(done);
        }
        let path = folder.join(split.name()).join("rotations.npz");
        whole(&path, true, |file| rotations(file, request, split))?;
    }
    Ok(())
}

fn picture(folder: &Path, request: &Request, split: Split, solid: Solid, index: usize) -> Result<(), PoseError> {
    let (view, path) = (&request.view, folder.join(picture_name(split, solid, index)));
    let pixels = view.rgb(solid, &pose(request.seed, split, solid, index));
    whole(&path, false, |file| write_png(file, view.size, view.size, &pixels).map_err(io::Error::other))
}

/// One array of f32 for each solid, `[pictures, poses, 3, 3]`, stored without packing as NumPy's `savez` does.
fn rotations(file: &mut BufWriter<File>, request: &Request, split: Split) -> io::Result<()> {
    let mut arrays = ZipWriter::new(file);
    for &solid in &request.shapes {
        let (count, listed) = (request.count(split), solid.symmetry().listed());
        let bytes = (36 * count * listed.len()) as u64;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(bytes >= u64::from(u32::MAX) - 1024);
        arrays.start_file(format!("{solid}.npy"), options).map_err(io::Error::other)?;
        arrays.write_all(&header_bytes("<f4", count, &format!("{}, 3, 3", listed.len())))?;
        let mut numbers = Vec::with_capacity(36 * listed.len());
        for index in 0..count {
            let q = pose(request.seed, split, solid, index);
            numbers.clear();
            for g in &listed {
                let m = matrix(&multiply(&q, g));
                numbers.extend(m.as_flattened().iter().flat_map(|v| (*v as f32).to_le_bytes()));
            }
            arrays.write_all(&numbers)?;
        }
    }
    arrays.finish().map_err(io::Error::other)?.flush()
}

/// Writes a file whole or not at all; `sync` waits for the disk.
fn whole(
    path: &Path,
    sync: bool,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), PoseError> {
    let failed = |e| PoseError::io(path, "write", e);
    let mut sibling = Sibling::create(path).map_err(failed)?;
    content(&mut sibling.file).map_err(failed)?;
    sibling.commit(sync).map_err(|(action, e)| PoseError::io(path, action, e))
}
