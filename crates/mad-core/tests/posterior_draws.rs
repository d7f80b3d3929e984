//! Draws from the posterior of a mixture, against its mean and against the mixture itself.

use mad_core::catalogue::{BuildContext, build};
use mad_core::manifold::Manifold;
use mad_core::measure::{BaseMeasure, Component, VonMisesFisherMixture};
use mad_core::noise::NoiseRange;
use mad_core::rng::{Purpose, Rng, stream};
use mad_core::sample::{BaseDenoiser, Generate, lookup};
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

const SPECS: [&str; 5] = ["sphere:1", "sphere:2", "so3", "torus:2", "product(so3,sphere:2)"];

/// Wide, middling and sharp components in random places: several groups, the last one not full.
fn mixture(spec: &str) -> (Arc<dyn Manifold>, VonMisesFisherMixture) {
    let manifold = build(spec, &BuildContext::without_files()).expect("a known manifold");
    let spheres = manifold.spheres().expect("made of spheres").len();
    let (mut rng, uniform) = (stream(1, Purpose::Data, 0), manifold.uniform());
    let component = |(weight, kappa): (f64, f64)| {
        let mut mean = vec![0.0; manifold.ambient_dim()];
        uniform.sample(&mut rng, &mut mean);
        Component { weight, mean, concentrations: vec![kappa; spheres] }
    };
    let kinds = [(0.3, 0.5), (0.5, 20.0), (0.2, 3000.0)];
    let components = kinds.into_iter().cycle().take(42).map(component).collect();
    let mixture = VonMisesFisherMixture::on(manifold.as_ref(), components).expect("a proper mixture");
    (manifold, mixture)
}

fn noised(x0: &[f64], sigma: f64, rng: &mut Rng) -> Vec<f64> {
    x0.iter().map(|x| x + sigma * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng)).collect()
}

/// Mean and standard error of each of several numbers over `n` draws.
fn averages(n: usize, count: usize, mut draw: impl FnMut() -> Vec<f64>) -> Vec<(f64, f64)> {
    let (mut sums, mut squares) = (vec![0.0; count], vec![0.0; count]);
    for _ in 0..n {
        for ((value, sum), square) in draw().into_iter().zip(&mut sums).zip(&mut squares) {
            *sum += value / n as f64;
            *square += value * value / n as f64;
        }
    }
    sums.into_iter().zip(squares).map(|(m, s)| (m, ((s - m * m).max(0.0) / n as f64).sqrt())).collect()
}

#[test]
fn the_mean_of_draws_is_the_posterior_mean() {
    for spec in SPECS {
        let (manifold, mixture) = mixture(spec);
        let (dim, mut rng) = (manifold.ambient_dim(), stream(2, Purpose::Sample, 0));
        for sigma in [0.003, 0.2, 1.5] {
            let (mut x0, mut mean) = (vec![0.0; dim], vec![0.0; dim]);
            mixture.sample(&mut rng, &mut x0);
            // The last one is seen from the centre, where all directions are alike.
            let x = if sigma > 1.0 { vec![0.0; dim] } else { noised(&x0, sigma, &mut rng) };
            mixture.posterior_mean(&x, sigma, &mut mean);
            let found = averages(20_000, dim, || {
                let mut drawn = vec![0.0; dim];
                assert!(mixture.sample_posterior(&x, sigma, &mut rng, &mut drawn));
                assert!(manifold.deviation(&drawn) < 1e-12, "{spec}: {drawn:?}");
                drawn
            });
            for ((found, error), mean) in found.iter().zip(&mean) {
                assert!((found - mean).abs() < 5.0 * error + 1e-9, "{spec}, σ = {sigma}: {found} ± {error}, {mean}");
            }
        }
    }
}

/// A walk from σ = 0.5 ends at 0.2: means there are far from the mixture, draws are not.
#[test]
fn walks_that_end_with_a_draw_follow_the_mixture() {
    let (manifold, mixture) = mixture("sphere:2");
    let mixture: Arc<dyn BaseMeasure> = Arc::new(mixture);
    let range = NoiseRange { min: 0.2, max: 0.5 };
    let mut rng = stream(5, Purpose::Sample, 0);
    let exact = averages(20_000, 1, || {
        let mut x = vec![0.0; 3];
        mixture.sample(&mut rng, &mut x);
        vec![mixture.log_weight(&x)]
    })[0];
    let found = |drawn: bool| {
        let generate = Generate { drawn, ..Generate::new(lookup("ancestral").expect("known"), range, 1) };
        let denoiser = BaseDenoiser(mixture.clone());
        let samples = generate.collect(&denoiser, mixture.as_ref(), manifold.as_ref(), 4000).expect("finite samples");
        samples.points.rows().map(|x| mixture.log_weight(x)).sum::<f64>() / 4000.0
    };
    let deviation = exact.1 * 5f64.sqrt();
    assert!((found(true) - exact.0).abs() < 6.0 * deviation, "{} and {exact:?}", found(true));
    assert!((found(false) - exact.0).abs() > 12.0 * deviation, "{} and {exact:?}", found(false));
}

#[test]
fn noise_and_a_draw_lead_back_to_the_mixture() {
    for spec in SPECS {
        let (manifold, mixture) = mixture(spec);
        let (dim, mut rng) = (manifold.ambient_dim(), stream(3, Purpose::Sample, 0));
        // Squares do not know the signs of quaternions.
        let describe = |x: &[f64]| -> Vec<f64> {
            let mut numbers: Vec<f64> = x.iter().map(|x| x * x).collect();
            numbers.push(mixture.log_weight(x));
            numbers
        };
        let mut x0 = vec![0.0; dim];
        let before = averages(20_000, dim + 1, || {
            mixture.sample(&mut rng, &mut x0);
            describe(&x0)
        });
        let after = averages(20_000, dim + 1, || {
            mixture.sample(&mut rng, &mut x0);
            let x = noised(&x0, 0.3, &mut rng);
            mixture.sample_posterior(&x, 0.3, &mut rng, &mut x0);
            describe(&x0)
        });
        for ((before, one), (after, other)) in before.iter().zip(&after) {
            assert!((before - after).abs() < 5.0 * one.hypot(*other) + 1e-9, "{spec}: {before} and {after}");
        }
    }
}
