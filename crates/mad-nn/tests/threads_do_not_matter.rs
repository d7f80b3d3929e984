//! One thread and several give the same bytes: weights, metrics, denoised points, divergences.

mod common;

use common::{checkpoint_bytes, contents};
use mad_core::{likelihood::FlowModel, sample::Denoiser};
use mad_nn::Fit;
use rayon::prelude::*;
use std::fs;

/// Wide enough that the matrix products are really divided among threads.
const SETTINGS: &[&str] =
    &["steps=6", "batch=256", "width=256", "depth=3", "evaluate_every=3", "bound_levels=3", "log_every=2"];

#[test]
fn same_bytes_for_any_number_of_threads() {
    for (spec, network) in [("sphere:2", "mlp"), ("so3", "odd-mlp"), ("so3", "antisymmetric-mlp")] {
        let folder = tempfile::tempdir().unwrap();
        let network = format!("network={network}");
        let settings = [SETTINGS, &[network.as_str()]].concat();
        let results: Vec<_> = [1, 2, 3]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let out = folder.path().join(threads.to_string());
                pool.install(|| {
                    let contents = contents(spec, &settings);
                    let done = Fit::new(&contents).out(&out).train().unwrap();
                    let denoiser = done.run.denoiser().unwrap();
                    let x = &contents.parts.train;
                    // Several threads ask at once.
                    let answers: Vec<_> =
                        (0..4).into_par_iter().map(|i| denoiser.denoise(x, 0.1 * f64::from(i + 1))).collect();
                    let divergence = denoiser.remainder(x, 0.2).divergence;
                    let metrics = fs::read_to_string(out.join("metrics.jsonl")).unwrap();
                    (checkpoint_bytes(&out, 6), metrics, answers, divergence)
                })
            })
            .collect();
        assert!(results[0] == results[1] && results[0] == results[2], "{spec} {network}: thread count changes results");
    }
}
