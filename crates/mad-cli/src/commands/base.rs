//! `mad base`: a base measure evaluated at noised points, without any model.

use crate::args::{Base, Common};
use crate::error::CliError;
use crate::output;
use crate::overwrite::require_apart;
use mad_core::catalogue;
use mad_core::load;
use mad_core::table::{self, Cell, ColumnOptions, Columns, Layout, writer};
use serde_json::json;
use std::path::Path;

pub fn run(common: &Common, args: &Base) -> Result<(), CliError> {
    if !(1e-8..=1e6).contains(&args.sigma) {
        return Err(CliError::Usage(format!("--sigma {}: give a number from 1e-8 to 1e6", args.sigma)));
    }
    let out = &args.out.path;
    output::require_apart_from_json(common, out)?;
    let base_file = args.base.strip_prefix("mixture:").map(Path::new);
    let inputs: Vec<&Path> = [Some(args.at.as_path()), base_file].into_iter().flatten().collect();
    require_apart(out, None, &inputs)?;
    let mut table = args.reading.read(common, &args.at)?;
    let (manifold, points) = match load::manifold_named(&args.manifold) {
        // Ambient coordinates need not lie on the set: noised points do not.
        Ok(manifold) if has_ambient_columns(&table, manifold.ambient_dim()) => {
            let layout = Layout::Coordinates(manifold.ambient_dim());
            let columns = Columns::find(&layout, &table, &ColumnOptions::default())?;
            (manifold, columns.decode(&table)?.points)
        }
        Err(error) => return Err(error.into()),
        Ok(_) => {
            let loaded = args.reading.points(common, &mut table, &args.manifold, "")?;
            loaded.notices.iter().for_each(|text| output::notice(common, text));
            (loaded.manifold, loaded.points)
        }
    };
    let dim = manifold.ambient_dim();
    let base = catalogue::read_base(&args.base, dim)?.build(manifold.as_ref())?;

    let mut header: Vec<String> = (0..table.width()).map(|c| table.column_name(c)).collect();
    header.extend((0..dim).map(|i| format!("mean{i}")));
    header.extend((0..dim).map(|i| format!("score{i}")));
    header.push("log_density".into());
    let mut file = writer(out, &header)?;
    let (mut mean, mut score) = (vec![0.0; dim], vec![0.0; dim]);
    for (i, x) in points.rows().enumerate() {
        base.posterior_mean(x, args.sigma, &mut mean);
        base.score(x, args.sigma, &mut score);
        let numbers = mean.iter().chain(&score).copied().chain([base.log_density(x, args.sigma)]);
        let row = table.row(i).into_iter().chain(numbers.map(Cell::Number)).collect();
        file.write(&[row])?;
    }
    file.finish()?;
    let fields =
        json!({ "points": points.len(), "manifold": manifold.spec(), "sigma": args.sigma, "out": output::shown(out) });
    let text = || format!("{} points on {}, noise level {}", points.len(), manifold.spec(), args.sigma);
    output::result_of_data(common, "base", out, fields, text)
}

/// Whether the table has exactly the columns `x0 … x{dim − 1}`, or that many without names.
fn has_ambient_columns(table: &table::Table, dim: usize) -> bool {
    match table.header() {
        Some(_) => dim > 0 && (0..dim).all(|i| table.find(&format!("x{i}")).is_some()),
        None => table.width() == dim,
    }
}
