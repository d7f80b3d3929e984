//! From a table and the name of a manifold to points on that manifold.

use super::{ColumnOptions, Columns, DataError, ReadOptions, Table, generators, read, support};
use crate::Points;
use crate::manifold::{BuildContext, Manifold, ManifoldError, PointTable, Spec, build_spec};
use std::path::Path;
use std::sync::Arc;

/// Points together with the manifold they lie on and the columns they came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The manifold, with everything that the table had to tell (numbers of levels) filled in.
    pub manifold: Arc<dyn Manifold>,
    /// How points are read and written.
    pub columns: Columns,
    /// One point per row.
    pub points: Points,
    /// What was assumed, repaired or looked odd, in words.
    pub notices: Vec<String>,
    /// Points of finite sets, under the names that [`Manifold::spec`] gives them.
    pub supports: Vec<(String, PointTable)>,
}

/// Why a table did not become points.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The spec names no manifold.
    #[error(transparent)]
    Manifold(#[from] ManifoldError),
    /// The table does not hold points of it.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Reads the points of the manifold called `spec` from a table.
///
/// ```
/// use mad_core::data::{ColumnOptions, Table, load};
/// let mut table = Table::text("pets", Some(vec!["animal".into(), "size".into()]), 2);
/// table.push(2, ["cat", "small"]);
/// table.push(3, ["dog", "large"]);
/// table.push(4, ["dog", "small"]);
/// let pets = load(&table, "categorical", &ColumnOptions::default())?;
/// assert_eq!(pets.manifold.spec(), "categorical:2,2");
/// assert_eq!(pets.points.row(1), [0.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), mad_core::data::LoadError>(())
/// ```
pub fn load(table: &Table, spec: &str, options: &ColumnOptions) -> Result<Loaded, LoadError> {
    let mut spec: Spec = spec.parse()?;
    let supports = take_supports(&mut spec)?;
    let context = context(&supports);
    let columns = Columns::find(&build_spec(&spec, &context)?.layout(), table, options)?;
    let manifold = build_spec(&spec.resolve(&columns.level_counts()), &context)?;
    let decoded = columns.decode_on(table, manifold.as_ref())?;
    let mut points = decoded.points;
    points.rows_mut().for_each(|x| manifold.canonicalise(x));
    drop(context);
    Ok(Loaded { manifold, columns, points, notices: decoded.notices, supports })
}

/// The manifold called `spec`, whose files are read from where they are.
pub fn manifold_named(spec: &str) -> Result<Arc<dyn Manifold>, LoadError> {
    let mut spec: Spec = spec.parse()?;
    let supports = take_supports(&mut spec)?;
    Ok(build_spec(&spec, &context(&supports))?)
}

fn context(supports: &[(String, PointTable)]) -> BuildContext<'_> {
    BuildContext::new(|name| {
        let found = supports.iter().find(|(known, _)| known == name);
        found.map(|(_, table)| table.clone()).ok_or_else(|| "not read".into())
    })
}

/// Reads the files, or makes the data sets, that a spec names and renames them to what they are called in a run folder.
fn take_supports(spec: &mut Spec) -> Result<Vec<(String, PointTable)>, LoadError> {
    let mut supports = Vec::new();
    for (i, file) in spec.files_mut().into_iter().enumerate() {
        let table = match generators::dataset(file) {
            Ok(_) if !Path::new(&*file).exists() => generators::make(file, None, 0, 0, None)?,
            _ => read(Path::new(&*file), &ReadOptions::default())?,
        };
        let table = support(&table)?;
        *file = format!("support-{i}.csv");
        supports.push((file.clone(), table));
    }
    Ok(supports)
}
