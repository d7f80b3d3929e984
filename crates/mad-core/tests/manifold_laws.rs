//! Every registered manifold obeys every law, under its uniform, its default and its fitted base measures.

use mad_core::catalogue::{MANIFOLDS, build, context, spec_round_trips};
use mad_core::manifold::{
    Manifold,
    laws::{self, Subject},
};
use mad_core::measure::{BaseMeasure, Component, VonMisesFisherMixture};
use mad_core::rng::{Purpose, stream};
use rayon::prelude::*;
use std::sync::Arc;

fn manifold(spec: &str) -> Arc<dyn Manifold> {
    build(spec, &context()).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// Runs all laws on all subjects and reports every failure at once.
fn check_all(subjects: Vec<(Arc<dyn Manifold>, Arc<dyn BaseMeasure>)>) {
    let failures: Vec<String> = subjects
        .par_iter()
        .flat_map(|(manifold, base)| {
            let subject = Subject { manifold: manifold.as_ref(), base: base.as_ref() };
            let all = laws::LAWS.iter().map(|(_, law)| *law).chain([spec_round_trips as laws::Law]);
            all.filter_map(|law| law(subject).err()).map(|v| v.to_string()).collect::<Vec<_>>()
        })
        .collect();
    assert!(failures.is_empty(), "{} laws fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_registered_manifold_obeys_the_laws() {
    let mut subjects = Vec::new();
    for spec in MANIFOLDS.iter().flat_map(|entry| entry.examples) {
        let m = manifold(spec);
        assert_eq!(&m.spec(), spec, "examples are written in canonical form");
        subjects.push((m.clone(), m.uniform()));
        subjects.push((m.clone(), m.default_base()));
    }
    assert!(subjects.len() >= 2 * 25);
    check_all(subjects);
}

#[test]
fn fitted_mixtures_obey_the_laws() {
    let mixture = |spec: &str, concentrations: &[f64]| -> (Arc<dyn Manifold>, Arc<dyn BaseMeasure>) {
        let m = manifold(spec);
        let mut rng = stream(5, Purpose::Data, m.ambient_dim() as u64);
        let components = concentrations
            .iter()
            .enumerate()
            .map(|(i, &concentration)| {
                let mut mean = vec![0.0; m.ambient_dim()];
                m.uniform().sample(&mut rng, &mut mean);
                // Concentrations differ from sphere to sphere as well.
                let spheres = m.spheres().unwrap().len();
                let concentrations = (0..spheres).map(|b| concentration / (1.0 + 2.0 * b as f64)).collect();
                Component { weight: 1.0 + i as f64, mean, concentrations }
            })
            .collect();
        let base = VonMisesFisherMixture::on(m.as_ref(), components).unwrap();
        (m, Arc::new(base))
    };
    check_all(vec![
        mixture("sphere:1", &[4.0, 30.0]),
        mixture("sphere:2", &[0.0, 3.0, 50.0, 1e4, 1e8]),
        mixture("sphere:3", &[2.0, 200.0]),
        mixture("sphere:9", &[20.0, 0.0, 300.0]),
        mixture("sphere:99", &[100.0, 2e3]),
        mixture("so3", &[0.0, 5.0, 80.0, 1e6]),
        mixture("torus:1", &[0.0, 5.0, 1e3]),
        mixture("torus:2", &[0.0, 5.0, 1e3]),
        mixture("torus:7", &[3.0, 0.0, 1.0]),
        mixture("product(sphere:2,torus:2)", &[0.0, 8.0, 100.0]),
        mixture("product(so3,sphere:2)", &[3.0, 40.0, 1e4]),
        mixture("product(so3,so3)", &[0.5, 2.0, 40.0]),
        mixture("product(sphere:12,so3,sphere:1)", &[0.0, 5.0, 60.0]),
    ]);
}

#[test]
fn mixture_draws_follow_the_mixture_density() {
    // E f under the density equals the mean of f over draws; f(x) = exp(a·x) has the closed form J(|κμ + a|)/J(κ).
    for (dim, kappa) in
        [(2, 0.5), (2, 40.0), (3, 1e-9), (3, 0.7), (3, 1e3), (4, 12.0), (4, 1e6), (10, 5.0), (100, 400.0)]
    {
        let mut mean = vec![0.0; dim];
        (mean[0], mean[1]) = (0.6, 0.8);
        let component = Component::new(2.0, mean.clone(), kappa);
        let base = VonMisesFisherMixture::on_sphere(vec![component], false, 0.0).unwrap();
        let mut rng = stream(3, Purpose::Data, dim as u64);
        let n = 40_000;
        let (mut sum, mut square, mut x) = (0.0, 0.0, vec![0.0; dim]);
        let mut a = vec![0.0; dim];
        (a[0], a[1]) = (1.0, -0.75 + 0.5 / (1.0 + kappa));
        for _ in 0..n {
            base.sample(&mut rng, &mut x);
            let value = x.iter().zip(&a).map(|(x, a)| x * a).sum::<f64>().exp();
            sum += value;
            square += value * value;
        }
        let estimate = sum / n as f64;
        let error = ((square / n as f64 - estimate * estimate).max(0.0) / n as f64).sqrt();
        let tilted = mean.iter().zip(&a).map(|(m, a)| (kappa * m + a).powi(2)).sum::<f64>().sqrt();
        use mad_core::special::ln_mean_exp_scaled;
        let log_exact = tilted - kappa + ln_mean_exp_scaled(dim, tilted) - ln_mean_exp_scaled(dim, kappa);
        let exact = log_exact.exp();
        assert!(
            (estimate - exact).abs() < 4.5 * error + 1e-9,
            "R^{dim}, κ = {kappa}: {estimate} ± {error:.1e}, exact {exact}"
        );
    }
}

#[test]
fn weights_and_log_densities_are_normalised() {
    // On a grid the density with respect to volume integrates to one.
    let m = manifold("sphere:2");
    let grid = m.grid(20_000).unwrap();
    let component = |mean: [f64; 3], concentration| Component::new(1.0, mean.to_vec(), concentration);
    let parts = vec![component([0.0, 0.6, 0.8], 20.0), component([1.0, 0.0, 0.0], 3.0)];
    let base = VonMisesFisherMixture::on_sphere(parts, false, m.log_volume()).unwrap();
    let integral =
        grid.rows().map(|x| base.log_weight(x).exp()).sum::<f64>() / grid.len() as f64 * m.log_volume().exp();
    assert!((integral - 1.0).abs() < 1e-4, "S²: {integral}");

    let m = manifold("so3");
    let grid = m.grid(40_000).unwrap();
    let parts = vec![Component::new(1.0, vec![0.0, 0.6, 0.0, 0.8], 15.0)];
    let base = VonMisesFisherMixture::on_sphere(parts, true, m.log_volume()).unwrap();
    let integral =
        grid.rows().map(|x| base.log_weight(x).exp()).sum::<f64>() / grid.len() as f64 * m.log_volume().exp();
    assert!((integral - 1.0).abs() < 1e-3, "SO(3): {integral}");
}

#[test]
fn a_broken_measure_is_caught() {
    /// Forgets to divide by σ² in the tilt: a plausible slip.
    #[derive(Debug)]
    struct Wrong(Arc<dyn BaseMeasure>);
    impl BaseMeasure for Wrong {
        fn ambient_dim(&self) -> usize {
            self.0.ambient_dim()
        }
        fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
            self.0.posterior_mean(x, sigma.sqrt(), mean);
        }
        fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
            self.0.log_density(x, sigma)
        }
        fn log_weight(&self, x0: &[f64]) -> f64 {
            self.0.log_weight(x0)
        }
        fn sample(&self, rng: &mut mad_core::rng::Rng, x0: &mut [f64]) {
            self.0.sample(rng, x0);
        }
    }
    let m = manifold("sphere:2");
    let wrong = Wrong(m.uniform());
    let subject = Subject { manifold: m.as_ref(), base: &wrong };
    assert!(laws::posterior_mean_is_weighted_mean(subject).is_err());
    assert!(laws::score_is_gradient(subject).is_err());
    assert!(laws::check(subject).is_err());
}
