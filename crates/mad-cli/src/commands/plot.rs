//! `mad plot`: pictures of a run.

use super::opened::{Opened, SamplerChoice};
use crate::args::{Common, Plot, PlotWhat};
use crate::error::CliError;
use crate::output;
use crate::plot::{
    CurvePanel, DensityPanel, Figure, PointsOptions, PointsPanel, Scale, Series, curves, density_map, points_figure,
};
use mad_core::Points;
use mad_core::manifold::View;
use mad_nn::Part;
use serde_json::{Value, json};
use std::path::Path;

/// Cells of the grid on which a density is shaded.
const DENSITY_CELLS: usize = 12_000;

/// Steps of the probability flow for a picture.
const DENSITY_STEPS: usize = 15;

pub fn run(common: &Common, args: &Plot) -> Result<(), CliError> {
    let opened = Opened::new(&args.run)?;
    let out = args.out.clone().unwrap_or_else(|| args.run.join("plot.svg"));
    match args.what {
        PlotWhat::Samples => {
            let data = opened.run.part(Part::Train)?;
            let n = args.n.unwrap_or_else(|| data.len().min(10_000));
            let samples = opened.sample(SamplerChoice::default(), args.seed, n)?.0;
            let method = format!("{:?}", opened.run.config().method).to_uppercase();
            beside(&opened, &data, &[(&method, &samples)], &[&out])?;
        }
        PlotWhat::Density => density(&opened, args.n.unwrap_or(DENSITY_CELLS), &out)?,
        PlotWhat::Curves => training(&opened)?.save(&out)?,
    }
    output::result(common, "plot", json!({ "out": out }), || format!("wrote {}", out.display()))
}

/// Draws data beside samples of one or more models, once for every file.
pub fn beside(opened: &Opened, data: &Points, models: &[(&str, &Points)], out: &[&Path]) -> Result<(), CliError> {
    let manifold = opened.run.manifold();
    let view = manifold.view();
    let columns = opened.columns();
    let names = match view {
        View::Blocks(_) | View::Map | View::Rotations => Vec::new(),
        _ => columns.encode_header(),
    };
    let levels = columns.levels().into_iter().map(|(_, levels)| levels.to_vec()).collect();
    // The points of a finite set in the plane, so that empty ones are seen too.
    let support = match manifold.intrinsic_dim() {
        0 if view == View::Scatter => manifold.grid(1),
        _ => None,
    };
    let options =
        PointsOptions { title: manifold.spec(), names, levels, support: support.as_ref(), ..PointsOptions::default() };
    let mut panels = vec![PointsPanel { title: "Data", points: data }];
    panels.extend(models.iter().map(|(title, points)| PointsPanel { title, points }));
    let figure = points_figure(&view, &panels, &options)?;
    Ok(out.iter().try_for_each(|path| figure.save(path))?)
}

fn density(opened: &Opened, cells: usize, out: &Path) -> Result<(), CliError> {
    let manifold = opened.run.manifold();
    if manifold.view() != View::Map {
        return Err(CliError::Usage(format!(
            "density shading is drawn on sphere:2 only, not on {}; `mad density` writes numbers for every manifold",
            manifold.spec()
        )));
    }
    let grid = manifold.grid(cells).ok_or_else(|| CliError::Usage("no grid for this manifold".into()))?;
    let log_density: Vec<f64> = opened.densities(&grid, DENSITY_STEPS).into_iter().map(|d| d.0).collect();
    let integral = manifold.log_volume().exp() * log_density.iter().map(|d| d.exp()).sum::<f64>() / grid.len() as f64;
    let data = opened.run.part(Part::Train)?;
    let (title, note) = ("Density of the model", format!("integral {integral:.3}"));
    let panels = [
        DensityPanel { title, note: &note, grid: &grid, log_density: &log_density, points: None },
        DensityPanel { title: "with the data", note: "", grid: &grid, log_density: &log_density, points: Some(&data) },
    ];
    Ok(density_map(&manifold.spec(), &panels, Scale::Log)?.save(out)?)
}

fn training(opened: &Opened) -> Result<Figure<'static>, CliError> {
    let lines = opened.run.metrics()?;
    let series = |label: &str, key: &str| Series {
        label: label.into(),
        points: lines.iter().filter_map(|line| Some((number(line, "step")?, number(line, key)?))).collect(),
        ..Series::default()
    };
    let panel = |title: &str, unit: &str, series: Series| CurvePanel {
        title: title.into(),
        x: ("step".into(), Scale::Linear),
        y: (unit.into(), Scale::Linear),
        series: vec![series],
        ..CurvePanel::default()
    };
    let panels = vec![
        panel("Training loss", "mean squared error", series("loss", "loss")),
        panel("Validation", "NLL bound, nats", series("NLL bound", "nll")),
    ];
    Ok(curves(&opened.run.path().display().to_string(), panels))
}

fn number(line: &Value, key: &str) -> Option<f64> {
    line[key].as_f64()
}
