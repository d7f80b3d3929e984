//! Kernel densities and mixtures fitted to data sets: test NLL with respect to volume, of all rows, of copies of training rows and
//! of new places.
//!
//! `MAD_DATA=… cargo run --release --example base_fits -- FIRST-LAST random|distinct METHOD,… SET…`, with the first and the last
//! seed and the methods of the list below.

#![allow(clippy::print_stdout, reason = "a table is what this program is for")]

use mad_core::Points;
use mad_core::catalogue::datasets::{self, so3_mixture::So3Mixture, vmf_mixture::vmf_mixture};
use mad_core::estimate::{BaseChoice, FitError, FitOptions, Fitted, fit_kde, fit_mixture, mean_log_weight};
use mad_core::load::{Loaded, load};
use mad_core::manifold::Manifold;
use mad_core::measure::BaseMeasure;
use mad_core::table::{ColumnOptions, FRACTIONS, Split, SplitKind};
use std::{collections::HashSet, error::Error, time::Instant};

type Fit = fn(&dyn Manifold, &Points, &Points, &FitOptions) -> Result<Fitted, FitError>;

/// Rows of synthetic sets: 20 000 to train on.
const ROWS: usize = 25_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let range = arguments.next().unwrap_or_else(|| "0-4".into());
    let (first, last) = range.split_once('-').ok_or("the first argument is FIRST-LAST, two seeds")?;
    let seeds = first.parse::<u64>()?..=last.parse()?;
    let kind = match arguments.next().as_deref() {
        None | Some("random") => SplitKind::Random,
        Some("distinct") => SplitKind::Distinct,
        Some(other) => return Err(format!("`{other}` is no split; use random or distinct").into()),
    };
    let asked = arguments.next().unwrap_or_else(|| "both".into());
    let mut sets: Vec<String> = arguments.collect();
    if sets.is_empty() {
        sets = ["volcano", "earthquake", "flood", "fire"].map(String::from).to_vec();
    }
    let stacked = |sizes: &[usize], kernels| FitOptions { sizes: sizes.to_vec(), kernels, ..FitOptions::default() };
    let sizes = FitOptions::default().sizes;
    let methods: [(&str, Fit, FitOptions); 7] = [
        ("kde", fit_kde, FitOptions::plain()),
        ("plain", fit_mixture, FitOptions::plain()),
        ("fits", fit_mixture, stacked(&sizes, 0)),
        ("kernels", fit_mixture, stacked(&[1], 4)),
        ("both2", fit_mixture, stacked(&sizes, 2)),
        ("both", fit_mixture, FitOptions::default()),
        ("both8", fit_mixture, stacked(&sizes, 8)),
    ];
    println!("set            method   seed  components  held out     test   copies      new    truth  seconds");
    for set in &sets {
        for (name, fit, options) in methods.iter().filter(|method| asked.split(',').any(|name| name == method.0)) {
            let mut tests = Vec::new();
            for seed in seeds.clone() {
                let Case { manifold, points, truth } = case(set, seed)?;
                let split = Split::new(&points, kind, FRACTIONS, seed)?;
                let [train, validation, test] =
                    [&split.train, &split.validation, &split.test].map(|r| points.select(r));
                // As `mad fit` does: the first rows are for early stopping.
                let options = FitOptions { seed, reserved: 2048, ..options.clone() };
                let start = Instant::now();
                let fitted = fit(manifold.as_ref(), &train, &validation, &options)?;
                let seconds = start.elapsed().as_secs_f64();
                let base = fitted.choice.build(manifold.as_ref())?;
                let known: HashSet<Vec<u64>> = train.rows().map(bits).collect();
                let (copies, new): (Vec<usize>, Vec<usize>) =
                    (0..test.len()).partition(|&row| known.contains(&bits(test.row(row))));
                let nll = |rows: &Points| -mean_log_weight(base.as_ref(), rows);
                let [all, copies, new] = [nll(&test), nll(&test.select(&copies)), nll(&test.select(&new))];
                let components = match &fitted.choice {
                    BaseChoice::Mixture { components } => components.len(),
                    _ => 0,
                };
                let exact = truth.map(|density| -test.rows().map(density).sum::<f64>() / test.len() as f64);
                let exact = exact.map_or(String::new(), |t| format!("{t:.4}"));
                let held_out = fitted.tried.last().map_or(f64::NAN, |tried| -tried.validation);
                println!(
                    "{set:14} {name:8} {seed:4} {components:11} {held_out:9.3} {all:8.4} {copies:8.3} {new:8.4} {exact:>8} {seconds:8.1}"
                );
                tests.push([all, copies, new]);
            }
            let mean = [0, 1, 2].map(|i| tests.iter().map(|test| test[i]).sum::<f64>() / tests.len() as f64);
            println!("{set:14} {name:8} mean {:21} {:8.4} {:8.3} {:8.4}", "", mean[0], mean[1], mean[2]);
        }
    }
    Ok(())
}

/// Bits by which equal points are recognised.
fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| (x + 0.0).to_bits()).collect()
}

/// A known log-density.
type Truth = Box<dyn Fn(&[f64]) -> f64>;

/// Points of a set and, for synthetic ones, their true log-density.
struct Case {
    manifold: std::sync::Arc<dyn Manifold>,
    points: Points,
    truth: Option<Truth>,
}

fn case(set: &str, seed: u64) -> Result<Case, Box<dyn Error>> {
    let (entry, parameters) = datasets::dataset(set)?;
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
    let table = datasets::make(set, rows, seed, seed, None)?;
    let Loaded { manifold, points, .. } = load(&table, &(entry.manifold)(&parameters), &ColumnOptions::default())?;
    Ok(Case { manifold, points, truth })
}
