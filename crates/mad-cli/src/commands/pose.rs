//! `mad pose`, and what `mad fit` and `mad eval` do with pictures of solids.

use super::fit::{Watcher, config_text};
use super::opened::{seed_or_fresh, tell_unfinished};
use crate::args::{Common, Eval, Fit, Pose, Reading};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::{self, shown};
use crate::overwrite::require_apart;
use crate::plot::{FAN, Figure, Format, PicturePanel, RotationsPanel, TiltWheel};
use mad_core::Points;
use mad_core::data::{Cell, writer};
use mad_core::files::{ReadError, read_any};
use mad_core::pose::Picture;
use mad_nn::ConfigError;
use mad_nn::pose::{PoseConfig, PoseError, PoseReport, PoseRun, TEST_DRAWS, fit_pose, score_pose};
use mad_nn::train::Outcome;
use serde_json::json;
use std::borrow::Cow;

/// Test images of `mad eval`, as in the literature on SymSol.
const TEST_IMAGES: usize = 5000;

/// Most bytes of a picture.
const MAX_PICTURE: u64 = 64 << 20;

/// An error about the first flag that was given.
fn refuse(flags: &[(&str, bool)]) -> Result<(), CliError> {
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(CliError::Usage(format!("{flag} has no meaning for pictures of solids"))),
        None => Ok(()),
    }
}

/// Trains a model of poses given pictures.
pub fn fit(common: &Common, args: &Fit, solid: &str) -> Result<(), CliError> {
    refuse(&[
        ("--manifold", args.manifold.is_some()),
        ("--base", args.base.is_some()),
        ("--rows", args.rows.is_some()),
        ("--device", args.device != "cpu"),
        ("a flag about columns or rows", args.reading != Reading::default()),
    ])?;
    let config = settings(common, args, solid)?;
    let interrupt = Interrupt::listen()?;
    let mut watcher = Watcher::new(common, config.method.clone());
    let fit = fit_pose(&config, &args.out, args.resume, &mut watcher, interrupt.flag())?;
    watcher.finish();
    if let (Outcome::Interrupted, Some(signal)) = (fit.outcome, interrupt.signal()) {
        return Err(CliError::Interrupted { signal, step: fit.step });
    }
    let fields = json!({
        "run": shown(&args.out), "solid": config.solid, "method": config.method, "targets": config.targets,
        "seed": config.seed, "steps": fit.step, "seconds": fit.seconds,
    });
    output::result(common, "fit", fields, || {
        format!(
            "{}: {} steps of {} images in {:.1} s\nnext: mad eval {0} --against test; mad pose {0} --image picture.png",
            args.out.display(),
            fit.step,
            config.images,
            fit.seconds
        )
    })
}

/// Settings from the file, then from `--set`, then from flags; the later one wins.
fn settings(common: &Common, args: &Fit, solid: &str) -> Result<PoseConfig, CliError> {
    let mut table = match &args.config {
        None => toml::Table::new(),
        Some(path) => {
            let problem = |e: toml::de::Error| CliError::Usage(format!("{}: {}", path.display(), e.message()));
            config_text(path)?.parse().map_err(problem)?
        }
    };
    for assignment in &args.set {
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(CliError::Usage(format!("--set {assignment}: write KEY=VALUE")));
        };
        if value.trim().contains(['\n', '\r']) {
            return Err(ConfigError::LineBreak { key: key.trim().into() }.into());
        }
        // A word without quotes is a word.
        let parsed = format!("v = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("v"));
        table.insert(key.trim().into(), parsed.unwrap_or_else(|| value.trim().into()));
    }
    if let Some(method) = &args.method {
        table.insert("method".into(), method.as_str().into());
    }
    if let Some(targets) = &args.targets {
        table.insert("targets".into(), targets.as_str().into());
    }
    for (key, value) in [("steps", args.steps), ("images", args.batch), ("seed", args.seed)] {
        if let Some(value) = value {
            let value = i64::try_from(value).map_err(|_| CliError::Usage(format!("--{key} {value}: too large")))?;
            table.insert(key.into(), value.into());
        }
    }
    if args.resume && PoseRun::is_at(&args.out) {
        // A resumed run keeps the settings it began with; what was asked for now must agree with them.
        let kept = PoseRun::open(&args.out)?.config().to_toml();
        let mut full: toml::Table = kept.parse().expect("a config that was just written");
        full.extend(table);
        table = full;
    }
    if !table.contains_key("seed") {
        table.insert("seed".into(), (seed_or_fresh(common, None) as i64).into());
    }
    Ok(PoseConfig::new(solid, &table)?)
}

/// Scores a pose run on test pictures.
pub fn eval(common: &Common, args: &Eval) -> Result<(), CliError> {
    if args.against != "test" {
        return Err(CliError::Usage(
            "a pose run is scored --against test: its own pictures, which training never saw".into(),
        ));
    }
    refuse(&[
        ("--manifold", args.manifold.is_some()),
        ("--metrics", !args.metrics.is_empty()),
        ("--sampler", args.sampler.is_some()),
        ("a flag about columns or rows", args.reading != Reading::default()),
    ])?;
    let mut run = PoseRun::open(&args.what)?;
    if let Some(nfe) = args.nfe {
        run = run.with_nfe(nfe as usize)?;
    }
    let status = run.status()?;
    tell_unfinished(common, &args.what, status);
    let draws = args.draws.map_or(TEST_DRAWS, |n| n as usize);
    let report = score_pose(&run, None, args.n.unwrap_or(TEST_IMAGES), draws, args.seed)?;
    let mut fields = serde_json::to_value(&report).expect("numbers can be written as JSON");
    fields["training"] = json!(status);
    output::result(common, "eval", fields, || {
        let rows = rows(&report).into_iter().map(Vec::from);
        output::table(&["metric", "value", &format!("{} pictures", report.images)], rows)
    })
}

/// Metric, value and a few words on it.
pub fn rows(report: &PoseReport) -> Vec<[String; 3]> {
    let score = &report.score;
    let mut rows = vec![
        (
            "spread",
            format!("{:.3}°", score.spread),
            format!("± {:.3}, mean distance of samples to the nearest true pose", score.spread_error),
        ),
        ("median", format!("{:.3}°", score.median), String::new()),
        ("95 %", format!("{:.3}°", score.percentile95), String::new()),
        ("over 10°", format!("{:.2} %", 100.0 * score.misses), "share of samples".into()),
        (
            "recall",
            format!("{:.2}°", score.recall),
            format!("from each true pose to the nearest of {} samples", report.draws),
        ),
    ];
    if let Some(modes) = &score.modes {
        let note = "χ² of samples over the poses that look the same, over its mean; 1 is even";
        rows.push(("evenness", format!("{:.2}", modes.within), note.into()));
    }
    if let Some(mode) = score.mode_error {
        rows.push(("mode error", format!("{mode:.3}°"), "of the most likely pose, or the most central sample".into()));
    }
    if let Some(drift) = &report.drift {
        rows.push(("drift", format!("{:.1e}", drift.mean), "mean distance to the set before projection".into()));
    }
    if let Some(value) = report.log_likelihood {
        rows.push(("log-likelihood", format!("{value:.3}"), "nats w.r.t. the volume 8π²; uniform is −4.369".into()));
    }
    rows.push(("time", format!("{:.3} s", report.seconds_per_thousand), "for 1000 samples".into()));
    rows.into_iter().map(|(name, value, note)| [name.to_owned(), value, note]).collect()
}

/// Samples poses for one picture.
pub fn run(common: &Common, args: &Pose) -> Result<(), CliError> {
    args.plot.as_deref().map(Format::of).transpose()?;
    for out in [Some(args.out.as_path()), args.plot.as_deref()].into_iter().flatten() {
        require_apart(out, Some(&args.run), &[&args.image])?;
    }
    let run = PoseRun::open(&args.run)?;
    let status = run.status()?;
    tell_unfinished(common, &args.run, status);
    let seed = seed_or_fresh(common, args.seed);
    let bytes = read_any(&args.image, MAX_PICTURE).map_err(|error| match error {
        ReadError::Io(source) => CliError::io(&args.image, source),
        other => PoseError::Image { path: args.image.clone(), problem: other.to_string() }.into(),
    })?;
    let picture =
        Picture::from_png(&bytes).map_err(|problem| PoseError::Image { path: args.image.clone(), problem })?;
    let size = run.config().size;
    let mut image = vec![0.0; size * size];
    picture.grey(size, &mut image);
    let samples = run.sample(&image, args.n, seed)?;
    if let Some(path) = &args.plot {
        draw(&run, &image, &samples.poses).save(path)?;
        output::notice(common, format!("drawn to {}", path.display()));
    }
    let header = ["qx", "qy", "qz", "qw"].map(str::to_owned);
    let rows: Vec<Vec<Cell>> = samples.poses.iter().map(|q| q.iter().map(|v| Cell::Number(*v)).collect()).collect();
    let mut file = writer(&args.out, &header)?;
    file.write(&rows)?;
    file.finish()?;
    let fields = json!({
        "run": shown(&args.run), "image": shown(&args.image), "seed": seed, "n": args.n, "out": shown(&args.out),
        "training": status,
    });
    output::result_of_data(common, "pose", &args.out, fields, || format!("{} poses", args.n))
}

fn draw<'a>(run: &PoseRun, image: &[f32], poses: &[[f64; 4]]) -> Figure<'a> {
    let config = run.config();
    let points = Points::from_vec(poses.iter().flatten().copied().collect(), 4);
    let mut figure = Figure::new(format!("Poses of a picture of {}", config.solid));
    figure.push_row(vec![
        Box::new(PicturePanel { title: "picture".into(), size: config.size, pixels: image.to_vec() }),
        Box::new(RotationsPanel {
            title: "sampled poses".into(),
            note: config.method.clone(),
            points: Cow::Owned(points),
            marks: None,
            fan: FAN,
        }),
        Box::new(TiltWheel),
    ]);
    figure
}
