//! Nearest points and chains of close points, for any metric.

use crate::{Points, manifold::Manifold};
use rayon::prelude::*;

/// Ranges of at most this many points are searched one by one.
const LEAF: usize = 12;

/// Ranges above this size are built on several threads; the order does not depend on it.
const PARALLEL: usize = 4096;

/// A vantage-point tree over the geodesic distance of a manifold.
///
/// A k-d tree needs coordinates in which straight distances are the distances that count. Quotients of rotations have none,
/// but they do have a metric, and the triangle inequality is all that this tree needs.
///
/// # Reference
/// Yianilos, Data structures and algorithms for nearest neighbor search in general metric spaces, 1993.
pub(crate) struct Neighbours<'a> {
    manifold: &'a dyn Manifold,
    points: &'a Points,
    /// Rows. The first row of a range is its vantage point, followed by the nearer and then the farther half of the rest.
    order: Vec<u32>,
    /// For every vantage point the distance that separates its two halves.
    radius: Vec<f64>,
}

/// The rows of a range after its vantage point: the nearer and the farther half.
fn halves(start: usize, end: usize) -> (usize, usize) {
    (start + 1, start + 1 + (end - start - 1) / 2)
}

impl<'a> Neighbours<'a> {
    /// Arranges `points`, which must be finite.
    pub fn new(manifold: &'a dyn Manifold, points: &'a Points) -> Self {
        let mut entries: Vec<(f64, u32)> = (0..points.len() as u32).map(|row| (0.0, row)).collect();
        arrange(manifold, points, &mut entries);
        let (radius, order) = entries.into_iter().unzip();
        Self { manifold, points, order, radius }
    }

    /// The distance from `x` to the nearest point; infinite if there are none.
    pub fn nearest(&self, x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        self.search(x, 0, self.order.len(), &mut best);
        best
    }

    fn distance(&self, x: &[f64], place: usize) -> f64 {
        self.manifold.distance(x, self.points.row(self.order[place] as usize))
    }

    fn search(&self, x: &[f64], start: usize, end: usize, best: &mut f64) {
        if end - start <= LEAF {
            (start..end).for_each(|place| *best = best.min(self.distance(x, place)));
            return;
        }
        let distance = self.distance(x, start);
        *best = best.min(distance);
        let (radius, (near, far)) = (self.radius[start], halves(start, end));
        let sides = [(near, far, distance - radius), (far, end, radius - distance)];
        let order = if distance <= radius { [0, 1] } else { [1, 0] };
        for (start, end, least) in order.map(|side| sides[side]) {
            if least <= *best && *best > 0.0 {
                self.search(x, start, end, best);
            }
        }
    }

    /// The components of the graph that joins points at most `distance` apart: rows of each, in the order of their first row.
    ///
    /// Every point is reached once and then taken out of the tree, so that dense data cost no more than sparse ones.
    pub fn components(&self, distance: f64) -> Vec<Vec<u32>> {
        let mut left = Left::new(self.order.len());
        let mut place_of = vec![0; self.order.len()];
        self.order.iter().enumerate().for_each(|(place, row)| place_of[*row as usize] = place);
        let mut components = Vec::new();
        for (row, place) in place_of.into_iter().enumerate() {
            if !left.holds(place) {
                continue;
            }
            left.take(place);
            let mut component = vec![row as u32];
            let mut next = 0;
            while let Some(row) = component.get(next).copied() {
                self.take_within(
                    self.points.row(row as usize),
                    distance,
                    0,
                    self.order.len(),
                    &mut left,
                    &mut component,
                );
                next += 1;
            }
            component.sort_unstable();
            components.push(component);
        }
        components
    }

    /// Moves all points of a range that are left and at most `limit` away from `x` to `found`.
    fn take_within(&self, x: &[f64], limit: f64, start: usize, end: usize, left: &mut Left, found: &mut Vec<u32>) {
        if !left.any(start, end) {
            return;
        }
        if end - start <= LEAF {
            for place in start..end {
                if left.holds(place) && self.distance(x, place) <= limit {
                    left.take(place);
                    found.push(self.order[place]);
                }
            }
            return;
        }
        let distance = self.distance(x, start);
        if distance <= limit && left.holds(start) {
            left.take(start);
            found.push(self.order[start]);
        }
        let (radius, (near, far)) = (self.radius[start], halves(start, end));
        if distance - radius <= limit {
            self.take_within(x, limit, near, far, left, found);
        }
        if radius - distance <= limit {
            self.take_within(x, limit, far, end, left, found);
        }
    }
}

/// Sorts a range: its middle entry becomes the vantage point, which keeps the separating distance.
fn arrange(manifold: &dyn Manifold, points: &Points, entries: &mut [(f64, u32)]) {
    if entries.len() <= LEAF {
        return;
    }
    entries.swap(0, entries.len() / 2);
    let vantage = points.row(entries[0].1 as usize);
    let measure = |entry: &mut (f64, u32)| entry.0 = manifold.distance(vantage, points.row(entry.1 as usize));
    let (_, middle) = halves(0, entries.len());
    let rest = &mut entries[1..];
    if rest.len() > PARALLEL {
        rest.par_iter_mut().with_min_len(256).for_each(measure);
    } else {
        rest.iter_mut().for_each(measure);
    }
    rest.select_nth_unstable_by(middle - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let radius = rest[middle - 1].0;
    // Selection leaves both halves in an order of its own; by row it is a fixed one.
    let (near, far) = rest.split_at_mut(middle - 1);
    near.sort_unstable_by_key(|entry| entry.1);
    far.sort_unstable_by_key(|entry| entry.1);
    let parallel = near.len() > PARALLEL;
    if parallel {
        rayon::join(|| arrange(manifold, points, near), || arrange(manifold, points, far));
    } else {
        arrange(manifold, points, near);
        arrange(manifold, points, far);
    }
    entries[0].0 = radius;
}

/// Places that have not been taken. Their number in a range is known at once, so that empty ranges are skipped.
struct Left {
    /// A binary indexed tree over the number of places left.
    sums: Vec<u32>,
    holds: Vec<bool>,
}

impl Left {
    fn new(n: usize) -> Self {
        let sums = (0..=n).map(|i| (i & i.wrapping_neg()) as u32).collect();
        Self { sums, holds: vec![true; n] }
    }

    fn holds(&self, place: usize) -> bool {
        self.holds[place]
    }

    fn any(&self, start: usize, end: usize) -> bool {
        self.before(end) > self.before(start)
    }

    fn before(&self, mut end: usize) -> u32 {
        let mut sum = 0;
        while end > 0 {
            sum += self.sums[end];
            end &= end - 1;
        }
        sum
    }

    fn take(&mut self, place: usize) {
        self.holds[place] = false;
        let mut i = place + 1;
        while i < self.sums.len() {
            self.sums[i] -= 1;
            i += i & i.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{BuildContext, build},
        rng::{Purpose, stream},
    };

    fn uniform(spec: &str, n: usize, seed: u64) -> (std::sync::Arc<dyn Manifold>, Points) {
        let manifold = build(spec, &BuildContext::without_files()).unwrap();
        let base = match spec.contains("euclid") {
            true => build("sphere:2", &BuildContext::without_files()).unwrap().uniform(),
            false => manifold.uniform(),
        };
        let mut rng = stream(seed, Purpose::Data, 0);
        let mut points = Points::zeros(n, manifold.ambient_dim());
        points.rows_mut().for_each(|x| base.sample(&mut rng, x));
        (manifold, points)
    }

    #[test]
    fn nearest_points_and_components_are_those_of_all_pairs() {
        for spec in ["sphere:2", "so3", "so3/C4", "torus:3", "euclid:3", "product(sphere:2,sphere:1)"] {
            let (manifold, mut points) = uniform(spec, 400, 1);
            points.extend(&points.head(30));
            let tree = Neighbours::new(manifold.as_ref(), &points);
            let (_, asked) = uniform(spec, 50, 2);
            let distances: Vec<f64> = asked
                .rows()
                .map(|x| points.rows().map(|y| manifold.distance(x, y)).fold(f64::INFINITY, f64::min))
                .collect();
            for (x, expected) in asked.rows().zip(&distances) {
                assert_eq!(tree.nearest(x), *expected, "{spec}");
            }
            // A limit at which some points are joined and some are not.
            let limit = 0.6 * distances.iter().sum::<f64>() / distances.len() as f64;
            let mut label: Vec<usize> = (0..points.len()).collect();
            loop {
                let before = label.clone();
                for i in 0..points.len() {
                    for j in 0..i {
                        if manifold.distance(points.row(i), points.row(j)) <= limit {
                            let least = label[i].min(label[j]);
                            (label[i], label[j]) = (least, least);
                        }
                    }
                }
                if label == before {
                    break;
                }
            }
            let components = tree.components(limit);
            let mut found = vec![usize::MAX; points.len()];
            for component in &components {
                component.iter().for_each(|row| found[*row as usize] = component[0] as usize);
            }
            assert_eq!(found, label, "{spec}");
            assert!(components.len() > 40 && components.len() < 400, "{spec}: {} components", components.len());
        }
    }

    #[test]
    fn no_points_are_infinitely_far() {
        let manifold = build("sphere:2", &BuildContext::without_files()).unwrap();
        let points = Points::new(3);
        let tree = Neighbours::new(manifold.as_ref(), &points);
        assert_eq!(tree.nearest(&[0.0, 0.0, 1.0]), f64::INFINITY);
        assert!(tree.components(1.0).is_empty());
    }
}
