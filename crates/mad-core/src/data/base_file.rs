//! Base measures by name; mixtures are kept in files.

use super::{DataError, ReadOptions, error::RowErrorList, read};
use crate::base::{BaseChoice, Component};
use std::path::Path;

/// The base measure called `text`: `default`, `uniform`, or `mixture:FILE`, a table of von Mises-Fisher components with
/// columns `x0, x1, …, kappa, weight`, `dim` coordinates each.
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
    let names = (0..dim).map(|i| format!("x{i}")).chain(["kappa".into(), "weight".into()]);
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
        if let [mean @ .., concentration, weight] = &values[..]
            && mean.len() == dim
        {
            components.push(Component { weight: *weight, mean: mean.to_vec(), concentration: *concentration });
        }
    }
    errors.finish(table.source(), None)?;
    Ok(components)
}
