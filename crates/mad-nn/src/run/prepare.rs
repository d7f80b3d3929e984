//! From a table to what a run is made from: settings resolved, rows divided, real columns standardised.

use super::{Contents, RunColumns};
use crate::{
    condition::{Condition, PictureError, read_parts},
    config::{BaseSpec, Config, ConfigError, Partial},
    parts::Parts,
};
use mad_core::{
    Points,
    catalogue::{layout, read_base},
    estimate::{BaseChoice, FitError, FitOptions, fit_kde, fit_mixture},
    load::{self, Loaded},
    manifold::{Manifold, Rotations},
    table::{ColumnOptions, Columns, DataError, FRACTIONS, Split, Table, duplicates},
};
use std::{path::Path, sync::Arc};

/// Why a table and settings do not make a run.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The settings do not fit the manifold or each other.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The base measure, the division of the rows or the condition columns cannot be had.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A picture cannot be read.
    #[error(transparent)]
    Pictures(#[from] PictureError),
    /// No base measure could be fitted to the data.
    #[error("base: {0}")]
    Fit(#[from] FitError),
}

impl Contents {
    /// Resolves `settings`, divides the rows of `loaded` by [`FRACTIONS`], and standardises real columns by the training rows.
    ///
    /// `table` is the one that `loaded` came from; the columns of the condition, if the settings name any, are read from it.
    pub fn new(table: &Table, loaded: Loaded, settings: &Partial) -> Result<Self, PrepareError> {
        Self::with_base(table, loaded, settings, None)
    }

    /// A run on pictures of a solid, which are rendered or stand in an archive: `settings` name the solid as their condition.
    pub fn of_solid(settings: &Partial) -> Result<Self, PrepareError> {
        let manifold: Arc<dyn Manifold> = Arc::new(Rotations::new(None));
        let config = Config::resolve(settings, manifold.as_ref())?;
        let names = ["qx", "qy", "qz", "qw"].map(str::to_owned).to_vec();
        let form = Table::numbers("poses", Some(names), 4, vec![0.0, 0.0, 0.0, 1.0]);
        let columns = Columns::find(&layout(manifold.as_ref()), &form, &ColumnOptions::default())?;
        let none = Points::new(4);
        Ok(Self {
            manifold,
            base: BaseChoice::Default,
            parts: Parts { train: none.clone(), validation: none.clone(), test: none },
            conditions: None,
            pictures: None,
            columns: RunColumns { points: columns, condition: None },
            supports: Vec::new(),
            config,
            split: None,
        })
    }

    /// As [`Contents::new`], with the base measure that was fitted before if the settings ask for a fitted one: a resumed run
    /// keeps its own, also where another processor would fit another. A measure of the program's own always stays.
    pub fn with_base(
        table: &Table,
        loaded: Loaded,
        settings: &Partial,
        fitted: Option<BaseChoice>,
    ) -> Result<Self, PrepareError> {
        let Loaded { manifold, mut columns, mut points, supports, .. } = loaded;
        let config = Config::resolve_for(settings, manifold.as_ref(), Some(duplicates(&points).distinct))?;
        let split = Split::by(&config.split, table, manifold.as_ref(), &points, FRACTIONS, config.seed)?;
        columns.fit(&mut points, &split.train);
        let (mut condition, mut conditions, mut pictures) = (None, None, None);
        match &*config.condition {
            Condition::Nothing => {}
            Condition::Solid(_) => {
                return Err(ConfigError::Conflict {
                    origin: settings.origin("condition"),
                    key: "condition",
                    value: config.condition.to_string(),
                    problem:
                        "pictures of a solid come with poses of their own and need no table; for pictures in files, \
                              name their column: picture=COLUMN"
                            .into(),
                }
                .into());
            }
            Condition::Files(column) => pictures = Some(read_pictures(table, column, &split, config.size)?),
            Condition::Columns(names) => {
                let (found, values) = condition_columns(table, names, &split)?;
                let own = columns.roles();
                if let Some((name, _)) = found.roles().into_iter().find(|(name, _)| own.iter().any(|o| o.0 == *name)) {
                    let problem = format!("`{name}` holds the points themselves; a condition is another column");
                    let (file, selection) = (table.source().to_owned(), names.clone());
                    return Err(DataError::Selection { file, selection, problem }.into());
                }
                (condition, conditions) = (Some(found), Some(Parts::cut(&values, &split)));
            }
        }
        let mut parts = Parts::cut(&points, &split);
        // Large tables are not held twice.
        let Split { train_units: units, summary, .. } = split;
        drop(points);
        canonicalise(&mut parts, manifold.as_ref());
        // As a base a mixture may be all that is known.
        let options = if config.is_plain_mixture() { FitOptions::plain() } else { FitOptions::default() };
        // Rows by whose score training is stopped must not have set the weights of the base, or step 0 would have an advantage.
        let fit = FitOptions { seed: config.seed, reserved: config.validation_rows as usize, units, ..options };
        let base = match (*config.base, fitted) {
            (_, Some(own @ BaseChoice::Own { .. })) => own,
            (spec, Some(fitted)) if spec.is_fitted() => fitted,
            (BaseSpec::Mixture, _) => fit_mixture(manifold.as_ref(), &parts.train, &parts.validation, &fit)?.choice,
            (BaseSpec::Kde, _) => fit_kde(manifold.as_ref(), &parts.train, &parts.validation, &fit)?.choice,
            _ => read_base(config.base.as_str(), manifold.ambient_dim())?,
        };
        let columns = RunColumns { points: columns, condition };
        Ok(Self { manifold, base, parts, conditions, pictures, columns, supports, config, split: Some(summary) })
    }
}

/// Replaces every point by the representative of its class.
pub(super) fn canonicalise(parts: &mut Parts, manifold: &dyn Manifold) {
    for points in [&mut parts.train, &mut parts.validation, &mut parts.test] {
        if points.dim() == manifold.ambient_dim() {
            points.rows_mut().for_each(|row| manifold.canonicalise(row));
        }
    }
}

/// Numeric columns that the model is conditioned on, standardised by the training rows.
fn condition_columns(table: &Table, names: &str, split: &Split) -> Result<(Columns, Points), DataError> {
    let mut columns = load::condition_columns(table, names)?;
    let mut values = columns.decode(table)?.points;
    columns.fit(&mut values, &split.train);
    Ok((columns, values))
}

/// The pictures that a column names, relative to the file of the table.
fn read_pictures(table: &Table, column: &str, split: &Split, size: usize) -> Result<Parts<Vec<f32>>, PrepareError> {
    let selection = |problem: String| DataError::Selection {
        file: table.source().to_owned(),
        selection: column.to_owned(),
        problem,
    };
    let place = (0..table.width()).find(|c| table.column_name(*c).eq_ignore_ascii_case(column));
    let place = place.ok_or_else(|| selection("there is no such column of file names".into()))?;
    let folder = Path::new(table.source()).parent().unwrap_or(Path::new(""));
    let name = |row: &usize| table.row(*row).swap_remove(place).to_string();
    let names = Parts::of(split).map(|rows| rows.iter().map(name).collect());
    Ok(read_parts(folder, &names, size)?)
}
