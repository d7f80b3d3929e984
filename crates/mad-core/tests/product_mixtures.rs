//! Mixtures on products of spheres, against products of mixtures and against plain sums.

use mad_core::catalogue::{BuildContext, build};
use mad_core::estimate::BaseChoice;
use mad_core::manifold::Manifold;
use mad_core::measure::{BaseMeasure, Component, MixtureError, ProductMeasure, VonMisesFisherMixture};
use mad_core::rng::{Purpose, Rng, stream};
use mad_core::special::norm;
use rand::RngExt;
use std::{f64::consts::PI, sync::Arc};

fn manifold(spec: &str) -> Arc<dyn Manifold> {
    build(spec, &BuildContext::without_files()).unwrap()
}

/// Components on a sphere or on rotations, with these concentrations.
fn components(m: &dyn Manifold, concentrations: &[f64], rng: &mut Rng) -> Vec<Component> {
    let draw = |&kappa: &f64| {
        let mut mean = vec![0.0; m.ambient_dim()];
        m.uniform().sample(rng, &mut mean);
        Component::new(0.2 + rng.random::<f64>(), mean, kappa)
    };
    concentrations.iter().map(draw).collect()
}

/// (Σ_i w_i f_i)(Σ_j v_j g_j)… = Σ_ij… w_i v_j f_i g_j: what a product of mixtures is as one mixture.
fn expand(factors: &[Vec<Component>]) -> Vec<Component> {
    let nothing = Component { weight: 1.0, mean: Vec::new(), concentrations: Vec::new() };
    factors.iter().fold(vec![nothing], |all, factor| {
        let pairs = all.iter().flat_map(|a| factor.iter().map(move |b| (a, b)));
        let join = |(a, b): (&Component, &Component)| Component {
            weight: a.weight * b.weight,
            mean: [&a.mean[..], &b.mean].concat(),
            concentrations: [&a.concentrations[..], &b.concentrations].concat(),
        };
        pairs.map(join).collect()
    })
}

#[test]
fn a_product_of_mixtures_is_a_mixture_of_products() {
    let kappas: [&[f64]; 4] = [&[0.0, 7.0, 300.0], &[2.0, 1e4], &[0.5, 60.0, 1e6], &[20.0, 1e8]];
    let cases: [&[&str]; 5] = [
        &["sphere:2", "sphere:2"],
        &["so3", "sphere:1"],
        &["so3", "so3"],
        &["sphere:1", "sphere:1", "sphere:1", "sphere:1"],
        &["sphere:11", "sphere:2", "so3"],
    ];
    let mut worst = [0.0_f64; 3];
    for specs in cases {
        let mut rng = stream(1, Purpose::Data, specs.len() as u64);
        let factors: Vec<Arc<dyn Manifold>> = specs.iter().map(|s| manifold(s)).collect();
        let parts: Vec<Vec<Component>> =
            factors.iter().zip(kappas).map(|(m, k)| components(m.as_ref(), k, &mut rng)).collect();
        let single = |(m, c): (&Arc<dyn Manifold>, &Vec<Component>)| -> Arc<dyn BaseMeasure> {
            Arc::new(VonMisesFisherMixture::on(m.as_ref(), c.clone()).unwrap())
        };
        let product = ProductMeasure::new(factors.iter().zip(&parts).map(single).collect());
        let whole = manifold(&format!("product({})", specs.join(",")));
        let mixture = VonMisesFisherMixture::on(whole.as_ref(), expand(&parts)).unwrap();
        for sigma in [1e-6, 1e-3, 0.05, 0.4, 2.0, 1e3] {
            for _ in 0..20 {
                let dim = whole.ambient_dim();
                let (mut x, mut x0) = (vec![0.0; dim], vec![0.0; dim]);
                product.sample_prior(sigma, &mut rng, &mut x);
                mixture.sample(&mut rng, &mut x0);
                let place = format!("{specs:?}, σ = {sigma}");
                let gap = |f: &dyn Fn(&dyn BaseMeasure, &mut [f64])| {
                    let (mut a, mut b) = (vec![f64::NAN; dim], vec![f64::NAN; dim]);
                    f(&mixture, &mut a);
                    f(&product, &mut b);
                    let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                    (norm(&difference), norm(&b))
                };
                let (mean, _) = gap(&|m, out| m.posterior_mean(&x, sigma, out));
                assert!(mean < 1e-13, "{place}: means differ by {mean:.1e}");
                let (score, size) = gap(&|m, out| m.score(&x, sigma, out));
                assert!(score < 1e-12 * size, "{place}: scores differ by {score:.1e} of {size:.1e}");
                let logs = [mixture.log_density(&x, sigma), product.log_density(&x, sigma)];
                let log = (logs[0] - logs[1]).abs() / logs[1].abs().max(1.0);
                assert!(log < 1e-12, "{place}: log-densities {logs:?}");
                let weights = [mixture.log_weight(&x0), product.log_weight(&x0)];
                let weight = (weights[0] - weights[1]).abs() / weights[1].abs().max(1.0);
                assert!(weight < 1e-12, "{place}: log-weights {weights:?}");
                worst = [worst[0].max(mean), worst[1].max(score / size), worst[2].max(log)];
            }
        }
    }
    eprintln!("worst: mean {:.1e}, score {:.1e}, log-density {:.1e}", worst[0], worst[1], worst[2]);
}

#[test]
fn dependent_angles_agree_with_a_sum_over_a_grid() {
    // On the 2-torus a periodic trapezium rule is exact to all digits once it resolves the density.
    let torus = manifold("torus:2");
    let mut rng = stream(2, Purpose::Data, 0);
    let mut draw = || -> Vec<f64> {
        let angles = [(); 2].map(|()| 2.0 * PI * rng.random::<f64>());
        angles.iter().flat_map(|a| [a.cos(), a.sin()]).collect()
    };
    let list = [[5.0, 0.0], [40.0, 3.0], [2.0, 90.0], [0.0, 0.0]];
    let parts: Vec<Component> = list
        .iter()
        .map(|kappas| Component { weight: 1.0 + kappas[0], mean: draw(), concentrations: kappas.to_vec() })
        .collect();
    let mixture = VonMisesFisherMixture::on(torus.as_ref(), parts).unwrap();
    let n = 400;
    let grid: Vec<[f64; 4]> = (0..n * n)
        .map(|i| {
            let angle = |j: usize| 2.0 * PI * j as f64 / n as f64;
            let ((s, c), (t, d)) = (angle(i / n).sin_cos(), angle(i % n).sin_cos());
            [c, s, d, t]
        })
        .collect();
    let logs: Vec<f64> = grid.iter().map(|x0| mixture.log_weight(x0)).collect();
    for sigma in [0.1, 0.3, 1.0, 5.0] {
        for i in 0..5 {
            let mut x = vec![0.0; 4];
            mixture.sample_prior(sigma, &mut stream(3, Purpose::Data, i), &mut x);
            let noise = |x0: &[f64; 4]| x.iter().zip(x0).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let terms: Vec<f64> =
                grid.iter().zip(&logs).map(|(x0, log)| (log - 0.5 * noise(x0) / sigma / sigma).exp()).collect();
            let total: f64 = terms.iter().sum();
            let mut mean = vec![f64::NAN; 4];
            mixture.posterior_mean(&x, sigma, &mut mean);
            for (i, m) in mean.iter().enumerate() {
                let expected = grid.iter().zip(&terms).map(|(x0, t)| t * x0[i]).sum::<f64>() / total;
                assert!((m - expected).abs() < 1e-11, "σ = {sigma}, coordinate {i}: {m} against {expected}");
            }
            let area = (2.0 * PI / n as f64).powi(2);
            let expected = (total * area).ln() - 2.0 * (2.0 * PI * sigma * sigma).ln();
            let log = mixture.log_density(&x, sigma);
            assert!((log - expected).abs() < 1e-11, "σ = {sigma}: {log} against {expected}");
        }
    }
}

#[test]
fn components_must_fit_the_spheres() {
    let torus = manifold("torus:2");
    let component = |mean: &[f64], concentrations: &[f64]| BaseChoice::Mixture {
        components: vec![Component { weight: 1.0, mean: mean.to_vec(), concentrations: concentrations.to_vec() }],
    };
    let error = |choice: BaseChoice| choice.build(torus.as_ref()).map(|_| ()).unwrap_err();
    let good = [1.0, 0.0, 0.6, 0.8];
    assert!(component(&good, &[1.0, 2.0]).build(torus.as_ref()).is_ok());
    assert_eq!(error(component(&good, &[1.0])), MixtureError::Concentrations { index: 0, got: 1, expected: 2 });
    assert_eq!(error(component(&good[..2], &[1.0, 2.0])), MixtureError::Dimension { index: 0, got: 2, expected: 4 });
    // One long vector of length √2 is not two directions.
    assert!(matches!(error(component(&[1.0, 1.0, 0.0, 0.0], &[1.0, 2.0])), MixtureError::Mean { .. }));
    assert!(matches!(error(component(&good, &[1.0, -2.0])), MixtureError::Concentration { .. }));
    let flat = manifold("euclid:4");
    assert!(matches!(component(&good, &[1.0, 2.0]).build(flat.as_ref()), Err(MixtureError::Manifold { .. })));
}
