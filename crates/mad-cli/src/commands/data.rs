//! `mad data`: list and make data; `data_check` reports on them.

use super::symsol;
use crate::args::{Common, Data, DataCommand, ListKind};
use crate::error::CliError;
use crate::output;
use mad_core::data::{generators, write_table};
use serde_json::json;

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
            let target = target_seed.unwrap_or(*seed);
            let table = generators::make(name, *n, *seed, target, common.data_dir())?;
            write_table(out, &table)?;
            let fields = json!({ "name": name, "rows": table.len(), "seed": seed, "out": out });
            let text = || format!("{} rows of {name}", table.len());
            output::result_of_data(common, "data make", out, fields, text)
        }
        DataCommand::Check { file, manifold, reading } => {
            super::data_check::run(common, file, manifold.as_deref(), reading)
        }
    }
}
