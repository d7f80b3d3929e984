//! Numbers of different factors of a product against each other: what pictures of single factors cannot show.

use super::angles::degrees;
use mad_core::{Points, catalogue::View};

/// A number that can be read off every point.
pub struct Coordinate {
    /// Name on the axis.
    pub name: String,
    /// Its values, one list for each set of points.
    pub values: Vec<Vec<f64>>,
}

/// The numbers of one factor, whose part of the points is given for each set; categories have none.
///
/// `name` is asked once for each name that the pictures of the factor take, in their order.
fn coordinates(view: &View, sets: &[&Points], name: &mut dyn FnMut(&str, usize) -> String) -> Vec<Coordinate> {
    let read = |name: String, value: &dyn Fn(&[f64]) -> f64| Coordinate {
        name,
        values: sets.iter().map(|points| points.rows().map(value).collect()).collect(),
    };
    match view {
        View::Map => vec![
            read("longitude (°)".into(), &|p| p[1].atan2(p[0]).to_degrees()),
            read("latitude (°)".into(), &|p| p[2].atan2(p[0].hypot(p[1])).to_degrees()),
        ],
        View::Rotations => vec![read("angle of rotation (°)".into(), &turn)],
        View::Angles(count) => {
            (0..*count).map(|i| read(format!("{} (°)", name("angle", i)), &|p| degrees(p, i))).collect()
        }
        View::Bars(levels) => {
            (0..levels.len()).for_each(|i| drop(name("column", i)));
            Vec::new()
        }
        View::Scatter => {
            let dim = sets.first().map_or(0, |points| points.dim());
            (0..dim).map(|i| read(name("coordinate", i), &|p| p[i])).collect()
        }
        View::Blocks(blocks) => factors(blocks, sets, name).into_iter().flatten().collect(),
    }
}

/// The numbers of each factor of a product.
pub fn factors(
    blocks: &[(usize, View)],
    sets: &[&Points],
    name: &mut dyn FnMut(&str, usize) -> String,
) -> Vec<Vec<Coordinate>> {
    let mut from = 0;
    let mut each = |(dim, view): &(usize, View)| {
        let parts: Vec<Points> = sets.iter().map(|points| block(points, from, *dim)).collect();
        from += dim;
        coordinates(view, &parts.iter().collect::<Vec<_>>(), name)
    };
    blocks.iter().map(&mut each).collect()
}

/// Some neighbouring coordinates of all points.
pub fn block(points: &Points, from: usize, dim: usize) -> Points {
    Points::from_vec(points.rows().flat_map(|row| row[from..from + dim].iter().copied()).collect(), dim)
}

/// Angle of the rotation of a quaternion whose real part comes last, in degrees.
fn turn(q: &[f64]) -> f64 {
    let imaginary = q[..3].iter().map(|v| v * v).sum::<f64>().sqrt();
    2.0 * imaginary.atan2(q[3].abs()).to_degrees()
}

/// Pairs of numbers of different factors, first factors first.
pub fn across(factors: &[Vec<Coordinate>]) -> Vec<(&Coordinate, &Coordinate)> {
    let mut pairs = Vec::new();
    for (i, first) in factors.iter().enumerate() {
        for second in &factors[i + 1..] {
            pairs.extend(first.iter().flat_map(|a| second.iter().map(move |b| (a, b))));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_different_factors_are_paired_under_their_names() {
        // A place, a category of two, a circle and a number.
        let (half, root) = (0.5, 0.75_f64.sqrt());
        let row = [half, root, 0.0, 0.0, 1.0, 0.0, 1.0, 7.0];
        let points = Points::from_vec([row, row].concat(), 8);
        let blocks = [
            (3, View::Map),
            (2, View::Bars(vec![2])),
            (3, View::Blocks(vec![(2, View::Angles(1)), (1, View::Scatter)])),
        ];
        let given = ["kind", "phase", "depth"];
        let mut next = given.iter();
        let factors = factors(&blocks, &[&points], &mut |_, _| (*next.next().unwrap()).to_owned());
        assert!(next.next().is_none(), "each name is asked for once");
        let pairs = across(&factors);
        let names: Vec<_> = pairs.iter().map(|(a, b)| (a.name.as_str(), b.name.as_str())).collect();
        let (lon, lat) = ("longitude (°)", "latitude (°)");
        assert_eq!(names, [(lon, "phase (°)"), (lon, "depth"), (lat, "phase (°)"), (lat, "depth")]);
        let (place, depth) = pairs[1];
        assert!((place.values[0][1] - 60.0).abs() < 1e-9 && depth.values[0] == [7.0, 7.0]);
        assert!((pairs[0].1.values[0][0] - 90.0).abs() < 1e-9);
    }

    #[test]
    fn turns_do_not_depend_on_the_sign_of_the_quaternion() {
        let q = [0.0, 0.0, 30.0_f64.to_radians().sin(), 30.0_f64.to_radians().cos()];
        assert!((turn(&q) - 60.0).abs() < 1e-9 && (turn(&q.map(|v| -v)) - 60.0).abs() < 1e-9);
    }
}
