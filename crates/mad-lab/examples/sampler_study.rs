//! Quality of samplers on a trained run, against the number of network calls.
//!
//! ```text
//! cargo run --release --example sampler_study -- RUN REFERENCE DISTRIBUTION ROWS SEEDS SAMPLER:NFE ...
//! ```
//!
//! `REFERENCE` is `test` or a file of points; `DISTRIBUTION` is `none` or a synthetic set with the seed of its parameters after
//! `@`, such as `vmf-mixture@1` or `so3-mixture:32@0`, whose known density scores the samples. With `exact` in place of
//! `REFERENCE`, a von Mises-Fisher mixture takes the place of the network. Standard errors are over `SEEDS` samples of `ROWS` points.

#![allow(clippy::print_stdout, reason = "the table is the result")]

use mad_core::{
    Points,
    catalogue::datasets::{dataset, so3_mixture::So3Mixture, vmf_mixture::vmf_mixture},
    measure::BaseMeasure,
    metrics::{floor, mmd, total_variation},
    rng::{Purpose, stream},
    sample::{BaseDenoiser, Denoiser, Generate, lookup},
    table::{ReadOptions, read},
};
use mad_nn::{Part, Run};
use std::{error::Error, path::Path, sync::Arc};

/// Rows of the reference that enter the MMD, which looks at all pairs.
const MOST_ROWS: usize = 5000;

/// Seed of the first sample; the others follow. Apart from the seeds with which models and data are made.
const FIRST_SEED: u64 = 100;

/// A distribution whose density is known.
enum Known {
    VonMisesFisher(Arc<dyn BaseMeasure>),
    Rotations(So3Mixture),
}

impl Known {
    fn parse(text: &str) -> Result<Option<Self>, Box<dyn Error>> {
        if text == "none" {
            return Ok(None);
        }
        let (name, target) = text.split_once('@').ok_or("DISTRIBUTION is `none` or NAME@SEED")?;
        let (entry, arguments) = dataset(name)?;
        let (target, k) = (target.parse()?, arguments.whole("k"));
        match entry.name {
            "vmf-mixture" => {
                let mixture = vmf_mixture(arguments.whole("dim"), k, arguments.number("kappa"), target);
                Ok(Some(Known::VonMisesFisher(Arc::new(mixture))))
            }
            "so3-mixture" => Ok(Some(Known::Rotations(So3Mixture::new(k, target)))),
            other => Err(format!("the density of {other} is not known").into()),
        }
    }

    /// Minus the mean log-density.
    fn nll(&self, points: &Points) -> f64 {
        let log_density = |x: &[f64]| match self {
            Known::VonMisesFisher(measure) => measure.log_weight(x),
            Known::Rotations(mixture) => mixture.log_density(x),
        };
        -points.rows().map(log_density).sum::<f64>() / points.len() as f64
    }
}

/// Mean and standard error as text.
fn summary(values: &[f64]) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    format!("{mean:.4} ± {:.4}", (variance / n).sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, reference, known, rows, seeds, candidates @ ..] = arguments.as_slice() else {
        return Err("wanted: RUN REFERENCE DISTRIBUTION ROWS SEEDS SAMPLER:NFE ...".into());
    };
    let (run, known) = (Run::open(Path::new(run))?, Known::parse(known)?);
    let (rows, seeds): (usize, u64) = (rows.parse()?, seeds.parse()?);
    let (base, manifold) = (run.base().as_ref(), run.manifold().as_ref());
    let mut denoiser: Box<dyn Denoiser> = Box::new(run.denoiser()?);
    let reference = match (reference.as_str(), &known) {
        ("test", _) => run.part(Part::Test)?,
        ("exact", Some(Known::VonMisesFisher(measure))) => {
            denoiser = Box::new(BaseDenoiser(measure.clone()));
            let mut points = Points::zeros(8 * MOST_ROWS, manifold.ambient_dim());
            let mut rng = stream(77, Purpose::Data, 5);
            points.rows_mut().for_each(|x| measure.sample(&mut rng, x));
            points
        }
        ("exact", _) => return Err("`exact` needs a von Mises-Fisher mixture".into()),
        (file, _) => run.decode(&read(Path::new(file), &ReadOptions::default())?)?,
    };
    let (kernel, few) = (mad_core::catalogue::kernel(manifold), reference.head(reference.len().min(MOST_ROWS)));
    let level = floor(manifold, &kernel, rows, &few, None, 0, 0)?.value;
    print!("{}: floor of the MMD {level:.4}", run.path().display());
    println!(
        "{}",
        known.as_ref().map_or(String::new(), |known| format!(", NLL of the reference {:.4}", known.nll(&reference)))
    );
    for candidate in candidates {
        let (name, nfe) = candidate.split_once(':').ok_or("a candidate is SAMPLER:NFE")?;
        let (sampler, nfe) = (lookup(name)?, nfe.parse()?);
        let (mut discrepancy, mut variation, mut nll, mut drift) = (vec![], vec![], vec![], 0.0);
        for seed in FIRST_SEED..FIRST_SEED + seeds {
            let settings = Generate { nfe, ..Generate::new(sampler, run.config().noise_range(), seed) };
            let samples = settings.collect(denoiser.as_ref(), base, manifold, rows)?;
            discrepancy.push(mmd(manifold, &kernel, &samples.points, &few)?.biased_root);
            if manifold.intrinsic_dim() == 0 {
                variation.push(total_variation(manifold, &samples.points, &reference)?);
            }
            nll.extend(known.as_ref().map(|known| known.nll(&samples.points)));
            drift += samples.drift.mean / seeds as f64;
        }
        print!("{name:10} {nfe:4}  MMD {}  drift {drift:.1e}", summary(&discrepancy));
        for (what, values) in [("TV", variation), ("NLL", nll)] {
            if !values.is_empty() {
                print!("  {what} {}", summary(&values));
            }
        }
        println!();
    }
    Ok(())
}
