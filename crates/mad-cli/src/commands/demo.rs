//! `mad demo`: the whole way on the embedded earthquakes, MAD beside DSM.

use super::fit::{contents, train_contents};
use super::opened::{Opened, SamplerChoice};
use super::plot::beside;
use super::scores::{LikelihoodScore, compare};
use crate::args::{Common, Demo};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output;
use crate::overwrite::require_apart;
use crate::source::Source;
use mad_core::Points;
use mad_core::data::{self, ColumnOptions, generators, writer};
use mad_nn::config::Partial;
use mad_nn::device::DeviceChoice;
use mad_nn::{Part, Run};
use serde_json::{Map, Value, json};
use std::time::Instant;

const DATA: &str = "earthquakes-week";
const MANIFOLD: &str = "sphere:2";
const METHODS: [&str; 2] = ["mad", "dsm"];

/// Enough for a clear picture in under three minutes on two cores.
const STEPS: u64 = 1000;

/// What is reported of one method.
struct Score {
    method: &'static str,
    nll: f64,
    mmd: f64,
    mmd_floor: f64,
    drift: f64,
    seconds: f64,
}

pub fn run(common: &Common, args: &Demo) -> Result<(), CliError> {
    require_apart(&args.out, None, &[])?;
    let table = generators::make(DATA, None, 0, 0, None)?;
    let loaded = data::load(&table, MANIFOLD, &ColumnOptions::default())?;
    output::notice(common, format!("{} earthquakes of one week (USGS), on the sphere", loaded.points.len()));
    std::fs::create_dir_all(&args.out).map_err(|e| CliError::io(&args.out, e))?;
    let interrupt = Interrupt::listen()?;
    let mut scores = Vec::new();
    let mut models = Vec::new();
    for method in METHODS {
        let mut settings = Partial::new();
        settings.flag("demo", "method", method)?;
        settings.flag("--steps", "steps", args.steps.unwrap_or(STEPS) as i64)?;
        let seed = i64::try_from(args.seed).map_err(|_| CliError::Usage(format!("--seed: at most {}", i64::MAX)))?;
        settings.flag("--seed", "seed", seed)?;
        // What there is to say about the data is said once.
        let mut talk = common.clone();
        talk.quiet |= !models.is_empty();
        let folder = args.out.join(method);
        let kept_base = Run::open(&folder).and_then(|run| run.base_choice()).ok();
        let begun = Instant::now();
        let contents = contents(&talk, &table, loaded.clone(), &settings, kept_base)?;
        let prepared = begun.elapsed().as_secs_f64();
        let fit = train_contents(common, DeviceChoice::Cpu, &contents, &folder, true, &interrupt)?;
        if let Some(signal) = interrupt.signal() {
            return Err(CliError::Interrupted { signal, step: fit.step });
        }
        let (data, manifold) = (DATA.to_owned(), Some(MANIFOLD.to_owned()));
        Source { data, manifold, rows: None, flags: String::new() }.keep(&folder)?;
        let opened = Opened::new(&folder)?;
        let (score, samples) = score(method, &opened, prepared + fit.seconds, args.seed)?;
        let mut file = writer(&args.out.join(format!("samples-{method}.csv")), &opened.columns().encode_header())?;
        file.write(&opened.columns().encode(&samples))?;
        file.finish()?;
        scores.push(score);
        models.push((opened, samples));
    }

    let everything = &loaded.points;
    let [mad, dsm] = &models[..] else { unreachable!("two methods were trained") };
    let maps = ["map.svg", "map.png"].map(|name| args.out.join(name));
    beside(&mad.0, everything, &[("MAD", &mad.1), ("DSM", &dsm.1)], &[&maps[0], &maps[1]])?;
    report(common, args, &scores)
}

/// Scores on the test part, with as many samples as there are data, so that the map compares like with like.
fn score(method: &'static str, opened: &Opened, seconds: f64, seed: u64) -> Result<(Score, Points), CliError> {
    let (training, test) = (opened.run.part(Part::Train)?, opened.run.part(Part::Test)?);
    let rows = opened.run.info().rows;
    let (samples, sampled) = opened.sample(SamplerChoice::default(), seed, rows.train + rows.validation + rows.test)?;
    let manifold = opened.run.manifold().as_ref();
    let same_size = samples.head(test.len());
    let found = compare(manifold, &same_size, &test, Some(&training), &["mmd".to_owned()], seed)?;
    let value = |name: &str| found.iter().find(|m| m.name == name).map_or(f64::NAN, |m| m.value);
    let score = Score {
        method,
        nll: LikelihoodScore::of(opened, &test)?.all.nll.unwrap_or(f64::NAN),
        mmd: value("mmd"),
        mmd_floor: value("mmd_floor"),
        drift: sampled.drift.mean,
        seconds,
    };
    Ok((score, samples))
}

fn report(common: &Common, args: &Demo, scores: &[Score]) -> Result<(), CliError> {
    let mut methods = Map::new();
    for s in scores {
        let value = json!({
            "nll": s.nll, "mmd": s.mmd, "mmd_floor": s.mmd_floor, "drift": s.drift, "seconds": s.seconds,
        });
        methods.insert(s.method.to_owned(), value);
    }
    let fields = json!({ "out": output::shown(&args.out), "methods": Value::Object(methods) });
    output::result(common, "demo", fields, || {
        let header = ["method", "NLL bound (nats)", "MMD", "MMD floor", "drift", "seconds"];
        let rows = scores.iter().map(|s| {
            vec![
                s.method.to_uppercase(),
                format!("{:.3}", s.nll),
                format!("{:.4}", s.mmd),
                format!("{:.4}", s.mmd_floor),
                format!("{:.1e}", s.drift),
                format!("{:.1}", s.seconds),
            ]
        });
        format!(
            "{}\nlower is better; drift is the mean distance of samples from the sphere before projection\n\
             map: {}\nsamples: samples-mad.csv, samples-dsm.csv; run folders: mad, dsm\n\
             next: mad report {} writes a page with everything about a run",
            output::table(&header, rows),
            args.out.join("map.png").display(),
            args.out.join("mad").display()
        )
    })
}
