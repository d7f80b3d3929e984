//! Mixtures and kernel densities fitted to data sets: `cargo run --release --example base_fits -- SEEDS SET…`, with `MAD_DATA`.

#![allow(clippy::print_stdout, reason = "a table is what this program is for")]

use mad_core::Points;
use mad_core::base::BaseChoice;
use mad_core::base::fit::{FitError, FitOptions, Fitted, fit_kde, fit_mixture, mean_log_weight};
use mad_core::data::{ColumnOptions, FRACTIONS, Loaded, Split, SplitKind, generators, load};
use mad_core::manifold::Manifold;
use std::{error::Error, time::Instant};

type Fit = fn(&dyn Manifold, &Points, &Points, &FitOptions) -> Result<Fitted, FitError>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let mut sets: Vec<String> = arguments.collect();
    if sets.is_empty() {
        sets = ["volcano", "earthquake", "flood", "fire"].map(String::from).to_vec();
    }
    println!("set         method   seed components  validation     test  seconds");
    for set in &sets {
        let (entry, parameters) = generators::dataset(set)?;
        let table = generators::make(set, None, 0, 0, None)?;
        let Loaded { manifold, points, .. } = load(&table, &(entry.manifold)(&parameters), &ColumnOptions::default())?;
        let methods: [(&str, Fit); 2] = [("kde", fit_kde), ("mixture", fit_mixture)];
        for (name, fit) in methods {
            let mut tests = Vec::new();
            for seed in 0..seeds {
                let split = Split::new(&points, SplitKind::Random, FRACTIONS, seed)?;
                let [train, validation, test] =
                    [&split.train, &split.validation, &split.test].map(|r| points.select(r));
                let options = FitOptions { seed, ..FitOptions::default() };
                let start = Instant::now();
                let fitted: Fitted = fit(manifold.as_ref(), &train, &validation, &options)?;
                let seconds = start.elapsed().as_secs_f64();
                let nll = -mean_log_weight(fitted.choice.build(manifold.as_ref())?.as_ref(), &test);
                let components = match &fitted.choice {
                    BaseChoice::Mixture { components } => components.len(),
                    _ => 0,
                };
                let validation = -fitted.validation;
                println!("{set:11} {name:8} {seed:4} {components:10} {validation:11.3} {nll:8.3} {seconds:8.1}");
                if std::env::var_os("VERBOSE").is_some() {
                    fitted.tried.iter().for_each(|t| println!("    {:60} {:.4}", t.what, -t.validation));
                }
                tests.push(nll);
            }
            let n = tests.len() as f64;
            let mean = tests.iter().sum::<f64>() / n;
            let variance = tests.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
            println!("{set:11} {name:8} mean {:10} {:11} {mean:8.3} ± {:.3}", "", "", variance.sqrt());
        }
    }
    Ok(())
}
