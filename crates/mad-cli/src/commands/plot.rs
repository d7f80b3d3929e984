//! `mad plot`: figures of a run.

use super::opened::{Opened, SamplerChoice};
use super::pose;
use super::scores::is_bound;
use crate::args::{Common, Given, Plot, PlotWhat};
use crate::error::CliError;
use crate::output;
use crate::overwrite::require_apart;
use crate::plot::{
    CurvePanel, DensityPanel, Figure, Format, PointsOptions, PointsPanel, Scale, Series, curves, density_globes,
    density_map, density_of_angles, points_figure,
};
use crate::source::Source;
use clap::ValueEnum;
use mad_core::Points;
use mad_core::catalogue::View;
use mad_nn::Part;
use mad_nn::method::SampleRequest;
use serde_json::{Value, json};
use std::path::Path;

/// Cells of the grid on which a density is shaded.
const DENSITY_CELLS: usize = 12_000;

/// Poses drawn with a picture.
const POSES: usize = 400;

/// Steps of a flow for a picture, for methods that follow one.
const DENSITY_STEPS: usize = 15;

pub fn run(common: &Common, args: &Plot) -> Result<(), CliError> {
    let out = args.out.clone().unwrap_or_else(|| args.run.join("plot.svg"));
    Format::of(&out)?;
    require_apart(&out, Some(&args.run), &[])?;
    args.out.as_deref().map_or(Ok(()), output::require_place)?;
    refuse_unused(args)?;
    if !args.given.is_empty() {
        return given(common, args, &out);
    }
    let opened = match args.what {
        PlotWhat::Curves => Opened::noticed(common, &args.run)?,
        PlotWhat::Samples | PlotWhat::Density => Opened::unconditional(common, &args.run)?,
    };
    match args.what {
        PlotWhat::Samples => {
            let data = opened.run.part(Part::Train)?;
            let n = args.samples.unwrap_or_else(|| data.len().min(10_000));
            let samples = opened.sample(SamplerChoice::default(), args.seed.value, n)?.0;
            let method = opened.run.config().method.as_str().to_uppercase();
            beside(&opened, &data, &[(&method, &samples)], &[&out])?;
        }
        PlotWhat::Density => density(common, &opened, args.grid.map(|n| n as usize), &out)?,
        PlotWhat::Curves => {
            let title = args.run.display().to_string();
            let steps = opened.run.config().steps;
            let none = || CliError::Usage(format!("{title}: there are no curves of {steps} training steps"));
            training(&opened, &title)?.ok_or_else(none)?.save(&out)?;
        }
    }
    let fields = json!({ "out": output::shown(&out), "training": opened.training(), "outside": opened.outside() });
    output::result(common, "plot", fields, || format!("wrote {}", out.display()))
}

/// Refuses flags that the drawing does not use.
fn refuse_unused(args: &Plot) -> Result<(), CliError> {
    let unused = [
        ("-n", args.samples.is_some(), PlotWhat::Samples),
        ("--given", !args.given.is_empty(), PlotWhat::Samples),
        ("--grid", args.grid.is_some(), PlotWhat::Density),
    ];
    let name = |what: PlotWhat| what.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    match unused.into_iter().find(|(_, given, of)| *given && *of != args.what) {
        Some((flag, _, of)) => Err(CliError::Usage(format!("{flag} is for --what {}", name(of)))),
        None => Ok(()),
    }
}

/// Draws a picture with the poses that it may show.
fn given(common: &Common, args: &Plot, out: &Path) -> Result<(), CliError> {
    let given = Given { values: args.given.clone(), guidance: None };
    require_apart(out, Some(&args.run), &given.pictures())?;
    let opened = Opened::given(common, &args.run, &given)?;
    if !opened.run.config().is_on_pictures() {
        return Err(CliError::Usage("--given is for runs on pictures; `mad sample` takes columns".into()));
    }
    let file = given.pictures().first().copied().unwrap_or(Path::new(""));
    let (poses, _) = opened.model.draw(&SampleRequest::new(args.seed.value), args.samples.unwrap_or(POSES))?;
    pose::draw(&opened.run, pose::picture(&opened.run, file)?, poses).save(out)?;
    let fields = json!({ "out": output::shown(out), "training": opened.training(), "outside": opened.outside() });
    output::result(common, "plot", fields, || format!("wrote {}", out.display()))
}

/// Draws data next to samples of one or more models, once for every file.
pub fn beside(opened: &Opened, data: &Points, models: &[(&str, &Points)], out: &[&Path]) -> Result<(), CliError> {
    let (look, columns) = (Look::of(opened), opened.columns());
    let data = columns.in_file_units(data);
    let models: Vec<_> = models.iter().map(|(title, points)| (*title, columns.in_file_units(points))).collect();
    let models: Vec<_> = models.iter().map(|(title, points)| (*title, points)).collect();
    let figure = look.beside(&title(opened), &data, &models)?;
    Ok(out.iter().try_for_each(|path| figure.save(path))?)
}

/// The title of a picture of a run: its data and the set they lie on.
fn title(opened: &Opened) -> String {
    let spec = opened.run.manifold().spec();
    Source::of(opened.run.path()).map_or_else(|| spec.clone(), |source| format!("{} on {spec}", source.name()))
}

/// How points of a run are drawn.
pub struct Look {
    view: View,
    names: Vec<String>,
    levels: Vec<Vec<String>>,
    /// The points of a finite set in the plane, so that empty ones are visible too.
    support: Option<Points>,
}

impl Look {
    pub fn of(opened: &Opened) -> Self {
        let manifold = opened.run.manifold();
        let view = mad_core::catalogue::view(manifold.as_ref());
        let columns = opened.columns();
        let names = match columns.scalar_names() {
            names if names.is_empty() && view == View::Scatter => columns.encode_header(),
            names => names,
        };
        let levels = columns.levels().into_iter().map(|(_, levels)| levels.to_vec()).collect();
        let support = match manifold.intrinsic_dim() {
            0 if view == View::Scatter => manifold.grid(1),
            _ => None,
        };
        Self { view, names, levels, support }
    }

    /// Data next to samples of one or more models, in the units of the file.
    pub fn beside<'a>(
        &'a self,
        title: &str,
        data: &'a Points,
        models: &[(&'a str, &'a Points)],
    ) -> Result<Figure<'a>, CliError> {
        let options = PointsOptions {
            title: title.to_owned(),
            names: self.names.clone(),
            levels: self.levels.clone(),
            support: self.support.as_ref(),
            ..PointsOptions::default()
        };
        let mut panels = vec![PointsPanel { title: "Data", points: data }];
        panels.extend(models.iter().map(|(title, points)| PointsPanel { title, points }));
        Ok(points_figure(&self.view, &panels, &options)?)
    }

    /// The density as shading, alone and with the data over it; `None` where nothing can be shaded.
    pub fn shading<'a>(
        &'a self,
        title: &str,
        density: &'a GridDensity,
        data: &'a Points,
    ) -> Result<Option<Figure<'a>>, CliError> {
        let panels = [
            density.panel("Density of the model", None),
            DensityPanel { note: "", ..density.panel("with the data", Some(data)) },
        ];
        Ok(match self.view {
            View::Map => Some(density_map(title, &panels, Scale::Log)?),
            View::Angles(2) => {
                let name = |i: usize| self.names.get(i).cloned().unwrap_or_else(|| format!("angle {}", i + 1));
                Some(density_of_angles(title, &panels, [name(0), name(1)], Scale::Log)?)
            }
            _ => None,
        })
    }

    /// Both sides of the globe, shaded; `None` for sets that are no globe.
    pub fn globes<'a>(&self, density: &'a GridDensity, data: &'a Points) -> Result<Option<Figure<'a>>, CliError> {
        match self.view {
            View::Map => Ok(Some(density_globes("", density.panel("", Some(data)), Scale::Log)?)),
            _ => Ok(None),
        }
    }
}

/// The density of a model at points that share the volume equally.
pub struct GridDensity {
    grid: Points,
    log_density: Vec<f64>,
    note: String,
}

impl GridDensity {
    /// The density at about `cells` points, or at the usual number, for sets on which it can be shaded; `None` for others.
    pub fn of(common: &Common, opened: &Opened, cells: Option<usize>) -> Option<Self> {
        let manifold = opened.run.manifold();
        if !opened.model.has_density()
            || !matches!(mad_core::catalogue::view(manifold.as_ref()), View::Map | View::Angles(2))
        {
            return None;
        }
        let grid = manifold.grid(cells.unwrap_or(DENSITY_CELLS))?;
        let log_density: Vec<f64> = opened.densities(common, &grid, DENSITY_STEPS).into_iter().map(|d| d.0).collect();
        let note = opened.density_note(opened.integral(common, DENSITY_STEPS));
        Some(Self { grid, log_density, note })
    }

    fn panel<'a>(&'a self, title: &'a str, points: Option<&'a Points>) -> DensityPanel<'a> {
        DensityPanel { title, note: &self.note, grid: &self.grid, log_density: &self.log_density, points }
    }
}

fn density(common: &Common, opened: &Opened, cells: Option<usize>, out: &Path) -> Result<(), CliError> {
    let spec = opened.run.manifold().spec();
    let data = opened.run.part(Part::Train)?;
    let (look, density) = (Look::of(opened), GridDensity::of(common, opened, cells));
    let figure = density.as_ref().map(|density| look.shading(&title(opened), density, &data)).transpose()?.flatten();
    let figure = figure.ok_or_else(|| {
        CliError::Usage(format!(
            "density shading is drawn on sphere:2 and torus:2 only, not on {spec}; `mad density` writes numbers for every \
             manifold"
        ))
    })?;
    Ok(figure.save(out)?)
}

/// Loss and likelihood, or its bound, over the steps; `None` if there are too few of them.
pub fn training(opened: &Opened, title: &str) -> Result<Option<Figure<'static>>, CliError> {
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
    let exact = lines.iter().any(|line| number(line, "nll").is_some() && !is_bound(line));
    let nll = if exact { "NLL" } else { "NLL bound" };
    let panels = vec![
        panel("Training loss", "mean squared error", series("loss", "loss")),
        panel("Validation", &format!("{nll}, nats"), series(nll, "nll")),
    ];
    let flat = panels.iter().all(|panel| panel.series.iter().all(|series| series.points.len() < 2));
    Ok(if flat { None } else { Some(curves(title, panels)) })
}

fn number(line: &Value, key: &str) -> Option<f64> {
    line[key].as_f64()
}
