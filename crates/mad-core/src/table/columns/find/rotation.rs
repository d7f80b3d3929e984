//! The search for the columns of a rotation: quaternion, matrix, rotation vector or Euler angles.

use super::Search;
use crate::table::{
    DataError, Layout,
    columns::{
        block::{Block, Column},
        matrix::{MatrixColumns, pose_names},
        name::cut,
        options::{AngleUnit, QuaternionOrder, RotationForm},
    },
};

/// Names of angles about x, y and z, without their unit.
const EULER: [&[&str]; 3] =
    [&["roll", "euler_x", "euler.x"], &["pitch", "euler_y", "euler.y"], &["yaw", "euler_z", "euler.z", "heading"]];

/// What stands before x, y and z in the names of rotation vectors.
const ROTATION_VECTORS: &[&str] =
    &["rotvec", "rot_vec", "rvec", "rv", "rotation_vector", "rotationvector", "axis_angle", "axisangle", "expmap"];

/// What stands before x, y and z in names that rotation vectors and Euler angles share.
const UNCLEAR: &[&str] = &["r", "rot", "rotation"];

impl Search<'_> {
    /// Sets of four free columns that are called x, y, z and w after a common beginning, such as `q` or
    /// `pose.orientation.`, in that order; and the names of three of four.
    pub(super) fn quaternions(&self) -> (Vec<Vec<usize>>, Option<String>) {
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
        let names_quaternion =
            |prefix: &str| prefix.starts_with('q') || prefix.contains("quat") || prefix.contains("orientation");
        let partial = sets.iter().find(|(p, set)| names_quaternion(p) && set.iter().flatten().count() == 3).map(
            |(prefix, set)| {
                let there: Vec<_> = set.iter().flatten().map(|&i| header[i].as_str()).collect();
                let missing = "xyzw".chars().zip(set).find(|(_, s)| s.is_none()).map_or(' ', |(c, _)| c);
                format!("{} are there, {prefix}{missing} is missing", there.join(", "))
            },
        );
        let full = sets.into_iter().filter_map(|(_, set)| set.into_iter().collect()).collect();
        (full, partial)
    }

    pub(super) fn rotation(&mut self, alone: bool) -> Result<Option<Block>, DataError> {
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
        let forced = self.options.rotation == Some(RotationForm::Rotvec);
        let clear = self.vector_named(ROTATION_VECTORS);
        let unclear = self.vector_named(UNCLEAR);
        if let Some(found) = unclear.as_ref().filter(|_| clear.is_none() && !forced && self.options.euler.is_none()) {
            let columns = found.iter().map(|&i| self.table.column_name(i)).collect::<Vec<_>>().join(", ");
            return Err(DataError::RotationForm { file: self.table.source().into(), columns });
        }
        let indices = match (clear, unclear) {
            (Some(clear), _) if self.options.rotation != Some(RotationForm::Euler) => clear,
            (_, Some(unclear)) if forced => unclear,
            _ if forced && alone && self.free.len() == 3 => self.free.clone(),
            _ => return Ok(None),
        };
        let Block::Angles { columns, units } = self.angles_in(&indices, Some(AngleUnit::Rad))? else { return Ok(None) };
        let names = columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        let unit = units.first().map_or("radians", |unit| unit.name());
        self.notices.push(format!("{names}: rotation vector, the axis times the angle in {unit}"));
        Ok(Some(Block::RotationVector { columns, units }))
    }

    /// Three Euler angles, if the options give the sequence: by their names, or in the order of the sequence.
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
    pub(super) fn ordered_quaternion(&mut self, mut columns: Vec<Column>) -> Block {
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
}
