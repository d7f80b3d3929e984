//! `mad demo`: everything from data to scores on the embedded earthquakes, for MAD and DSM.

use super::fit::{as_setting, contents, train_contents};
use super::opened::{Opened, SamplerChoice};
use super::plot::beside;
use super::scores::{Scores, nll_name};
use crate::args::{Common, Demo};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::number::significant;
use crate::output;
use crate::overwrite::require_apart;
use crate::source::Source;
use mad_core::Points;
use mad_core::catalogue::datasets;
use mad_core::load;
use mad_core::table::{ColumnOptions, writer};
use mad_nn::config::Partial;
use mad_nn::device::DeviceChoice;
use mad_nn::{Part, Run};
use serde_json::{Map, Value, json};
use std::time::Instant;

const DATA: &str = "earthquakes-week";
const MANIFOLD: &str = "sphere:2";

/// What is trained: label, run folder and settings. The last two differ in the base score alone.
const MODELS: [(&str, &str, &[&str]); 3] = [
    ("MAD + fitted base", "mad", &["method=mad"]),
    ("MAD, uniform base", "mad-uniform", &["method=mad", "base=uniform"]),
    ("DSM, same settings", "dsm", &["method=dsm"]),
];

/// What is reported of one model.
struct Score {
    label: &'static str,
    folder: &'static str,
    nll: f64,
    mmd: f64,
    mmd_floor: f64,
    drift: f64,
    seconds: f64,
}

pub fn run(common: &Common, args: &Demo) -> Result<(), CliError> {
    require_apart(&args.out, None, &[])?;
    let table = datasets::make(DATA, None, 0, 0, None)?;
    let loaded = load::load(&table, MANIFOLD, &ColumnOptions::default())?;
    output::notice(common, format!("{} earthquakes of one week (USGS), on the sphere", loaded.points.len()));
    std::fs::create_dir_all(&args.out).map_err(|e| CliError::io(&args.out, e))?;
    let interrupt = Interrupt::listen()?;
    let mut scores = Vec::new();
    let mut models = Vec::new();
    for (label, name, own) in MODELS {
        let mut settings = Partial::new();
        own.iter().try_for_each(|setting| settings.assign(setting, "demo"))?;
        settings.put("steps", as_setting("--steps", args.steps)?, "--steps")?;
        settings.put("seed", as_setting("--seed", args.seed.value)?, "--seed")?;
        // Notices about the data appear once.
        let mut talk = common.clone();
        talk.quiet |= !models.is_empty();
        let folder = args.out.join(name);
        let kept_base = Run::open(&folder).and_then(|run| run.base_choice()).ok();
        let begun = Instant::now();
        let contents = contents(&talk, &table, loaded.clone(), &settings, kept_base)?;
        let prepared = begun.elapsed().as_secs_f64();
        let fit = train_contents(common, DeviceChoice::Cpu, &contents, &folder, true, &interrupt)?;
        if let Some(signal) = interrupt.signal() {
            return Err(CliError::Interrupted { signal, step: fit.step });
        }
        Source::new(DATA.into(), Some(MANIFOLD.into()), None, String::new()).keep(&folder)?;
        let opened = Opened::new(&folder)?;
        let (score, samples) = score((label, name), &opened, prepared + fit.seconds, args.seed.value)?;
        let mut file = writer(&args.out.join(format!("samples-{name}.csv")), &opened.columns().encode_header())?;
        file.write(&opened.columns().encode(&samples))?;
        file.finish()?;
        scores.push(score);
        models.push((label, opened, samples));
    }

    let everything = &loaded.points;
    let maps = ["map.svg", "map.png"].map(|name| args.out.join(name));
    let panels: Vec<(&str, &Points)> = models.iter().map(|(label, _, samples)| (*label, samples)).collect();
    beside(&models[0].1, everything, &panels, &[&maps[0], &maps[1]])?;
    report(common, args, &scores)
}

/// Scores on the test part, and as many samples as there are data, so that the panels of the map compare like with like.
fn score(
    (label, folder): (&'static str, &'static str),
    opened: &Opened,
    seconds: f64,
    seed: u64,
) -> Result<(Score, Points), CliError> {
    let test = opened.run.part(Part::Test)?;
    let names = ["nll", "mmd", "drift"].map(String::from);
    let found = Scores::of(opened, &test, &names, SamplerChoice::default(), None, seed)?.measurements;
    let value = |name: &str| found.iter().find(|m| m.name == name).map_or(f64::NAN, |m| m.value);
    let [nll, mmd, mmd_floor, drift] = [nll_name(true), "mmd", "mmd_floor", "drift_mean"].map(value);
    let rows = opened.run.info().rows;
    let (samples, _) = opened.sample(SamplerChoice::default(), seed, rows.train + rows.validation + rows.test)?;
    Ok((Score { label, folder, nll, mmd, mmd_floor, drift, seconds }, samples))
}

fn report(common: &Common, args: &Demo, scores: &[Score]) -> Result<(), CliError> {
    let mut methods = Map::new();
    for s in scores {
        let value = json!({
            (nll_name(true)): s.nll, "mmd": s.mmd, "mmd_floor": s.mmd_floor, "drift": s.drift, "seconds": s.seconds,
        });
        methods.insert(s.folder.to_owned(), value);
    }
    let fields = json!({ "out": output::shown(&args.out), "seed": args.seed.value, "methods": Value::Object(methods) });
    output::result(common, "demo", fields, || {
        let header = ["method", "NLL bound (nats)", "MMD", "MMD floor", "drift", "seconds"];
        let rows = scores.iter().map(|s| {
            vec![
                s.label.to_owned(),
                significant(s.nll),
                significant(s.mmd),
                significant(s.mmd_floor),
                significant(s.drift),
                format!("{:.1}", s.seconds),
            ]
        });
        format!(
            "{}\nseed {}; lower is better; MMD is a mean over ten draws; drift is the mean distance of samples from the sphere before\n\
             projection; MAD with a uniform base and DSM differ in the base score alone\n\
             map: {}\nsamples: samples-NAME.csv; run folders: {}\n\
             next: mad report {} writes a page with everything about a run",
            output::table(&header, rows),
            args.seed.value,
            args.out.join("map.png").display(),
            scores.iter().map(|s| s.folder).collect::<Vec<_>>().join(", "),
            args.out.join(scores[0].folder).display()
        )
    })
}
