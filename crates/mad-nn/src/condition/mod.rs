//! What a model is conditioned on: nothing, columns of the table, or pictures.

mod error;
mod pictures;
mod pretrained;

pub use error::PictureError;
pub(crate) use pictures::read_parts;
pub use pictures::{Pictures, PoseBatch, SolidPictures, Turn, picture_from};
pub(crate) use pretrained::pretrained;

use mad_core::{
    rotation::{Group, Symmetry},
    solids::Solid,
};
use std::str::FromStr;

/// What a model is conditioned on, as the setting `condition` says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    Nothing,
    /// Numeric columns, by their names, separated by commas.
    Columns(String),
    /// Pictures of a solid with known symmetry, rendered or from an archive.
    Solid(Solid),
    /// Pictures in files that this column names.
    Files(String),
}

/// What kind of condition a method takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// None.
    Nothing,
    /// Numbers.
    Columns,
    /// Pictures.
    Pictures,
}

/// How a condition on pictures begins.
const PICTURE: &str = "picture=";

/// How pictures of a solid are named.
const SOLIDS: &str = "symsol:";

/// Reads the setting; the error says what is allowed.
impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(PICTURE) {
            None if text.is_empty() => Ok(Condition::Nothing),
            None => Ok(Condition::Columns(text.into())),
            Some("") => Err("picture=COLUMN, or picture=symsol:SOLID".into()),
            Some(what) => match what.strip_prefix(SOLIDS) {
                Some(solid) => solid.parse().map(Condition::Solid).map_err(|e| format!("picture=symsol:SOLID; {e}")),
                None => Ok(Condition::Files(what.into())),
            },
        }
    }
}

impl Condition {
    /// The setting for pictures of the solid of this name.
    pub fn of_solid(name: &str) -> String {
        format!("{PICTURE}{SOLIDS}{name}")
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Condition::Nothing => Kind::Nothing,
            Condition::Columns(_) => Kind::Columns,
            Condition::Solid(_) | Condition::Files(_) => Kind::Pictures,
        }
    }

    /// Whether it is a picture.
    pub(crate) fn is_pictures(&self) -> bool {
        self.kind() == Kind::Pictures
    }
}

/// The rotations after which what the pictures show looks the same: those of the solid, or those of the manifold `so3/G`; the
/// error says why there are none.
pub(crate) fn symmetry_of(condition: &Condition, manifold: &str) -> Result<Symmetry, String> {
    if let Condition::Solid(solid) = condition {
        let refused = || format!("pictures of solids are a condition for poses on so3, not on {manifold}");
        return if manifold == "so3" { Ok(solid.symmetry()) } else { Err(refused()) };
    }
    let (name, group) = manifold.split_once('/').map_or((manifold, None), |(name, group)| (name, Some(group)));
    if name != "so3" {
        return Err(format!("pictures are a condition for poses on so3 or so3/GROUP, not on {manifold}"));
    }
    match group.map(str::parse::<Group>) {
        None => Ok(Symmetry::Trivial),
        Some(Ok(Group::Octahedral)) => Ok(Symmetry::octahedral()),
        Some(Ok(Group::Icosahedral)) => Ok(Symmetry::icosahedral()),
        Some(Ok(Group::Axial)) => Ok(Symmetry::Axial),
        Some(Ok(Group::AxialFlip)) => Ok(Symmetry::AxialFlip),
        Some(_) => {
            Err(format!("no invariant embedding is known for {manifold}; known are so3 and so3/ with O, I, SO2, O2"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_told_apart() {
        let parse = |text: &str| text.parse::<Condition>();
        let kind = |text: &str| parse(text).map(|condition| condition.kind());
        assert_eq!(kind(""), Ok(Kind::Nothing));
        assert_eq!(kind("depth, magnitude"), Ok(Kind::Columns));
        assert_eq!(parse("picture=file"), Ok(Condition::Files("file".into())));
        let cube = Solid::lookup("cube").unwrap();
        assert_eq!(parse(&Condition::of_solid("cube")), Ok(Condition::Solid(cube)));
        assert!(parse("picture=").is_err());
        assert!(parse("picture=symsol:teapot").unwrap_err().contains("icosa"));
    }

    #[test]
    fn symmetries_follow_from_the_solid_or_the_manifold() {
        let files = Condition::Files("file".into());
        assert_eq!(symmetry_of(&files, "so3"), Ok(Symmetry::Trivial));
        assert_eq!(symmetry_of(&files, "so3/O"), Ok(Symmetry::octahedral()));
        assert_eq!(symmetry_of(&files, "so3/SO2"), Ok(Symmetry::Axial));
        assert!(symmetry_of(&files, "so3/D3").unwrap_err().contains("so3/D3"));
        assert!(symmetry_of(&files, "sphere:2").unwrap_err().contains("sphere:2"));
        let tet = Condition::Solid(Solid::lookup("tet").unwrap());
        assert_eq!(symmetry_of(&tet, "so3"), Ok(Symmetry::tetrahedral()));
        assert!(["so3/O", "sphere:2"].into_iter().all(|other| symmetry_of(&tet, other).is_err()));
    }
}
