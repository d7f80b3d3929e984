//! Names of columns: a quantity and, at its end, a unit.

use super::AngleUnit;

/// Names of latitudes. `decimallatitude` is the one of Darwin Core, `reclat` that of the meteorite list.
const LATITUDE: &[&str] = &["lat", "latitude", "decimallatitude", "reclat"];

/// Names of longitudes.
const LONGITUDE: &[&str] = &["lon", "long", "lng", "longitude", "decimallongitude", "reclong"];

/// Words for degrees in brackets.
const DEGREES: &[&str] = &["deg", "degs", "degree", "degrees", "decimal degrees", "°"];

/// Words for radians in brackets.
const RADIANS: &[&str] = &["rad", "rads", "radian", "radians"];

/// The quantity in lower case, and the unit if there is one: `Lat (deg)`, `lat [°]` and `lat_deg` are `lat` in degrees.
/// Whatever else stands in brackets at the end is left out, too.
pub(super) fn cut(name: &str) -> (String, Option<AngleUnit>) {
    let name = name.trim().to_lowercase();
    let open = match name.chars().last() {
        Some(')') => name.rfind('('),
        Some(']') => name.rfind('['),
        _ => None,
    };
    if let Some(open) = open.filter(|open| *open > 0) {
        let inside = name[open + 1..name.len() - 1].trim();
        let unit = match inside {
            word if DEGREES.contains(&word) => Some(AngleUnit::Deg),
            word if RADIANS.contains(&word) => Some(AngleUnit::Rad),
            _ => None,
        };
        let quantity = name[..open].trim_end_matches(['_', ' ']);
        // The unit may stand there twice, as in `lat_deg (WGS84)`.
        let (quantity, before) = ending(quantity);
        return (quantity.into(), unit.or(before));
    }
    let (quantity, unit) = ending(&name);
    (quantity.into(), unit)
}

/// A name without a unit after `_` or a blank.
fn ending(name: &str) -> (&str, Option<AngleUnit>) {
    let unit = |word: &str| match word {
        "deg" | "degrees" => Some(AngleUnit::Deg),
        "rad" | "radians" => Some(AngleUnit::Rad),
        _ => None,
    };
    match name.rsplit_once(['_', ' ']) {
        Some((quantity, word)) if unit(word).is_some() => (quantity.trim_end(), unit(word)),
        _ => (name, None),
    }
}

/// The unit that the name of a column ends in.
pub(crate) fn unit(name: &str) -> Option<AngleUnit> {
    cut(name).1
}

/// Whether a column is called like a latitude, in any unit.
pub(crate) fn is_latitude(name: &str) -> bool {
    LATITUDE.contains(&cut(name).0.as_str())
}

/// Whether a column is called like a longitude, in any unit.
pub(crate) fn is_longitude(name: &str) -> bool {
    LONGITUDE.contains(&cut(name).0.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_behind_a_line_a_blank_or_in_brackets() {
        for (name, unit) in [
            ("lat", None),
            ("Latitude (deg)", Some(AngleUnit::Deg)),
            ("lat [°]", Some(AngleUnit::Deg)),
            ("latitude_degrees", Some(AngleUnit::Deg)),
            ("LAT_RAD", Some(AngleUnit::Rad)),
            ("lat [rad]", Some(AngleUnit::Rad)),
            ("Latitude (decimal degrees)", Some(AngleUnit::Deg)),
            ("lat_rad (WGS84)", Some(AngleUnit::Rad)),
            ("latitude (N)", None),
        ] {
            assert!(is_latitude(name) && !is_longitude(name), "{name}");
            assert_eq!(cut(name).1, unit, "{name}");
        }
        assert!(is_longitude("Longitude (deg)") && !is_latitude("plate"));
        assert_eq!(cut("in_degree"), ("in_degree".into(), None));
        assert_eq!(cut("(deg)"), ("(deg)".into(), None));
        assert_eq!(cut(""), (String::new(), None));
    }
}
