//! What commands do with runs on pictures: their settings, their scores, and pictures that are asked about.

use super::opened::Opened;
use super::opened::SamplerChoice;
use crate::args::{Common, Eval, Fit, Reading};
use crate::error::CliError;
use crate::output;
use crate::plot::{FAN, Figure, PicturePanel, RotationsPanel, TiltWheel};
use mad_core::Points;
use mad_nn::condition::{Condition, picture_from};
use mad_nn::config::Partial;
use mad_nn::pose::{PoseReport, TEST_DRAWS, score_pose};
use mad_nn::run::RunError;
use mad_nn::{Contents, Run};
use std::borrow::Cow;
use std::path::Path;

/// Test pictures of `mad eval`, as in the literature on SymSol.
const TEST_PICTURES: usize = 5000;

/// Name of the condition in `--given`.
pub const PICTURE: &str = "picture";

/// An error about the first flag that was given.
fn refuse(flags: &[(&str, bool)]) -> Result<(), CliError> {
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(CliError::Usage(format!("{flag} has no meaning for pictures of solids"))),
        None => Ok(()),
    }
}

/// What a run on pictures of this solid is made from.
pub fn contents(args: &Fit, solid: &str, mut settings: Partial) -> Result<Contents, CliError> {
    refuse(&[
        ("--manifold", args.manifold.is_some()),
        ("--rows", args.rows.is_some()),
        ("a flag about columns or rows", args.reading != Reading::default()),
    ])?;
    let wanted = Condition::of_solid(solid);
    if let Some(other) = settings.take("condition").filter(|other| *other != wanted) {
        return Err(CliError::Usage(format!(
            "condition = {other} in the settings, but symsol:{solid} is asked for; leave one of them out"
        )));
    }
    settings.flag("DATA", "condition", wanted)?;
    Ok(Contents::of_solid(&settings)?)
}

/// Scores a run on its test pictures.
pub fn eval(common: &Common, args: &Eval, opened: &Opened) -> Result<(), CliError> {
    if args.against != "test" {
        return Err(CliError::Usage(
            "a run on pictures is scored --against test: its own pictures, which training never saw".into(),
        ));
    }
    refuse(&[
        ("--manifold", args.manifold.is_some()),
        ("--metrics", !args.metrics.is_empty()),
        ("a flag about columns or rows", args.reading != Reading::default()),
    ])?;
    let draws = args.draws.map_or(TEST_DRAWS, |n| n as usize);
    let request = SamplerChoice { name: args.sampler.as_deref(), nfe: args.nfe }.request(args.seed);
    let report = score_pose(&opened.run, None, args.n.unwrap_or(TEST_PICTURES), draws, &request)?;
    let report = report.ok_or_else(|| CliError::Usage("the run has no test pictures to be scored on".into()))?;
    let mut fields = serde_json::to_value(&report).expect("numbers can be written as JSON");
    fields["training"] = opened.training();
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

/// The picture in a file, at the size that the run sees.
pub fn picture(run: &Run, file: &Path) -> Result<Vec<f32>, CliError> {
    let size = run.config().size;
    let mut image = vec![0.0; size * size];
    picture_from(file, size, &mut image).map_err(RunError::from)?;
    Ok(image)
}

/// A picture beside poses.
pub fn draw<'a>(run: &Run, image: Vec<f32>, poses: Points) -> Figure<'a> {
    let config = run.config();
    let mut figure = Figure::new("Poses given a picture");
    figure.push_row(vec![
        Box::new(PicturePanel { title: "picture".into(), size: config.size, pixels: image }),
        Box::new(RotationsPanel {
            title: "sampled poses".into(),
            note: config.method.clone(),
            points: Cow::Owned(poses),
            marks: None,
            fan: FAN,
        }),
        Box::new(TiltWheel),
    ]);
    figure
}
