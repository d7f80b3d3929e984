//! `mad data`: list and make data; `data_check` reports on them.

use super::symsol;
use crate::args::{Common, Data, DataCommand, ListKind};
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
        DataCommand::Make { name, n, seed, target_seed, out, pictures } if name == symsol::NAME => {
            if n.is_some() || target_seed.is_some() {
                return Err(CliError::Usage(
                    "symsol takes --train and --test instead of --n, and no --target-seed".into(),
                ));
            }
            symsol::make(common, pictures, *seed, out)
        }
        DataCommand::Make { name, n, seed, target_seed, out, pictures } => {
            if pictures.is_given() {
                return Err(CliError::Usage("--shapes, --train, --test and --size belong to symsol".into()));
            }
            let files = common.data_dir().map(data_files).unwrap_or_default();
            require_apart(out, None, &files.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
            let target = target_seed.unwrap_or(*seed);
            let table = datasets::make(name, *n, *seed, target, common.data_dir())?;
            write_table(out, &table)?;
            let fields = json!({ "name": name, "rows": table.len(), "seed": seed, "out": output::shown(out) });
            let text = || format!("{} rows of {name}", table.len());
            output::result_of_data(common, "data make", out, fields, text)
        }
        DataCommand::Check { file, manifold, reading } => {
            super::data_check::run(common, file, manifold.as_deref(), reading)
        }
    }
}

/// Files that data sets are read from.
fn data_files(folder: &Path) -> Vec<PathBuf> {
    let lists = [folder.to_path_buf(), folder.join("earth")].map(std::fs::read_dir);
    lists.into_iter().flatten().flatten().flatten().map(|entry| entry.path()).collect()
}
