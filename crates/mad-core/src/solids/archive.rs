//! SymSol's pictures and poses, read from a folder or a ZIP archive in the original layout.
//!
//! ```text
//! train/images/SHAPE_00000.png …     test/images/SHAPE_00000.png …
//! train/rotations.npz                test/rotations.npz
//! ```
//!
//! `rotations.npz` has one array for each solid, `[pictures, S, 3, 3]`: entry 0 is the pose of the picture, the S entries together
//! are all poses that look like it. Solids may be missing. Files are read without trust: sizes are checked before memory is
//! taken, and members whose names leave the archive, or that are links, are passed over.

use super::error::{Place, PoseError};
use super::names::{Entry, picture_name, place_of};
use super::picture::Picture;
use super::pose_array::read_array;
use super::solid::{SOLIDS, Solid};
use crate::archive::{self, ArchiveError, Member};
use crate::files::open_regular;
use crate::rotation::{Quaternion, conjugate, multiply};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fmt, ops::ControlFlow};

/// Largest file of one picture.
const MAX_PICTURE: u64 = 1 << 26;

/// Largest file of poses; the original's has about two gigabytes.
const MAX_ROTATIONS: u64 = 1 << 34;

/// Largest ratio of a member's size to its packed size, for members of more than a megabyte.
const MAX_RATIO: u64 = 200;

/// Most arrays in a file of poses.
const MAX_ARRAYS: usize = 1024;

/// Pictures whose lists are compared to find the side of the action.
const COMPARED: usize = 16;

/// Rotations closer than this, in radians, count as equal; the published lists have steps of 0.0175.
const SAME: f64 = 4e-3;

/// Part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Split {
    /// 45 000 pictures of each solid in the original.
    Train,
    /// 5 000 pictures of each solid in the original.
    Test,
}

impl Split {
    /// Both.
    pub const ALL: [Split; 2] = [Split::Train, Split::Test];

    /// Name of the folder.
    pub fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Test => "test",
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The side from which symmetries act on poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The orbit of R is {R g}: symmetries turn the solid in its own frame. Everything in this crate takes this side.
    Right,
    /// The orbit of R is {g R}: matrices are those of the inverse rotations.
    Left,
}

/// Pictures and poses.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    source: Source,
    /// Numbers of the pictures, with the place of the member that holds each.
    pictures: BTreeMap<(Split, Solid), BTreeMap<usize, usize>>,
    ignored: usize,
}

#[derive(Debug)]
enum Source {
    /// The folder with `train` and `test` in it.
    Folder(PathBuf),
    Zip {
        archive: Mutex<archive::Archive<BufReader<File>>>,
        rotations: HashMap<Split, Member>,
        /// Files of poses that were packed, unpacked to temporary files.
        unpacked: Mutex<HashMap<Split, File>>,
    },
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl Archive {
    /// Opens a folder, or a ZIP file, with `train` and `test` in it or in a folder of it.
    pub fn open(path: &Path) -> Result<Self, PoseError> {
        let kind = fs::metadata(path).map_err(|e| PoseError::io(path, "open", e))?;
        let archive = if kind.is_dir() { Self::open_folder(path) } else { Self::open_zip(path) }?;
        if archive.pictures.is_empty() {
            return Err(PoseError::NoPictures { path: path.into() });
        }
        Ok(archive)
    }

    fn open_folder(path: &Path) -> Result<Self, PoseError> {
        let has_parts = |folder: &Path| Split::ALL.iter().any(|split| folder.join(split.name()).is_dir());
        let mut candidates = vec![path.to_path_buf()];
        let below = fs::read_dir(path).map_err(|e| PoseError::io(path, "list", e))?;
        let mut below: Vec<_> = below.filter_map(|entry| Some(entry.ok()?.path())).collect();
        below.sort();
        candidates.extend(below);
        let root = candidates.into_iter().find(|folder| has_parts(folder));
        let root = root.ok_or_else(|| PoseError::NoPictures { path: path.into() })?;
        let (mut pictures, mut ignored) = (BTreeMap::<_, BTreeMap<_, _>>::new(), 0);
        for split in Split::ALL {
            let folder = root.join(split.name()).join("images");
            if !folder.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&folder).map_err(|e| PoseError::io(&folder, "list", e))? {
                let name = entry.map_err(|e| PoseError::io(&folder, "list", e))?.file_name();
                match name.to_str().and_then(|file| Entry::parse(&[split.name(), "images", file])) {
                    Some(Entry::Picture(split, solid, index)) => {
                        pictures.entry((split, solid)).or_default().insert(index, 0);
                    }
                    _ => ignored += 1,
                }
            }
        }
        Ok(Self { path: path.into(), source: Source::Folder(root), pictures, ignored })
    }

    fn open_zip(path: &Path) -> Result<Self, PoseError> {
        let file = open_regular(path).map_err(|e| PoseError::io(path, "open", e.into()))?;
        let bad = |e: ArchiveError| PoseError::Zip { path: path.into(), problem: e.to_string() };
        let archive = archive::Archive::open(BufReader::new(file), usize::MAX).map_err(bad)?;
        let mut found: BTreeMap<String, Vec<(Entry, Member)>> = BTreeMap::new();
        let mut ignored = 0;
        for member in archive.members() {
            let member = member.map_err(bad)?;
            match place_of(&member.name).filter(|_| member.is_file) {
                Some((folder, entry)) => found.entry(folder).or_default().push((entry, member)),
                None => ignored += usize::from(!member.name.ends_with('/')),
            }
        }
        // The layout may stand at the top or in one folder; of several the first.
        let first = found.pop_first().map(|(_, entries)| entries).unwrap_or_default();
        ignored += found.values().map(Vec::len).sum::<usize>();
        let (mut pictures, mut rotations) = (BTreeMap::<_, BTreeMap<_, _>>::new(), HashMap::new());
        for (entry, member) in first {
            match entry {
                Entry::Picture(split, solid, index) => {
                    pictures.entry((split, solid)).or_default().insert(index, member.number);
                }
                Entry::Rotations(split) => {
                    rotations.insert(split, member);
                }
            }
        }
        let source = Source::Zip { archive: Mutex::new(archive), rotations, unpacked: Mutex::default() };
        Ok(Self { path: path.into(), source, pictures, ignored })
    }

    /// The solids of which there are pictures, in the order of their classes.
    pub fn shapes(&self, split: Split) -> Vec<Solid> {
        SOLIDS.iter().copied().filter(|solid| self.pictures.contains_key(&(split, *solid))).collect()
    }

    /// Number of pictures of a solid: one more than the largest number in a name.
    pub fn len(&self, split: Split, solid: Solid) -> usize {
        let last = self.pictures.get(&(split, solid)).and_then(|list| list.last_key_value());
        last.map_or(0, |(index, _)| index + 1)
    }

    /// Whether there is no picture of a solid.
    pub fn is_empty(&self, split: Split, solid: Solid) -> bool {
        self.len(split, solid) == 0
    }

    /// Number of files passed over, because they are no part of the layout or not to be trusted.
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    /// One picture.
    pub fn image(&self, split: Split, solid: Solid, index: usize) -> Result<Picture, PoseError> {
        let member = self.pictures.get(&(split, solid)).and_then(|list| list.get(&index));
        let missing = || PoseError::Missing { path: self.path.clone(), split, shape: solid.name(), index };
        let place = *member.ok_or_else(missing)?;
        let name = picture_name(split, solid, index);
        let mut bytes = Vec::new();
        match &self.source {
            Source::Zip { archive, .. } => {
                let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
                let member = archive.member(place).map_err(|e| self.zip(e))?;
                self.admit(&name, &member, MAX_PICTURE)?;
                let mut file = archive.read(&member).map_err(|e| self.zip(e))?;
                file.read_to_end(&mut bytes).map_err(|e| self.zip(e.into()))?;
            }
            Source::Folder(root) => {
                let path = root.join(&name);
                let file = open_regular(&path).map_err(|e| PoseError::io(&path, "open", e.into()))?;
                file.take(MAX_PICTURE).read_to_end(&mut bytes).map_err(|e| PoseError::io(&path, "read", e))?;
            }
        }
        Picture::from_png(&bytes).map_err(|problem| PoseError::Picture { path: self.path.clone(), name, problem })
    }

    /// For each picture of a solid all poses that look like it, its own first.
    ///
    /// The original's cylinder takes a gigabyte; [`Archive::labels`] keeps the first of each list alone.
    pub fn rotations(&self, split: Split, solid: Solid) -> Result<Vec<Vec<Quaternion>>, PoseError> {
        let mut lists = Vec::new();
        self.each_list(split, solid, usize::MAX, |list| {
            lists.push(list.to_vec());
            ControlFlow::Continue(())
        })?;
        Ok(lists)
    }

    /// The pose of each picture of a solid.
    pub fn labels(&self, split: Split, solid: Solid) -> Result<Vec<Quaternion>, PoseError> {
        let mut labels = Vec::new();
        self.each_list(split, solid, 1, |list| {
            labels.push(list[0]);
            ControlFlow::Continue(())
        })?;
        Ok(labels)
    }

    /// Determines from which side symmetries act on the poses of the archive.
    ///
    /// # Formula
    /// If the orbits are {R g}, the set of R₀⁻¹ R over the list of a picture is the same for all pictures; if they are {g R}, that
    /// of R R₀⁻¹ is. Neither, or both, is refused.
    pub fn check_action(&self) -> Result<Action, PoseError> {
        let unclear = |why: String| PoseError::UnclearAction { path: self.path.clone(), why };
        let mut agreed: Option<(Action, Solid)> = None;
        for split in Split::ALL {
            for solid in self.shapes(split) {
                let mut lists: Vec<Vec<Quaternion>> = Vec::new();
                let read = self.each_list(split, solid, usize::MAX, |list| {
                    lists.push(list.to_vec());
                    if lists.len() < COMPARED && list.len() > 1 {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                });
                match read {
                    Err(PoseError::NoRotations { .. }) => continue,
                    other => other?,
                }
                if lists.len() < 2 || lists[0].len() < 2 {
                    continue;
                }
                let relative = |right: bool| {
                    let set = |list: &Vec<Quaternion>| -> Vec<Quaternion> {
                        let first = conjugate(&list[0]);
                        list.iter().map(|q| if right { multiply(&first, q) } else { multiply(q, &first) }).collect()
                    };
                    let reference = set(&lists[0]);
                    lists[1..].iter().all(|list| set(list).iter().all(|q| contains(&reference, q)))
                };
                let action = match (relative(true), relative(false)) {
                    (true, false) => Action::Right,
                    (false, true) => Action::Left,
                    (true, true) => continue,
                    (false, false) => {
                        return Err(PoseError::NoAction { path: self.path.clone(), shape: solid.name() });
                    }
                };
                match agreed {
                    Some((other, first)) if other != action => {
                        return Err(unclear(format!("`{first}` shows {other:?} and `{solid}` shows {action:?}")));
                    }
                    Some(_) => {}
                    None => agreed = Some((action, solid)),
                }
            }
        }
        let why = "no solid has two pictures with lists that show it; wanted different poses of a symmetric solid";
        agreed.map(|(action, _)| action).ok_or_else(|| unclear(why.into()))
    }

    /// Calls `keep` with the first `most` entries of the list of each picture, until it returns a break.
    fn each_list(
        &self,
        split: Split,
        solid: Solid,
        most: usize,
        keep: impl FnMut(&[Quaternion]) -> ControlFlow<()>,
    ) -> Result<(), PoseError> {
        let place = Place { path: self.path.clone(), split, solid };
        let none = || PoseError::NoRotations { path: self.path.clone(), split, shape: solid.name() };
        match &self.source {
            Source::Folder(root) => {
                let path = root.join(split.name()).join("rotations.npz");
                match open_regular(&path) {
                    Ok(file) => self.read_npz(&mut BufReader::new(file), &place, most, keep),
                    Err(e) if e.is_missing() => Err(none()),
                    Err(e) => Err(PoseError::io(path, "open", e.into())),
                }
            }
            Source::Zip { archive, rotations, unpacked } => {
                let member = rotations.get(&split).ok_or_else(none)?;
                let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
                if member.is_stored {
                    let mut inside = archive.seek(member).map_err(|e| self.zip(e))?;
                    return self.read_npz(&mut inside, &place, most, keep);
                }
                let mut files = unpacked.lock().unwrap_or_else(PoisonError::into_inner);
                if let std::collections::hash_map::Entry::Vacant(slot) = files.entry(split) {
                    self.admit(&format!("{split}/rotations.npz"), member, MAX_ROTATIONS)?;
                    let mut packed = archive.read(member).map_err(|e| self.zip(e))?;
                    let temporary = |e| PoseError::io(std::env::temp_dir(), "unpack poses to", e);
                    let mut file = tempfile::tempfile().map_err(temporary)?;
                    unpack(&mut packed, &mut file, |e| self.zip(e.into()), temporary)?;
                    slot.insert(file);
                }
                drop(archive);
                match files.get_mut(&split) {
                    Some(file) => self.read_npz(&mut BufReader::new(file), &place, most, keep),
                    None => Err(none()),
                }
            }
        }
    }

    fn read_npz(
        &self,
        file: &mut dyn ReadSeek,
        place: &Place,
        most: usize,
        keep: impl FnMut(&[Quaternion]) -> ControlFlow<()>,
    ) -> Result<(), PoseError> {
        let bad = |e: ArchiveError| place.array(format!("bad NPZ file: {e}"));
        let mut arrays = archive::Archive::open(file, MAX_ARRAYS).map_err(bad)?;
        let name = format!("{}.npy", place.solid);
        let Some(member) = arrays.named(&name) else {
            let Place { path, split, solid } = place.clone();
            return Err(PoseError::NoRotations { path, split, shape: solid.name() });
        };
        let member = member.map_err(bad)?;
        self.admit(&format!("{}/rotations.npz/{name}", place.split), &member, MAX_ROTATIONS)?;
        read_array(BufReader::new(arrays.read(&member).map_err(bad)?), member.size, place, most, keep)
    }

    fn admit(&self, name: &str, member: &Member, limit: u64) -> Result<(), PoseError> {
        let Member { size, packed, .. } = *member;
        let swollen = size > 1 << 20 && size / MAX_RATIO > packed;
        if size <= limit && !swollen {
            return Ok(());
        }
        let (path, member) = (self.path.clone(), name.to_owned());
        Err(PoseError::TooLarge { path, member, size, packed, limit, ratio: MAX_RATIO })
    }

    fn zip(&self, error: ArchiveError) -> PoseError {
        PoseError::Zip { path: self.path.clone(), problem: error.to_string() }
    }
}

/// Copies all of `from` into `to`, distinguishing a source that cannot be read from a disk that is full.
fn unpack(
    from: &mut dyn Read,
    to: &mut dyn io::Write,
    unreadable: impl Fn(io::Error) -> PoseError,
    full: impl Fn(io::Error) -> PoseError,
) -> Result<(), PoseError> {
    let mut block = vec![0; 1 << 16];
    loop {
        match from.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(n) => to.write_all(&block[..n]).map_err(&full)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(unreadable(e)),
        }
    }
}

/// Whether a rotation is in a list.
fn contains(list: &[Quaternion], q: &Quaternion) -> bool {
    let least = (SAME / 2.0).cos();
    list.iter().any(|g| (0..4).map(|i| g[i] * q[i]).sum::<f64>().abs() > least)
}
