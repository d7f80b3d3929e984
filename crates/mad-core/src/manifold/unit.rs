//! Units in which people read distances on a manifold.

use super::Manifold;
use serde::{Deserialize, Serialize};

/// Mean radius of the earth in kilometres (IUGG).
const EARTH_RADIUS: f64 = 6371.0088;

/// A unit of distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Kilometres on the globe.
    #[serde(rename = "km")]
    Kilometre,
    /// Degrees of an angle.
    #[serde(rename = "deg")]
    Degree,
    /// The manifold's own unit: radians for angles, the unit of the coordinates otherwise.
    #[serde(rename = "")]
    Plain,
}

impl Unit {
    /// The unit in messages, such as `km`; empty for the manifold's own.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Kilometre => "km",
            Unit::Degree => "deg",
            Unit::Plain => "",
        }
    }

    /// How much one unit is in the manifold's own.
    pub fn size(self) -> f64 {
        match self {
            Unit::Kilometre => 1.0 / EARTH_RADIUS,
            Unit::Degree => 1f64.to_radians(),
            Unit::Plain => 1.0,
        }
    }

    /// Whether distances on `manifold` can be given in this unit.
    pub fn fits(self, manifold: &dyn Manifold) -> bool {
        match self {
            Unit::Kilometre => is_globe(manifold),
            Unit::Degree => manifold.is_angular(),
            Unit::Plain => true,
        }
    }

    /// The unit in which distances on `manifold` are reported; `places` states that points are latitudes and longitudes.
    pub fn natural(manifold: &dyn Manifold, places: bool) -> Self {
        match () {
            () if places && Unit::Kilometre.fits(manifold) => Unit::Kilometre,
            () if Unit::Degree.fits(manifold) => Unit::Degree,
            () => Unit::Plain,
        }
    }
}

/// Whether points are unit vectors in R³, so that they can be places on the globe.
fn is_globe(manifold: &dyn Manifold) -> bool {
    manifold.ambient_dim() == 3 && manifold.spheres().is_some_and(|blocks| blocks.len() == 1)
}
