//! Kernel densities and mixtures fitted to data sets: test NLL with respect to volume, under random splits.
//!
//! `MAD_DATA=… cargo run --release --example base_fits -- FIRST-LAST SET…`, with the first and the last seed.

#![allow(clippy::print_stdout, reason = "a table is what this program is for")]

use mad_core::Points;
use mad_core::base::fit::{FitError, FitOptions, Fitted, fit_kde, fit_mixture, mean_log_weight};
use mad_core::base::{BaseChoice, BaseMeasure};
use mad_core::data::generators::{self, so3_mixture::So3Mixture, vmf_mixture::vmf_mixture};
use mad_core::data::{ColumnOptions, FRACTIONS, Loaded, Split, SplitKind, load};
use mad_core::manifold::Manifold;
use std::{error::Error, time::Instant};

type Fit = fn(&dyn Manifold, &Points, &Points, &FitOptions) -> Result<Fitted, FitError>;

/// Rows of synthetic sets: 20 000 to train on.
const ROWS: usize = 25_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let range = arguments.next().unwrap_or_else(|| "0-4".into());
    let (first, last) = range.split_once('-').ok_or("the first argument is FIRST-LAST, two seeds")?;
    let seeds = first.parse::<u64>()?..=last.parse()?;
    let mut sets: Vec<String> = arguments.collect();
    if sets.is_empty() {
        sets = ["volcano", "earthquake", "flood", "fire"].map(String::from).to_vec();
    }
    let layered = |sizes: &[usize], kernels| FitOptions { sizes: sizes.to_vec(), kernels, ..FitOptions::default() };
    let sizes = FitOptions::default().sizes;
    let methods: [(&str, Fit, FitOptions); 8] = [
        ("kde", fit_kde, FitOptions::plain()),
        ("plain", fit_mixture, FitOptions::plain()),
        ("fits", fit_mixture, layered(&sizes, 0)),
        ("kernels 4", fit_mixture, layered(&[], 4)),
        ("both 2", fit_mixture, layered(&sizes, 2)),
        ("both 4", fit_mixture, layered(&sizes, 4)),
        ("both 6", fit_mixture, layered(&sizes, 6)),
        ("both 12", fit_mixture, layered(&sizes, 12)),
    ];
    println!("set            method        seed  components  validation     test    truth  seconds");
    for set in &sets {
        for (name, fit, options) in &methods {
            let mut tests = Vec::new();
            for seed in seeds.clone() {
                let Case { manifold, points, truth } = case(set, seed)?;
                let split = Split::new(&points, SplitKind::Random, FRACTIONS, seed)?;
                let [train, validation, test] =
                    [&split.train, &split.validation, &split.test].map(|r| points.select(r));
                let options = FitOptions { seed, ..options.clone() };
                let start = Instant::now();
                let fitted = fit(manifold.as_ref(), &train, &validation, &options)?;
                let seconds = start.elapsed().as_secs_f64();
                let nll = -mean_log_weight(fitted.choice.build(manifold.as_ref())?.as_ref(), &test);
                let components = match &fitted.choice {
                    BaseChoice::Mixture { components } => components.len(),
                    _ => 0,
                };
                let exact = truth.map(|density| -test.rows().map(density).sum::<f64>() / test.len() as f64);
                let exact = exact.map_or(String::new(), |t| format!("{t:.3}"));
                let validation = -fitted.validation;
                println!(
                    "{set:14} {name:12} {seed:5} {components:11} {validation:11.3} {nll:8.3} {exact:>8} {seconds:8.1}"
                );
                tests.push(nll);
            }
            let n = tests.len() as f64;
            let mean = tests.iter().sum::<f64>() / n;
            let variance = tests.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
            println!("{set:14} {name:12}  mean {:11} {:11} {mean:8.3} ± {:.3}", "", "", variance.sqrt());
        }
    }
    Ok(())
}

/// The log-density of a law that is known.
type Truth = Box<dyn Fn(&[f64]) -> f64>;

/// Points of a set and, for synthetic ones, their true log-density.
struct Case {
    manifold: std::sync::Arc<dyn Manifold>,
    points: Points,
    truth: Option<Truth>,
}

fn case(set: &str, seed: u64) -> Result<Case, Box<dyn Error>> {
    let (entry, parameters) = generators::dataset(set)?;
    let truth: Option<Truth> = match entry.name {
        "so3-mixture" => {
            let mixture = So3Mixture::new(parameters.whole("k"), seed);
            Some(Box::new(move |q| mixture.log_density(q)))
        }
        "vmf-mixture" => {
            let [dim, k] = ["dim", "k"].map(|name| parameters.whole(name));
            let mixture = vmf_mixture(dim, k, parameters.number("kappa"), seed);
            Some(Box::new(move |x| mixture.log_weight(x)))
        }
        _ => None,
    };
    let rows = truth.is_some().then_some(ROWS);
    let table = generators::make(set, rows, seed, seed, None)?;
    let Loaded { manifold, points, .. } = load(&table, &(entry.manifold)(&parameters), &ColumnOptions::default())?;
    Ok(Case { manifold, points, truth })
}
