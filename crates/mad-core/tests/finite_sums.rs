//! Truncated sums over finite sets against plain sums over all points, with logits in twice the working precision.

use mad_core::Points;
use mad_core::measure::{BaseMeasure, Finite};
use mad_core::rng::{Purpose, Rng, stream};
use mad_core::special::{distance_squared, norm};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::f64::consts::PI;

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// a + b and what rounding loses.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let carried = sum - a;
    (sum, (a - (sum - carried)) + (b - carried))
}

/// |x − u|² as the sum of two numbers.
fn exact_distance_squared(x: &[f64], u: &[f64]) -> (f64, f64) {
    x.iter().zip(u).fold((0.0, 0.0), |(sum, lost), (x, u)| {
        let (difference, rest) = two_sum(*x, -u);
        let square = difference * difference;
        let (next, carry) = two_sum(sum, square);
        (next, lost + carry + difference.mul_add(difference, -square) + 2.0 * difference * rest)
    })
}

/// Posterior mean and log-density, summed over all points.
fn plain(set: &Finite, x: &[f64], sigma: f64) -> (Vec<f64>, f64) {
    let distances: Vec<(f64, f64)> = set.points().rows().map(|u| exact_distance_squared(x, u)).collect();
    let best = distances.iter().copied().fold((f64::INFINITY, 0.0), |a, b| if b < a { b } else { a });
    let logit = |(d, w): (&(f64, f64), &f64)| w - ((d.0 - best.0) + (d.1 - best.1)) / (2.0 * sigma * sigma);
    let logits: Vec<f64> = distances.iter().zip(set.log_weights()).map(logit).collect();
    let (top, largest) =
        logits.iter().enumerate().fold((0, f64::NEG_INFINITY), |a, (i, &l)| if l > a.1 { (i, l) } else { a });
    let weights: Vec<f64> = logits.iter().map(|l| (l - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let centre = set.points().row(top);
    let mean = |k: usize| {
        let offset: f64 = set.points().rows().zip(&weights).map(|(u, w)| w * (u[k] - centre[k])).sum();
        centre[k] + offset / total
    };
    let gaussian = -(x.len() as f64) * (0.5 * (2.0 * PI).ln() + sigma.ln());
    let log_density = gaussian - best.0 / (2.0 * sigma * sigma) + largest + total.ln();
    ((0..x.len()).map(mean).collect(), log_density)
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Ball,
    Sphere,
    Clusters,
    Coincident,
    Lattice,
}

/// `n` points within a few units of the origin.
fn points(kind: Kind, n: usize, dim: usize, rng: &mut Rng) -> Points {
    let mut points = Points::zeros(n, dim);
    let scale = (dim as f64).sqrt();
    points.rows_mut().for_each(|row| row.iter_mut().for_each(|x| *x = normal(rng) / scale));
    for i in 0..n {
        let earlier = points.row(i % 5).to_vec();
        let row = points.row_mut(i);
        match kind {
            Kind::Ball => {}
            Kind::Sphere => {
                let length = norm(row);
                row.iter_mut().for_each(|x| *x /= length);
            }
            Kind::Clusters if i < 5 => {}
            Kind::Clusters => {
                let size = 10_f64.powi(-((i % 9) as i32));
                row.iter_mut().zip(&earlier).for_each(|(x, c)| *x = c + size * *x);
            }
            Kind::Coincident => row.copy_from_slice(&earlier),
            Kind::Lattice => row.iter_mut().for_each(|x| *x = (4.0 * *x).round() / 4.0),
        }
    }
    points
}

/// Places to ask at: on the set, noised, between two points, a thousand σ away, far outside.
fn places(set: &Points, sigma: f64, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut any = || set.row((rng.random::<f64>() * set.len() as f64) as usize).to_vec();
    let (on, noised, far, [a, b]) = (any(), any(), any(), [any(), any()]);
    let mut moved = |from: &[f64], size: f64| from.iter().map(|x| x + size * normal(rng)).collect::<Vec<f64>>();
    let scale = (set.dim() as f64).sqrt();
    let share = 0.5 + 0.1 * moved(&[0.0], 1.0)[0];
    let between: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + share * (b - a)).collect();
    vec![
        moved(&noised, sigma),
        moved(&far, 1e3 * sigma / scale),
        moved(&between, 0.1 * sigma),
        moved(&on, 1e3 / scale),
        on,
    ]
}

fn check(kind: Kind, n: usize, dim: usize, spread: f64, seed: u64) -> f64 {
    let mut rng = stream(seed, Purpose::Data, 0);
    let points = points(kind, n, dim, &mut rng);
    let log_weights = (0..n).map(|_| spread * rng.random::<f64>()).collect();
    let set = Finite::with_log_weights(points, log_weights).unwrap();
    let mut worst = 0.0_f64;
    for sigma in [1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 10.0, 1e3] {
        for x in places(set.points(), sigma, &mut rng) {
            let place =
                format!("{kind:?}, n = {n}, R^{dim}, log-weights over {spread}, σ = {sigma}, |x| = {}", norm(&x));
            let (exact, exact_density) = plain(&set, &x, sigma);
            let mut mean = vec![f64::NAN; dim];
            set.posterior_mean(&x, sigma, &mut mean);
            let error = mean.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-12, "posterior mean off by {error:.1e}: {place}");
            let density = set.log_density(&x, sigma);
            let density_error = (density - exact_density).abs() / exact_density.abs().max(1.0);
            assert!(density_error < 1e-12, "log-density {density} instead of {exact_density}: {place}");

            let nearest = set.points().rows().enumerate().fold((0, f64::INFINITY), |best, (i, u)| {
                let distance = distance_squared(&x, u);
                if distance < best.1 { (i, distance) } else { best }
            });
            assert_eq!(set.nearest(&x), nearest.0, "{place}");
            worst = worst.max(error);
        }
    }
    worst
}

#[test]
fn truncated_sums_agree_with_sums_over_all_points() {
    let mut cases = Vec::new();
    for kind in [Kind::Ball, Kind::Sphere, Kind::Clusters, Kind::Coincident, Kind::Lattice] {
        for (n, dim) in [
            (1, 3),
            (2, 1),
            (16, 2),
            (17, 2),
            (100, 1),
            (500, 3),
            (3000, 2),
            (3000, 3),
            (2000, 8),
            (300, 40),
            (100, 200),
        ] {
            for spread in [0.0, 5.0, 60.0, 800.0] {
                cases.push((kind, n, dim, spread));
            }
        }
    }
    let worst =
        cases.par_iter().enumerate().map(|(seed, &(kind, n, dim, spread))| check(kind, n, dim, spread, seed as u64));
    eprintln!("worst error of a posterior mean: {:.1e}", worst.reduce(|| 0.0, f64::max));
}

#[test]
fn sums_that_may_leave_out_more_stay_within_that_share() {
    let mut rng = stream(2, Purpose::Data, 0);
    let points = points(Kind::Sphere, 5000, 3, &mut rng);
    let exact = Finite::uniform(points).unwrap();
    for share in [1e-3, 1e-8] {
        let quick = exact.clone().leaving_out(share);
        let mut worst = 0.0_f64;
        for sigma in [1e-3, 0.03, 0.1, 0.3, 1.0] {
            for x in places(exact.points(), sigma, &mut rng) {
                let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
                exact.posterior_mean(&x, sigma, &mut a);
                quick.posterior_mean(&x, sigma, &mut b);
                worst = worst.max(distance_squared(&a, &b).sqrt());
            }
        }
        // The sphere has diameter 2.
        assert!(worst <= 2.0 * share, "{worst:.1e} for a share of {share:.0e}");
        assert!(share < 1e-6 || worst > 0.0, "nothing was left out");
    }
}

#[test]
fn extreme_and_missing_numbers_are_answered_in_kind() {
    let mut rng = stream(1, Purpose::Data, 0);
    let set = Finite::uniform(points(Kind::Ball, 1000, 3, &mut rng)).unwrap();
    let mut mean = [0.0; 3];
    for x in [[1e300, -1e299, 0.0], [1e150, 1e150, -1e150], [1e-300, 0.0, -1e-300]] {
        for sigma in [1e-6, 1.0, 1e3] {
            set.posterior_mean(&x, sigma, &mut mean);
            assert!(mean.iter().all(|m| m.abs() < 10.0), "{mean:?} at {x:?}, σ = {sigma}");
        }
    }
    set.posterior_mean(&[0.5, f64::NAN, 0.0], 0.1, &mut mean);
    assert!(mean.iter().all(|m| m.is_nan()), "{mean:?}");
}
