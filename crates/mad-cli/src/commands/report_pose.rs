//! The page about a run on pictures of solids.

use super::opened::tell_unfinished;
use super::pose::rows;
use super::report::{Written, citation, foot, run_name};
use crate::args::{Common, Report};
use crate::error::CliError;
use crate::input::quoted;
use crate::output;
use crate::plot::{CurvePanel, Figure, Scale, Series, curves};
use crate::report::html::{Html, Section, code, figure, paragraph, table};
use crate::report::page::{Page, Tile};
use crate::report::poses::{PoseRow, poses_of_picture};
use mad_nn::config::Key;
use mad_nn::pose::{POSE_KEYS, PoseConfig, PoseReport, PoseRun, TEST_DRAWS, score_pose};
use serde_json::{Map, json};

/// Test pictures that are scored unless another number is asked for.
const PICTURES: usize = 500;

/// Test pictures that are shown.
const SHOWN: usize = 3;

/// The page about a pose run.
pub fn page(common: &Common, args: &Report) -> Result<Written, CliError> {
    let run = PoseRun::open(&args.run)?;
    let status = run.status()?;
    tell_unfinished(common, &args.run, status);
    let config = run.config().clone();
    let pictures = args.n.map_or(PICTURES, |n| n as usize);
    output::detail(common, format!("scoring {pictures} test pictures"));
    let report = score_pose(&run, None, pictures, TEST_DRAWS, args.seed)?;
    let step = run.steps()?.last().copied().unwrap_or_default();
    let training = training(&run)?;
    let sections = vec![
        Section { id: "poses", title: "Pictures and poses", body: shown(args, &config)? },
        Section { id: "scores", title: "Scores", body: scores(&report) },
        Section { id: "training", title: "Training", body: training },
        Section { id: "settings", title: "Settings", body: settings(&config) },
        Section { id: "repeat", title: "Repeat it", body: commands(args, &config, pictures) },
        Section { id: "cite", title: "Citation", body: citation() },
    ];
    let page = Page {
        title: format!("{}: poses of the solid {}", run_name(&args.run), config.solid),
        lead: format!(
            "A model of the poses that the solid in a picture may have, trained with {} for {step} steps of {} pictures. \
             Test pictures come {} and are not among those of training.",
            config.method.to_uppercase(),
            config.images,
            if config.archive.is_empty() { "from the same renderer" } else { "from the same archive" }
        ),
        tiles: tiles(&config, &report),
        sections,
        foot: foot(args),
    };
    let fields = Map::from_iter([("training".to_owned(), json!(status))]);
    Ok(Written { page, samples: report.images * report.draws, fields })
}

fn tiles(config: &PoseConfig, report: &PoseReport) -> Vec<Tile> {
    let tile = |name: &str, value: String, note: &str| Tile { name: name.into(), value, note: note.into() };
    let angle = |value: f64| format!("{value:.2}°");
    let mut tiles = vec![
        tile("Solid", config.solid.clone(), &format!("{} pixels a side", config.size)),
        tile("Method", config.method.to_uppercase(), &format!("{} steps", config.steps)),
        tile("Spread", angle(report.score.spread), "of samples around true poses; lower is better"),
        tile("Median", angle(report.score.median), "over all samples"),
    ];
    if let Some(value) = report.score.mode_error {
        tiles.push(tile("Mode error", angle(value), "of one answer per picture"));
    }
    tiles
}

fn shown(args: &Report, config: &PoseConfig) -> Result<Html, CliError> {
    let label = config.method.to_uppercase();
    let mut picture = Figure::new("");
    for index in 0..SHOWN {
        let title = format!("test picture {}", index + 1);
        let row = PoseRow { title: &title, runs: vec![(&label, PoseRun::open(&args.run)?)] };
        let panels = poses_of_picture(&row, index, args.seed)?;
        if panels.is_empty() {
            break;
        }
        picture.push_row(panels);
    }
    let title = "Test pictures, each beside poses sampled given the picture alone.";
    let caption = "Test pictures, each beside poses sampled given the picture alone: the direction of the turned x axis, \
                   coloured by the turn about it. Rings mark the true poses.";
    Ok(figure(picture.to_inline_svg("poses-figure", title), caption))
}

fn scores(report: &PoseReport) -> Html {
    let rows: Vec<Vec<String>> = rows(report).into_iter().map(Vec::from).collect();
    let caption = format!("{} test pictures, {} samples of each", report.images, report.draws);
    table(&caption, &["metric", "value", "meaning"], &rows)
}

fn training(run: &PoseRun) -> Result<Html, CliError> {
    let lines = run.metrics()?;
    let points: Vec<(f64, f64)> =
        lines.iter().filter_map(|line| Some((line["step"].as_f64()?, line["loss"].as_f64()?))).collect();
    if points.len() < 2 {
        return Ok(paragraph("There is no curve: fewer than two losses were logged."));
    }
    let panel = CurvePanel {
        title: "Training loss".into(),
        x: ("step".into(), Scale::Linear),
        y: ("loss".into(), Scale::Linear),
        series: vec![Series { label: "loss".into(), points, ..Series::default() }],
        ..CurvePanel::default()
    };
    let title = "Training loss over the training steps.";
    Ok(figure(curves("", vec![panel]).to_inline_svg("training-figure", title), title))
}

fn settings(config: &PoseConfig) -> Html {
    let values = config.table();
    let value = |key: &Key| values.get(key.name).map(ToString::to_string).unwrap_or_default();
    let rows: Vec<Vec<String>> =
        POSE_KEYS.iter().map(|key| vec![key.name.to_owned(), value(key), key.summary.to_owned()]).collect();
    let summary = Html::element("summary", format!("All {} settings", rows.len()));
    Html::element("details", summary.and(table("Settings of the run", &["key", "value", "meaning"], &rows)))
}

fn commands(args: &Report, config: &PoseConfig, pictures: usize) -> Html {
    let run = quoted(&args.run.display().to_string());
    let seed = args.seed;
    let lines = [
        format!("mad fit symsol:{} --config {run}/config.toml --out again", config.solid),
        format!("mad eval {run} --against test --n {pictures} --seed {seed}"),
        format!("mad pose {run} --image picture.png --n 500 --plot poses.png"),
        format!("mad report {run} --n {pictures} --seed {seed}"),
    ];
    paragraph("The same settings and seed give the same weights, samples and scores.").and(code(&lines.join("\n")))
}
