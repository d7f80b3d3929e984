//! `mad data render`: pictures and poses of solids, in the layout of the published data.

use crate::args::{Common, Render};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output;
use crate::overwrite::require_apart;
use crate::progress::Meter;
use mad_core::solids::{PoseError, SOLIDS, Solid, View, write};
use serde_json::json;
use std::time::Instant;

pub fn run(common: &Common, args: &Render) -> Result<(), CliError> {
    let Render { solids, train, test, size, seed, out } = args;
    if out.as_os_str() == "-" {
        return Err(CliError::Usage("pictures are written to a folder: --out DIR".into()));
    }
    require_apart(out, None, &[])?;
    let shapes = match solids.as_slice() {
        [] => SOLIDS.to_vec(),
        names => names.iter().filter_map(|name| Solid::lookup(name)).collect(),
    };
    let view = View { size: *size, ..View::default() };
    let request = write::Request { shapes, train: *train, test: *test, view, seed: seed.value };
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
        "out": output::shown(out), "solids": names, "train": train, "test": test, "size": size, "seed": seed.value,
        "pictures": total, "seconds": seconds,
    });
    output::result(common, "data render", fields, || {
        format!(
            "{total} pictures of {} in {} with seed {} ({seconds:.1} s)",
            names.join(", "),
            out.display(),
            seed.value
        )
    })
}
