//! Theorem 1 of the paper: on a finite set the learned part of the score vanishes as σ → 0, and how fast it does.
//!
//! With u₁ the nearest point of x, u₂ the next one, their probabilities p₁ and p₂, and g = |x − u₂|² − |x − u₁|², the learned part is
//!
//! δ(x, σ) = (E\[x₀ | x\] − E^base\[x₀ | x\])/σ² ≈ (u₂ − u₁)(p₂/p₁ − 1) exp(−g/2σ²)/σ².
//!
//! It needs a *unique* nearest point. Where two nearest points tie, δ grows like 1/σ² unless they are equally likely.

use mad_core::{
    Points,
    measure::{BaseMeasure, Finite},
};

const SUPPORT: [[f64; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.3, -1.2]];
const PROBABILITIES: [f64; 4] = [0.5, 0.2, 0.2, 0.1];

/// |δ(x, σ)| for these probabilities against the uniform base.
fn learned_part(probabilities: [f64; 4], x: [f64; 2], sigma: f64) -> f64 {
    let points = || Points::from_vec(SUPPORT.concat(), 2);
    let (data, base) = (Finite::weighted(points(), &probabilities).unwrap(), Finite::uniform(points()).unwrap());
    let score = |measure: &Finite| {
        let mut score = [0.0; 2];
        measure.score(&x, sigma, &mut score);
        score
    };
    distance(score(&data), score(&base))
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn the_learned_part_vanishes_at_the_rate_of_the_second_nearest_point() {
    let x = [0.7, 0.2];
    let mut by_distance: Vec<usize> = (0..4).collect();
    by_distance.sort_by(|&a, &b| distance(x, SUPPORT[a]).total_cmp(&distance(x, SUPPORT[b])));
    let [first, second] = [by_distance[0], by_distance[1]];
    let gap = distance(x, SUPPORT[second]).powi(2) - distance(x, SUPPORT[first]).powi(2);
    let limit = distance(SUPPORT[first], SUPPORT[second]) * (PROBABILITIES[second] / PROBABILITIES[first] - 1.0).abs();
    let mut last_error = f64::INFINITY;
    for exponent in [4.0, 8.0, 12.0, 16.0] {
        let sigma = (gap / (2.0 * exponent)).sqrt();
        let found = learned_part(PROBABILITIES, x, sigma) * sigma * sigma * exponent.exp();
        let error = (found / limit - 1.0).abs();
        assert!(error < last_error, "the error {error} at exponent {exponent} is not below {last_error}");
        last_error = error;
    }
    assert!(last_error < 1e-4, "{last_error}");
}

#[test]
fn the_learned_part_explodes_where_two_nearest_points_tie() {
    // On the diagonal the first two points are equally near and nearer than the others, so x is not equidistant from *all* points.
    let x = [0.4, 0.4];
    let [p, q] = [PROBABILITIES[0], PROBABILITIES[1]];
    let limit = distance(SUPPORT[0], SUPPORT[1]) * (p / (p + q) - 0.5).abs();
    for sigma in [0.1, 0.03, 0.01] {
        let found = learned_part(PROBABILITIES, x, sigma) * sigma * sigma;
        assert!((found / limit - 1.0).abs() < 1e-9, "σ = {sigma}: {found} in place of {limit}");
    }
}

#[test]
fn ties_of_equally_likely_points_do_no_harm() {
    let even = [0.3, 0.3, 0.3, 0.1];
    let parts = [0.5, 0.35, 0.2].map(|sigma| learned_part(even, [0.4, 0.4], sigma));
    assert!(parts[0] > 1e-3 && parts.is_sorted_by(|a, b| a > b) && parts[2] < 1e-9, "{parts:?}");
}
