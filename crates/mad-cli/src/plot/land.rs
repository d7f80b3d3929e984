//! The outline of the continents, cut at the edge of the map.

use super::mollweide::forward;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Rings of steps in hundredths of a degree; `assets/build_assets.py` explains the format and the origin.
const LAND: &str = include_str!("../../assets/land-110m.txt");

/// Longitude and latitude in radians.
pub type LonLat = (f64, f64);

/// Closed polygons of land with longitudes relative to `centre` (radians), each within [−π, π]: rings that run across the
/// edge of the map are cut there, the ring around a pole is led along the edge to the pole.
pub fn land(centre: f64) -> Vec<Vec<LonLat>> {
    LAND.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| cut(&close_at_pole(unroll(line)), centre))
        .collect()
}

/// Positions from steps; longitudes run on past ±π.
fn unroll(line: &str) -> Vec<LonLat> {
    let numbers: Vec<f64> = line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    let mut at = (0.0, 0.0);
    let mut ring = Vec::with_capacity(numbers.len() / 2);
    for step in numbers.chunks_exact(2) {
        at = (at.0 + step[0], at.1 + step[1]);
        ring.push(((at.0 * 0.01f64).to_radians(), (at.1 * 0.01f64).to_radians()));
    }
    ring
}

/// A ring that does not close in longitude goes round a pole; two corners at that pole make it a polygon in the plane.
fn close_at_pole(mut ring: Vec<LonLat>) -> Vec<LonLat> {
    let (Some(&first), Some(&last)) = (ring.first(), ring.last()) else { return ring };
    let turns = ((last.0 - first.0) / TAU).round();
    if turns != 0.0 {
        let pole = FRAC_PI_2.copysign(first.1);
        let end = first.0 + turns * TAU;
        ring.extend([(end, first.1), (end, pole), (first.0, pole)]);
    }
    ring
}

/// Cuts a polygon in the longitude–latitude plane into the parts that lie within one turn around `centre`.
fn cut(ring: &[LonLat], centre: f64) -> Vec<Vec<LonLat>> {
    let shifted: Vec<LonLat> = ring.iter().map(|&(lon, lat)| (lon - centre, lat)).collect();
    let turn = |lon: f64| ((lon + PI) / TAU).floor() as i64;
    let (low, high) = shifted.iter().fold((i64::MAX, i64::MIN), |(a, b), p| (a.min(turn(p.0)), b.max(turn(p.0))));
    (low..=high)
        .map(|k| {
            let offset = k as f64 * TAU;
            let moved: Vec<LonLat> = shifted.iter().map(|&(lon, lat)| (lon - offset, lat)).collect();
            refine(&keep(&keep(&moved, -1.0), 1.0))
        })
        .filter(|part| part.len() > 2)
        .collect()
}

/// The part of a polygon on the inner side of the meridian side · π (Sutherland–Hodgman).
fn keep(polygon: &[LonLat], side: f64) -> Vec<LonLat> {
    let inside = |p: LonLat| side * p.0 <= PI;
    let mut out = Vec::with_capacity(polygon.len());
    for (i, &b) in polygon.iter().enumerate() {
        let a = polygon[(i + polygon.len() - 1) % polygon.len()];
        if inside(a) != inside(b) {
            let t = (side * PI - a.0) / (b.0 - a.0);
            out.push((side * PI, a.1 + t * (b.1 - a.1)));
        }
        if inside(b) {
            out.push(b);
        }
    }
    out
}

/// Halves edges until they are short on the map, so that they follow its curved rim.
fn refine(polygon: &[LonLat]) -> Vec<LonLat> {
    let mut out = Vec::with_capacity(polygon.len());
    for (i, &a) in polygon.iter().enumerate() {
        out.push(a);
        halve(a, polygon[(i + 1) % polygon.len()], 12, &mut out);
    }
    out
}

fn halve(a: LonLat, b: LonLat, depth: u32, out: &mut Vec<LonLat>) {
    let (p, q) = (forward(a.0, a.1), forward(b.0, b.1));
    if depth > 0 && (p.0 - q.0).hypot(p.1 - q.1) > 0.08 {
        let middle = (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1));
        halve(a, middle, depth - 1, out);
        out.push(middle);
        halve(middle, b, depth - 1, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(land: &[Vec<LonLat>], lon: f64, lat: f64) -> bool {
        let (x, y) = (lon.to_radians(), lat.to_radians());
        let crossings = land.iter().flat_map(|ring| {
            ring.iter().enumerate().filter(move |&(i, &(x1, y1))| {
                let (x0, y0) = ring[(i + ring.len() - 1) % ring.len()];
                (y0 > y) != (y1 > y) && x < x0 + (y - y0) / (y1 - y0) * (x1 - x0)
            })
        });
        crossings.count() % 2 == 1
    }

    #[test]
    fn land_is_where_it_should_be_for_every_centre() {
        let land_at =
            [(10.0, 50.0), (-100.0, 40.0), (134.0, -25.0), (0.0, -85.0), (179.0, -85.0), (-175.0, 67.0), (175.0, 67.0)];
        let sea_at =
            [(-30.0, 0.0), (-150.0, 10.0), (80.0, -40.0), (0.0, 88.0), (51.0, 42.0), (-170.0, 0.0), (179.5, 30.0)];
        for centre in [0.0, 150.0, -90.0, 179.0f64] {
            let land = land(centre.to_radians());
            for (expected, places) in [(true, land_at), (false, sea_at)] {
                for (lon, lat) in places {
                    let relative = (lon - centre + 180.0).rem_euclid(360.0) - 180.0;
                    assert_eq!(contains(&land, relative, lat), expected, "{lon} {lat} seen from {centre}");
                }
            }
        }
    }

    #[test]
    fn no_edge_crosses_the_map() {
        for centre in [0.0, 2.5] {
            for ring in land(centre) {
                for (i, &(lon, lat)) in ring.iter().enumerate() {
                    let next = ring[(i + 1) % ring.len()];
                    let (a, b) = (forward(lon, lat), forward(next.0, next.1));
                    assert!(lon.abs() <= PI + 1e-9 && (a.0 - b.0).hypot(a.1 - b.1) < 0.081, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn land_covers_about_29_percent() {
        let steps = 40_000;
        let golden = PI * (3.0 - 5f64.sqrt());
        let land = land(0.0);
        let hits = (0..steps)
            .filter(|&i| {
                let lat = (1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(steps)).asin();
                let lon = (golden * f64::from(i)).rem_euclid(TAU) - PI;
                contains(&land, lon.to_degrees(), lat.to_degrees())
            })
            .count();
        let share = hits as f64 / f64::from(steps);
        assert!((share - 0.29).abs() < 0.01, "{share}");
    }
}
