//! From a table and the name of a manifold to points on that manifold, and what is odd about a table.

mod check;
mod coordinates;

pub use check::{BadRows, CheckReport, ColumnReport, Suggestion, check, describe, suggest, unusable};
pub use coordinates::{coordinates, coordinates_on};

use crate::catalogue::{BuildContext, Spec, build_spec, datasets, layout};
use crate::groups::key;
use crate::manifold::{Manifold, ManifoldError, PointTable};
use crate::table::{
    ColumnOptions, Columns, DataError, Decoded, Layout, ReadOptions, RowErrors, Table, columns::Attempt, read,
    row_error::RowErrorList, support,
};
use crate::{Points, Setting};
use check::poses;
use std::{collections::HashMap, ops::Range, path::Path, sync::Arc};

/// How many points of a finite set that do not occur are shown.
const SHOWN: usize = 3;

/// Points together with the manifold they lie on and the columns they came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The manifold, with everything that the table determines (numbers of levels) filled in.
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
/// use mad_core::load::load;
/// use mad_core::table::{ColumnOptions, Table};
/// let mut table = Table::text("pets", Some(vec!["animal".into(), "size".into()]), 2);
/// table.push(2, ["cat", "small"]);
/// table.push(3, ["dog", "large"]);
/// table.push(4, ["dog", "small"]);
/// let pets = load(&table, "categorical", &ColumnOptions::default())?;
/// assert_eq!(pets.manifold.spec(), "categorical:2,2");
/// assert_eq!(pets.points.row(1), [0.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), mad_core::load::LoadError>(())
/// ```
pub fn load(table: &Table, spec: &str, options: &ColumnOptions) -> Result<Loaded, LoadError> {
    let Tried { manifold, columns, attempt, supports } = attempt(table, spec, options)?;
    let Decoded { mut points, notices } = attempt.require_good(table)?;
    points.rows_mut().for_each(|x| manifold.canonicalise(x));
    Ok(Loaded { manifold, columns, points, notices, supports })
}

/// As [`load`], but bad rows are left out of `table` and of the points, and are returned with them. `condition` names further
/// columns that must hold numbers, with commas between; it may be empty. A table without any good row is refused.
///
/// ```
/// use mad_core::load::load_skipping;
/// use mad_core::table::{ColumnOptions, Table};
/// let mut table = Table::text("quakes", Some(vec!["lat".into(), "lon".into()]), 2);
/// [["10", "20"], ["NA", "20"], ["91", "0"]].into_iter().enumerate().for_each(|(i, row)| table.push(i + 2, row));
/// let (loaded, skipped) = load_skipping(&mut table, "sphere:2", &ColumnOptions::default(), "")?;
/// assert_eq!((loaded.points.len(), table.len()), (1, 1));
/// assert_eq!(skipped.unwrap().summary(), "1 latitude off the globe, 1 not a number");
/// # Ok::<(), mad_core::load::LoadError>(())
/// ```
pub fn load_skipping(
    table: &mut Table,
    spec: &str,
    options: &ColumnOptions,
    condition: &str,
) -> Result<(Loaded, Option<RowErrors>), LoadError> {
    let mut skipped = RowErrorList::new(table.unit());
    let mut leave_out = |table: &mut Table, found: Attempt| -> Result<(), LoadError> {
        skipped.merge(&found.errors);
        if found.bad_rows.len() == table.len() {
            skipped.clone().finish(table.source(), found.hint)?;
        }
        table.leave_out(&found.bad_rows);
        Ok(())
    };
    let first = attempt(table, spec, options)?.attempt;
    leave_out(table, first)?;
    if !condition.is_empty() {
        let bad = condition_columns(table, condition)?.bad_rows(table)?;
        leave_out(table, bad)?;
    }
    // Read again: values that stood in bad rows only are no values.
    let loaded = load(table, spec, options)?;
    Ok((loaded, skipped.into_errors(table.source(), None)))
}

/// Reads the points of another table, without its bad rows, which are left out of `table` as well and are returned with the points.
/// With a manifold, points off it are bad rows. A table without any good row is refused.
pub fn decode_skipping(
    table: &mut Table,
    columns: &Columns,
    manifold: Option<&dyn Manifold>,
) -> Result<(Points, Option<RowErrors>), DataError> {
    let Attempt { points, bad_rows, errors, hint, .. } = match manifold {
        Some(manifold) => columns.attempt_on(table, manifold)?,
        None => columns.bad_rows(table)?,
    };
    if bad_rows.len() == table.len() {
        errors.clone().finish(table.source(), hint)?;
    }
    let good: Vec<usize> = (0..table.len()).filter(|row| bad_rows.binary_search(row).is_err()).collect();
    table.leave_out(&bad_rows);
    Ok((points.select(&good), errors.into_errors(table.source(), None)))
}

/// The columns with these names, which are separated by commas, as numbers that a model is conditioned on. Dates are decimal
/// years; columns of text are refused as a whole.
pub fn condition_columns(table: &Table, names: &str) -> Result<Columns, DataError> {
    let options = ColumnOptions { columns: Some(names.to_owned()), ..ColumnOptions::default() };
    let chosen = options.chosen(table)?;
    if let Some(&column) = chosen.iter().find(|&&c| !table.is_numeric(c) && !table.is_time(c)) {
        let mut words = table.words(column).unwrap_or_default();
        words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let shown: Vec<String> =
            words.iter().take(SHOWN).map(|(word, count)| format!("`{}` in {count} rows", clipped(word))).collect();
        let values = match words.len() {
            0 => "many different values".into(),
            found if found > SHOWN => format!("{found} values: {}, …", shown.join(", ")),
            _ => shown.join(", "),
        };
        return Err(DataError::TextCondition {
            file: table.source().into(),
            column: table.column_name(column),
            values,
        });
    }
    Columns::find(&Layout::Real(chosen.len()), table, &options)
}

/// A text that fits in a message.
fn clipped(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

/// A table as points, before bad rows are handled.
pub(super) struct Tried {
    pub(super) manifold: Arc<dyn Manifold>,
    pub(super) columns: Columns,
    pub(super) attempt: Attempt,
    supports: Vec<(String, PointTable)>,
}

/// Reads the points of the manifold called `spec` and finds bad rows.
pub(super) fn attempt(table: &Table, spec: &str, options: &ColumnOptions) -> Result<Tried, LoadError> {
    let mut spec: Spec = spec.parse()?;
    let given: Vec<String> = spec.files_mut().into_iter().map(|file| file.clone()).collect();
    let supports = take_supports(&mut spec)?;
    let context = context(&supports);
    let columns = Columns::find(&layout(build_spec(&spec, &context)?.as_ref()), table, options)?;
    let mut spec = spec.resolve(&columns.level_counts());
    let manifold = build_spec(&spec, &context)?;
    let mut attempt = columns.attempt_on(table, manifold.as_ref())?;
    if attempt.hint.is_none() && 2 * attempt.bad_rows.len() > table.len() {
        attempt.hint = transposed(table, options, manifold.as_ref());
    }
    let places = finite_blocks(&mut spec, &context)?;
    for ((file, (_, support)), place) in given.iter().zip(&supports).zip(places) {
        attempt.notices.extend(absent(file, support, place, &attempt.points, &attempt.bad_rows));
    }
    drop(context);
    Ok(Tried { manifold, columns, attempt, supports })
}

/// A word about pose matrices that are read row by row and written column by column.
fn transposed(table: &Table, options: &ColumnOptions, manifold: &dyn Manifold) -> Option<String> {
    let pose = matches!(
        layout(manifold).leaves()[..],
        [Layout::Rotation, Layout::Real(3)] | [Layout::Real(3), Layout::Rotation]
    );
    if !pose || options.columns.is_some() || !poses::are_transposed(table) {
        return None;
    }
    let remedy = match table.header() {
        Some(_) => "transpose them in the file".to_owned(),
        None => format!("give {} {}", Setting::Columns, poses::column_by_column(table.width())),
    };
    Some(format!("the transposes of these matrices are poses, so they are written column by column: {remedy}"))
}

/// The coordinates of every finite set in a spec, from left to right.
fn finite_blocks(spec: &mut Spec, context: &BuildContext<'_>) -> Result<Vec<Range<usize>>, LoadError> {
    fn walk(
        spec: &mut Spec,
        context: &BuildContext<'_>,
        start: &mut usize,
        places: &mut Vec<Range<usize>>,
    ) -> Result<(), LoadError> {
        if !spec.blocks.is_empty() {
            return spec.blocks.iter_mut().try_for_each(|block| walk(block, context, start, places));
        }
        let end = *start + build_spec(spec, context)?.ambient_dim();
        if !spec.files_mut().is_empty() {
            places.push(*start..end);
        }
        *start = end;
        Ok(())
    }
    let mut places = Vec::new();
    if !spec.files_mut().is_empty() {
        walk(spec, context, &mut 0, &mut places)?;
    }
    Ok(places)
}

/// A word about points of a finite set that do not occur in the good rows.
fn absent(
    file: &str,
    support: &PointTable,
    place: Range<usize>,
    points: &Points,
    bad_rows: &[usize],
) -> Option<String> {
    let key = |x: &[f64]| key(x).collect::<Vec<u64>>();
    let known: HashMap<_, _> = support.points.rows().map(key).enumerate().map(|(i, key)| (key, i)).collect();
    let mut occurs = vec![false; support.points.len()];
    let mut bad = bad_rows.iter().copied().peekable();
    for (row, x) in points.rows().enumerate() {
        if bad.next_if_eq(&row).is_none()
            && let Some(&i) = known.get(&key(&x[place.clone()]))
        {
            occurs[i] = true;
        }
    }
    let missing: Vec<usize> = (0..occurs.len()).filter(|&i| !occurs[i]).collect();
    let shown = |&i: &usize| {
        let numbers: Vec<_> = support.points.row(i).iter().map(|v| v.to_string()).collect();
        format!("({})", numbers.join(", "))
    };
    let first = missing.iter().take(SHOWN).map(shown).collect::<Vec<_>>().join(", ");
    let more = if missing.len() > SHOWN { ", …" } else { "" };
    (!missing.is_empty()).then(|| {
        format!(
            "points:{file}: {} of {} points never occur in the data: {first}{more}; leave them out if they cannot occur",
            missing.len(),
            occurs.len()
        )
    })
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

/// Whether a name is that of a file, which comes before a data set of the same name; a folder does not.
pub fn names_file(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

/// Reads the files, or makes the data sets, that a spec names and renames them to what they are called in a run folder.
fn take_supports(spec: &mut Spec) -> Result<Vec<(String, PointTable)>, LoadError> {
    let mut supports = Vec::new();
    for (i, file) in spec.files_mut().into_iter().enumerate() {
        let table = match datasets::dataset(file) {
            Ok(_) if !names_file(Path::new(&*file)) => datasets::make(file, None, 0, 0, None)?,
            _ => read(Path::new(&*file), &ReadOptions::default())?,
        };
        let table = support(&table)?;
        *file = format!("support-{i}.csv");
        supports.push((file.clone(), table));
    }
    Ok(supports)
}
