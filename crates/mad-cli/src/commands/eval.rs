//! `mad eval`: an honest score of a model, or of a file of samples, against points it has not seen.

use super::opened::{Opened, SamplerChoice, part_named};
use crate::args::{Common, Eval};
use crate::error::CliError;
use crate::input::tell_skipped;
use crate::output;
use mad_core::Points;
use mad_core::data::{self, Loaded};
use mad_core::manifold::Manifold;
use mad_core::metrics::{Comparison, METRICS, Measurement, MetricError, drift_measurements};
use mad_nn::Part;
use mad_nn::pose::PoseRun;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Subsets of the training points over which the floor of a metric is averaged.
pub const FLOOR_DRAWS: usize = 20;

pub fn run(common: &Common, args: &Eval) -> Result<(), CliError> {
    if PoseRun::is_at(&args.what) {
        return super::pose::eval(common, args);
    }
    if args.draws.is_some() {
        return Err(CliError::Usage("--draws is for pose runs; --n is the number of samples".into()));
    }
    check_names(&args.metrics)?;
    let measurements = if args.what.is_dir() { of_run(common, args)? } else { of_file(common, args)? };
    let mut fields = Map::new();
    for m in &measurements {
        fields.insert(m.name.clone(), json!({ "value": m.value, "note": m.note }));
    }
    let fields = json!({ "against": args.against.to_string_lossy(), "metrics": Value::Object(fields) });
    output::result(common, "eval", fields, || {
        let rows = measurements.iter().map(|m| vec![m.name.clone(), format!("{:.6}", m.value), m.note.clone()]);
        output::table(&["metric", "value", ""], rows)
    })
}

/// The negative log-likelihood of a run at `points`, or an upper bound, in nats per original unit.
pub fn nll(opened: &Opened, points: &Points) -> Measurement {
    let likelihood = opened.model.likelihood(points);
    let (value, error) = likelihood.negative_mean();
    let (name, kind) = if likelihood.is_bound { ("nll_bound", "upper bound, ") } else { ("nll", "") };
    let elsewhere = match likelihood.unsolved {
        0 => String::new(),
        _ => format!("; {:.1} % of the points have the density of another one", 100.0 * likelihood.unsolved_share()),
    };
    let note = format!("± {error:.3} nats w.r.t. volume; {kind}lower is better{elsewhere}");
    Measurement { name: name.into(), value, note }
}

/// All metrics that compare samples with a reference, or those named.
pub fn compare(
    manifold: &dyn Manifold,
    samples: &Points,
    reference: &Points,
    training: Option<&Points>,
    names: &[String],
    seed: u64,
) -> Result<Vec<Measurement>, CliError> {
    let comparison = Comparison { manifold, samples, reference, training, draws: FLOOR_DRAWS, seed };
    let mut measurements = Vec::new();
    for entry in METRICS {
        let wanted = match names {
            [] => (entry.applies)(manifold),
            _ => names.iter().any(|name| name == entry.name),
        };
        if wanted {
            measurements.extend((entry.measure)(&comparison)?);
        }
    }
    Ok(measurements)
}

fn check_names(names: &[String]) -> Result<(), CliError> {
    for name in names.iter().filter(|name| *name != "nll") {
        mad_core::metrics::metric(name).map_err(|error| match error {
            MetricError::Unknown { name, nearest, known } => {
                MetricError::Unknown { name, nearest, known: format!("nll, {known}") }
            }
            other => other,
        })?;
    }
    Ok(())
}

fn of_run(common: &Common, args: &Eval) -> Result<Vec<Measurement>, CliError> {
    let opened = Opened::unconditional(common, &args.what)?;
    if args.manifold.is_some() {
        let own = opened.run.manifold().spec();
        output::notice(
            common,
            format!("--manifold is for files of samples; {} is a run on {own}", args.what.display()),
        );
    }
    let reference = opened.part_or_file(common, &args.against, &args.reading)?;
    if let Some(text) = seen(&opened, &args.against, &reference)? {
        output::notice(common, text);
    }
    let choice = SamplerChoice { name: args.sampler.as_deref(), nfe: args.nfe };
    scores(&opened, &reference, &args.metrics, choice, args.n, args.seed)
}

/// A warning if some rows of a file were trained on.
fn seen(opened: &Opened, against: &OsStr, reference: &Points) -> Result<Option<String>, CliError> {
    if part_named(against).is_some() || opened.run.manifold().intrinsic_dim() == 0 {
        return Ok(None);
    }
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let training: HashSet<Vec<u64>> = opened.run.part(Part::Train)?.rows().map(bits).collect();
    let known = reference.rows().filter(|x| training.contains(&bits(x))).count();
    Ok((known > 0).then(|| {
        let all = reference.len();
        format!(
            "{known} of {all} rows of {} are points that the model was trained on, so that scores flatter it; \
                 `--against test` has rows that were kept from it",
            against.to_string_lossy()
        )
    }))
}

/// All scores of a run at `reference` that apply, or those named, from `n` samples or as many as the reference has.
pub fn scores(
    opened: &Opened,
    reference: &Points,
    names: &[String],
    choice: SamplerChoice<'_>,
    n: Option<usize>,
    seed: u64,
) -> Result<Vec<Measurement>, CliError> {
    let manifold = opened.run.manifold().as_ref();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|m| m == name);
    let mut measurements = Vec::new();
    if wanted("nll") {
        measurements.push(nll(opened, reference));
    }
    if names.iter().all(|m| m == "nll") && !names.is_empty() {
        return Ok(measurements);
    }
    let (samples, sampled) = opened.sample(choice, seed, n.unwrap_or(reference.len()))?;
    let training = opened.run.part(Part::Train)?;
    let found = compare(manifold, &samples, reference, Some(&training), names, seed)?;
    // These samples were projected; what counts is how far they stood off before.
    measurements.extend(found.into_iter().filter(|m| !m.name.starts_with("drift")));
    if wanted("drift") {
        measurements.extend(drift_measurements(&sampled.drift));
    }
    Ok(measurements)
}

fn of_file(common: &Common, args: &Eval) -> Result<Vec<Measurement>, CliError> {
    if args.what != Path::new("-") {
        std::fs::metadata(&args.what).map_err(|e| match e.kind() {
            kind @ ErrorKind::NotFound => {
                CliError::io(&args.what, Error::new(kind, "there is no run folder and no file of this name"))
            }
            _ => CliError::io(&args.what, e),
        })?;
    }
    if args.metrics.iter().any(|m| m == "nll") {
        return Err(CliError::Usage("nll needs a run folder; a file of samples has no likelihood".into()));
    }
    let Some(spec) = &args.manifold else {
        return Err(CliError::Usage(format!(
            "--manifold SPEC is missing; {} is a file and does not know its manifold",
            args.what.display()
        )));
    };
    // The reference decides columns, categories and scales of real columns; samples are read in the same way.
    let (_, Loaded { manifold, mut columns, mut points, .. }) =
        args.reading.load(common, args.against.as_ref(), spec)?;
    let all: Vec<usize> = (0..points.len()).collect();
    columns.fit(&mut points, &all);
    let mut table = args.reading.read(common, &args.what)?;
    let mut samples = match args.reading.skip_bad_rows {
        false => columns.decode(&table)?.points,
        true => {
            let (points, skipped) = data::decode_skipping(&mut table, &columns, None)?;
            tell_skipped(common, &table, skipped);
            points
        }
    };
    samples.rows_mut().for_each(|x| manifold.canonicalise(x));
    compare(manifold.as_ref(), &samples, &points, None, &args.metrics, args.seed)
}
