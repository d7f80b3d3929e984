//! The search for a layout's columns in a table.

mod rotation;

use super::{
    block::{Block, Column},
    matrix::MatrixColumns,
    name::{is_latitude, is_longitude, unit},
    options::{AngleUnit, ColumnOptions},
};
use crate::{
    Setting,
    table::{DataError, Layout, Table, TextStyle, style::Names},
};

/// The columns of every leaf of a layout.
pub(super) struct Found {
    pub(super) blocks: Vec<Block>,
    /// What was assumed, in words.
    pub(super) notices: Vec<String>,
    /// How samples are written as text.
    pub(super) style: TextStyle,
}

/// Finds the columns of every leaf of the layout, and lists what it assumed.
pub(super) fn find(layout: &Layout, table: &Table, options: &ColumnOptions) -> Result<Found, DataError> {
    let directed = options.columns.is_some() || table.header().is_none();
    let free = options.chosen(table)?;
    let mut search =
        Search { layout, table, options, free, directed, matrices: false, positions: Vec::new(), notices: Vec::new() };
    let blocks = search.blocks()?;
    if options.columns.is_none() && !search.free.is_empty() {
        let unused: Vec<_> = search.free.iter().map(|&i| table.column_name(i)).collect();
        search.notices.push(format!("columns not used: {}", unused.join(", ")));
    }
    let style = match search.matrices && table.header().is_none() {
        true => TextStyle { names: Names::Absent, ..table.style.clone() },
        false => table.style.kept(),
    };
    Ok(Found { blocks, notices: search.notices, style })
}

/// Finds the columns by their names, even if the user has chosen them in some order.
pub(super) fn named(layout: &Layout, table: &Table, options: &ColumnOptions) -> Result<Vec<Block>, DataError> {
    let free = options.chosen(table)?;
    Search {
        layout,
        table,
        options,
        free,
        directed: false,
        matrices: false,
        positions: Vec::new(),
        notices: Vec::new(),
    }
    .blocks()
}

struct Search<'a> {
    layout: &'a Layout,
    table: &'a Table,
    options: &'a ColumnOptions,
    /// Columns that may still be taken, in order.
    free: Vec<usize>,
    /// Whether the order of the columns counts: they were chosen by the user, or have no names.
    directed: bool,
    /// Whether the columns are pose matrices in order.
    matrices: bool,
    /// The columns of the position that belong to a matrix, once it is found.
    positions: Vec<usize>,
    notices: Vec<String>,
}

impl Search<'_> {
    /// A block for every leaf of the layout.
    fn blocks(&mut self) -> Result<Vec<Block>, DataError> {
        let leaves = self.layout.leaves();
        match self.ambient(&leaves)? {
            Some(blocks) => Ok(blocks),
            None => self.leaves(&leaves),
        }
    }

    /// The free column whose name, without regard to case, is one of these.
    fn named(&self, names: &[&str]) -> Option<usize> {
        let header = self.table.header()?;
        self.free.iter().copied().find(|&i| names.contains(&header[i].to_lowercase().as_str()))
    }

    /// The free column whose name passes a test.
    fn called(&self, test: fn(&str) -> bool) -> Option<usize> {
        let header = self.table.header()?;
        self.free.iter().copied().find(|&i| test(&header[i]))
    }

    /// The free columns with exactly these names, or nothing.
    fn all_named<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> Option<Vec<usize>> {
        names.into_iter().map(|n| self.named(&[n.as_ref()])).collect()
    }

    /// The free columns `x0 … x{n−1}`, if there is no `x{n}`.
    fn coordinates(&self, n: usize) -> Option<Vec<usize>> {
        let found = self.all_named((0..n).map(|i| format!("x{i}")))?;
        self.named(&[&format!("x{n}")]).is_none().then_some(found)
    }

    fn take(&mut self, indices: &[usize]) -> Vec<Column> {
        self.free.retain(|i| !indices.contains(i));
        indices.iter().map(|&index| Column::new(self.table.column_name(index), index)).collect()
    }

    /// All coordinates of all leaves as `x0 …`, or as that many columns without names.
    fn ambient(&mut self, leaves: &[&Layout]) -> Result<Option<Vec<Block>>, DataError> {
        let Some(dim) = self.layout.dim() else { return Ok(None) };
        let nameless = self.table.header().is_none() && self.free.len() == dim;
        // A single circle or line has a shorter form of the same width; named forms come first there.
        let Some(indices) = self.coordinates(dim).or_else(|| nameless.then(|| self.free.clone())) else {
            return Ok(None);
        };
        if leaves.iter().any(|l| matches!(l, Layout::Categories(_))) && nameless {
            return Ok(None);
        }
        let mut columns = self.take(&indices);
        if nameless {
            for (i, column) in columns.iter_mut().enumerate() {
                column.name = format!("x{i}");
            }
            self.notices.push(format!("no column names: read as coordinates x0 … x{}", dim - 1));
        }
        let mut columns = columns.into_iter();
        let mut blocks = Vec::new();
        for leaf in leaves {
            let columns: Vec<_> = columns.by_ref().take(leaf.dim().unwrap_or(0)).collect();
            blocks.push(match leaf {
                Layout::Direction => Block::Direction { columns },
                Layout::Rotation => self.ordered_quaternion(columns),
                Layout::Angles(_) => Block::CosSin { columns },
                Layout::Categories(sizes) => Block::Indicators { columns, sizes: sizes.clone().unwrap_or_default() },
                Layout::Real(_) => real(columns),
                _ => Block::Coordinates { columns },
            });
        }
        Ok(Some(blocks))
    }

    /// Every leaf for itself: named conventions first, then the rest in order.
    fn leaves(&mut self, leaves: &[&Layout]) -> Result<Vec<Block>, DataError> {
        let alone = leaves.len() == 1;
        let mut found: Vec<Option<Block>> = Vec::new();
        for leaf in leaves {
            found.push(match leaf {
                Layout::Direction => self.direction(alone)?,
                Layout::Rotation => self.rotation(alone)?,
                _ => None,
            });
        }
        for (leaf, slot) in leaves.iter().zip(&mut found).filter(|(_, slot)| slot.is_none()) {
            *slot = match leaf {
                Layout::Angles(n) => self.angles(*n)?,
                Layout::Real(3) if self.positions.len() == 3 => Some(self.position()),
                Layout::Real(n) => self.real(*n),
                _ => None,
            };
        }
        for (leaf, slot) in leaves.iter().zip(&mut found).filter(|(_, slot)| slot.is_none()) {
            if let Layout::Categories(sizes) = leaf {
                *slot = Some(self.categories(sizes.as_deref(), alone)?);
            }
        }
        let wanted = |leaf: &Layout| match leaf {
            Layout::Angles(n) | Layout::Real(n) | Layout::Coordinates(n) => Some(*n),
            _ => None,
        };
        let open: Vec<_> = leaves.iter().zip(&found).filter(|(_, b)| b.is_none()).map(|(l, _)| wanted(l)).collect();
        let Some(total) = open.into_iter().sum::<Option<usize>>() else { return Err(self.misfit()) };
        let numeric: Vec<usize> = self.free.iter().copied().filter(|&i| self.table.is_numeric(i)).collect();
        // Columns that the user has chosen are taken at their word: text in them is a bad row.
        let mut rest = if self.options.columns.is_some() { self.free.clone() } else { numeric };
        if total > 0 && rest.len() != total {
            return Err(self.misfit());
        }
        let mut blocks = Vec::new();
        for (leaf, block) in leaves.iter().zip(found) {
            blocks.push(match block {
                Some(block) => block,
                None => {
                    let chosen: Vec<_> = rest.drain(..wanted(leaf).unwrap_or(0)).collect();
                    match leaf {
                        Layout::Angles(_) => self.angles_in(&chosen, None)?,
                        Layout::Real(_) => real(self.take(&chosen)),
                        _ => Block::Coordinates { columns: self.take(&chosen) },
                    }
                }
            });
        }
        Ok(blocks)
    }

    fn direction(&mut self, alone: bool) -> Result<Option<Block>, DataError> {
        if let (Some(lat), Some(lon)) = (self.called(is_latitude), self.called(is_longitude)) {
            let columns = self.take(&[lat, lon]);
            return match self.called(is_latitude).or(self.called(is_longitude)) {
                Some(second) if alone => Err(self.misfit_because(&format!(
                    "; `{}` is a second latitude or longitude: choose two columns with {}",
                    self.table.column_name(second),
                    Setting::Columns
                ))),
                _ => Ok(Some(Block::LatLon { units: self.place_units(&columns), columns })),
            };
        }
        if !alone {
            return Ok(None);
        }
        if let Some(indices) = self.all_named(["x", "y", "z"]) {
            return Ok(Some(Block::Direction { columns: self.take(&indices) }));
        }
        Ok(match (self.directed, &self.free.clone()[..]) {
            (true, chosen @ [_, _]) => {
                let mut columns = self.take(chosen);
                let source = if self.table.header().is_none() { "no column names" } else { "chosen columns" };
                if self.table.header().is_none() {
                    columns[0].name = "lat".into();
                    columns[1].name = "lon".into();
                }
                let units = self.place_units(&columns);
                let read = match units.map(AngleUnit::name) {
                    [lat, lon] if lat == lon => format!("latitude, longitude in {lat}"),
                    [lat, lon] => format!("latitude in {lat}, longitude in {lon}"),
                };
                self.notices.push(format!("{source}: read as {read}"));
                Some(Block::LatLon { columns, units })
            }
            (true, chosen @ [_, _, _]) => Some(Block::Direction { columns: self.take(chosen) }),
            _ => None,
        })
    }

    /// The units of latitude and longitude: those of their names, or else of the options; degrees by default.
    fn place_units(&self, columns: &[Column]) -> [AngleUnit; 2] {
        let default = self.options.angle_unit.unwrap_or(AngleUnit::Deg);
        [0, 1].map(|i| unit(&columns[i].name).unwrap_or(default))
    }

    /// Angle columns known by their names.
    fn angles(&mut self, n: usize) -> Result<Option<Block>, DataError> {
        let suffixed: Vec<usize> =
            self.free.iter().copied().filter(|&i| unit(&self.table.column_name(i)).is_some()).collect();
        if suffixed.len() == n {
            return self.angles_in(&suffixed, None).map(Some);
        }
        match self.coordinates(n) {
            Some(indices) => self.angles_in(&indices, Some(AngleUnit::Rad)).map(Some),
            None => Ok(None),
        }
    }

    /// These columns as angles, with the unit from their names, from the options, or this one.
    fn angles_in(&mut self, indices: &[usize], unless_given: Option<AngleUnit>) -> Result<Block, DataError> {
        let nameless = self.table.header().is_none();
        let mut columns = self.take(indices);
        let given = self.options.angle_unit.or(unless_given);
        let units: Option<Vec<_>> = columns.iter().map(|c| unit(&c.name).or(given)).collect();
        let Some(units) = units else {
            let columns = columns.into_iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
            return Err(DataError::AngleUnit { file: self.table.source().into(), columns });
        };
        if nameless {
            // Written files name the unit that the read file left out.
            for (column, unit) in columns.iter_mut().zip(&units) {
                column.name.push_str(&format!("_{}", unit.short()));
            }
        }
        Ok(Block::Angles { columns, units })
    }

    /// The position of a pose matrix.
    fn position(&mut self) -> Block {
        let places = std::mem::take(&mut self.positions);
        let mut columns = self.take(&places);
        if self.table.header().is_none() {
            columns.iter_mut().zip(["tx", "ty", "tz"]).for_each(|(column, name)| column.name = name.into());
        }
        real(columns)
    }

    /// Real columns known by their names.
    fn real(&mut self, n: usize) -> Option<Block> {
        let axes =
            |prefix: &str| ["x", "y", "z"].into_iter().take(n).map(|a| format!("{prefix}{a}")).collect::<Vec<_>>();
        let mut prefixes: Vec<String> = ["t", "t_", ""].map(String::from).to_vec();
        for name in self.table.header().unwrap_or_default() {
            let name = name.to_lowercase();
            let telling = |prefix: &&str| {
                let words = prefix.trim_end_matches(['.', '_']);
                ["position", "pos", "translation", "trans"].iter().any(|end| words.ends_with(end))
            };
            prefixes.extend(name.strip_suffix('x').filter(telling).map(String::from));
        }
        let indices = (1..=3)
            .contains(&n)
            .then(|| prefixes.iter().find_map(|p| self.all_named(axes(p))))
            .flatten()
            .or_else(|| self.coordinates(n))?;
        Some(real(self.take(&indices)))
    }

    fn categories(&mut self, sizes: Option<&[usize]>, alone: bool) -> Result<Block, DataError> {
        let chosen: Vec<usize> = if alone {
            self.free.clone()
        } else {
            self.free.iter().copied().filter(|&i| !self.table.is_numeric(i)).collect()
        };
        if chosen.is_empty() || sizes.is_some_and(|s| s.len() != chosen.len()) {
            return Err(self.misfit());
        }
        // Without a number anywhere, names and values look alike.
        if self.table.header_guessed && (0..self.table.width()).all(|i| !self.table.is_numeric(i)) {
            self.notices.push(match self.table.header() {
                Some(names) => format!("the first row was read as column names: {}", names.join(", ")),
                None => "no column names: the first row was read as values".into(),
            });
        }
        let columns = self.take(&chosen);
        let levels = vec![Vec::new(); columns.len()];
        Ok(Block::Categories { columns, levels })
    }

    fn misfit(&self) -> DataError {
        let any = |test: fn(&str) -> bool| self.table.header().unwrap_or_default().iter().any(|n| test(n));
        let choose = format!("; choose columns with {}, or another manifold", Setting::Columns);
        self.misfit_because(if any(is_latitude) && any(is_longitude) {
            "; latitude and longitude are columns of sphere:2"
        } else if !self.quaternions().0.is_empty()
            || MatrixColumns::named(self.table, &(0..self.table.width()).collect::<Vec<_>>()).is_some()
        {
            "; quaternions and rotation matrices are columns of so3"
        } else {
            &choose
        })
    }

    fn misfit_because(&self, advice: &str) -> DataError {
        let columns: Vec<_> = match &self.options.columns {
            Some(_) => self.free.clone(),
            None => (0..self.table.width()).collect(),
        };
        let describe = |&i: &usize| {
            let kind = if self.table.is_numeric(i) { "numbers" } else { "text" };
            format!("{} ({kind})", self.table.column_name(i))
        };
        let mut found = columns.iter().take(20).map(describe).collect::<Vec<_>>().join(", ");
        if columns.len() > 20 {
            found.push_str(&format!(", and {} more", columns.len() - 20));
        }
        let (file, line) = (self.table.source().into(), self.table.header_line());
        DataError::Columns { file, line, wanted: self.layout.describe(), found, advice: advice.into() }
    }
}

/// Real columns before their mean and scale are known.
fn real(columns: Vec<Column>) -> Block {
    let n = columns.len();
    Block::Real { columns, mean: vec![0.0; n], scale: vec![1.0; n] }
}
