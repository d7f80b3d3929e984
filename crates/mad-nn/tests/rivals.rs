//! Methods beside MAD and DSM, from data to samples and densities, through the same trainer.

mod common;

use common::contents;
use mad_core::{
    Points,
    base::fit::{FitOptions, fit_kde, fit_mixture},
    manifold::Manifold,
};
use mad_nn::{
    Part, Run,
    method::SampleRequest,
    train::{Silent, fit},
};
use std::sync::atomic::AtomicBool;

const SETTINGS: [&str; 5] = ["batch=128", "width=48", "depth=3", "learning_rate=3e-3", "evaluate_every=0"];

fn trained(spec: &str, method: &str, steps: &str, folder: &tempfile::TempDir) -> Run {
    let setting = format!("method={method}");
    let mut contents = contents(spec, &[&SETTINGS[..], &[steps, &setting]].concat());
    let (parts, options) = (&contents.parts, FitOptions::default());
    let base = match method {
        "kde" => Some(fit_kde(contents.manifold.as_ref(), &parts.train, &parts.validation, &options)),
        "mixture" => Some(fit_mixture(contents.manifold.as_ref(), &parts.train, &parts.validation, &options)),
        _ => None,
    };
    if let Some(fitted) = base {
        contents.base = fitted.unwrap().choice;
    }
    let out = folder.path().join("run");
    fit(&contents, &out, false, &mut Silent, &AtomicBool::new(false)).unwrap().run
}

/// Mean log-density on the test part, above that of the uniform law.
fn gain(run: &Run) -> f64 {
    let likelihood = run.fitted().unwrap().likelihood(&run.part(Part::Test).unwrap());
    assert!(!likelihood.is_bound);
    run.manifold().log_volume() - likelihood.negative_mean().0
}

/// Share of the volume that the density gives to the whole set, on a grid.
fn total(run: &Run, manifold: &dyn Manifold) -> f64 {
    let grid = manifold.grid(if manifold.intrinsic_dim() > 2 { 20_000 } else { 3000 }).unwrap();
    let densities = run.fitted().unwrap().log_density(&grid, 30);
    densities.iter().map(|d| d.exp()).sum::<f64>() / grid.len() as f64 * manifold.log_volume().exp()
}

#[test]
fn rivals_learn_have_a_density_and_stay_on_the_set() {
    for (spec, method, steps, least) in [
        ("sphere:2", "rfm", "steps=300", 0.4),
        ("sphere:2", "rsgm:loss=ism", "steps=300", 0.4),
        ("sphere:2", "rsgm:loss=ssm,generator=ambient", "steps=300", 0.3),
        ("sphere:2", "rsgm:loss=dsmv", "steps=300", 0.4),
        ("sphere:2", "rsgm:loss=dsm0", "steps=300", 0.4),
        ("so3", "rfm", "steps=300", 0.4),
        ("so3", "rsgm:loss=dsmv", "steps=300", 0.2),
        ("torus:2", "rfm", "steps=300", 0.4),
        ("torus:2", "rsgm:loss=ism", "steps=300", 0.3),
        ("sphere:2", "kde", "steps=0", 0.4),
        ("sphere:2", "mixture", "steps=0", 0.4),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = trained(spec, method, steps, &folder);
        let (manifold, gain) = (run.manifold().clone(), gain(&run));
        assert!(gain > least, "{spec} {method}: {gain} nats above uniform");
        if manifold.grid(10).is_some() {
            let total = total(&run, manifold.as_ref());
            assert!((total - 1.0).abs() < 0.05, "{spec} {method}: the density integrates to {total}");
        }
        let draw = |seed| run.fitted().unwrap().draw(&SampleRequest::new(seed), 300).unwrap().0;
        let samples: Points = draw(1);
        assert!(samples.rows().all(|x| manifold.deviation(x) < 1e-9), "{spec} {method}: samples left the set");
        assert_eq!(samples, draw(1));
        assert_ne!(samples, draw(2));
    }
}

#[test]
fn rivals_are_refused_where_they_make_no_sense() {
    let problem = |spec: &str, method: &str| {
        let manifold = common::manifold(spec);
        let settings = mad_nn::Partial::from_toml(&format!("method = '{method}'"), "test").unwrap();
        mad_nn::Config::resolve(&settings, manifold.as_ref()).unwrap_err().to_string()
    };
    assert!(problem("euclid:3", "rfm").contains("geodesics"));
    assert!(problem("so3", "rfm:generator=ambient").contains("one rotation"));
    assert!(problem("sphere:2", "rsgm:generator=lie-algebra").contains("rotations only"));
}
