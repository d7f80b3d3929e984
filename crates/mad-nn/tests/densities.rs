//! Densities of trained models, weak ones too: they integrate to 1 and are no worse than the bound.
//!
//! The full ones: `MAD_DATA=… cargo test --release --workspace --test densities -- --ignored --nocapture`; those of the earth sets
//! are among the tests that `.ci/run` makes.

mod common;

use common::{clustered, contents, manifold, prepared_from};
use mad_core::{
    Points,
    catalogue::{MANIFOLDS, datasets},
    estimate::BaseChoice,
    likelihood::{Effort, Normaliser},
    load::{Loaded, load},
    manifold::Manifold,
    rng::{Purpose, stream},
};
use mad_nn::{Contents, Fit, Part, Run, method::SampleRequest};
use rand_distr::{Distribution, Normal};
use std::path::Path;

/// Trains a model and compares its density with its bound and its integral with 1; `None` leaves the distance from 1 to the errors.
fn check(name: &str, contents: &Contents, draws: usize, distance: Option<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let run = Fit::new(contents).out(folder.path().join("run")).train().unwrap().run;
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
    assert!(doubt < 0.03, "{name}: the integral is known to ± {doubt} only");
    on_grid(name, &run);
    // A point has the same density whatever other points are evaluated with it.
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

/// A sum over equal cells, which knows nothing of importance sampling, where a grid resolves the density: without a fitted base,
/// whose kernels are narrower than cells.
fn on_grid(name: &str, run: &Run) {
    let manifold = run.manifold();
    if manifold.intrinsic_dim() > 2 || run.base_choice().unwrap() != BaseChoice::Default {
        return;
    }
    let Some(grid) = manifold.grid(4000) else { return };
    let densities = run.fitted().unwrap().log_density(&grid, 30);
    let mean = densities.iter().map(|density| density.exp()).sum::<f64>() / grid.len() as f64;
    let integral = mean * manifold.log_volume().exp();
    eprintln!("{name}: integral over {} cells {integral:.4}", grid.len());
    assert!((integral - 1.0).abs() < 0.03, "{name}: integral over {} cells {integral}", grid.len());
}

/// Whether a network learns densities on it here: they are not defined on quotients, and large ones take minutes.
fn is_small(manifold: &dyn Manifold) -> bool {
    !manifold.is_quotient() && manifold.ambient_dim() <= 12
}

#[test]
fn weakly_trained_models_have_normalised_densities() {
    let settings = ["batch=64", "width=32", "depth=3", "steps=60", "evaluate_every=0"];
    let examples = MANIFOLDS.iter().flat_map(|entry| entry.examples);
    let specs: Vec<&str> = examples.copied().filter(|spec| is_small(manifold(spec).as_ref())).collect();
    assert!(specs.len() > 12, "{specs:?}");
    for spec in specs {
        // The other anchors where it takes little time.
        let (methods, draws) = match manifold(spec).intrinsic_dim() {
            ..=2 => (&["mad", "dsm", "skip"][..], 1024),
            _ => (&["mad"][..], 4096),
        };
        for method in methods {
            let method_setting = format!("method={method}");
            let contents = contents(spec, &[&settings[..], &[&method_setting]].concat());
            check(&format!("{spec} {method}"), &contents, draws, None);
        }
    }
}

#[test]
fn an_untrained_network_leaves_the_base_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let contents = contents("sphere:2", &["width=16", "depth=2", "steps=0", "evaluate_every=0"]);
    let run = Fit::new(&contents).out(folder.path().join("run")).train().unwrap().run;
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
    let table = datasets::make(name, rows, 0, 0, directory).unwrap();
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

mod with_data {
    use super::*;

    #[test]
    #[ignore = "needs MAD_DATA"]
    fn default_models_of_the_earth_sets() {
        let named = std::env::var_os("MAD_DATA").filter(|name| !name.is_empty());
        let directory = named.expect("MAD_DATA names the folder with earth/ and torus/");
        for name in ["earthquake", "flood", "fire"] {
            check(
                name,
                &super::named(name, "sphere:2", None, Some(Path::new(&directory)), &["seed=0"]),
                4096,
                Some(0.03),
            );
        }
    }
}
