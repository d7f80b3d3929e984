//! How points are read from the columns of a table and written back to them.

mod attempt;
mod block;
mod find;
mod hemisphere;
mod matrix;
mod name;
mod options;
mod refused_options;

pub use crate::rotation::EulerSequence;
pub use attempt::Decoded;
pub(crate) use attempt::{Attempt, ColumnUse};
pub use hemisphere::UnusedHemisphere;
pub(crate) use matrix::{pose_names, rotation_names};
pub(crate) use name::{is_latitude, is_longitude, unit};
pub use options::{AngleUnit, ColumnOptions, QuaternionOrder, RotationForm};

use super::{Cell, DataError, Layout, RowFault, Table, TextStyle, row_error::RowErrorList};
use crate::{Points, manifold::Manifold};
use block::{Block, Tally};
use serde::{Deserialize, Serialize};

/// The meaning of a file's columns: which ones hold the points, in which form and unit.
///
/// Found once from the training file by [`Columns::find`] and kept with the model. It then reads any other file with the
/// same names (or, without names, the same number of columns; or else any form the layout allows), and writes points in
/// the training file's own columns and units.
///
/// ```
/// use mad_core::table::{Cell, ColumnOptions, Columns, Layout, Table};
/// let mut table = Table::text("quakes", Some(vec!["lat".into(), "lon".into()]), 2);
/// table.push(2, ["90", "0"]);
/// let columns = Columns::find(&Layout::Direction, &table, &ColumnOptions::default())?;
/// let north = columns.decode(&table)?.points;
/// assert!((north.row(0)[2] - 1.0).abs() < 1e-15);
/// assert_eq!(columns.encode_row(&[-1.0, 0.0, 0.0]), [Cell::Number(0.0), Cell::Number(-180.0)]);
/// # Ok::<(), mad_core::table::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    layout: Layout,
    options: ColumnOptions,
    /// Whether the training file had a header.
    headed: bool,
    /// Number of columns of the training file.
    width: usize,
    /// What was taken for granted, in words.
    assumptions: Vec<String>,
    blocks: Vec<Block>,
    /// How a text file of points is written.
    #[serde(default, skip_serializing_if = "TextStyle::is_plain")]
    style: TextStyle,
}

impl Columns {
    /// Finds the columns of a layout in a table and, for categories, their values; a layout that knows numbers of levels
    /// must find just as many.
    ///
    /// Named conventions come first (`lat`/`lon`, `q…`, `r00 …`), then suffixes (`_deg`), then the remaining columns of the
    /// right kind if there are exactly as many as are needed. Nothing is guessed from values. An option that does not apply
    /// to the columns found, or contradicts their names, is refused.
    pub fn find(layout: &Layout, table: &Table, options: &ColumnOptions) -> Result<Self, DataError> {
        let find::Found { mut blocks, notices: assumptions, style } = find::find(layout, table, options)?;
        refused_options::refuse(&blocks, table, options)?;
        for (block, leaf) in blocks.iter_mut().zip(layout.leaves()) {
            block.learn_levels(table, options)?;
            block.learn_turns(table);
            if let Layout::Categories(Some(declared)) = leaf {
                block.require_levels(table, declared)?;
            }
        }
        let (layout, options) = (layout.clone(), options.clone());
        let (headed, width) = (table.header().is_some(), table.width());
        Ok(Self { layout, options, headed, width, assumptions, blocks, style })
    }

    /// The columns that hold the same points in another table, found by options of its own; what these leave open is as it was.
    /// Categories and scales stay.
    pub fn found_in(&self, table: &Table, asked: &ColumnOptions) -> Result<Self, DataError> {
        let options = asked.clone().or(&self.options);
        let find::Found { blocks, notices: assumptions, style } = find::find(&self.layout(), table, &options)?;
        refused_options::refuse(&blocks, table, asked)?;
        let (headed, width, layout) = (table.header().is_some(), table.width(), self.layout.clone());
        Ok(Self { options, headed, width, assumptions, blocks: self.adopted(blocks), layout, style })
    }

    /// These blocks with the categories and scales of this value.
    fn adopted(&self, mut blocks: Vec<Block>) -> Vec<Block> {
        blocks.iter_mut().zip(&self.blocks).for_each(|(block, fitted)| block.adopt(fitted));
        blocks
    }

    /// Whether the names of the columns alone determine where the points of a layout stand, or the question that is open.
    pub(crate) fn named(layout: &Layout, table: &Table, options: &ColumnOptions) -> Result<(), DataError> {
        refused_options::refuse(&find::named(layout, table, options)?, table, options)
    }

    /// Reads one point per row. If any row is bad, all bad rows are reported and nothing is returned.
    pub fn decode(&self, table: &Table) -> Result<Decoded, DataError> {
        self.decode_rows(table, |_| Ok(0.0))?.require_good(table)
    }

    /// Reads one point per row and checks that it lies on `manifold`: points closer than 1e-3 are projected and counted,
    /// others are bad rows unless the options ask to normalize.
    pub fn decode_on(&self, table: &Table, manifold: &dyn Manifold) -> Result<Decoded, DataError> {
        self.attempt_on(table, manifold)?.require_good(table)
    }

    /// As [`Columns::decode_on`], with bad rows beside the points.
    pub(crate) fn attempt_on(&self, table: &Table, manifold: &dyn Manifold) -> Result<Attempt, DataError> {
        assert_eq!(self.dim(), manifold.ambient_dim(), "the columns do not belong to this manifold");
        let tolerance = options::NORM_TOLERANCE;
        self.decode_rows(table, |x| {
            let deviation = manifold.deviation(x);
            if options::beyond_repair(deviation) && !self.options.normalize {
                return Err(RowFault::OffManifold { deviation, manifold: manifold.spec(), tolerance });
            }
            manifold.project(x);
            Ok(deviation)
        })
    }

    /// Rows in which these columns do not hold what they should; see [`Columns::decode`].
    pub(crate) fn bad_rows(&self, table: &Table) -> Result<Attempt, DataError> {
        self.decode_rows(table, |_| Ok(0.0))
    }

    fn decode_rows(
        &self,
        table: &Table,
        check: impl Fn(&mut [f64]) -> Result<f64, RowFault>,
    ) -> Result<Attempt, DataError> {
        let columns = self.bind(table)?;
        let mut points = Points::zeros(table.len(), self.dim());
        let mut errors = RowErrorList::new(table.unit());
        let mut bad_rows = Vec::new();
        let mut tallies = vec![Tally::default(); columns.blocks.len()];
        let (mut moved, mut farthest) = (0, 0.0f64);
        for (row, x) in points.rows_mut().enumerate() {
            let mut rest = &mut *x;
            let mut bad = None;
            for (block, tally) in columns.blocks.iter().zip(&mut tallies) {
                let (own, others) = rest.split_at_mut(block.dim());
                rest = others;
                let read = block.decode(table, row, &columns.options, own, tally);
                tally.rows += usize::from(read.is_ok());
                bad = bad.or(read.err());
            }
            let bad = bad.map_or_else(|| check(x).map_err(|fault| (columns.names().join(","), fault)), Err);
            match bad {
                Ok(deviation) => {
                    moved += usize::from(deviation > options::REPORTED);
                    farthest = farthest.max(deviation);
                }
                Err((column, fault)) => {
                    errors.push(table.line(row), Some(column), fault);
                    bad_rows.push(row);
                }
            }
        }
        let (ragged, ragged_hint) = table.ragged();
        errors.merge(ragged);
        let hint = columns.blocks.iter().zip(&tallies).find_map(|(b, t)| b.hint(t, table));
        let hint = hint.or(ragged_hint.map(String::from));
        let mut notices = table.notices().to_vec();
        notices.extend(columns.assumptions.iter().cloned());
        notices.extend(columns.readings(table));
        notices.extend(columns.blocks.iter().zip(&tallies).flat_map(|(b, t)| b.notices(t)));
        if moved > 0 {
            notices
                .push(format!("{moved} points were projected to the manifold; the farthest was {farthest:.1e} away"));
        }
        Ok(Attempt { points, notices, bad_rows, errors, hint })
    }

    /// How used columns are read whose cells are not plain numbers, in words.
    fn readings(&self, table: &Table) -> Vec<String> {
        let numeric = |b: &&Block| !matches!(b, Block::Categories { .. });
        let used = || self.blocks.iter().filter(numeric).flat_map(Block::columns);
        let names = |test: &dyn Fn(usize) -> bool| {
            used().filter(|c| test(c.index)).map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let (times, degrees) = (names(&|c| table.is_time(c)), names(&|c| table.is_in_degrees(c)));
        let mut notices = Vec::new();
        if !times.is_empty() {
            notices.push(format!("{times}: dates are read as decimal years (UTC)"));
        }
        if !degrees.is_empty() {
            notices.push(format!(
                "{degrees}: minutes, seconds and hemisphere letters are read as decimal degrees, south and west negative"
            ));
        }
        notices
    }

    /// How a text file of points is written.
    pub fn style(&self) -> &TextStyle {
        &self.style
    }

    /// The columns of a table that hold the points: position, name, what it holds, and why it was taken.
    pub(crate) fn uses(&self, table: &Table) -> Vec<ColumnUse> {
        let why = |block: &Block| match table.header() {
            _ if self.options.columns.is_some() => "chosen by the user",
            None => "by its place: the file has no column names",
            Some(_) if block.is_named() => "by its name",
            Some(_) => "by its kind: the columns left for it",
        };
        let uses = |block: &Block| {
            let columns = block.columns().iter().zip(block.roles());
            let why = why(block);
            let role = |index, role| if table.is_time(index) { format!("{role}, decimal years (UTC)") } else { role };
            columns.map(|(c, r)| ColumnUse { index: c.index, role: role(c.index, r), why }).collect::<Vec<_>>()
        };
        self.blocks.iter().flat_map(uses).collect()
    }

    /// Number of ambient coordinates of a point.
    pub fn dim(&self) -> usize {
        self.blocks.iter().map(Block::dim).sum()
    }

    /// The layout, with the numbers of levels of categories filled in.
    pub fn layout(&self) -> Layout {
        let mut leaves: Vec<Layout> = self.layout.leaves().into_iter().cloned().collect();
        for (leaf, block) in leaves.iter_mut().zip(&self.blocks) {
            if let (Layout::Categories(levels), Some(found)) = (leaf, block.levels()) {
                *levels = Some(found.iter().map(Vec::len).collect());
            }
        }
        match (&self.layout, leaves.pop()) {
            (Layout::Blocks(_), last) => Layout::Blocks(leaves.into_iter().chain(last).collect()),
            (_, Some(only)) => only,
            (whole, None) => whole.clone(),
        }
    }

    /// Values of every column of strings, with its name.
    pub fn levels(&self) -> Vec<(&str, &[String])> {
        let named = |b| Block::columns(b).iter().map(|c| c.name.as_str()).zip(b.levels().into_iter().flatten());
        self.blocks.iter().flat_map(named).map(|(name, levels)| (name, levels.as_slice())).collect()
    }

    /// Numbers of levels of each block of categories, for a manifold that waits for them.
    pub fn level_counts(&self) -> Vec<Vec<usize>> {
        self.blocks.iter().filter_map(Block::levels).map(|l| l.iter().map(Vec::len).collect()).collect()
    }

    /// Centres and scales the real columns by the mean and standard deviation of the training rows, from now on and in
    /// `points`, which this value has decoded. A constant column keeps its scale.
    pub fn fit(&mut self, points: &mut Points, training_rows: &[usize]) {
        assert_eq!(points.dim(), self.dim(), "points of other columns");
        let mut start = 0;
        for block in &mut self.blocks {
            block.standardise(points, start, training_rows);
            start += block.dim();
        }
    }

    /// The points with their real coordinates in the units of the training file; all others stay as they are.
    pub fn in_file_units(&self, points: &Points) -> Points {
        assert_eq!(points.dim(), self.dim(), "points of other columns");
        let mut restored = points.clone();
        for row in restored.rows_mut() {
            let mut rest = row;
            for block in &self.blocks {
                let (own, others) = rest.split_at_mut(block.dim());
                block.restore(own);
                rest = others;
            }
        }
        restored
    }

    /// What to add to a log-density in model coordinates to make it per original unit of the real columns: −Σ ln scale.
    pub fn log_jacobian(&self) -> f64 {
        self.blocks.iter().map(Block::log_jacobian).sum()
    }

    /// Column names of written points, in the order of the training file.
    pub fn encode_header(&self) -> Vec<String> {
        self.order().into_iter().map(|(_, name)| name).collect()
    }

    /// A name for every angle, category and number of a point, in the order of its coordinates; the columns of directions
    /// and rotations mean nothing alone and are left out.
    pub fn scalar_names(&self) -> Vec<String> {
        let own = |b: &Block| b.columns().iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        let names = |b: &Block| match b {
            Block::CosSin { .. } => own(b).chunks(2).map(|pair| pair.join(", ")).collect(),
            Block::Indicators { sizes, .. } => (1..=sizes.len()).map(|i| format!("column {i}")).collect(),
            Block::Coordinates { .. } | Block::Angles { .. } | Block::Categories { .. } | Block::Real { .. } => own(b),
            Block::Direction { .. }
            | Block::LatLon { .. }
            | Block::Quaternion { .. }
            | Block::Matrix { .. }
            | Block::RotationVector { .. }
            | Block::Euler { .. } => Vec::new(),
        };
        self.blocks.iter().flat_map(names).collect()
    }

    /// The columns that hold the points, as named in the training file, each with what it holds.
    pub fn roles(&self) -> Vec<(String, String)> {
        let named = |b: &Block| b.columns().iter().map(|c| c.name.clone()).zip(b.roles()).collect::<Vec<_>>();
        self.blocks.iter().flat_map(named).collect()
    }

    /// What was taken for granted when the columns were chosen, in words.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// One point as cells under [`Columns::encode_header`], in the training file's form and units.
    pub fn encode_row(&self, x: &[f64]) -> Vec<Cell> {
        assert_eq!(x.len(), self.dim(), "coordinates of a point");
        let mut cells: Vec<(usize, Cell)> = Vec::new();
        let mut rest = x;
        for block in &self.blocks {
            let (own, others) = rest.split_at(block.dim());
            rest = others;
            let values = block.encode(own);
            cells.extend(block.written().into_iter().map(|(index, _)| index).zip(values));
        }
        cells.sort_by_key(|(index, _)| *index);
        cells.into_iter().map(|(_, cell)| cell).collect()
    }

    /// Points as rows of cells.
    pub fn encode(&self, points: &Points) -> Vec<Vec<Cell>> {
        points.rows().map(|x| self.encode_row(x)).collect()
    }

    fn names(&self) -> Vec<String> {
        self.blocks.iter().flat_map(|b| b.columns().iter().map(|c| c.name.clone())).collect()
    }

    fn order(&self) -> Vec<(usize, String)> {
        let mut order: Vec<_> = self.blocks.iter().flat_map(Block::written).collect();
        order.sort_by_key(|(index, _)| *index);
        order
    }

    /// The same columns as they stand in another table.
    fn bind(&self, table: &Table) -> Result<Self, DataError> {
        let mut bound = self.clone();
        let written: Vec<String> = self.blocks.iter().flat_map(Block::written_names).collect();
        let columns = bound.blocks.iter_mut().flat_map(|b| b.columns_mut()).zip(written);
        let found = match table.header() {
            None => !self.headed && table.width() == self.width,
            Some(_) => {
                let mut all = true;
                for (column, written) in columns {
                    match table.find(&column.name).or_else(|| table.find(&written)) {
                        Some(index) => column.index = index,
                        None => all = false,
                    }
                }
                all
            }
        };
        if found {
            bound.require_signs(table)?;
            return Ok(bound);
        }
        let anew = find::find(&self.layout(), table, &self.options);
        let find::Found { blocks, notices: assumptions, .. } = match anew {
            // Numbers of columns may point elsewhere in another file.
            Err(first) if self.options.columns.is_some() => {
                let options = ColumnOptions { columns: None, ..self.options.clone() };
                find::find(&self.layout(), table, &options).map_err(|_| first)?
            }
            other => other?,
        };
        let bound = Self { blocks: self.adopted(blocks), assumptions, ..bound };
        bound.require_signs(table)?;
        Ok(bound)
    }

    /// Refuses places whose signs stand in columns of their own, unless the user has chosen the columns.
    fn require_signs(&self, table: &Table) -> Result<(), DataError> {
        if self.options.columns.is_some() { Ok(()) } else { hemisphere::require_signs(&self.blocks, table) }
    }
}
