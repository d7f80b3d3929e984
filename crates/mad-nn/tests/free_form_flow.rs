//! Free-form flows through the whole trainer: short fits find clusters, and encoder and decoder become inverse.

mod common;

use common::{checkpoint_bytes, contents};
use mad_core::metrics::mmd;
use mad_nn::{Fit, device, method::SampleRequest, train::Outcome};

#[test]
fn a_short_fit_beats_the_uniform_density() {
    let folder = tempfile::tempdir().unwrap();
    let settings = |method: &'static str| {
        [method, "steps=300", "batch=64", "width=48", "depth=2", "learning_rate=3e-3", "evaluate_every=0"]
    };
    for (spec, method) in [
        ("sphere:2", "method=fff:blocks=2,newton=10"),
        ("sphere:2", "method=fff:blocks=2,newton=10,latent=mixture,noise=0.01,volume=ambient"),
        ("so3", "method=fff:blocks=2,newton=10,z_reconstruction=10,z_projection=1,x_projection=1"),
        ("torus:2", "method=fff:blocks=2,newton=10"),
    ] {
        let contents = contents(spec, &settings(method));
        let out = folder.path().join(format!("{spec} {method}"));
        let done = Fit::new(&contents).out(&out).train().unwrap();
        assert_eq!(done.outcome, Outcome::Finished);
        let (manifold, test) = (&contents.manifold, &contents.parts.test);
        let fitted = done.run.fitted().unwrap();
        // Newton steps make this the density of the samples, whether or not the encoder inverts the decoder.
        let (nll, _) = fitted.likelihood(test).negative_mean();
        assert!(nll < manifold.log_volume() - 0.5, "{spec} {method}: {nll} nats, uniform {}", manifold.log_volume());
        let (samples, _) = fitted.draw(&SampleRequest::new(1), 500).unwrap();
        let mut uniform = samples.clone();
        let mut rng = mad_core::rng::stream(1, mad_core::rng::Purpose::Data, 0);
        uniform.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
        let distance = |points| {
            mmd(manifold.as_ref(), &mad_core::catalogue::kernel(manifold.as_ref()), points, test).unwrap().biased_root
        };
        let (model, uniform) = (distance(&samples), distance(&uniform));
        assert!(model < 0.6 * uniform, "{spec} {method}: MMD {model}, uniform {uniform}");
    }
}

/// With uniform codes the likelihood moves weights by its volume term alone, and the published one is D/d times the
/// unbiased one.
#[test]
fn the_published_volume_term_pulls_harder_by_ambient_over_intrinsic_dimension() {
    let folder = tempfile::tempdir().unwrap();
    for (spec, factor) in [("sphere:2", 3.0 / 2.0), ("so3", 9.0 / 3.0), ("torus:2", 2.0)] {
        let slope = |volume: &str| {
            let method = format!("method=fff:blocks=2,reconstruction=0,z_sample=0,x_sample=0,volume={volume}");
            let contents = contents(spec, &[method.as_str(), "steps=0", "batch=16", "width=16", "depth=1"]);
            let out = folder.path().join(format!("{spec} {volume}"));
            let run = Fit::new(&contents).out(&out).train().unwrap().run;
            let objective = run.objective().unwrap();
            let mut weights = objective.initialise(0);
            weights.iter_mut().enumerate().for_each(|(i, w)| *w += 0.05 * ((i % 7) as f32 - 3.0) / 3.0);
            objective.gradient(&mut weights, 0, &device::training()).gradient
        };
        let (published, own) = (slope("ambient"), slope("tangent"));
        assert!(own.iter().any(|g| g.abs() > 1e-3), "{spec}: no slope");
        for (published, own) in published.iter().zip(&own) {
            let expected = factor * own;
            assert!((published - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{spec}: {published} {expected}");
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["method=fff:latent=mixture", "steps=4", "batch=256", "width=128", "evaluate_every=2"];
    for spec in ["sphere:2", "so3"] {
        let results: Vec<_> = [1, 3]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let out = folder.path().join(format!("{spec} {threads}"));
                pool.install(|| {
                    let contents = contents(spec, &settings);
                    let done = Fit::new(&contents).out(&out).train().unwrap();
                    let fitted = done.run.fitted().unwrap();
                    let densities = fitted.log_density(&contents.parts.train, 0);
                    (checkpoint_bytes(&out, 4), densities, fitted.draw(&SampleRequest::new(1), 3000).unwrap().0)
                })
            })
            .collect();
        assert!(results[0] == results[1], "{spec}: thread count changes results");
    }
}
