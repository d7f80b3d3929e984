//! `figure-symsol` and `figure-symsol-training`: pictures with sampled poses, and how drift and spread fall.

use super::seeds::{MethodCurves, bands};
use crate::error::LabError;
use mad_cli::plot::{CurvePanel, Figure, Panel, PlotError, Scale};
use mad_cli::{PoseRow, poses_of_picture};

/// Draws a test picture of each solid next to the poses that each run finds possible.
pub fn draw(title: &str, rows: &[PoseRow]) -> Result<Figure<'static>, LabError> {
    let mut figure = Figure::new(title);
    for row in rows {
        figure.push_row(poses_of_picture(row, 0, 0)?);
    }
    Ok(figure)
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
