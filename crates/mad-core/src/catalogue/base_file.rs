//! Base measures by name; mixtures are kept in files.

use crate::estimate::BaseChoice;
use crate::measure::Component;
use crate::table::{DataError, ReadOptions, read, row_error::RowErrorList};
use std::path::Path;

/// The base measure called `text`: `default`, `uniform`, or `mixture:FILE`, a table of von Mises-Fisher components with
/// columns `x0, x1, …, kappa, weight`, `dim` coordinates each; on a product of spheres `kappa0, kappa1, …` instead of `kappa`.
pub fn read_base(text: &str, dim: usize) -> Result<BaseChoice, DataError> {
    match (text, text.strip_prefix("mixture:")) {
        ("default", _) => Ok(BaseChoice::Default),
        ("uniform", _) => Ok(BaseChoice::Uniform),
        (_, Some(file)) => Ok(BaseChoice::Mixture { components: read_mixture(Path::new(file), dim)? }),
        _ => Err(DataError::UnknownBase { text: text.into() }),
    }
}

fn read_mixture(path: &Path, dim: usize) -> Result<Vec<Component>, DataError> {
    let table = read(path, &ReadOptions::default())?;
    table.require_whole()?;
    let several = (0..).map(|b| format!("kappa{b}")).take_while(|name| table.find(name).is_some());
    let mut kappas: Vec<String> = several.collect();
    if kappas.is_empty() {
        kappas.push("kappa".into());
    }
    let names = (0..dim).map(|i| format!("x{i}")).chain(kappas).chain(["weight".into()]);
    let places: Option<Vec<usize>> = names.map(|name| table.find(&name)).collect();
    let Some(places) = places else {
        let found = (0..table.width()).map(|c| table.column_name(c)).collect::<Vec<_>>().join(", ");
        let wanted = format!("x0 … x{}, kappa, weight", dim - 1);
        let (file, line) = (table.source().to_owned(), table.header_line());
        return Err(DataError::Columns { file, line, wanted, found, advice: String::new() });
    };
    let mut components = Vec::with_capacity(table.len());
    let mut errors = RowErrorList::new(table.unit());
    for row in 0..table.len() {
        let mut values = Vec::with_capacity(places.len());
        for &place in &places {
            match table.number(row, place) {
                Ok(value) => values.push(value),
                Err(fault) => errors.push(table.line(row), Some(table.column_name(place)), fault),
            }
        }
        if let Some((weight, numbers)) = values.split_last()
            && values.len() == places.len()
        {
            let (mean, concentrations) = numbers.split_at(dim);
            components.push(Component {
                weight: *weight,
                mean: mean.to_vec(),
                concentrations: concentrations.to_vec(),
            });
        }
    }
    errors.finish(table.source(), None)?;
    Ok(components)
}
