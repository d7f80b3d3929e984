//! Normal kernels in the tangent plane of a point, and the von Mises–Fisher components that stand for them.

use crate::estimate::constants::{ELONGATED, FIVE, LARGEST_RATIO, LONG, THREE};
use crate::measure::{Component, MAX_CONCENTRATION};

/// The logarithm of a covariance in the tangent plane: xx, xy and yy.
///
/// On spheres that are not two-dimensional only round shapes occur, and xx is the log-variance of every direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape([f64; 3]);

impl Shape {
    /// A round kernel of this concentration.
    pub fn round(concentration: f64) -> Self {
        let log = -concentration.min(MAX_CONCENTRATION).ln();
        Self([log, 0.0, log])
    }

    /// A kernel with the covariance xx, xy, yy, no longer than [`LARGEST_RATIO`] times its width.
    pub(crate) fn of_covariance([xx, xy, yy]: [f64; 3]) -> Self {
        let (long, short, angle) = axes([xx, xy, yy]);
        let least = 1.0 / MAX_CONCENTRATION;
        let long = long.max(least);
        let (log_long, log_short) = (long.ln(), short.max(long / LARGEST_RATIO.powi(2)).max(least).ln());
        let (sin, cos) = angle.sin_cos();
        let more = log_long - log_short;
        Self([log_short + more * cos * cos, more * cos * sin, log_short + more * sin * sin])
    }

    /// Squared distance between logarithms.
    fn apart(&self, other: &Self) -> f64 {
        let [xx, xy, yy] = [0, 1, 2].map(|i| (self.0[i] - other.0[i]).powi(2));
        xx + 2.0 * xy + yy
    }

    /// Components that together have the weight `weight` and this covariance around `centre`.
    ///
    /// # Formula
    /// With log-variances along and across, components of the variance b² across stand along the long axis, spaced so that
    /// b² plus the variance of their places is a².
    pub fn components(&self, weight: f64, centre: &[f64]) -> Vec<Component> {
        let (log_long, log_short, angle) = axes(self.0);
        let excess = (log_long - log_short).exp() - 1.0;
        let kappa = |log: f64| (-log).exp().min(MAX_CONCENTRATION);
        if excess < ELONGATED || centre.len() != 3 {
            return vec![Component::new(weight, centre.to_vec(), kappa(0.5 * (log_long + log_short)))];
        }
        let (nodes, variance) = if excess < LONG { THREE } else { FIVE };
        let spacing = (excess * log_short.exp() / variance).sqrt();
        let ([u, v], (sin, cos)) = (frame(centre), angle.sin_cos());
        let at = |&(place, share): &(f64, f64)| {
            // The exponential map keeps distances along the axis.
            let (sine, cosine) = (place * spacing).sin_cos();
            let mean = (0..3).map(|i| cosine * centre[i] + sine * (cos * u[i] + sin * v[i])).collect();
            Component::new(weight * share, mean, kappa(log_short))
        };
        nodes.iter().map(at).collect()
    }
}

/// Merges the most similar shapes until at most `most` are left.
///
/// # Formula
/// Shapes with weights v and w merge to the weighted mean of their logarithms; the pair with the smallest v w/(v + w) times the
/// squared distance goes first (Ward's criterion).
pub(super) fn merge(mut shapes: Vec<(f64, Shape)>, most: usize) -> Vec<(f64, Shape)> {
    shapes.retain(|(weight, _)| *weight > 0.0);
    while shapes.len() > most.max(1) {
        let mut best = (f64::INFINITY, 0, 1);
        for (i, (v, a)) in shapes.iter().enumerate() {
            for (j, (w, b)) in shapes.iter().enumerate().skip(i + 1) {
                let cost = v * w / (v + w) * a.apart(b);
                if cost < best.0 {
                    best = (cost, i, j);
                }
            }
        }
        let (w, b) = shapes.swap_remove(best.2);
        let (v, a) = &mut shapes[best.1];
        let total = *v + w;
        a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a = (*v * *a + w * b) / total);
        *v = total;
    }
    shapes
}

/// Two unit vectors that are orthogonal to the unit vector `x` in R³ and to each other.
pub(super) fn frame(x: &[f64]) -> [[f64; 3]; 2] {
    let axis = if x[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let along = (0..3).map(|i| axis[i] * x[i]).sum::<f64>();
    let u: [f64; 3] = std::array::from_fn(|i| axis[i] - along * x[i]);
    let length = u.iter().map(|u| u * u).sum::<f64>().sqrt();
    let u = u.map(|u| u / length);
    [u, [x[1] * u[2] - x[2] * u[1], x[2] * u[0] - x[0] * u[2], x[0] * u[1] - x[1] * u[0]]]
}

/// Eigenvalues of a symmetric 2 × 2 matrix, the larger first, and the angle of its eigenvector.
fn axes([xx, xy, yy]: [f64; 3]) -> (f64, f64, f64) {
    let (mean, half) = (0.5 * (xx + yy), (0.25 * (xx - yy).powi(2) + xy * xy).sqrt());
    (mean + half, mean - half, 0.5 * (2.0 * xy).atan2(xx - yy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CENTRE: [f64; 3] = [0.6, 0.0, 0.8];

    /// Weight and covariance of components in the tangent plane at [`CENTRE`].
    fn moments(components: &[Component]) -> (f64, [f64; 3]) {
        let [u, v] = frame(&CENTRE);
        let dot = |a: &[f64], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let weight = components.iter().map(|c| c.weight).sum();
        let mut covariance = [0.0; 3];
        for Component { weight: w, mean, concentrations } in components {
            let (x, y, own) = (dot(mean, &u), dot(mean, &v), 1.0 / concentrations[0]);
            [x * x + own, x * y, y * y + own].iter().zip(&mut covariance).for_each(|(m, c)| *c += w / weight * m);
        }
        (weight, covariance)
    }

    #[test]
    fn components_have_the_weight_and_covariance_of_the_kernel() {
        for (ratio, count) in [(1.0f64, 1), (1.3, 3), (1.6, 3), (2.0, 5), (2.9, 5)] {
            let (sin, cos) = 0.7f64.sin_cos();
            let (b, more) = (1e-6, 1e-6 * (ratio * ratio - 1.0));
            let covariance = [b + more * cos * cos, more * cos * sin, b + more * sin * sin];
            let components = Shape::of_covariance(covariance).components(0.25, &CENTRE);
            assert_eq!(components.len(), count, "ratio {ratio}");
            let (weight, found) = moments(&components);
            assert!((weight - 0.25).abs() < 1e-12);
            // Places curve away from the plane by their square.
            for (found, expected) in found.iter().zip(covariance) {
                assert!((found - expected).abs() < 1e-4 * b, "ratio {ratio}: {found} and {expected}");
            }
        }
        // Longer ones are cut short, narrower ones widened.
        let (_, found) = moments(&Shape::of_covariance([1e-4, 0.0, 1e-9]).components(1.0, &CENTRE));
        assert!((found[2] / (1e-4 / 9.0) - 1.0).abs() < 1e-2, "{found:?}");
        let narrow = Shape::of_covariance([0.0, 0.0, 0.0]).components(1.0, &CENTRE);
        assert_eq!(narrow[0].concentrations, [MAX_CONCENTRATION]);
    }

    #[test]
    fn merging_keeps_the_weight_and_joins_what_is_alike() {
        let kernels = [(0.1, 1e4), (0.2, 1.1e4), (0.3, 1e7), (0.0, 1e2), (0.4, 1.2e4)];
        let merged = merge(kernels.map(|(w, k)| (w, Shape::round(k))).to_vec(), 2);
        let mut found: Vec<(f64, f64)> =
            merged.iter().map(|(w, s)| (*w, s.components(1.0, &CENTRE)[0].concentrations[0])).collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mean = ((0.1 * 1e4f64.ln() + 0.2 * 1.1e4f64.ln() + 0.4 * 1.2e4f64.ln()) / 0.7).exp();
        assert!((found[0].0 - 0.7).abs() < 1e-12 && (found[0].1 / mean - 1.0).abs() < 1e-9, "{found:?}");
        assert!((found[1].0 - 0.3).abs() < 1e-12 && (found[1].1 / 1e7 - 1.0).abs() < 1e-9, "{found:?}");
    }
}
