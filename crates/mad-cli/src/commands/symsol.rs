//! `mad data make symsol`: pictures and poses of solids, in the layout of the published data.

use crate::args::{Common, Pictures};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output;
use crate::overwrite::require_apart;
use crate::progress::Meter;
use mad_core::solids::{PoseError, SOLIDS, Solid, View, write};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Name among the data sets.
pub const NAME: &str = "symsol";

/// What it is, in one line.
pub const SUMMARY: &str =
    "pictures of eight solids with their poses; `mad data make symsol --out DIR` draws them into a folder";

/// A tenth of the original, which has 45000 and 5000.
const COUNTS: (usize, usize) = (4500, 500);

/// Pixels of the original.
const SIZE: usize = 224;

pub fn make(common: &Common, pictures: &Pictures, seed: u64, out: &Path) -> Result<(), CliError> {
    if out.as_os_str() == "-" {
        return Err(CliError::Usage("symsol needs a folder: --out DIR".into()));
    }
    require_apart(out, None, &[])?;
    let shapes = match pictures.shapes.as_slice() {
        [] => SOLIDS.to_vec(),
        names => names
            .iter()
            .map(|name| name.parse::<Solid>())
            .collect::<Result<_, _>>()
            .map_err(|e| CliError::Usage(e.to_string()))?,
    };
    let view = View { size: pictures.size.unwrap_or(SIZE), ..View::default() };
    let (train, test) = (pictures.train.unwrap_or(COUNTS.0), pictures.test.unwrap_or(COUNTS.1));
    let request = write::Request { shapes, train, test, view, seed };
    let (total, started, interrupt) = (request.pictures(), Instant::now(), Interrupt::listen()?);
    let mut meter = Meter::start(common, "pictures", 0, total as u64);
    let outcome = write::write(out, &request, interrupt.flag(), |done| meter.advance(done as u64, String::new));
    meter.finish();
    match (outcome, interrupt.signal()) {
        (Err(PoseError::Stopped { done, total }), Some(signal)) => {
            return Err(CliError::PicturesStopped { signal, done, total });
        }
        (outcome, _) => outcome?,
    }
    let seconds = started.elapsed().as_secs_f64();
    let names: Vec<_> = request.shapes.iter().map(|solid| solid.name()).collect();
    let fields = json!({
        "name": NAME, "out": output::shown(out), "shapes": names, "train": train, "test": test, "size": request.view.size, "seed": seed,
        "pictures": total, "seconds": seconds,
    });
    output::result(common, "data make", fields, || {
        format!("{total} pictures of {} in {} ({seconds:.1} s)", names.join(", "), out.display())
    })
}
