//! Names of files in the layout of SymSol.

use super::archive::Split;
use super::solid::Solid;

/// What a name in the layout stands for.
pub(super) enum Entry {
    Picture(Split, Solid, usize),
    Rotations(Split),
}

impl Entry {
    /// Understands `train/images/cube_00012.png` and `train/rotations.npz`.
    pub(super) fn parse(parts: &[&str]) -> Option<Self> {
        let split = Split::ALL.into_iter().find(|split| Some(&split.name()) == parts.first())?;
        match parts[1..] {
            ["rotations.npz"] => Some(Entry::Rotations(split)),
            ["images", file] => {
                // At the last underscore: `cyl_00000` and `cylO_00000` differ only before it.
                let (shape, digits) = file.strip_suffix(".png")?.rsplit_once('_')?;
                let index = digits.parse().ok().filter(|index| picture_digits(*index) == digits)?;
                Some(Entry::Picture(split, Solid::lookup(shape)?, index))
            }
            _ => None,
        }
    }
}

fn picture_digits(index: usize) -> String {
    format!("{index:05}")
}

/// Name of a picture below the folder with `train` and `test` in it.
pub(super) fn picture_name(split: Split, solid: Solid, index: usize) -> String {
    format!("{split}/images/{solid}_{}.png", picture_digits(index))
}

/// The folder before the layout, empty or one name, and what the rest stands for; `None` for names that are no plain paths.
pub(super) fn place_of(name: &str) -> Option<(String, Entry)> {
    let parts: Vec<&str> = name.split('/').collect();
    let plain = |part: &&str| !part.is_empty() && *part != "." && *part != ".." && !part.contains(['\\', '\0', ':']);
    if !parts.iter().all(plain) {
        return None;
    }
    match Entry::parse(&parts) {
        Some(entry) => Some((String::new(), entry)),
        None => Some((parts[0].to_owned(), Entry::parse(&parts[1..])?)),
    }
}
