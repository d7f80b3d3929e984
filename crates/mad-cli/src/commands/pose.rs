//! What commands do with runs on pictures: their settings, their scores, and pictures of the user.

use super::eval::as_json;
use super::opened::{Opened, SamplerChoice};
use super::scores::nll_name;
use crate::args::{Common, Eval, Fit, Reading};
use crate::error::CliError;
use crate::number::significant;
use crate::output;
use crate::plot::{FAN, Figure, PicturePanel, RotationsPanel, TiltWheel};
use mad_core::Points;
use mad_core::catalogue::{Measurement, drift_measurements};
use mad_core::solids::Solid;
use mad_nn::condition::{Condition, picture_from};
use mad_nn::config::Partial;
use mad_nn::method::SampleRequest;
use mad_nn::pose::{PoseReport, TEST_DRAWS, score_pose};
use mad_nn::run::RunError;
use mad_nn::{Contents, Run};
use serde_json::json;
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
    solid.parse::<Solid>().map_err(|unknown| CliError::Usage(unknown.to_string()))?;
    let wanted = Condition::of_solid(solid);
    if let Some(other) = settings.take("condition").filter(|other| *other != wanted) {
        return Err(CliError::Usage(format!(
            "condition = {other} in the settings, but symsol:{solid} is asked for; leave one of them out"
        )));
    }
    settings.put("condition", wanted, "DATA")?;
    Ok(Contents::of_solid(&settings)?)
}

/// Scores a run on its test pictures.
pub fn eval(common: &Common, args: &Eval, opened: &Opened) -> Result<(), CliError> {
    if args.against.as_ref().is_some_and(|against| against != "test") {
        return Err(CliError::Usage(
            "a run on pictures is scored --against test: its own pictures, which training never saw".into(),
        ));
    }
    refuse(&[
        ("--manifold", args.manifold.is_some()),
        ("--metrics", !args.metrics.is_empty()),
        ("a flag about columns or rows", args.reading != Reading::default()),
    ])?;
    let request = SamplerChoice::from(&args.sampling).request(args.seed.value);
    let report = score(opened, args.pictures.unwrap_or(TEST_PICTURES), args.samples, &request)?;
    let measurements = measurements(&report);
    let fields = json!({
        "against": "test", "seed": args.seed.value, "pictures": report.images, "samples_per_picture": report.draws,
        "metrics": as_json(&measurements), "seconds_per_thousand": report.seconds_per_thousand,
        "training": opened.training(),
    });
    output::result(common, "eval", fields, || {
        let heading = format!("{} pictures, {} samples of each, seed {}", report.images, report.draws, args.seed.value);
        let rows = measurements.into_iter().map(|m| vec![m.name, significant(m.value), m.note]);
        output::table(&["metric", "value", &heading], rows)
    })
}

/// The score of a run on this many of its test pictures.
pub fn score(
    opened: &Opened,
    pictures: usize,
    samples: Option<usize>,
    request: &SampleRequest,
) -> Result<PoseReport, CliError> {
    let report = score_pose(&opened.run, None, pictures, samples.unwrap_or(TEST_DRAWS), request)?;
    report.ok_or_else(|| CliError::Usage("the run has no test pictures to be scored on".into()))
}

/// The numbers of a score, by name.
pub fn measurements(report: &PoseReport) -> Vec<Measurement> {
    let score = &report.score;
    let number = |name: &str, value: f64, note: String| Measurement { name: name.into(), value, note };
    let error = significant(score.spread_error);
    let mut found = vec![
        number("spread", score.spread, format!("± {error} degrees, mean distance of samples to the nearest true pose")),
        number("median", score.median, "degrees".into()),
        number("percentile95", score.percentile95, "degrees".into()),
        number("far", score.misses, "share of samples farther than 10 degrees".into()),
        number(
            "recall",
            score.recall,
            format!("degrees, from each true pose to the nearest of {} samples", report.draws),
        ),
    ];
    if let Some(modes) = &score.modes {
        let note = "χ² of samples over the poses that look the same, over its mean; 1 is even";
        found.push(number("evenness", modes.within, note.into()));
    }
    if let Some(mode) = score.mode_error {
        let note = "degrees, of the most likely pose, or of the most central sample";
        found.push(number("mode_error", mode, note.into()));
    }
    if let Some(drift) = &report.drift {
        found.extend(drift_measurements(drift));
    }
    if let Some(value) = report.log_likelihood {
        found.push(number(nll_name(false), -value, "nats w.r.t. the volume 8π²; uniform is 4.369".into()));
    }
    found
}

/// The picture in a file, at the size that the run sees.
pub fn picture(run: &Run, file: &Path) -> Result<Vec<f32>, CliError> {
    let size = run.config().size;
    let mut image = vec![0.0; size * size];
    picture_from(file, size, &mut image).map_err(RunError::from)?;
    Ok(image)
}

/// A picture with poses.
pub fn draw<'a>(run: &Run, image: Vec<f32>, poses: Points) -> Figure<'a> {
    let config = run.config();
    let mut figure = Figure::new("Poses given a picture");
    figure.push_row(vec![
        Box::new(PicturePanel { title: "picture".into(), size: config.size, pixels: image }),
        Box::new(RotationsPanel {
            title: "sampled poses".into(),
            note: config.method.to_string(),
            points: Cow::Owned(poses),
            marks: None,
            fan: FAN,
        }),
        Box::new(TiltWheel),
    ]);
    figure
}
