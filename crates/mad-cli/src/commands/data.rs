//! `mad data`: list and make data; `data_check` reports on them, `render` draws pictures.

use crate::args::{Common, Data, DataCommand, ListKind, Make};
use crate::error::CliError;
use crate::output;
use crate::overwrite::require_apart;
use mad_core::catalogue::datasets;
use mad_core::table::write_table;
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn run(common: &Common, args: &Data) -> Result<(), CliError> {
    match &args.command {
        DataCommand::List => super::list::list(common, &[ListKind::Datasets]),
        DataCommand::Make(args) => make(common, args),
        DataCommand::Render(args) => super::render::run(common, args),
        DataCommand::Check { file, manifold, reading } => {
            super::data_check::run(common, file, manifold.as_deref(), reading)
        }
    }
}

fn make(common: &Common, args: &Make) -> Result<(), CliError> {
    let (name, seed, out) = (&args.name, args.seed.value, &args.out.path);
    output::require_apart_from_json(common, out)?;
    let files = common.data_dir().map(data_files).unwrap_or_default();
    require_apart(out, None, &files.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let target = args.target_seed.unwrap_or(seed);
    let table = datasets::make(name, args.rows, seed, target, common.data_dir())?;
    write_table(out, &table)?;
    let fields = json!({
        "name": name, "rows": table.len(), "seed": seed, "target_seed": target, "out": output::shown(out),
    });
    let text = || format!("{} rows of {name} with seed {seed}", table.len());
    output::result_of_data(common, "data make", out, fields, text)
}

/// Files that data sets are read from.
fn data_files(folder: &Path) -> Vec<PathBuf> {
    let lists = [folder.to_path_buf(), folder.join("earth")].map(std::fs::read_dir);
    lists.into_iter().flatten().flatten().flatten().map(|entry| entry.path()).collect()
}
