//! The page about a run on pictures of solids.

use super::eval::as_json;
use super::opened::Opened;
use super::pose::{measurements, score};
use super::report::{Written, citation, foot, run_name};
use crate::args::{Common, Report};
use crate::error::CliError;
use crate::input::quoted;
use crate::output;
use crate::plot::{CurvePanel, Figure, Scale, Series, curves};
use crate::report::html::{Html, Section, code, figure, paragraph, table};
use crate::report::page::{Page, Tile};
use crate::report::poses::{PoseRow, poses_of_picture};
use crate::report::tables::shown;
use crate::source::Source;
use mad_core::catalogue::Measurement;
use mad_nn::condition::Condition;
use mad_nn::config::Setting;
use mad_nn::method::SampleRequest;
use mad_nn::pose::PoseReport;
use mad_nn::run::RunError;
use mad_nn::{Config, Run};
use serde_json::Map;
use toml::Value;

/// Test pictures that are scored unless another number is given.
const PICTURES: usize = 500;

/// Test pictures that are shown.
const SHOWN: usize = 3;

/// The page about a pose run.
pub fn page(common: &Common, args: &Report) -> Result<Written, CliError> {
    let opened = Opened::noticed(common, &args.run)?;
    let run = &opened.run;
    let config = run.config().clone();
    let pictures = args.pictures.unwrap_or(PICTURES);
    output::detail(common, format!("scoring {pictures} test pictures"));
    let samples = args.samples.map(|n| n as usize);
    let report = score(&opened, pictures, samples, &SampleRequest::new(args.seed.value))?;
    let step = run.selected_step().map_err(RunError::from)?;
    let training = training(run)?;
    let sections = vec![
        Section { id: "poses", title: "Pictures and poses", body: pictures_with_poses(args, run)? },
        Section { id: "scores", title: "Scores", body: scores(&report) },
        Section { id: "training", title: "Training", body: training },
        Section { id: "settings", title: "Settings", body: settings(&config) },
        Section { id: "repeat", title: "Repeat it", body: commands(args, run, &report) },
        Section { id: "cite", title: "Citation", body: citation() },
    ];
    let page = Page {
        title: format!("{}: poses of {}", run_name(&args.run), subject(&config)),
        lead: format!(
            "A model of the poses that the object in a picture may have, trained with {} for {step} steps of {} pictures. \
             Test pictures come {} and are not among those of training.",
            config.method.as_str().to_uppercase(),
            config.batch,
            match &*config.condition {
                Condition::Solid(_) if config.archive.is_empty() => "from the same renderer",
                Condition::Solid(_) => "from the same archive",
                _ => "from the same table",
            }
        ),
        tiles: tiles(&config, &report),
        sections,
        foot: foot(args),
    };
    let metrics = as_json(&measurements(&report));
    let fields = Map::from_iter([("metrics".to_owned(), metrics), ("training".to_owned(), opened.training())]);
    Ok(Written { page, samples: report.images * report.draws, fields })
}

/// What the pictures show.
fn subject(config: &Config) -> String {
    match &*config.condition {
        Condition::Solid(solid) => format!("the solid {solid}"),
        _ => format!("objects on {}", config.manifold),
    }
}

fn tiles(config: &Config, report: &PoseReport) -> Vec<Tile> {
    let tile = |name: &str, value: String, note: &str| Tile { name: name.into(), value, note: note.into() };
    let angle = |value: f64| format!("{}°", shown(value));
    let mut tiles = vec![
        tile("Object", subject(config), &format!("{} pixels a side", config.size)),
        tile("Method", config.method.as_str().to_uppercase(), &format!("{} steps", config.steps)),
        tile("Spread", angle(report.score.spread), "of samples around true poses; lower is better"),
        tile("Median", angle(report.score.median), "over all samples"),
    ];
    if let Some(value) = report.score.mode_error {
        tiles.push(tile("Mode error", angle(value), "of one pose per picture"));
    }
    tiles
}

fn pictures_with_poses(args: &Report, run: &Run) -> Result<Html, CliError> {
    let label = run.config().method.as_str().to_uppercase();
    let mut picture = Figure::new("");
    for index in 0..SHOWN {
        let title = format!("test picture {}", index + 1);
        let row = PoseRow { title: &title, runs: vec![(&label, run.clone())] };
        let panels = poses_of_picture(&row, index, args.seed.value)?;
        if panels.is_empty() {
            break;
        }
        picture.push_row(panels);
    }
    let title = "Test pictures, each with poses sampled given the picture alone.";
    let caption = "Test pictures, each with poses sampled given the picture alone: the direction of the turned x axis, \
                   coloured by the turn about it. Rings mark the true poses.";
    Ok(figure(picture.to_inline_svg("poses-figure", title), caption))
}

fn scores(report: &PoseReport) -> Html {
    let row = |m: Measurement| vec![m.name, shown(m.value), m.note];
    let rows: Vec<Vec<String>> = measurements(report).into_iter().map(row).collect();
    let caption = format!("{} test pictures, {} samples of each", report.images, report.draws);
    table(&caption, &["metric", "value", "meaning"], &rows)
}

fn training(run: &Run) -> Result<Html, CliError> {
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

fn settings(config: &Config) -> Html {
    let row =
        |(setting, value): (&Setting, Value)| vec![setting.name.into(), value.to_string(), setting.summary.into()];
    let rows: Vec<Vec<String>> = config.values().into_iter().map(row).collect();
    let summary = Html::element("summary", format!("All {} settings", rows.len()));
    Html::element("details", summary.and(table("Settings of the run", &["key", "value", "meaning"], &rows)))
}

fn commands(args: &Report, open: &Run, report: &PoseReport) -> Html {
    let run = quoted(&args.run.display().to_string());
    let seed = args.seed.value;
    let counts = format!("--pictures {} -n {}", report.images, report.draws);
    let data = Source::of(open.path()).map_or_else(|| "DATA".into(), |source| source.words());
    let lines = [
        format!("mad fit {data} --config {run}/config.toml -o again"),
        format!("mad eval {run} {counts} --seed {seed}"),
        format!("mad sample {run} --given picture=picture.png -n 500 -o poses.csv"),
        format!("mad plot {run} --given picture=picture.png -o poses.png"),
        format!("mad report {run} {counts} --seed {seed}"),
    ];
    paragraph("The same settings and seed give the same weights, samples and scores.").and(code(&lines.join("\n")))
}
