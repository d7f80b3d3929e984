//! The list of what is measured.

use super::Bench;
use mad_core::Points;
use mad_core::catalogue::datasets;
use mad_core::load;
use mad_core::manifold::Manifold;
use mad_core::measure::{BaseMeasure, Finite, posterior_means};
use mad_core::metrics::mmd;
use mad_core::noise::Anchor;
use mad_core::rng::{Purpose, stream};
use mad_core::sample::{self, Generate};
use mad_core::table::{self, ColumnOptions, ReadOptions, Table};
use mad_nn::kernel::Products;
use mad_nn::method::{BatchSource, Denoising, Rows};
use mad_nn::optim::Weights;
use mad_nn::train::Trainer;
use mad_nn::{Config, LearnedDenoiser, Partial, device};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Everything `mad-lab bench` can do, in the order of its table.
pub const BENCHES: &[Bench] = &[
    Bench {
        name: "products",
        summary: "matrix products of a training step alone, 5x512, batch 512",
        repeats: 20,
        prepare: products,
    },
    Bench {
        name: "train-sphere",
        summary: "training step on S2, 5x512, batch 512, from noise to averaged weights",
        repeats: 20,
        prepare: || training("sphere:2", ""),
    },
    Bench {
        name: "train-so3",
        summary: "the same on SO(3), odd by construction",
        repeats: 20,
        prepare: || training("so3", ""),
    },
    Bench {
        name: "train-so3-antisymmetric",
        summary: "the same on SO(3), odd by two evaluations",
        repeats: 10,
        prepare: || training("so3", "network = 'antisymmetric-mlp'"),
    },
    Bench {
        name: "train-torus",
        summary: "the same on the torus T7",
        repeats: 20,
        prepare: || training("torus:7", ""),
    },
    Bench {
        name: "batch-sphere",
        summary: "one batch of 512 on S2: rows, noise, anchor, target",
        repeats: 200,
        prepare: || batch("sphere:2", manifold("sphere:2").uniform()),
    },
    Bench {
        name: "batch-so3",
        summary: "the same on SO(3)",
        repeats: 200,
        prepare: || batch("so3", manifold("so3").uniform()),
    },
    Bench {
        name: "batch-torus",
        summary: "the same on T7",
        repeats: 200,
        prepare: || batch("torus:7", manifold("torus:7").uniform()),
    },
    Bench {
        name: "batch-finite",
        summary: "the same on 8 points of the circle",
        repeats: 200,
        prepare: || batch("sphere:1", Arc::new(scattered("sphere:1", 8))),
    },
    Bench {
        name: "sample-sphere",
        summary: "1000 points on S2, default sampler, 5x512",
        repeats: 3,
        prepare: || sampling("sphere:2", 1_000),
    },
    Bench {
        name: "sample-so3",
        summary: "1000 rotations, default sampler, 5x512",
        repeats: 3,
        prepare: || sampling("so3", 1_000),
    },
    Bench {
        name: "sample-sphere-100k",
        summary: "100 000 points on S2, default sampler, 5x512",
        repeats: 1,
        prepare: || sampling("sphere:2", 100_000),
    },
    Bench {
        name: "base-sphere",
        summary: "posterior means of 512 points on S2",
        repeats: 200,
        prepare: || means(manifold("sphere:2").uniform()),
    },
    Bench {
        name: "base-so3",
        summary: "the same on SO(3)",
        repeats: 200,
        prepare: || means(manifold("so3").uniform()),
    },
    Bench {
        name: "base-torus",
        summary: "the same on T7",
        repeats: 200,
        prepare: || means(manifold("torus:7").uniform()),
    },
    Bench {
        name: "base-categorical",
        summary: "the same on three columns of categories",
        repeats: 200,
        prepare: || means(manifold("categorical:5,4,3").uniform()),
    },
    Bench {
        name: "base-finite-50k",
        summary: "the same on 50 000 points, sigma 0.01",
        repeats: 20,
        prepare: || many_points(50_000, 0.01),
    },
    Bench {
        name: "mmd-sphere",
        summary: "maximum mean discrepancy of 2000 and 2000 points on S2",
        repeats: 3,
        prepare: discrepancy,
    },
    Bench { name: "load-csv", summary: "read and check a CSV of 100 000 events", repeats: 3, prepare: load },
];

const BATCH: usize = 512;
const POINTS: usize = 5000;

pub(super) fn manifold(spec: &str) -> Arc<dyn Manifold> {
    load::manifold_named(spec).expect("a known manifold")
}

/// Equal weights on `n` points drawn from a manifold.
fn scattered(spec: &str, n: usize) -> Finite {
    Finite::uniform(uniform_points(manifold(spec).uniform().as_ref(), n)).expect("points are finite")
}

fn uniform_points(base: &dyn BaseMeasure, n: usize) -> Points {
    let mut rng = stream(0, Purpose::Data, 0);
    let mut points = Points::zeros(n, base.ambient_dim());
    points.rows_mut().for_each(|row| base.sample(&mut rng, row));
    points
}

/// One noised point for each noise level.
fn noised_points(base: &dyn BaseMeasure, sigma: &[f64]) -> Points {
    let mut rng = stream(1, Purpose::Data, 0);
    let mut points = Points::zeros(sigma.len(), base.ambient_dim());
    points.rows_mut().zip(sigma).for_each(|(row, &sigma)| base.sample_prior(sigma, &mut rng, row));
    points
}

/// Default settings on a manifold, but for these.
fn config(manifold: &dyn Manifold, settings: &str) -> Config {
    let settings = Partial::from_toml(settings, "bench").expect("known keys");
    Config::resolve(&settings, manifold).expect("valid settings")
}

fn products() -> Box<dyn FnMut()> {
    let model = config(manifold("sphere:2").as_ref(), "").model(3, 0);
    let mut products = Products::new(model.plan().clone(), BATCH);
    Box::new(move || products.run())
}

/// Training steps with default settings, but for these.
pub(super) fn training(spec: &str, settings: &str) -> Box<dyn FnMut()> {
    let manifold = manifold(spec);
    let config = config(manifold.as_ref(), settings);
    let model = config.model(manifold.ambient_dim(), 0);
    let points = uniform_points(manifold.uniform().as_ref(), POINTS);
    let anchor = Anchor::Base(manifold.uniform());
    let mut weights = Weights::new(model.initialise(0));
    let mut index = 0;
    Box::new(move || {
        let batches = source(&points, &anchor, &config);
        let objective = Denoising { model: &model, batches };
        let trainer = Trainer { objective: &objective, adam: config.adam(), device: device::training() };
        trainer.step(&mut weights, index, config.learning_rate);
        index += 1;
    })
}

fn source<'a>(points: &'a Points, anchor: &'a Anchor, config: &Config) -> BatchSource<'a> {
    BatchSource {
        points: Rows::Kept(points),
        conditions: None,
        dropout: 0.0,
        sign_blocks: Vec::new(),
        rows: config.batch as usize,
        levels: config.levels.0,
        range: config.noise_range(),
        anchor,
        distribution: None,
        seed: 0,
    }
}

fn batch(spec: &str, base: Arc<dyn BaseMeasure>) -> Box<dyn FnMut()> {
    let config = config(manifold(spec).as_ref(), "");
    let points = uniform_points(base.as_ref(), POINTS);
    let anchor = Anchor::Base(base);
    let mut index = 0;
    Box::new(move || {
        std::hint::black_box(source(&points, &anchor, &config).draw(index));
        index += 1;
    })
}

/// Sampling costs the same whatever the network has learned.
pub(super) fn sampling(spec: &str, n: usize) -> Box<dyn FnMut()> {
    let manifold = manifold(spec);
    let config = config(manifold.as_ref(), "");
    let model = config.model(manifold.ambient_dim(), 0);
    let mut weights = model.initialise(0);
    // An output layer of zeros, as before the first step, is recognised and skipped; trained networks have none.
    weights.iter_mut().filter(|weight| **weight == 0.0).for_each(|weight| *weight = 1e-3);
    let denoiser = LearnedDenoiser::new(Anchor::Base(manifold.uniform()), config.noise_range(), model, &weights);
    assert!(!denoiser.is_base_alone(), "the network is part of what is timed");
    let sampler = sample::lookup(&config.sampler).expect("the default sampler");
    let generate = Generate { nfe: config.nfe as usize, ..Generate::new(sampler, config.noise_range(), 0) };
    Box::new(move || {
        let mut rows = 0;
        let mut count = |block: Points| {
            rows += block.len();
            ControlFlow::Continue(())
        };
        let base = manifold.uniform();
        generate.run(&denoiser, base.as_ref(), manifold.as_ref(), n, &mut count).expect("finite samples");
        assert_eq!(rows, n);
    })
}

pub(super) fn means(base: Arc<dyn BaseMeasure>) -> Box<dyn FnMut()> {
    let sigma: Vec<f64> = (0..BATCH).map(|i| 3e-3 * (5.0f64 / 3e-3).powf(i as f64 / BATCH as f64)).collect();
    let x = noised_points(base.as_ref(), &sigma);
    Box::new(move || {
        std::hint::black_box(posterior_means(base.as_ref(), &x, &sigma));
    })
}

/// Posterior means of a batch at one noise level, for `n` points scattered on the sphere.
pub(super) fn many_points(n: usize, sigma: f64) -> Box<dyn FnMut()> {
    let set = scattered("sphere:2", n);
    let sigma = vec![sigma; BATCH];
    let x = noised_points(&set, &sigma);
    Box::new(move || {
        std::hint::black_box(posterior_means(&set, &x, &sigma));
    })
}

fn discrepancy() -> Box<dyn FnMut()> {
    let sphere = manifold("sphere:2");
    let points = uniform_points(sphere.uniform().as_ref(), 4000);
    let rows: Vec<usize> = (2000..4000).collect();
    let (samples, reference) = (points.head(2000), points.select(&rows));
    Box::new(move || {
        std::hint::black_box(
            mmd(sphere.as_ref(), &mad_core::catalogue::kernel(sphere.as_ref()), &samples, &reference)
                .expect("two samples"),
        );
    })
}

fn load() -> Box<dyn FnMut()> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("events.csv");
    let table: Table = datasets::make("vmf-mixture", Some(100_000), 0, 0, None).expect("a known set");
    table::write_table(&path, &table).expect("room for a file");
    Box::new(move || {
        let _keep = &folder;
        let table = table::read(&path, &ReadOptions::default()).expect("a file just written");
        std::hint::black_box(load::load(&table, "sphere:2", &ColumnOptions::default()).expect("points of the sphere"));
    })
}
