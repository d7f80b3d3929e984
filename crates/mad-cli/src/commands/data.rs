//! `mad data`: list, make and check data.

use super::symsol;
use crate::args::{Common, Data, DataCommand, ListKind, Reading};
use crate::error::CliError;
use crate::output;
use mad_core::data::{duplicates, generators, write_table};
use serde_json::json;
use std::path::Path;

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
        DataCommand::Check { file, manifold, reading } => check(common, file, manifold, reading),
    }
}

fn check(common: &Common, file: &Path, spec: &str, reading: &Reading) -> Result<(), CliError> {
    let (table, loaded) = reading.load(file, spec)?;
    let counts = duplicates(&loaded.points);
    let repeated = counts.rows - counts.distinct;
    let columns = loaded.columns.encode_header();
    let dim = loaded.points.dim();
    let mean: Vec<f64> =
        (0..dim).map(|k| loaded.points.rows().map(|x| x[k]).sum::<f64>() / loaded.points.len() as f64).collect();
    let fields = json!({
        "file": file, "manifold": loaded.manifold.spec(), "rows": counts.rows, "distinct": counts.distinct,
        "duplicates": repeated, "columns": columns, "all_columns": table.header(), "notices": loaded.notices,
        "ambient_dim": dim, "mean": mean,
    });
    output::result(common, "data check", fields, || {
        let mut lines = vec![
            format!("{}: {} rows on {}", file.display(), counts.rows, loaded.manifold.spec()),
            format!("columns used: {}", columns.join(", ")),
        ];
        for (name, levels) in loaded.columns.levels() {
            lines.push(format!("column {name}: {} values, {}", levels.len(), shown(levels)));
        }
        lines.extend(loaded.notices.iter().map(|n| format!("note: {n}")));
        lines.push(match counts.notice() {
            Some(text) => format!("note: {text}; `split = distinct` keeps equal points in one part"),
            None => "all points are distinct".into(),
        });
        lines.join("\n")
    })
}

fn shown(levels: &[String]) -> String {
    let mut text = levels.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    if levels.len() > 8 {
        text.push_str(", …");
    }
    text
}
