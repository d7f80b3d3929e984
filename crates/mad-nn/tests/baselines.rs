//! Baselines: methods other than MAD and DSM, from data to samples and densities, through the same trainer.

mod common;

use common::{contents, prepared};
use mad_core::{
    Points,
    estimate::{FitOptions, fit_mixture},
    manifold::Manifold,
    metrics::mmd,
    rng::{Purpose, stream},
};
use mad_nn::{Contents, Fit, Part, Run, method::SampleRequest};

const ROWS: usize = 600;
const SETTINGS: [&str; 5] = ["batch=128", "width=48", "depth=3", "learning_rate=3e-3", "evaluate_every=0"];

/// What the run is made from. Methods that are a base measure get it where the program does.
fn made(spec: &str, method: &str, steps: &str) -> Contents {
    let setting = format!("method={method}");
    let settings = [&SETTINGS[..], &[steps, &setting]].concat();
    if steps == "steps=0" { prepared(spec, ROWS, &settings) } else { contents(spec, &settings) }
}

fn trained(spec: &str, method: &str, steps: &str, folder: &tempfile::TempDir) -> Run {
    let out = folder.path().join("run");
    Fit::new(&made(spec, method, steps)).out(&out).train().unwrap().run
}

/// Mean log-density on the test part, above that of the uniform distribution.
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

/// The discrepancy of `samples` from rows of the distribution, and that of as many uniform points.
fn discrepancies(manifold: &dyn Manifold, samples: &Points) -> (f64, f64) {
    let rows = common::clustered(manifold, 1000, 1);
    let mut uniform = samples.clone();
    let mut rng = stream(1, Purpose::Data, 0);
    uniform.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
    let from =
        |points: &Points| mmd(manifold, &mad_core::catalogue::kernel(manifold), points, &rows).unwrap().biased_root;
    (from(samples), from(&uniform))
}

#[test]
fn baselines_learn_have_a_density_and_samples_of_it_on_the_set() {
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
        let (model, uniform) = discrepancies(manifold.as_ref(), &samples);
        assert!(model < 0.6 * uniform, "{spec} {method}: MMD {model}, uniform {uniform}");
    }
}

/// Losses that the list above leaves out on rotations: a few steps show that they run.
#[test]
fn every_loss_runs_on_rotations() {
    for loss in ["ism", "ssm", "dsmv", "dsm0"] {
        let folder = tempfile::tempdir().unwrap();
        let run = trained("so3", &format!("rsgm:loss={loss},generator=lie-algebra"), "steps=5", &folder);
        let lines = run.metrics().unwrap();
        let losses: Vec<f64> = lines.iter().filter_map(|line| line["loss"].as_f64()).collect();
        assert!(!losses.is_empty() && losses.iter().all(|loss| loss.is_finite()), "{loss}: {losses:?}");
        assert_eq!(run.state(5).unwrap().weights.step, 5, "{loss}: steps were skipped");
        run.fitted().unwrap().draw(&SampleRequest::new(1), 10).unwrap();
    }
}

/// On its own a mixture is the usual one, of one size, however the method is written; as a base it has several layers.
#[test]
fn a_mixture_on_its_own_is_the_plain_fit() {
    let base = prepared("sphere:2", ROWS, &["method=mad", "base=mixture"]).base;
    for method in ["mixture", "mixture:"] {
        let Contents { manifold, parts, config, base: own, .. } = made("sphere:2", method, "steps=0");
        let options = FitOptions { seed: config.seed, ..FitOptions::plain() };
        let plain = fit_mixture(manifold.as_ref(), &parts.train, &parts.validation, &options).unwrap().choice;
        assert!(own == plain, "{method}: another fit");
        assert!(own != base, "{method}: the layers of a base");
    }
}

#[test]
fn baselines_are_refused_where_they_make_no_sense() {
    let problem = |spec: &str, method: &str| {
        let manifold = common::manifold(spec);
        let settings = mad_nn::Partial::from_toml(&format!("method = '{method}'"), "test").unwrap();
        mad_nn::Config::resolve(&settings, manifold.as_ref()).unwrap_err().to_string()
    };
    assert!(problem("euclid:3", "rfm").contains("geodesics"));
    assert!(problem("so3", "rfm:generator=ambient").contains("one rotation"));
    assert!(problem("sphere:2", "rsgm:generator=lie-algebra").contains("rotations only"));
}
