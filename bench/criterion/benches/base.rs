//! Base posterior means of a batch of 512: `cargo bench --manifest-path bench/criterion/Cargo.toml --target-dir target`.

#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mad_core::Points;
use mad_core::catalogue::{BuildContext, build};
use mad_core::measure::{BaseMeasure, Finite, UniformSphere, posterior_means};
use mad_core::rng::{Purpose, stream};
use std::time::Duration;

const BATCH: usize = 512;

/// Draws of `base`, with noise of size `sigma`.
fn noised(base: &dyn BaseMeasure, n: usize, sigma: f64) -> Points {
    let mut rng = stream(0, Purpose::Data, n as u64);
    let mut x = Points::zeros(n, base.ambient_dim());
    x.rows_mut().for_each(|row| base.sample_prior(sigma, &mut rng, row));
    x
}

/// Equal weights on `n` points, spread evenly by chance over the sphere in R^dim.
fn finite(n: usize, dim: usize) -> Finite {
    Finite::uniform(noised(&UniformSphere::new(dim), n, 0.0)).expect("unit vectors")
}

fn posterior_mean(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("posterior mean of 512");
    group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
    let mut measure = |name: &str, base: &dyn BaseMeasure| {
        for sigma in [0.01, 0.1, 1.0] {
            let (x, sigmas) = (noised(base, BATCH, sigma), [sigma; BATCH]);
            group.bench_function(BenchmarkId::new(name, sigma), |b| b.iter(|| posterior_means(base, &x, &sigmas)));
        }
    };
    for spec in ["sphere:2", "so3", "torus:7"] {
        let manifold = build(spec, &BuildContext::without_files()).expect("a registered manifold");
        measure(spec, manifold.uniform().as_ref());
    }
    measure("8 points on the circle", &finite(8, 2));
    for (n, name) in [(1_000, "1k"), (50_000, "50k"), (1_000_000, "1M")] {
        measure(&format!("{name} points on the sphere"), &finite(n, 3));
    }
    measure("50k points in R^8", &finite(50_000, 8));
}

criterion_group!(benches, posterior_mean);
criterion_main!(benches);
