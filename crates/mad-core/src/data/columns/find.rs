//! The search for a layout's columns in a table.

use super::{
    block::{Block, Column},
    matrix::{MatrixColumns, pose_names},
    name::{cut, is_latitude, is_longitude, unit},
    options::{AngleUnit, ColumnOptions, QuaternionOrder, RotationForm},
};
use crate::data::{DataError, Layout, Table, TextStyle, style::Names};

/// Names of angles about x, y and z, without their unit.
const EULER: [&[&str]; 3] =
    [&["roll", "euler_x", "euler.x"], &["pitch", "euler_y", "euler.y"], &["yaw", "euler_z", "euler.z", "heading"]];

/// What stands before x, y and z in the names of rotation vectors.
const ROTATION_VECTORS: &[&str] =
    &["rotvec", "rot_vec", "rvec", "rv", "rotation_vector", "rotationvector", "axis_angle", "axisangle", "expmap"];

/// What stands before x, y and z in names that rotation vectors and Euler angles share.
const UNCLEAR: &[&str] = &["r", "rot", "rotation"];

/// The columns of every leaf of a layout.
pub(super) struct Found {
    pub(super) blocks: Vec<Block>,
    /// What was assumed, in words.
    pub(super) notices: Vec<String>,
    /// How samples are written as text.
    pub(super) style: TextStyle,
}

/// Finds the columns of every leaf of the layout, and says what it assumed.
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
        true => TextStyle { names: Names::Absent, ..table.style().clone() },
        false => table.style().kept(),
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
                    "; `{}` is a second latitude or longitude: choose two columns with --columns",
                    self.table.column_name(second)
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
                let said = if self.table.header().is_none() { "no column names" } else { "chosen columns" };
                if self.table.header().is_none() {
                    columns[0].name = "lat".into();
                    columns[1].name = "lon".into();
                }
                let units = self.place_units(&columns);
                let read = match units.map(AngleUnit::name) {
                    [lat, lon] if lat == lon => format!("latitude, longitude in {lat}"),
                    [lat, lon] => format!("latitude in {lat}, longitude in {lon}"),
                };
                self.notices.push(format!("{said}: read as {read}"));
                Some(Block::LatLon { columns, units })
            }
            (true, chosen @ [_, _, _]) => Some(Block::Direction { columns: self.take(chosen) }),
            _ => None,
        })
    }

    /// The units of latitude and longitude: what their names, or else the options, say; degrees by default.
    fn place_units(&self, columns: &[Column]) -> [AngleUnit; 2] {
        let default = self.options.angle_unit.unwrap_or(AngleUnit::Deg);
        [0, 1].map(|i| unit(&columns[i].name).unwrap_or(default))
    }

    /// Sets of four free columns that are called x, y, z and w after a common beginning, such as `q` or
    /// `pose.orientation.`, in that order; and the names of three of four.
    fn quaternions(&self) -> (Vec<Vec<usize>>, Option<String>) {
        let Some(header) = self.table.header() else { return (Vec::new(), None) };
        let mut sets: Vec<(String, [Option<usize>; 4])> = Vec::new();
        for &i in &self.free {
            let name = header[i].to_lowercase();
            let Some(place) = name.chars().last().and_then(|last| "xyzw".find(last)) else { continue };
            let prefix = &name[..name.len() - 1];
            match sets.iter_mut().find(|(known, _)| known == prefix) {
                Some((_, set)) => set[place] = set[place].or(Some(i)),
                None => {
                    let mut set = [None; 4];
                    set[place] = Some(i);
                    sets.push((prefix.to_owned(), set));
                }
            }
        }
        let telling =
            |prefix: &str| prefix.starts_with('q') || prefix.contains("quat") || prefix.contains("orientation");
        let partial =
            sets.iter().find(|(p, set)| telling(p) && set.iter().flatten().count() == 3).map(|(prefix, set)| {
                let there: Vec<_> = set.iter().flatten().map(|&i| header[i].as_str()).collect();
                let missing = "xyzw".chars().zip(set).find(|(_, s)| s.is_none()).map_or(' ', |(c, _)| c);
                format!("{} are there, {prefix}{missing} is missing", there.join(", "))
            });
        let full = sets.into_iter().filter_map(|(_, set)| set.into_iter().collect()).collect();
        (full, partial)
    }

    fn rotation(&mut self, alone: bool) -> Result<Option<Block>, DataError> {
        let (sets, partial) = self.quaternions();
        let numbered = [0, 1].iter().find_map(|f| self.all_named((*f..f + 4).map(|i| format!("q{i}"))));
        let unclear = |problem| Err(DataError::QuaternionColumns { file: self.table.source().into(), problem });
        let wanted = self.layout.leaves().iter().filter(|l| matches!(l, Layout::Rotation)).count();
        if sets.len() + numbered.iter().len() > wanted && !sets.is_empty() {
            let all = sets.iter().chain(&numbered);
            let names =
                |set: &Vec<usize>| set.iter().map(|&i| self.table.column_name(i)).collect::<Vec<_>>().join(", ");
            return unclear(format!("there are {}", all.map(names).collect::<Vec<_>>().join(" and ")));
        }
        if let Some(indices) = sets.first() {
            return Ok(Some(Block::Quaternion { columns: self.take(indices) }));
        }
        if let Some(matrix) = MatrixColumns::named(self.table, &self.free) {
            let columns = self.take(&matrix.of_rotation());
            self.positions = matrix.position.unwrap_or_default();
            return Ok(Some(Block::Matrix { columns }));
        }
        if let Some(indices) = numbered {
            let columns = self.take(&indices);
            if self.options.quat_order.is_none() {
                let columns = columns.into_iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
                return Err(DataError::QuaternionOrder { file: self.table.source().into(), columns });
            }
            return Ok(Some(self.ordered_quaternion(columns)));
        }
        if let Some(block) = self.rotation_vector(alone)? {
            return Ok(Some(block));
        }
        if let Some(block) = self.euler(alone)? {
            return Ok(Some(block));
        }
        if let Some(problem) = partial.filter(|_| self.options.columns.is_none()) {
            return unclear(problem);
        }
        if let Some(block) = self.pose_matrix() {
            return Ok(Some(block));
        }
        if !alone || !self.directed {
            return Ok(None);
        }
        let chosen = self.free.clone();
        Ok(match chosen.len() {
            4 => {
                let columns = self.take(&chosen);
                Some(self.ordered_quaternion(columns))
            }
            9 => {
                let mut columns = self.take(&chosen);
                if self.table.header().is_none() {
                    columns.iter_mut().enumerate().for_each(|(i, c)| c.name = format!("r{}{}", i / 3, i % 3));
                }
                self.notices.push("nine columns: read as a rotation matrix, row by row".into());
                Some(Block::Matrix { columns })
            }
            _ => None,
        })
    }

    /// The rotation of a pose in 12 or 16 columns in order, whose position is then the position of the layout.
    fn pose_matrix(&mut self) -> Option<Block> {
        let leaves = self.layout.leaves();
        let pose = matches!(leaves[..], [Layout::Rotation, Layout::Real(3)] | [Layout::Real(3), Layout::Rotation]);
        let matrix = MatrixColumns::in_order(&self.free).filter(|_| pose && self.directed)?;
        let rows = self.free.len() / 4;
        let order = self.free.clone();
        let mut columns = self.take(&matrix.of_rotation());
        self.matrices = true;
        self.positions = matrix.position.unwrap_or_default();
        if self.table.header().is_none() {
            let names = pose_names(rows);
            for column in &mut columns {
                let place = order.iter().position(|i| *i == column.index);
                column.name = place.map_or(String::new(), |place| names[place].clone());
            }
        }
        self.notices.push(format!("{} columns: read as pose matrices of {rows} rows, row by row", 4 * rows));
        Some(Block::Matrix { columns })
    }

    /// The free columns called x, y and z, or 0, 1 and 2, after one of these beginnings; units are not part of the names.
    fn vector_named(&self, beginnings: &[&str]) -> Option<Vec<usize>> {
        let header = self.table.header()?;
        let names: Vec<(usize, String)> = self.free.iter().map(|&i| (i, cut(&header[i]).0)).collect();
        let named = |start: &str, mark: &str, end: &str| {
            let wanted = format!("{start}{mark}{end}");
            names.iter().find(|(_, name)| *name == wanted).map(|(i, _)| *i)
        };
        let mut all = beginnings.iter().flat_map(|start| ["", "_", "."].map(|mark| (start, mark)));
        all.find_map(|(start, mark)| {
            [["x", "y", "z"], ["0", "1", "2"], ["1", "2", "3"]].iter().find_map(|ends| {
                let (x, y, z) =
                    (named(start, mark, ends[0])?, named(start, mark, ends[1])?, named(start, mark, ends[2])?);
                Some(vec![x, y, z])
            })
        })
    }

    /// Three columns of a rotation vector, known by their names or by the options.
    fn rotation_vector(&mut self, alone: bool) -> Result<Option<Block>, DataError> {
        let asked = self.options.rotation == Some(RotationForm::Rotvec);
        let clear = self.vector_named(ROTATION_VECTORS);
        let unclear = self.vector_named(UNCLEAR);
        if let Some(found) = unclear.as_ref().filter(|_| clear.is_none() && !asked && self.options.euler.is_none()) {
            let columns = found.iter().map(|&i| self.table.column_name(i)).collect::<Vec<_>>().join(", ");
            return Err(DataError::RotationForm { file: self.table.source().into(), columns });
        }
        let indices = match (clear, unclear) {
            (Some(clear), _) if self.options.rotation != Some(RotationForm::Euler) => clear,
            (_, Some(unclear)) if asked => unclear,
            _ if asked && alone && self.free.len() == 3 => self.free.clone(),
            _ => return Ok(None),
        };
        let Block::Angles { columns, units } = self.angles_in(&indices, Some(AngleUnit::Rad))? else { return Ok(None) };
        let names = columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        let unit = units.first().map_or("radians", |unit| unit.name());
        self.notices.push(format!("{names}: rotation vector, the axis times the angle in {unit}"));
        Ok(Some(Block::RotationVector { columns, units }))
    }

    /// Three Euler angles, if the options say in which sequence: by their names, or in the order of the sequence.
    fn euler(&mut self, alone: bool) -> Result<Option<Block>, DataError> {
        let header = self.table.header().unwrap_or_default();
        let named = |axis: usize| {
            let fits = |&&i: &&usize| {
                let name = header.get(i).map(|n| cut(n).0).unwrap_or_default();
                EULER[axis].contains(&name.as_str())
            };
            self.free.iter().find(fits).copied()
        };
        let by_axis: Option<Vec<usize>> = (0..3).map(named).collect();
        let by_axis = by_axis.or_else(|| self.vector_named(UNCLEAR));
        let Some(sequence) = self.options.euler else {
            let Some(found) = by_axis else { return Ok(None) };
            let columns = found.iter().map(|&i| self.table.column_name(i)).collect::<Vec<_>>().join(", ");
            return Err(DataError::EulerSequence { file: self.table.source().into(), columns });
        };
        let letters = sequence.letters();
        let distinct = letters[0] != letters[2];
        let ordered = [["alpha", "beta", "gamma"], ["euler0", "euler1", "euler2"], ["euler1", "euler2", "euler3"]]
            .into_iter()
            .find_map(|names| self.all_named(names));
        let numeric: Vec<usize> = self.free.iter().copied().filter(|&i| self.table.is_numeric(i)).collect();
        let rest = if self.options.columns.is_some() { self.free.clone() } else { numeric };
        let indices = match (by_axis, ordered) {
            (Some(found), _) if distinct => letters.map(|c| found["xyz".find(c).unwrap_or(0)]).to_vec(),
            (_, Some(ordered)) => ordered,
            _ if alone && rest.len() == 3 => rest,
            _ => return Ok(None),
        };
        let Block::Angles { columns, units } = self.angles_in(&indices, None)? else { return Ok(None) };
        let names = columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        let frame = if sequence.to_string().starts_with(char::is_uppercase) { "turning" } else { "fixed" };
        self.notices.push(format!(
            "{names}: Euler angles {sequence}, about {frame} axes in this order; written as quaternions"
        ));
        Ok(Some(Block::Euler { columns, sequence, units }))
    }

    /// Four columns whose order is given by the options, x, y, z, w by default.
    fn ordered_quaternion(&mut self, mut columns: Vec<Column>) -> Block {
        let (order, text) = match self.options.quat_order {
            Some(QuaternionOrder::Wxyz) => (["qw", "qx", "qy", "qz"], "w, x, y, z"),
            _ => (["qx", "qy", "qz", "qw"], "x, y, z, w"),
        };
        if self.table.header().is_none() {
            columns.iter_mut().zip(order).for_each(|(c, name)| c.name = name.into());
        }
        if order[0] == "qw" {
            columns.rotate_left(1);
        }
        self.notices.push(format!("quaternion columns read in the order {text}"));
        Block::Quaternion { columns }
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
    fn angles_in(&mut self, indices: &[usize], unless_told: Option<AngleUnit>) -> Result<Block, DataError> {
        let nameless = self.table.header().is_none();
        let mut columns = self.take(indices);
        let given = self.options.angle_unit.or(unless_told);
        let units: Option<Vec<_>> = columns.iter().map(|c| unit(&c.name).or(given)).collect();
        let Some(units) = units else {
            let columns = columns.into_iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
            return Err(DataError::AngleUnit { file: self.table.source().into(), columns });
        };
        if nameless {
            // Written files say the unit that the read file left out.
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
        if self.table.header_guessed() && (0..self.table.width()).all(|i| !self.table.is_numeric(i)) {
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
        self.misfit_because(if any(is_latitude) && any(is_longitude) {
            "; latitude and longitude are columns of sphere:2"
        } else if !self.quaternions().0.is_empty()
            || MatrixColumns::named(self.table, &(0..self.table.width()).collect::<Vec<_>>()).is_some()
        {
            "; quaternions and rotation matrices are columns of so3"
        } else {
            "; choose columns with --columns, or another manifold"
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
