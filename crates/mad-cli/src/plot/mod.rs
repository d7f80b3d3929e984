//! Pictures: what a manifold's points, densities and training curves look like, as SVG and PNG.
//!
//! [`points_figure`], [`density_map`] and [`curves`] make a [`Figure`]; [`Figure::save`] writes it. All numbers stay vectors
//! in SVG. PNG uses the embedded font only.

mod angles;
mod axis;
mod bars;
mod canvas;
mod colour;
mod contour;
mod curve;
mod dots;
mod earth;
mod field;
mod figure;
mod font;
mod frame;
mod globe;
mod heat;
mod histogram;
mod land;
mod layout;
mod map;
mod mollweide;
mod orthographic;
mod pairs;
mod picture;
mod png;
mod quiver;
mod region;
mod rotations;
mod scatter;
mod svg;
#[cfg(test)]
mod tests;

pub use axis::{Scale, superscript};
pub use bars::BarsPanel;
pub use colour::{GREY, Rgb, category};
pub use curve::{CurvePanel, Series};
pub use earth::EarthPanel;
pub use figure::{Figure, Format, LegendEntry, Panel};
pub use frame::HEADING;
pub use heat::HeatPanel;
pub use layout::{PointsOptions, PointsPanel, points_figure};
pub use map::MapPanel;
pub use orthographic::OrthographicPanel;
pub use picture::PicturePanel;
pub use quiver::{Arrow, QuiverPanel};
pub use region::{Region, RegionPanel};
pub use rotations::{FAN, RotationsPanel, TiltWheel};
pub use scatter::{SIDE, ScatterPanel, Window};

use mad_core::{Points, table::DataError};
use std::{borrow::Cow, path::PathBuf};

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum PlotError {
    /// The file name does not say which format.
    #[error("{}: pictures are written as .svg or .png; give the file one of these endings", path.display())]
    Format { path: PathBuf },
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] DataError),
    /// The pixels could not be painted.
    #[error("cannot draw the picture: {reason}; try .svg")]
    Render { reason: String },
    /// The points do not belong to the view.
    #[error("panel '{title}': points have {found} coordinates, the view needs {expected}")]
    Coordinates { title: String, expected: usize, found: usize },
    /// There is not one density per grid point.
    #[error("panel '{title}': {found} densities for {expected} grid points")]
    Densities { title: String, expected: usize, found: usize },
    /// There is not one number per thing.
    #[error("figure '{title}': {found} {what}, but {expected} are needed")]
    Count { title: String, what: &'static str, expected: usize, found: usize },
    /// There is nothing to draw.
    #[error("figure '{title}': no {what}; run the experiments that give them first")]
    Empty { title: String, what: &'static str },
}

/// A density on the sphere or on the torus of two angles, for [`density_map`], [`density_globes`] and [`density_of_angles`].
#[derive(Debug, Clone, Copy)]
pub struct DensityPanel<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading, such as the integral; may be empty.
    pub note: &'a str,
    /// Points that cover the set: an equal-area or a regular grid.
    pub grid: &'a Points,
    /// Log of the density per unit of volume at each grid point.
    pub log_density: &'a [f64],
    /// Points to draw over the shading.
    pub points: Option<&'a Points>,
}

impl DensityPanel<'_> {
    /// The heading, if all points have `dim` coordinates and there is one density per grid point.
    fn checked(&self, dim: usize) -> Result<String, PlotError> {
        let title = self.title.to_owned();
        if let Some(found) = [Some(self.grid), self.points].into_iter().flatten().map(Points::dim).find(|&d| d != dim) {
            return Err(PlotError::Coordinates { title, expected: dim, found });
        }
        let (expected, found) = (self.grid.len(), self.log_density.len());
        if expected != found {
            return Err(PlotError::Densities { title, expected, found });
        }
        Ok(title)
    }
}

/// World maps shaded by density, all with the same shades.
pub fn density_map<'a>(title: &str, panels: &[DensityPanel<'a>], scale: Scale) -> Result<Figure<'a>, PlotError> {
    let axis = map::density_axis(scale, panels.iter().flat_map(|p| p.log_density.iter().copied()));
    let mut row: Vec<Box<dyn figure::Panel + 'a>> = Vec::new();
    for panel in panels {
        let title = panel.checked(3)?;
        row.push(Box::new(map::MapPanel {
            title,
            note: panel.note.to_owned(),
            points: panel.points.map(Cow::Borrowed),
            colour: colour::category(1),
            density: Some(map::Density { grid: panel.grid, log_density: panel.log_density, axis: axis.clone() }),
            centre: 0.0,
        }));
    }
    let mut figure = Figure::new(title);
    layout::push_wrapped(&mut figure, row, 3);
    Ok(figure)
}

/// Squares of two angles shaded by density, all with the same shades.
pub fn density_of_angles<'a>(
    title: &str,
    panels: &[DensityPanel<'a>],
    names: [String; 2],
    scale: Scale,
) -> Result<Figure<'a>, PlotError> {
    let axis = map::density_axis(scale, panels.iter().flat_map(|p| p.log_density.iter().copied()));
    let mut row: Vec<Box<dyn figure::Panel + 'a>> = Vec::new();
    for panel in panels {
        let title = panel.checked(4)?;
        row.push(Box::new(HeatPanel {
            title,
            note: panel.note.to_owned(),
            grid: panel.grid,
            log_density: panel.log_density,
            axis: axis.clone(),
            points: panel.points,
            colour: colour::category(1),
            names: names.clone(),
        }));
    }
    let mut figure = Figure::new(title);
    layout::push_wrapped(&mut figure, row, 3);
    Ok(figure)
}

/// The two sides of the globe shaded by density: the one with its peak in the middle and the one behind it.
pub fn density_globes<'a>(title: &str, panel: DensityPanel<'a>, scale: Scale) -> Result<Figure<'a>, PlotError> {
    panel.checked(3)?;
    let axis = map::density_axis(scale, panel.log_density.iter().copied());
    let peak = panel.log_density.iter().enumerate().filter(|(_, d)| d.is_finite()).max_by(|a, b| a.1.total_cmp(b.1));
    let peak =
        peak.map_or([1.0, 0.0, 0.0], |(i, _)| [panel.grid.row(i)[0], panel.grid.row(i)[1], panel.grid.row(i)[2]]);
    let side = |title: &str, eye: [f64; 3]| {
        Box::new(EarthPanel {
            title: title.to_owned(),
            eye,
            points: panel.points.map(Cow::Borrowed),
            colour: colour::category(1),
            density: Some(map::Density { grid: panel.grid, log_density: panel.log_density, axis: axis.clone() }),
        }) as Box<dyn figure::Panel + 'a>
    };
    let mut figure = Figure::new(title);
    figure.push_row(vec![side("Towards the peak", peak), side("The side behind", peak.map(|x| -x))]);
    Ok(figure)
}

/// Curves side by side, two panels to a row.
pub fn curves(title: &str, panels: Vec<CurvePanel>) -> Figure<'static> {
    let mut figure = Figure::new(title);
    let row = panels.into_iter().map(|panel| Box::new(panel) as Box<dyn figure::Panel>).collect();
    layout::push_wrapped(&mut figure, row, 2);
    figure
}
