//! `mad eval`: an honest score of a model, or of a file of samples, against points it has not seen.

use super::opened::{Opened, SamplerChoice, part_named};
use super::scores::{OF_RUNS, Scores, closest_table, compare};
use crate::args::{Common, Eval};
use crate::error::CliError;
use crate::input::tell_skipped;
use crate::output;
use mad_core::Points;
use mad_core::catalogue::METRICS;
use mad_core::copies;
use mad_core::load::{self, Loaded};
use mad_core::metrics::MetricError;
use mad_core::registry::unknown;
use mad_nn::Part;
use serde_json::{Map, Value, json};
use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::path::Path;

pub fn run(common: &Common, args: &Eval) -> Result<(), CliError> {
    let opened = if args.what.is_dir() { Some(Opened::noticed(common, &args.what)?) } else { None };
    if let Some(opened) = opened.as_ref().filter(|opened| opened.run.config().is_on_pictures()) {
        return super::pose::eval(common, args, opened);
    }
    if args.draws.is_some() {
        return Err(CliError::Usage("--draws is for pose runs; --n is the number of samples".into()));
    }
    check_names(&args.metrics)?;
    let (scores, training, outside) =
        if opened.is_some() { of_run(common, args)? } else { (of_file(common, args)?, Value::Null, json!([])) };
    let mut fields = Map::new();
    for m in &scores.measurements {
        fields.insert(m.name.clone(), json!({ "value": m.value, "note": m.note }));
    }
    let fields = json!({
        "against": args.against.to_string_lossy(), "metrics": Value::Object(fields), "likelihood": scores.likelihood,
        "closest": scores.closest, "training": training, "outside": outside,
    });
    output::result(common, "eval", fields, || {
        let rows = scores.measurements.iter().map(|m| vec![m.name.clone(), format!("{:.6}", m.value), m.note.clone()]);
        let table = (rows.len() > 0).then(|| output::table(&["metric", "value", ""], rows));
        let closest = scores.closest.as_ref().map(|closest| closest_table(closest, &args.against.to_string_lossy()));
        [table, closest].into_iter().flatten().collect::<Vec<_>>().join("\n")
    })
}

fn check_names(names: &[String]) -> Result<(), CliError> {
    let own = OF_RUNS.map(|(name, _)| name);
    for name in names.iter().filter(|name| !own.contains(&name.as_str())) {
        if METRICS.iter().all(|metric| metric.name != name) {
            return Err(MetricError::Unknown(unknown(METRICS, name, &own)).into());
        }
    }
    Ok(())
}

/// The scores of a run, how far it is trained, and its conditions outside the data.
fn of_run(common: &Common, args: &Eval) -> Result<(Scores, Value, Value), CliError> {
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
    let scores = Scores::of(&opened, &reference, &args.metrics, choice, args.n, args.seed)?;
    Ok((scores, opened.training(), opened.outside()))
}

/// A warning if some rows of a file were trained on.
fn seen(opened: &Opened, against: &OsStr, reference: &Points) -> Result<Option<String>, CliError> {
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
            let (points, skipped) = load::decode_skipping(&mut table, &columns, None)?;
            tell_skipped(common, &table, skipped);
            points
        }
    };
    samples.rows_mut().for_each(|x| manifold.canonicalise(x));
    let measurements =
        compare(manifold.as_ref(), std::slice::from_ref(&samples), &points, None, &args.metrics, args.seed)?;
    Ok(Scores { measurements, likelihood: None, closest: None })
}
