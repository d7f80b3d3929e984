//! `figure-symsol` and `figure-symsol-training`: pictures with sampled poses, and how drift and spread fall.

use super::seeds::{MethodCurves, bands};
use crate::{
    error::CliError,
    plot::{CurvePanel, FAN, Figure, Panel, PicturePanel, PlotError, RotationsPanel, Scale, TiltWheel},
};
use mad_core::{Points, manifold::multiply};
use mad_nn::pose::{PoseRun, test_images};
use std::borrow::Cow;

/// Poses sampled for each picture.
const POSES: usize = 400;

/// True poses marked where there is a whole circle of them.
const MOST_MARKS: usize = 90;

/// One solid with the runs that saw it.
pub struct Row<'a> {
    /// Name of the solid.
    pub title: &'a str,
    /// Labels and runs.
    pub runs: Vec<(&'a str, PoseRun)>,
}

/// Draws a test picture of each solid beside the poses that each run finds possible.
pub fn draw(title: &str, rows: &[Row]) -> Result<Figure<'static>, CliError> {
    let mut figure = Figure::new(title);
    for row in rows {
        figure.push_row(answers(row, 0, 0)?);
    }
    Ok(figure)
}

/// Test picture number `index`, and for each run the poses that it finds possible, with rings around the true ones
/// and the meaning of their colours.
pub fn answers(row: &Row, index: usize, seed: u64) -> Result<Vec<Box<dyn Panel>>, CliError> {
    let Some((_, first)) = row.runs.first() else { return Ok(Vec::new()) };
    let size = first.config().size;
    let test = test_images(first.config(), index + 1)?;
    let Some(pose) = test.poses.get(index) else { return Ok(Vec::new()) };
    let pixels = test.images[index * size * size..(index + 1) * size * size].to_vec();
    let members = first.config().solid().symmetry().some(MOST_MARKS);
    let truth = Points::from_vec(members.iter().flat_map(|g| multiply(pose, g)).collect(), 4);
    let panel = |(label, run): &(&str, PoseRun)| -> Result<Box<dyn Panel>, CliError> {
        let poses = run.sample(&pixels, POSES, seed)?.poses;
        Ok(Box::new(RotationsPanel {
            title: (*label).to_owned(),
            note: String::new(),
            points: Cow::Owned(Points::from_vec(poses.into_iter().flatten().collect(), 4)),
            marks: Some(truth.clone()),
            fan: FAN,
        }))
    };
    let mut panels = row.runs.iter().map(panel).collect::<Result<Vec<_>, _>>()?;
    panels.push(Box::new(TiltWheel));
    panels.insert(0, Box::new(PicturePanel { title: row.title.to_owned(), size, pixels }));
    Ok(panels)
}

/// Curves of one solid.
pub struct Curves {
    /// Name of the solid.
    pub title: String,
    /// Drift over steps.
    pub drift: Vec<MethodCurves>,
    /// Spread over steps, in degrees.
    pub spread: Vec<MethodCurves>,
}

/// Draws drift and spread over the steps of training, a row for each solid.
pub fn draw_training(title: &str, solids: &[Curves]) -> Result<Figure<'static>, PlotError> {
    let mut figure = Figure::new(title);
    for solid in solids {
        let panel = |what: &str, unit: &str, methods: &[MethodCurves]| -> Box<dyn Panel> {
            Box::new(CurvePanel {
                title: format!("{}: {what}", solid.title),
                x: ("step".to_owned(), Scale::Linear),
                y: (unit.to_owned(), Scale::Log),
                series: bands(Scale::Linear, methods),
                area: Some((400.0, 240.0)),
                ..CurvePanel::default()
            })
        };
        if solid.drift.iter().chain(&solid.spread).all(|m| m.seeds.iter().all(Vec::is_empty)) {
            return Err(PlotError::Empty { title: title.to_owned(), what: "points over training" });
        }
        figure.push_row(vec![
            panel("drift", "mean distance before projection", &solid.drift),
            panel("spread", "degrees", &solid.spread),
        ]);
    }
    Ok(figure)
}
