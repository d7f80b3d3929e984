//! `figure-front`: what the program is for, in one picture.

use crate::error::LabError;
use mad_cli::plot::{DensityPanel, Figure, Scale, density_map, density_of_angles};
use mad_cli::{PoseRow, poses_of_picture};
use mad_core::Points;
use mad_nn::{Part, Run};

/// Cells in which a density is shaded.
const CELLS: usize = 40_000;

/// Divergence steps of densities along a flow; others ignore it.
const FLOW_STEPS: usize = 30;

/// A density with test points over it.
pub struct Shading {
    /// Centres of cells that cover the set.
    pub grid: Points,
    /// Log-density at each of them.
    pub log_density: Vec<f64>,
    /// Points that training has not seen.
    pub test: Points,
    /// Names of the columns.
    pub names: Vec<String>,
}

impl Shading {
    /// The density of a run on a set that has a grid; `None` for others.
    pub fn of(run: &Run) -> Result<Option<Self>, LabError> {
        let Some(grid) = run.manifold().grid(CELLS) else { return Ok(None) };
        let log_density = run.fitted()?.log_density(&grid, FLOW_STEPS);
        Ok(Some(Self { grid, log_density, test: run.part(Part::Test)?, names: run.columns().points.scalar_names() }))
    }

    fn panel<'a>(&'a self, title: &'a str, points: bool) -> DensityPanel<'a> {
        let points = points.then_some(&self.test);
        DensityPanel { title, note: "", grid: &self.grid, log_density: &self.log_density, points }
    }
}

/// What the figure shows, each with its title.
pub struct Input<'a> {
    /// A density on the sphere.
    pub earth: (&'a str, Shading),
    /// A density of two angles.
    pub torsions: (&'a str, Shading),
    /// A run on pictures.
    pub poses: PoseRow<'a>,
}

/// Draws densities above, a picture with its poses below.
pub fn draw<'a>(input: &'a Input) -> Result<Figure<'a>, LabError> {
    let (title, earth) = &input.earth;
    let mut figure = density_map("", &[earth.panel(title, true)], Scale::Log)?;
    let (title, torsions) = &input.torsions;
    // The axes have the unit already.
    let name = |i: usize| torsions.names.get(i).map_or("", |name| name.trim_end_matches("_deg")).to_owned();
    figure.extend_row(density_of_angles("", &[torsions.panel(title, false)], [name(0), name(1)], Scale::Log)?);
    figure.push_row(poses_of_picture(&input.poses, 0, 0)?);
    Ok(figure)
}
