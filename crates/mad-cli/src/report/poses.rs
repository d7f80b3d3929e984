//! A test picture with the poses that runs find possible.

use crate::error::CliError;
use crate::plot::{FAN, Panel, PicturePanel, RotationsPanel, TiltWheel};
use mad_core::{Points, rotation::multiply};
use mad_nn::method::SampleRequest;
use mad_nn::{Part, Run};
use std::borrow::Cow;

/// Poses sampled for each picture.
const POSES: usize = 400;

/// True poses marked where there is a whole circle of them.
const MOST_MARKS: usize = 90;

/// One solid with the runs that saw it.
pub struct PoseRow<'a> {
    /// Name of the solid.
    pub title: &'a str,
    /// Labels and runs.
    pub runs: Vec<(&'a str, Run)>,
}

/// Test picture number `index`, and for each run the poses that it finds possible, with rings around the true ones
/// and the meaning of their colours.
pub fn poses_of_picture(row: &PoseRow, index: usize, seed: u64) -> Result<Vec<Box<dyn Panel>>, CliError> {
    let Some((_, first)) = row.runs.first() else { return Ok(Vec::new()) };
    let size = first.config().size;
    let test = first.pictures(Part::Test, index + 1)?;
    let Some(pose) = test.poses.get(index) else { return Ok(Vec::new()) };
    let pixels = test.images[index * size * size..(index + 1) * size * size].to_vec();
    let members = first.symmetry().some(MOST_MARKS);
    let truth = Points::from_vec(members.iter().flat_map(|g| multiply(pose, g)).collect(), 4);
    let panel = |(label, run): &(&str, Run)| -> Result<Box<dyn Panel>, CliError> {
        let mut model = run.fitted()?;
        model.see(pixels.clone());
        let poses = model.draw(&SampleRequest::new(seed), POSES)?.0;
        Ok(Box::new(RotationsPanel {
            title: (*label).to_owned(),
            note: String::new(),
            points: Cow::Owned(poses),
            marks: Some(truth.clone()),
            fan: FAN,
        }))
    };
    let mut panels = row.runs.iter().map(panel).collect::<Result<Vec<_>, _>>()?;
    panels.push(Box::new(TiltWheel));
    panels.insert(0, Box::new(PicturePanel { title: row.title.to_owned(), size, pixels }));
    Ok(panels)
}
