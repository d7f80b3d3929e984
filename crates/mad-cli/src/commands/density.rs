//! `mad density`: log-density at given points or on an equal-area grid.

use super::opened::Opened;
use crate::args::{Common, Density};
use crate::error::CliError;
use crate::number::significant;
use crate::output;
use crate::overwrite::require_apart;
use mad_core::table::{Cell, writer};
use serde_json::json;
use std::path::Path;

/// Rows handed to the file at once.
const BLOCK: usize = 4096;

pub fn run(common: &Common, args: &Density) -> Result<(), CliError> {
    let inputs: Vec<&Path> = args.at.as_deref().into_iter().collect();
    let out = &args.out.path;
    output::require_apart_from_json(common, out)?;
    require_apart(out, Some(&args.run), &[inputs, args.given.pictures()].concat())?;
    let opened = Opened::given(common, &args.run, &args.given)?;
    let manifold = opened.run.manifold().as_ref();
    let (points, mut header, mut rows) = match (&args.at, args.grid) {
        (Some(file), _) => {
            let (table, points) = opened.read(common, file, &args.reading)?;
            let header: Vec<String> = (0..table.width()).map(|c| table.column_name(c)).collect();
            let rows: Vec<Vec<Cell>> = (0..table.len()).map(|r| table.row(r)).collect();
            (points, header, rows)
        }
        (None, n) => {
            args.reading.require_none("a grid is none")?;
            let grid = n.and_then(|n| manifold.grid(n as usize)).ok_or_else(|| {
                CliError::Usage(format!("no equal-area grid is known for {}; use --at FILE", manifold.spec()))
            })?;
            let rows = opened.columns().encode(&grid);
            (grid, opened.columns().encode_header(), rows)
        }
    };
    if !opened.model.has_density() {
        return Err(CliError::Usage(match manifold.is_quotient() {
            true => {
                format!(
                    "{}: no densities on quotients; `mad eval` scores samples, and denoisers by a bound",
                    manifold.spec()
                )
            }
            false => format!("{} samples poses given a picture and has no density", args.run.display()),
        }));
    }
    header.extend(["log_density".to_owned(), "log_ratio".to_owned()]);
    // A file that cannot be written is refused before hours have passed.
    let mut file = writer(out, &header)?;
    let densities = opened.densities(common, &points, args.flow_steps as usize);
    if let Some(row) = densities.iter().position(|d| !d.0.is_finite()) {
        return Err(CliError::NotFinite { row: row + 1 });
    }
    for (row, (density, ratio)) in rows.iter_mut().zip(&densities) {
        row.extend([Cell::Number(*density), Cell::Number(*ratio)]);
    }
    for block in rows.chunks(BLOCK) {
        file.write(block)?;
    }
    file.finish()?;

    let mean = densities.iter().map(|d| d.0).sum::<f64>() / densities.len() as f64;
    let integral = opened.integral(common, args.flow_steps as usize);
    let normaliser = opened.model.normaliser();
    let fields = json!({
        "points": densities.len(), "mean_log_density": mean, "out": output::shown(out), "flow_steps": args.flow_steps,
        "training": opened.training(), "outside": opened.outside(),
        "integral": integral.map(|i| i.value), "integral_standard_error": integral.map(|i| i.error),
        "normaliser": normaliser.map(|z| z.value()), "normaliser_standard_error": normaliser.map(|z| z.standard_error()),
    });
    let what = if args.grid.is_some() { "cells of equal volume" } else { "points" };
    let mut text = format!("{} {what}, mean log-density {} nats w.r.t. volume", densities.len(), significant(mean));
    let note = opened.density_note(integral);
    if !note.is_empty() {
        text += &format!(", {note}");
    }
    output::result_of_data(common, "density", out, fields, || text)
}
