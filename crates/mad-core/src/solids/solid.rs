//! The solids, by name.

use super::body::{self, Body};
use crate::registry::{Named, Unknown, find, lookup};
use crate::rotation::Symmetry;
use std::{fmt, str::FromStr};

/// One of the solids of SymSol: a place in [`SOLIDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Solid(usize);

/// What is known of a solid.
struct Entry {
    name: &'static str,
    summary: &'static str,
    /// The rotations after which every picture is the same. Marks break all symmetry, also where they are out of sight.
    symmetry: fn() -> Symmetry,
    /// Whether the reflection of its first axis leaves the solid as it is.
    is_mirror_symmetric: bool,
    body: Body,
}

/// Number of solids.
const COUNT: usize = 8;

/// One entry per solid, in the order of class numbers: five without features (SymSol I), three with a mark (SymSol II).
static ENTRIES: [Entry; COUNT] = [
    Entry {
        name: "tet",
        summary: "tetrahedron, symmetric under T",
        symmetry: Symmetry::tetrahedral,
        is_mirror_symmetric: true,
        body: Body::Polyhedron(&body::TETRAHEDRON),
    },
    Entry {
        name: "cube",
        summary: "cube, symmetric under O",
        symmetry: Symmetry::octahedral,
        is_mirror_symmetric: true,
        body: Body::Polyhedron(&body::CUBE),
    },
    Entry {
        name: "icosa",
        summary: "icosahedron, symmetric under I",
        symmetry: Symmetry::icosahedral,
        is_mirror_symmetric: true,
        body: Body::Polyhedron(&body::ICOSAHEDRON),
    },
    Entry {
        name: "cone",
        summary: "cone, symmetric under all turns about its axis",
        symmetry: || Symmetry::Axial,
        is_mirror_symmetric: true,
        body: Body::Cone,
    },
    Entry {
        name: "cyl",
        summary: "cylinder, symmetric under turns about its axis and half turns across it",
        symmetry: || Symmetry::AxialFlip,
        is_mirror_symmetric: true,
        body: Body::Cylinder { dotted: false },
    },
    Entry {
        name: "tetX",
        summary: "tetrahedron with one red face",
        symmetry: || Symmetry::Trivial,
        is_mirror_symmetric: false,
        body: Body::Polyhedron(&body::MARKED_TETRAHEDRON),
    },
    Entry {
        name: "cylO",
        summary: "cylinder with a dot on its side",
        symmetry: || Symmetry::Trivial,
        is_mirror_symmetric: false,
        body: Body::Cylinder { dotted: true },
    },
    Entry {
        name: "sphereX",
        summary: "sphere with a cross and a dot",
        symmetry: || Symmetry::Trivial,
        is_mirror_symmetric: false,
        body: Body::MarkedSphere,
    },
];

/// All solids in the order of their class numbers.
pub const SOLIDS: &[Solid] = &{
    let mut all = [Solid(0); COUNT];
    let mut place = 0;
    while place < COUNT {
        all[place] = Solid(place);
        place += 1;
    }
    all
};

impl Solid {
    /// The solid of this name, as in [`Solid::name`]; for a message that helps, parse the text instead.
    pub fn lookup(name: &str) -> Option<Solid> {
        lookup(SOLIDS, name).copied()
    }

    fn entry(self) -> &'static Entry {
        &ENTRIES[self.0]
    }

    /// Name in files, such as `cube` or `tetX`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it is, in one line.
    pub fn summary(self) -> &'static str {
        self.entry().summary
    }

    /// Number in [`SOLIDS`].
    pub fn class(self) -> usize {
        self.0
    }

    /// The rotations after which every picture is the same. Marks break all symmetry, also where they are out of sight.
    pub fn symmetry(self) -> Symmetry {
        (self.entry().symmetry)()
    }

    /// Whether the reflection of its first axis leaves the solid as it is, so that a flipped picture is a picture of it too.
    pub fn is_mirror_symmetric(self) -> bool {
        self.entry().is_mirror_symmetric
    }

    pub(super) fn body(self) -> Body {
        self.entry().body
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
