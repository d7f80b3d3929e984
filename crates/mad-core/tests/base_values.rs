//! Base measures and Bessel functions against arbitrary-precision tables; `values/*.py` are the recipes.

use mad_core::Points;
use mad_core::measure::{
    BaseMeasure, Component, Finite, ProductMeasure, UniformSphere, VonMisesFisherMixture, log_area,
};
use mad_core::special::{bessel_ratio, bessel_ratio_complement, ln_bessel_i, ln_mean_exp, ln_mean_exp_scaled, norm};
use std::sync::Arc;

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().skip(1).map(|line| line.split(',').collect())
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

fn vector(text: &str, dim: usize) -> Vec<f64> {
    let mut values: Vec<f64> = text.split(' ').map(number).collect();
    values.resize(dim, 0.0);
    values
}

#[test]
fn bessel_ratio_and_complement_agree_to_1e13_relative() {
    let mut worst = [(0.0_f64, String::new()), (0.0, String::new()), (0.0, String::new())];
    for row in rows(include_str!("values/bessel.csv")) {
        let (nu, k) = (number(row[0]), number(row[1]));
        let dim = (2.0 * nu + 2.0) as usize;
        let scaled = number(row[4]);
        let errors = [
            (bessel_ratio(nu, k) / number(row[2]) - 1.0).abs(),
            (bessel_ratio_complement(nu, k) / number(row[3]) - 1.0).abs(),
            (ln_mean_exp_scaled(dim, k) - scaled).abs() / scaled.abs().max(1.0),
        ];
        for (worst, error) in worst.iter_mut().zip(errors) {
            assert!(!error.is_nan(), "order {nu}, argument {k}");
            if error > worst.0 {
                *worst = (error, format!("order {nu}, argument {k}"));
            }
        }
    }
    for (name, (error, place)) in ["ratio", "complement", "ln_mean_exp_scaled"].iter().zip(&worst) {
        eprintln!("{name}: worst {error:.1e} at {place}");
        assert!(*error < 1e-13, "{name}: error {error:.1e} at {place}");
    }
}

#[test]
fn unscaled_logarithms_follow_from_the_scaled_one() {
    for row in rows(include_str!("values/bessel.csv")) {
        let (nu, k) = (number(row[0]), number(row[1]));
        let dim = (2.0 * nu + 2.0) as usize;
        let log_mean = number(row[4]) + k;
        if k < 1e6 {
            let error = (ln_mean_exp(dim, k) - log_mean).abs() / log_mean.abs().max(1.0);
            assert!(error < 1e-13, "ln J, order {nu}, argument {k}: {error:.1e}");
        }
        let log_bessel = log_mean + nu * (k / 2.0).ln() - libm::lgamma(nu + 1.0);
        let scale = log_bessel.abs().max(libm::lgamma(nu + 1.0).abs()).max(1.0);
        let error = (ln_bessel_i(nu, k) - log_bessel).abs() / scale;
        assert!(error < 1e-13, "ln I, order {nu}, argument {k}: {error:.1e}");
    }
    // Small arguments keep their relative accuracy: ln J(k) = k²/(4(ν+1)) − ….
    for dim in [2, 3, 10, 100, 1000] {
        let k = 1e-7;
        assert!((ln_mean_exp(dim, k) / (k * k / (2.0 * dim as f64)) - 1.0).abs() < 1e-13, "dimension {dim}");
        assert_eq!(ln_mean_exp(dim, 0.0), 0.0);
    }
}

#[test]
fn bessel_functions_are_smooth_across_their_regions() {
    // A jump where one method hands over to the next would show as a difference between neighbours.
    for twice_nu in 0..=1000 {
        let nu = twice_nu as f64 / 2.0;
        for seam in [1.0, (900.0 - nu * nu).max(0.0).sqrt()] {
            let (below, above) = (seam * (1.0 - 1e-15), seam * (1.0 + 1e-15));
            if seam == 0.0 {
                continue;
            }
            let jump = |f: &dyn Fn(f64) -> f64| (f(above) / f(below) - 1.0).abs();
            assert!(jump(&|k| bessel_ratio(nu, k)) < 3e-14, "ratio, order {nu}, argument {seam}");
            assert!(jump(&|k| bessel_ratio_complement(nu, k)) < 3e-14, "complement, order {nu}, argument {seam}");
        }
    }
}

fn components() -> Vec<Component> {
    let list: [(f64, [f64; 3], f64); 4] = [
        (0.5, [0.0, 0.6, 0.8], 10.0),
        (0.25, [1.0, 0.0, 0.0], 0.0),
        (0.2, [0.6, 0.0, -0.8], 3e4),
        (0.05, [0.48, -0.6, 0.64], 1e8),
    ];
    list.iter().map(|(w, m, k)| Component::new(*w, m.to_vec(), *k)).collect()
}

/// The measure with this name in the table.
fn measure(name: &str) -> Box<dyn BaseMeasure> {
    let points = Points::from_vec(vec![1.0, 0.0, 0.25, 1.5, -1.0, 0.125, 0.0, -0.75, 0.5, 0.375], 2);
    if let Some(n) = name.strip_prefix("sphere:") {
        return Box::new(UniformSphere::new(n.parse::<usize>().unwrap() + 1));
    }
    match name {
        "torus:2" => {
            Box::new(ProductMeasure::new(vec![Arc::new(UniformSphere::new(2)), Arc::new(UniformSphere::new(2))]))
        }
        "finite" => Box::new(Finite::uniform(points).unwrap()),
        "weighted" => Box::new(Finite::weighted(points, &[1.0, 4.0, 0.5, 2.0, 0.03125]).unwrap()),
        "mixture" => Box::new(VonMisesFisherMixture::on_sphere(components(), false, log_area(3)).unwrap()),
        "antipodal" => {
            let mut three = components();
            three.truncate(3);
            let log_weight: f64 = three.iter().map(|c| c.weight).sum::<f64>().ln();
            three.iter_mut().for_each(|c| c.mean.push(0.0));
            // The recipe leaves the weights unnormalised: their sum 0.95 shows in the log-density.
            assert!((log_weight - 0.95_f64.ln()).abs() < 1e-15);
            Box::new(VonMisesFisherMixture::on_sphere(three, true, 0.0).unwrap())
        }
        other => panic!("no measure `{other}`"),
    }
}

#[test]
fn posterior_means_scores_and_log_densities_agree_with_the_table() {
    let (mut count, mut worst) = (0, [0.0_f64; 3]);
    for row in rows(include_str!("values/base.csv")) {
        let base = measure(row[0]);
        let dim = base.ambient_dim();
        let (sigma, x, expected) = (number(row[1]), vector(row[2], dim), vector(row[3], dim));
        let place = format!("{} at σ = {sigma}, x = {}", row[0], row[2]);

        let mut mean = vec![f64::NAN; dim];
        base.posterior_mean(&x, sigma, &mut mean);
        let difference: Vec<f64> = mean.iter().zip(&expected).map(|(a, b)| a - b).collect();
        // Spheres: relative to the mean itself, however short. Others: relative to the size of the set.
        let scale = if row[0].starts_with("sphere") { norm(&expected).max(1e-300) } else { 1.0 };
        let error = norm(&difference) / scale;
        assert!(error <= 1e-12, "posterior mean, {place}: error {error:.1e}");

        let offset = if row[0] == "antipodal" { 0.95_f64.ln() } else { 0.0 };
        let log_density = number(row[5]) - offset;
        let density_error = (base.log_density(&x, sigma) - log_density).abs() / log_density.abs().max(1.0);
        assert!(density_error <= 1e-12, "log-density, {place}: error {density_error:.1e}");

        let mut score = vec![f64::NAN; dim];
        base.score(&x, sigma, &mut score);
        let exact = number(row[4]);
        // Spheres and mixtures override the difference (mean − x)/σ², which others carry with the rounding of 1.
        let tolerance = if row[0].starts_with("sphere") || row[0].starts_with("torus") {
            1e-12 * exact.abs().max(1e-12)
        } else if ["mixture", "antipodal"].contains(&row[0]) {
            // Near the centre the mean of opposite sides carries the rounding of 1.
            1e-12 * exact.abs() + if norm(&x) > 0.5 { 0.0 } else { 1e-15 / (sigma * sigma) }
        } else {
            1e-12 * exact.abs() + 4e-14 / (sigma * sigma)
        };
        let score_error = (score[0] - exact).abs();
        assert!(score_error <= tolerance, "score, {place}: {} instead of {exact}", score[0]);
        worst = [worst[0].max(error), worst[1].max(density_error), worst[2].max(score_error / tolerance * 1e-12)];
        count += 1;
    }
    eprintln!(
        "{count} rows; worst errors: mean {:.1e}, log-density {:.1e}, score {:.1e}",
        worst[0], worst[1], worst[2]
    );
    assert_eq!(count, 10 * 7 * 6);
}

#[test]
fn a_mixture_without_concentration_has_the_score_of_the_uniform_measure() {
    for dim in [2, 3, 4, 10] {
        let mut mean = vec![0.0; dim];
        mean[0] = 1.0;
        let flat = Component::new(1.0, mean, 0.0);
        let mixture = VonMisesFisherMixture::on_sphere(vec![flat], false, 0.0).unwrap();
        let uniform = UniformSphere::new(dim);
        for sigma in [1e-6, 1e-4, 1e-2, 1.0, 1e3] {
            for radius in [1e-9, 0.4, 0.6, 1.0, 1.0 + 2.0 * sigma, 3.0] {
                let mut x = vec![0.0; dim];
                (x[0], x[1]) = (0.6 * radius, -0.8 * radius);
                let (mut a, mut b) = (vec![f64::NAN; dim], vec![f64::NAN; dim]);
                mixture.score(&x, sigma, &mut a);
                uniform.score(&x, sigma, &mut b);
                let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                let error = norm(&difference) / norm(&b);
                assert!(error < 1e-12, "R^{dim}, σ = {sigma}, |x| = {radius}: {error:.1e}");
            }
        }
    }
}
