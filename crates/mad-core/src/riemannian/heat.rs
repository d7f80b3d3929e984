//! Scores of the heat kernel.

use super::Spheres;
use crate::special::dot;

/// Writes ∇_y log p(y | x) for the heat kernel at variance `elapsed`, from its series cut after `degree`.
///
/// # Formula
/// On Sⁿ with c = x·y and λ = (n − 1)/2: p ∝ Σ_k exp(−k (k + n − 1) elapsed/2) (k + λ)/λ C_k^λ(c), and C_k^λ′ = 2λ C_{k−1}^{λ+1}.
/// Circles have 1 + 2 Σ exp(−k² elapsed/2) cos kθ. Where x and −x are the same point, only even degrees remain.
///
/// # Numerics
/// Good only once the kernel has spread: with degree 5 from elapsed = 1/2 on, as in RSGM. A series that has lost its sign there
/// gives no score (zero).
pub fn heat_score(spheres: &Spheres, x: &[f64], y: &[f64], elapsed: f64, degree: usize, score: &mut [f64]) {
    for block in spheres.blocks() {
        let (x, y) = (&x[block.range.clone()], &y[block.range.clone()]);
        let score = &mut score[block.range.clone()];
        let cosine = dot(x, y).clamp(-1.0, 1.0);
        let step = if block.antipodal { 2 } else { 1 };
        let (value, slope) = series(x.len() - 1, cosine, elapsed, degree, step);
        let factor = if value > 0.0 { slope / value } else { 0.0 };
        score.iter_mut().zip(x.iter().zip(y)).for_each(|(s, (x, y))| *s = factor * (x - cosine * y));
    }
}

/// The series and its derivative by the cosine, over every `step`-th degree.
fn series(n: usize, cosine: f64, elapsed: f64, degree: usize, step: usize) -> (f64, f64) {
    let decay = |k: usize| (-0.5 * (k * (k + n - 1)) as f64 * elapsed).exp();
    let degrees = (step..=degree).step_by(step);
    if n == 1 {
        let angle = cosine.acos();
        // d cos kθ/d cos θ = k sin kθ / sin θ, which is k² at θ = 0.
        let slope = |k: usize| if angle > 1e-6 { (k as f64 * angle).sin() / angle.sin() } else { k as f64 };
        return degrees.fold((1.0, 0.0), |(value, total), k| {
            (value + 2.0 * decay(k) * (k as f64 * angle).cos(), total + 2.0 * decay(k) * k as f64 * slope(k))
        });
    }
    let lambda = 0.5 * (n - 1) as f64;
    let (values, slopes) = (gegenbauer(lambda, cosine, degree), gegenbauer(lambda + 1.0, cosine, degree));
    degrees.fold((1.0, 0.0), |(value, slope), k| {
        let weight = decay(k) * (k as f64 + lambda) / lambda;
        (value + weight * values[k], slope + weight * 2.0 * lambda * slopes[k - 1])
    })
}

/// C_k^λ(c) for k up to `degree`.
///
/// # Formula
/// k C_k = 2 (k + λ − 1) c C_{k−1} − (k + 2λ − 2) C_{k−2}.
fn gegenbauer(lambda: f64, c: f64, degree: usize) -> Vec<f64> {
    let mut values = vec![1.0, 2.0 * lambda * c];
    for k in 2..=degree {
        let k_real = k as f64;
        let next = 2.0 * (k_real + lambda - 1.0) * c * values[k - 1] - (k_real + 2.0 * lambda - 2.0) * values[k - 2];
        values.push(next / k_real);
    }
    values.truncate(degree + 1);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BuildContext, build};

    /// The derivative of the series along the circle through x and y.
    #[test]
    fn scores_are_derivatives_of_the_log_series() {
        for (spec, n, step) in [("torus:1", 1, 1), ("sphere:2", 2, 1), ("sphere:3", 3, 1), ("so3", 3, 2)] {
            let spheres =
                Spheres::of(build(spec, &BuildContext::without_files()).expect("known").as_ref()).expect("spheres");
            let dim = spheres.ambient_dim();
            let at = |angle: f64| {
                let mut y = vec![0.0; dim];
                (y[0], y[1]) = (angle.cos(), angle.sin());
                y
            };
            let (angle, elapsed, h) = (0.7, 0.8, 1e-5);
            let log = |angle: f64| series(n, angle.cos(), elapsed, 30, step).0.ln();
            let expected = (log(angle + h) - log(angle - h)) / (2.0 * h);
            let mut score = vec![0.0; dim];
            heat_score(&spheres, &at(0.0), &at(angle), elapsed, 30, &mut score);
            let along = -score[0] * angle.sin() + score[1] * angle.cos();
            assert!((along - expected).abs() < 1e-7, "{spec}: {along} {expected}");
            // At small times the kernel is nearly Gaussian in the angle.
            heat_score(&spheres, &at(0.0), &at(0.1), 0.05, 60, &mut score);
            let along = -score[0] * 0.1f64.sin() + score[1] * 0.1f64.cos();
            assert!((along + 0.1 / 0.05).abs() < 0.1, "{spec}: {along}");
        }
    }
}
