//! Densities of trained models, weak ones too: they integrate to 1 and are no worse than the bound.
//!
//! The full ones: `MAD_DATA=… cargo test --release --workspace --test densities -- --ignored --nocapture`

mod common;

use common::{clustered, contents, manifold, prepared_from};
use mad_core::{
    Points,
    data::{Loaded, generators, load},
    likelihood::{Effort, Normaliser},
    rng::{Purpose, stream},
};
use mad_nn::{
    Part, Run,
    method::SampleRequest,
    run::Contents,
    train::{Silent, fit},
};
use rand_distr::{Distribution, Normal};
use std::{path::Path, sync::atomic::AtomicBool};

/// Trains a model and compares its density with its bound and its integral with 1; `None` leaves the distance from 1 to the errors.
fn check(name: &str, contents: &Contents, draws: usize, distance: Option<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let run = fit(contents, &folder.path().join("run"), false, &mut Silent, &AtomicBool::new(false)).unwrap().run;
    let (fitted, test) = (run.fitted().unwrap(), run.part(Part::Test).unwrap());
    let densities = fitted.log_density(&test, 30);
    let (bound, error) = fitted.likelihood(&test).negative_mean();
    let nll = -densities.iter().sum::<f64>() / densities.len() as f64;
    let normaliser = fitted.normaliser().unwrap();
    let integral = integral(&run, draws);
    eprintln!(
        "{name}: NLL {nll:.4}, bound {bound:.4} ± {error:.4}, integral {:.4} ± {:.4}, normaliser {:.4} ± {:.4}",
        integral.value(),
        integral.standard_error(),
        normaliser.value(),
        normaliser.standard_error()
    );
    assert!(nll <= bound + 2.0 * error, "{name}: NLL {nll} above its bound {bound} ± {error}");
    let doubt = integral.relative_error.hypot(normaliser.relative_error);
    let distance = distance.unwrap_or(4.0 * doubt + 1e-9);
    assert!((integral.value() - 1.0).abs() <= distance, "{name}: integral {} ± {doubt}", integral.value());
    assert!(doubt < 0.1, "{name}: the integral is known to ± {doubt} only");
    // A point has the same density whatever stands beside it.
    let last = test.len() - 1;
    assert!((fitted.log_density(&test.select(&[last]), 30)[0] - densities[last]).abs() < 1e-4, "{name}");
}

/// The integral of the density, from samples and points that the normaliser has not seen.
fn integral(run: &Run, draws: usize) -> Normaliser {
    let (fitted, base, jacobian) = (run.fitted().unwrap(), run.base(), run.columns().points.log_jacobian());
    let ratio = |points: &Points| {
        let densities = fitted.log_density(points, 30).into_iter().zip(points.rows());
        densities.map(|(density, x)| density - jacobian - base.log_weight(x)).collect()
    };
    let samples = |n: usize| Some(fitted.draw(&SampleRequest::new(11), n).unwrap().0);
    let effort = Effort { relative_error: 0.002, draws, seed: 77 };
    Normaliser::estimate(run.manifold().as_ref(), base.as_ref(), &ratio, &samples, effort).unwrap()
}

#[test]
fn weakly_trained_models_have_normalised_densities() {
    let settings = ["batch=64", "width=32", "depth=3", "steps=60", "evaluate_every=0"];
    for (spec, method) in [
        ("sphere:2", "mad"),
        ("sphere:2", "dsm"),
        ("so3", "mad"),
        ("torus:2", "mad"),
        ("torus:2", "skip"),
        ("euclid:2", "mad"),
        ("product(so3,euclid:3)", "mad"),
        ("product(sphere:1,categorical:3,2)", "mad"),
        ("categorical:3,2", "mad"),
    ] {
        let method_setting = format!("method={method}");
        let contents = contents(spec, &[&settings[..], &[&method_setting]].concat());
        check(&format!("{spec} {method}"), &contents, 1024, None);
    }
}

#[test]
fn an_untrained_network_leaves_the_base_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let contents = contents("sphere:2", &["width=16", "depth=2", "steps=0", "evaluate_every=0"]);
    let run = fit(&contents, &folder.path().join("run"), false, &mut Silent, &AtomicBool::new(false)).unwrap().run;
    let (fitted, grid) = (run.fitted().unwrap(), run.manifold().grid(50).unwrap());
    assert_eq!(fitted.normaliser(), Some(Normaliser::ONE));
    assert!(fitted.log_density(&grid, 30).iter().zip(grid.rows()).all(|(d, x)| *d == run.base().log_weight(x)));
}

/// Three wrapped normals on the torus.
fn wrapped_normals(rows: usize) -> Points {
    let parts = [([0.5, 1.0], [0.3, 0.5]), ([-2.0, 2.5], [0.4, 0.25]), ([2.8, -1.5], [0.5, 0.5])];
    let mut rng = stream(1, Purpose::Data, 0);
    let mut points = Points::new(4);
    for row in 0..rows {
        let (means, deviations) = parts[row % 3];
        let angle =
            |(mean, deviation): (f64, f64), rng: &mut _| Normal::new(mean, deviation).unwrap().sample(rng).sin_cos();
        let (a, b) = (angle((means[0], deviations[0]), &mut rng), angle((means[1], deviations[1]), &mut rng));
        points.push(&[a.1, a.0, b.1, b.0]);
    }
    points
}

/// A named data set as the program fits it.
fn named(name: &str, spec: &str, rows: Option<usize>, directory: Option<&Path>, settings: &[&str]) -> Contents {
    let table = generators::make(name, rows, 0, 0, directory).unwrap();
    let loaded: Loaded = load(&table, spec, &Default::default()).unwrap();
    Contents::new(&table, loaded, &common::partial(settings)).unwrap()
}

#[test]
#[ignore = "slow: trains and integrates full models"]
fn weak_models_of_full_size() {
    let small = ["width=96", "evaluate_every=0", "seed=0"];
    let with = |more: &[&'static str]| [&small[..], more].concat();
    let so3 = named("so3-mixture:3", "so3", Some(2400), None, &with(&["base=uniform", "steps=250"]));
    check("so3-mixture:3", &so3, 16_384, Some(0.03));
    let sphere = named("vmf-mixture:k=3", "sphere:2", Some(2000), None, &with(&["base=uniform", "steps=100"]));
    check("sphere:2", &sphere, 16_384, Some(0.03));
    let torus = prepared_from("torus:2", &wrapped_normals(3000), &with(&["steps=300"]));
    check("torus:2", &torus, 16_384, Some(0.03));
    let poses = clustered(manifold("product(so3,euclid:3)").as_ref(), 2000, 0);
    let poses = prepared_from("product(so3,euclid:3)", &poses, &with(&["steps=300"]));
    check("product(so3,euclid:3)", &poses, 16_384, Some(0.03));
}

#[test]
#[ignore = "slow: fits the default models of three earth sets"]
fn default_models_of_the_earth_sets() {
    let Some(directory) = std::env::var_os("MAD_DATA") else {
        eprintln!("SKIPPED: set MAD_DATA to the data directory to run it");
        return;
    };
    for name in ["earthquake", "flood", "fire"] {
        check(name, &named(name, "sphere:2", None, Some(Path::new(&directory)), &["seed=0"]), 4096, Some(0.03));
    }
}
