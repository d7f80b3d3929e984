//! The solids, by name.

use super::body::{self, Body};
use crate::registry::{Named, Unknown, find};
use crate::rotation::Symmetry;
use std::{fmt, str::FromStr};

/// One of the eight solids of SymSol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Solid(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    Tetrahedron,
    Cube,
    Icosahedron,
    Cone,
    Cylinder,
    MarkedTetrahedron,
    MarkedCylinder,
    MarkedSphere,
}

/// All solids in the order of their class numbers: five without features (SymSol I), three with a mark (SymSol II).
pub const SOLIDS: &[Solid] = &[
    Solid(Kind::Tetrahedron),
    Solid(Kind::Cube),
    Solid(Kind::Icosahedron),
    Solid(Kind::Cone),
    Solid(Kind::Cylinder),
    Solid(Kind::MarkedTetrahedron),
    Solid(Kind::MarkedCylinder),
    Solid(Kind::MarkedSphere),
];

impl Solid {
    /// The solid of this name, as in [`Solid::name`]; for a message that helps, parse the text instead.
    pub fn lookup(name: &str) -> Option<Solid> {
        SOLIDS.iter().copied().find(|solid| solid.name() == name)
    }

    /// Name in files, such as `cube` or `tetX`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Tetrahedron => "tet",
            Kind::Cube => "cube",
            Kind::Icosahedron => "icosa",
            Kind::Cone => "cone",
            Kind::Cylinder => "cyl",
            Kind::MarkedTetrahedron => "tetX",
            Kind::MarkedCylinder => "cylO",
            Kind::MarkedSphere => "sphereX",
        }
    }

    /// What it is, in one line.
    pub fn summary(self) -> &'static str {
        match self.0 {
            Kind::Tetrahedron => "tetrahedron, symmetric under T",
            Kind::Cube => "cube, symmetric under O",
            Kind::Icosahedron => "icosahedron, symmetric under I",
            Kind::Cone => "cone, symmetric under all turns about its axis",
            Kind::Cylinder => "cylinder, symmetric under turns about its axis and half turns across it",
            Kind::MarkedTetrahedron => "tetrahedron with one red face",
            Kind::MarkedCylinder => "cylinder with a dot on its side",
            Kind::MarkedSphere => "sphere with a cross and a dot",
        }
    }

    /// Number in [`SOLIDS`].
    pub fn class(self) -> usize {
        self.0 as usize
    }

    /// The rotations after which every picture is the same. Marks break all symmetry, also where they are out of sight.
    pub fn symmetry(self) -> Symmetry {
        match self.0 {
            Kind::Tetrahedron => Symmetry::tetrahedral(),
            Kind::Cube => Symmetry::octahedral(),
            Kind::Icosahedron => Symmetry::icosahedral(),
            Kind::Cone => Symmetry::Axial,
            Kind::Cylinder => Symmetry::AxialFlip,
            Kind::MarkedTetrahedron | Kind::MarkedCylinder | Kind::MarkedSphere => Symmetry::Trivial,
        }
    }

    /// Whether the reflection of its first axis leaves the solid as it is, so that a flipped picture is a picture of it too.
    pub fn is_mirror_symmetric(self) -> bool {
        !matches!(self.0, Kind::MarkedTetrahedron | Kind::MarkedCylinder | Kind::MarkedSphere)
    }

    pub(super) fn body(self) -> Body {
        match self.0 {
            Kind::Tetrahedron => Body::Polyhedron(&body::TETRAHEDRON),
            Kind::Cube => Body::Polyhedron(&body::CUBE),
            Kind::Icosahedron => Body::Polyhedron(&body::ICOSAHEDRON),
            Kind::Cone => Body::Cone,
            Kind::Cylinder => Body::Cylinder { dotted: false },
            Kind::MarkedTetrahedron => Body::Polyhedron(&body::MARKED_TETRAHEDRON),
            Kind::MarkedCylinder => Body::Cylinder { dotted: true },
            Kind::MarkedSphere => Body::MarkedSphere,
        }
    }
}

impl fmt::Display for Solid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Named for Solid {
    const KIND: &'static str = "solid";

    fn name(&self) -> &'static str {
        Solid::name(*self)
    }
}

impl FromStr for Solid {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        find(SOLIDS, text).copied()
    }
}
