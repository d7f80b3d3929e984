//! `mad eval`: the score of a model, or of a file of samples, against points that it was not trained on.

use super::opened::{Opened, SamplerChoice, part_named};
use super::scores::{LikelihoodScore, OF_RUNS, Scores, closest_table, compare};
use crate::args::{Common, Eval};
use crate::error::CliError;
use crate::input::tell_skipped;
use crate::number::significant;
use crate::output;
use mad_core::Points;
use mad_core::catalogue::Measurement;
use mad_core::copies;
use mad_core::load::{self, Loaded};
use mad_nn::Part;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::path::Path;

pub fn run(common: &Common, args: &Eval) -> Result<(), CliError> {
    let opened = if args.what.is_dir() { Some(Opened::noticed(common, &args.what)?) } else { None };
    if let Some(opened) = opened.as_ref().filter(|opened| opened.run.config().is_on_pictures()) {
        return super::pose::eval(common, args, opened);
    }
    if args.pictures.is_some() {
        return Err(CliError::Usage("--pictures is for runs on pictures; -n is the number of samples".into()));
    }
    let against = args.against.clone().unwrap_or_else(|| "test".into());
    let (scores, training, outside) = match opened.is_some() {
        true => of_run(common, args, &against)?,
        false => (of_file(common, args)?, Value::Null, json!([])),
    };
    let fields = json!({
        "against": against.to_string_lossy(), "seed": args.seed.value, "metrics": as_json(&scores.measurements),
        "likelihood": scores.likelihood.as_ref().map(LikelihoodScore::to_json),
        "closest": scores.closest, "training": training, "outside": outside,
    });
    output::result(common, "eval", fields, || {
        let rows = scores.measurements.iter().map(|m| vec![m.name.clone(), significant(m.value), m.note.clone()]);
        let heading = format!("samples with seed {}", args.seed.value);
        let table = (rows.len() > 0).then(|| output::table(&["metric", "value", &heading], rows));
        let closest = scores.closest.as_ref().map(|closest| closest_table(closest, &against.to_string_lossy()));
        [table, closest].into_iter().flatten().collect::<Vec<_>>().join("\n")
    })
}

/// Measurements as an object, by name.
pub(super) fn as_json(measurements: &[Measurement]) -> Value {
    let fields = measurements.iter().map(|m| (m.name.clone(), json!({ "value": m.value, "note": m.note })));
    Value::Object(fields.collect())
}

/// The scores of a run, how far it is trained, and its conditions outside the data.
fn of_run(common: &Common, args: &Eval, against: &OsStr) -> Result<(Scores, Value, Value), CliError> {
    let opened = Opened::unconditional(common, &args.what)?;
    if args.manifold.is_some() {
        let (run, own) = (args.what.display(), opened.run.manifold().spec());
        return Err(CliError::Usage(format!("--manifold is for files of samples; {run} is a run on {own}")));
    }
    let reference = opened.part_or_file(common, against, &args.reading)?;
    if let Some(text) = trained_on(&opened, against, &reference)? {
        output::notice(common, text);
    }
    let choice = SamplerChoice::from(&args.sampling);
    let scores = Scores::of(&opened, &reference, &args.metrics, choice, args.samples, args.seed.value)?;
    Ok((scores, opened.training(), opened.outside()))
}

/// A warning if some rows of a file were trained on.
fn trained_on(opened: &Opened, against: &OsStr, reference: &Points) -> Result<Option<String>, CliError> {
    if part_named(against).is_some() || opened.run.manifold().intrinsic_dim() == 0 {
        return Ok(None);
    }
    let known = copies(reference, &opened.run.part(Part::Train)?).into_iter().filter(|copy| *copy).count();
    Ok((known > 0).then(|| {
        let all = reference.len();
        format!(
            "{known} of {all} rows of {} are points that the model was trained on, so that scores flatter it; \
                 `--against test` has rows that were kept from it",
            against.to_string_lossy()
        )
    }))
}

fn of_file(common: &Common, args: &Eval) -> Result<Scores, CliError> {
    if args.what != Path::new("-") {
        std::fs::metadata(&args.what).map_err(|e| match e.kind() {
            kind @ ErrorKind::NotFound => {
                CliError::io(&args.what, Error::new(kind, "there is no run folder and no file of this name"))
            }
            _ => CliError::io(&args.what, e),
        })?;
    }
    if let Some((name, _)) = OF_RUNS.iter().find(|(name, _)| args.metrics.iter().any(|m| m == name)) {
        let problem = "a file of samples has neither a likelihood nor training rows";
        return Err(CliError::Usage(format!("{name} needs a run folder; {problem}")));
    }
    let missing = |flag: &str, what: &str| {
        CliError::Usage(format!("{flag} is missing; {} is a file and has no {what} of its own", args.what.display()))
    };
    let spec = args.manifold.as_deref().ok_or_else(|| missing("--manifold SPEC", "manifold"))?;
    let against = args.against.as_deref().ok_or_else(|| missing("--against FILE", "test part"))?;
    let drawn = [("-n", args.samples.is_some()), ("--sampler", args.sampling.sampler.is_some())];
    if let Some((flag, _)) = drawn.into_iter().chain([("--nfe", args.sampling.nfe.is_some())]).find(|(_, given)| *given)
    {
        return Err(CliError::Usage(format!("{flag} is for runs; {} is a file of samples", args.what.display())));
    }
    // The reference decides columns, categories and scales of real columns; samples are read in the same way.
    let (_, Loaded { manifold, mut columns, mut points, .. }) = args.reading.load(common, against.as_ref(), spec)?;
    let all: Vec<usize> = (0..points.len()).collect();
    columns.fit(&mut points, &all);
    let mut table = args.reading.read(common, &args.what)?;
    let mut samples = match args.reading.skip_bad_rows {
        false => columns.decode(&table)?.points,
        true => {
            let (points, skipped) = load::decode_skipping(&mut table, &columns, None)?;
            tell_skipped(common, &table, skipped);
            points
        }
    };
    samples.rows_mut().for_each(|x| manifold.canonicalise(x));
    let measurements =
        compare(manifold.as_ref(), std::slice::from_ref(&samples), &points, None, &args.metrics, args.seed.value)?;
    Ok(Scores { measurements, likelihood: None, closest: None })
}
