//! Points that are given by their ambient coordinates, one column each.

use super::{LoadError, Loaded, context, take_supports};
use crate::{
    catalogue::{Spec, build_spec, layout},
    manifold::Manifold,
    table::{ColumnOptions, Columns, DataError, Decoded, Layout, Table},
};
use std::sync::Arc;

/// Reads points of the manifold called `spec` from a table of their ambient coordinates.
///
/// ```
/// use mad_core::{load::coordinates, table::Table};
/// // The angles 0 and 90 degrees, as (cos, sin).
/// let angles = coordinates(&Table::numbers("angles", None, 2, vec![1.0, 0.0, 0.0, 1.0]), "torus:1")?;
/// assert_eq!(angles.points.row(1), [0.0, 1.0]);
/// // Points that are not on the set are refused.
/// assert!(coordinates(&Table::numbers("angles", None, 2, vec![1.0, 1.0]), "torus:1").is_err());
/// # Ok::<(), mad_core::load::LoadError>(())
/// ```
pub fn coordinates(table: &Table, spec: &str) -> Result<Loaded, LoadError> {
    let mut spec: Spec = spec.parse()?;
    let supports = take_supports(&mut spec)?;
    let manifold = build_spec(&spec, &context(&supports))?;
    Ok(Loaded { supports, ..coordinates_on(table, manifold)? })
}

/// Reads points of `manifold`, which need not be one that is known by a name, from a table of their ambient coordinates.
pub fn coordinates_on(table: &Table, manifold: Arc<dyn Manifold>) -> Result<Loaded, DataError> {
    let columns = Columns::find(&as_coordinates(manifold.as_ref()), table, &ColumnOptions::default())?;
    let Decoded { mut points, notices } = columns.decode_on(table, manifold.as_ref())?;
    points.rows_mut().for_each(|x| manifold.canonicalise(x));
    Ok(Loaded { manifold, columns, points, notices, supports: Vec::new() })
}

/// The layout of the coordinates; real ones stay what they are, so that they are standardised.
fn as_coordinates(manifold: &dyn Manifold) -> Layout {
    let layout = layout(manifold);
    let leaf = |leaf: &Layout| match leaf {
        Layout::Real(n) => Some(Layout::Real(*n)),
        other => other.dim().map(Layout::Coordinates),
    };
    let whole = || Layout::Coordinates(manifold.ambient_dim());
    match &layout {
        Layout::Blocks(_) => {
            layout.leaves().into_iter().map(leaf).collect::<Option<_>>().map_or_else(whole, Layout::Blocks)
        }
        only => leaf(only).unwrap_or_else(whole),
    }
}
