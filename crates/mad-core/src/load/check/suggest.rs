//! Manifolds that the columns of a table suggest.

use super::{
    poses,
    usable::{is_usable, nearly_constant},
};
use crate::Setting;
use crate::table::{
    AngleUnit, ColumnOptions, Columns, DataError, Layout, RotationForm, Table,
    columns::{is_latitude, is_longitude, unit},
    value::is_missing,
};

use std::f64::consts::TAU;

/// Words in the names of angles.
const ANGLES: &[&str] = &["phi", "psi", "omega", "chi", "theta", "angle", "torsion", "dihedral", "tors"];

/// Sequences of Euler angles that are common, and what they mean.
const SEQUENCES: [(&str, &str); 2] = [
    ("ZYX", "Euler angles, if they turn about z, then y, then x of the turning body, as yaw, pitch and roll mostly do"),
    ("zyx", "Euler angles, if they turn about z, then y, then x of the fixed frame"),
];

/// A manifold that a table may be read on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The manifold.
    pub spec: String,
    /// Settings that reading needs in addition to it, with their values.
    pub settings: Vec<(Setting, String)>,
    /// Evidence for it, or the question that must be settled first.
    pub reason: String,
    /// Whether the names of the columns leave no doubt.
    pub certain: bool,
    /// Whether the points can be read so; otherwise `reason` is an open question.
    pub complete: bool,
}

impl Suggestion {
    /// The settings in words, one after another.
    pub fn settings_in_words(&self) -> String {
        self.settings.iter().map(|(setting, value)| format!("{setting} {value}")).collect::<Vec<_>>().join(" ")
    }

    fn asks_for(&self, setting: Setting) -> bool {
        self.settings.iter().any(|(asked, _)| *asked == setting)
    }
}

/// Manifolds for a table, the most likely first. Only names of columns make one certain. Columns that the options choose
/// and the table does not have suggest nothing; [`ColumnOptions::require_in`] reports them.
pub fn suggest(table: &Table, options: &ColumnOptions) -> Vec<Suggestion> {
    let Ok(mut columns) = options.chosen(table) else { return Vec::new() };
    columns.retain(|&c| is_usable(table, c));
    if columns.is_empty() {
        return Vec::new();
    }
    let numeric = columns.iter().copied().filter(|&c| table.is_numeric(c)).collect();
    let mut search = Search { table, options, columns, numeric, found: Vec::new() };
    search.places();
    search.rotations();
    if search.found.is_empty() {
        search.named_angles();
    }
    if search.numeric.is_empty() {
        search.categories();
    }
    search.nameless();
    search.wide_ranges();
    search.codes();
    search.numbers();
    search.found
}

struct Search<'a> {
    table: &'a Table,
    options: &'a ColumnOptions,
    /// Columns that may be used, in order.
    columns: Vec<usize>,
    /// Those of numbers.
    numeric: Vec<usize>,
    found: Vec<Suggestion>,
}

impl Search<'_> {
    fn add(&mut self, spec: &str, reason: &str, certain: bool) {
        self.add_with(spec, [], reason, certain);
    }

    fn add_with(
        &mut self,
        spec: &str,
        settings: impl IntoIterator<Item = (Setting, String)>,
        reason: &str,
        certain: bool,
    ) {
        let (spec, settings, reason) = (spec.into(), settings.into_iter().collect(), reason.into());
        self.found.push(Suggestion { spec, settings, reason, certain, complete: true });
    }

    /// A manifold whose columns leave a question open.
    fn ask(&mut self, spec: &str, question: &DataError) {
        self.add(spec, &question.to_string(), false);
        self.found.iter_mut().last().into_iter().for_each(|s| s.complete = false);
    }

    /// Names in lower case; nothing for a table without names.
    fn name(&self, column: usize) -> String {
        self.table.header().map(|names| names[column].to_lowercase()).unwrap_or_default()
    }

    fn fits(&self, layout: Layout, options: &ColumnOptions) -> bool {
        Columns::find(&layout, self.table, options).is_ok()
    }

    fn places(&mut self) {
        let any = |test: fn(&str) -> bool| self.columns.iter().any(|&c| test(&self.name(c)));
        if any(is_latitude) && any(is_longitude) {
            match Columns::named(&Layout::Direction, self.table, self.options) {
                Ok(()) => self.add("sphere:2", "columns of latitude and longitude", true),
                Err(question) => self.ask("sphere:2", &question),
            }
        }
    }

    fn rotations(&mut self) {
        if self.table.header().is_none() {
            return;
        }
        match Columns::named(&Layout::Rotation, self.table, self.options) {
            Ok(()) => {
                if self.numeric.len() >= 6 && Columns::named(&poses::layout(), self.table, self.options).is_ok() {
                    self.add("product(so3,euclid:3)", "columns of a rotation and a position", true);
                }
                self.add("so3", "columns of a rotation", true);
            }
            Err(DataError::EulerSequence { columns, .. }) => self.euler(&columns),
            Err(DataError::RotationForm { columns, .. }) => {
                // Rotation vectors are in radians nearly always, and no turn is longer than a whole one.
                let long = self.unit_of(&self.found_columns(&columns)) == AngleUnit::Deg;
                if long {
                    self.euler(&columns);
                }
                self.rotation_vector(&columns);
                if !long {
                    self.euler(&columns);
                }
            }
            Err(question @ DataError::QuaternionOrder { .. }) => {
                let order = |letters: &str| [(Setting::QuatOrder, letters.to_owned())];
                self.add_with("so3", order("wxyz"), &format!("{question}; wxyz has the scalar first"), false);
                self.add_with("so3", order("xyzw"), "the same columns with the scalar last", false);
            }
            Err(DataError::Columns { .. }) => {}
            Err(question) => self.ask("so3", &question),
        }
    }

    /// The columns with these names, which are separated by commas.
    fn found_columns(&self, names: &str) -> Vec<usize> {
        names.split(", ").filter_map(|name| self.table.find(name)).collect()
    }

    /// Rotations whose columns may be rotation vectors.
    fn rotation_vector(&mut self, names: &str) {
        let columns = self.found_columns(names);
        let unit = self.unit_of(&columns);
        let said = self.unit_setting(&columns, unit).filter(|_| unit == AngleUnit::Deg);
        let mut options = ColumnOptions { rotation: Some(RotationForm::Rotvec), ..self.options.clone() };
        options.angle_unit = said.as_ref().map(|_| unit).or(options.angle_unit);
        for (layout, spec) in [(poses::layout(), "product(so3,euclid:3)"), (Layout::Rotation, "so3")] {
            if self.fits(layout, &options) {
                let settings = [(Setting::Rotation, "rotvec".to_owned())].into_iter().chain(said.clone());
                let reason =
                    format!("columns called like a rotation vector, the axis times the angle in {}", unit.name());
                self.add_with(spec, settings, &reason, false);
            }
        }
    }

    /// Rotations whose columns are called like Euler angles.
    fn euler(&mut self, names: &str) {
        let columns = self.found_columns(names);
        let unit = self.unit_of(&columns);
        let said = self.unit_setting(&columns, unit);
        for (layout, spec) in [(poses::layout(), "product(so3,euclid:3)"), (Layout::Rotation, "so3")] {
            for (sequence, meaning) in SEQUENCES {
                let mut options = ColumnOptions { euler: sequence.parse().ok(), ..self.options.clone() };
                options.angle_unit = said.as_ref().map(|_| unit).or(options.angle_unit);
                if self.fits(layout.clone(), &options) {
                    let settings = [(Setting::Euler, sequence.to_owned())].into_iter().chain(said.clone());
                    self.add_with(spec, settings, &format!("columns called like {meaning}"), false);
                }
            }
        }
    }

    /// Angles that are known by a unit in their names, or by a word.
    fn named_angles(&mut self) {
        let names: Vec<String> = self.columns.iter().map(|&c| self.name(c)).collect();
        let with_unit = names.iter().filter(|name| unit(name).is_some()).count();
        if with_unit > 0 && self.fits(Layout::Angles(with_unit), self.options) {
            return self.add(&format!("torus:{with_unit}"), "columns whose names end in _deg or _rad", true);
        }
        let called = |c: &usize| ANGLES.iter().any(|word| self.name(*c).contains(word));
        let angles: Vec<usize> = self.numeric.iter().copied().filter(called).collect();
        if !angles.is_empty() {
            self.torus(&angles, "columns that are called like angles; say their unit");
        }
    }

    fn torus(&mut self, angles: &[usize], reason: &str) {
        let settings = self.columns_setting(angles).into_iter().chain(self.unit_setting(angles, self.unit_of(angles)));
        self.add_with(&format!("torus:{}", angles.len()), settings, reason, false);
    }

    fn categories(&mut self) {
        if self.columns.iter().all(|&c| nearly_constant(self.table, c).is_some()) {
            return;
        }
        let counted: Vec<(usize, usize, usize)> = self.columns.iter().map(|&c| self.values(c)).collect();
        // In a column of names or of free text nearly every value stands alone.
        let repeats = |&&(_, values, filled): &&(usize, usize, usize)| 10 * values < 9 * filled;
        let telling: Vec<usize> = counted.iter().filter(repeats).map(|(column, ..)| *column).collect();
        if telling.is_empty() || telling.len() == counted.len() {
            let reason = match telling.is_empty() {
                true => "columns of text, though nearly every value differs, as names and free text do",
                false => "columns of text only",
            };
            if self.fits(Layout::Categories(None), self.options) {
                self.add("categorical", reason, !telling.is_empty());
            }
        } else if self.options.columns.is_none() {
            let settings = self.columns_setting(&telling);
            let reason = "columns of text whose values repeat; nearly all others differ";
            self.add_with("categorical", settings, reason, false);
        } else if self.fits(Layout::Categories(None), self.options) {
            self.add("categorical", "columns of text, though nearly every value of one differs", false);
        }
    }

    /// Text beside numbers, which may be codes of categories.
    fn codes(&mut self) {
        let text = |c: &usize| !self.numeric.contains(c);
        if self.numeric.is_empty() || !self.columns.iter().any(text) || self.found.iter().any(|s| s.certain) {
            return;
        }
        let repeats = |&c: &usize| matches!(self.values(c), (_, values, filled) if 10 * values < 9 * filled);
        let telling: Vec<usize> = self.columns.iter().copied().filter(repeats).collect();
        let all = telling.len() == self.columns.len();
        let mixed = telling.iter().any(text) && !telling.iter().all(text);
        let constant = telling.iter().all(|&c| nearly_constant(self.table, c).is_some());
        if mixed && !constant && (all || self.options.columns.is_none()) {
            let settings = self.columns_setting(&telling).filter(|_| !all);
            self.add_with("categorical", settings, "columns whose values repeat, if the numbers are codes", false);
        }
    }

    /// A column with its numbers of different and of filled cells; of too many different ones all count.
    fn values(&self, column: usize) -> (usize, usize, usize) {
        match self.table.words(column) {
            Some(words) => {
                let filled: Vec<_> = words.into_iter().filter(|(word, _)| !is_missing(word)).collect();
                (column, filled.len(), filled.iter().map(|(_, count)| count).sum())
            }
            None => (column, self.table.len(), self.table.len()),
        }
    }

    /// What columns without names may be by their number.
    fn nameless(&mut self) {
        if self.table.header().is_some() || self.numeric.len() != self.columns.len() {
            return;
        }
        match self.columns[..] {
            [lat, lon] if largest(self.table, lat) <= 90.0 && largest(self.table, lon) <= 360.0 => {
                self.add("sphere:2", "two columns without names, if they are latitude and longitude", false);
            }
            [_, _, _] => self.add("sphere:2", "three columns without names, if they are unit vectors", false),
            [_, _, _, _] => {
                let open = self.options.quat_order.is_none();
                let settings = open.then(|| (Setting::QuatOrder, "xyzw".to_owned()));
                self.add_with("so3", settings, "four columns without names, if they are quaternions", false);
            }
            _ if poses::are_poses(self.table, self.options) => {
                let reason =
                    format!("{} numbers a row that are pose matrices: rotation and position", self.columns.len());
                self.add("product(so3,euclid:3)", &reason, true);
            }
            _ if self.options.columns.is_none() && poses::are_transposed(self.table) => {
                let settings = [(Setting::Columns, poses::column_by_column(self.table.width()))];
                let reason = "pose matrices written column by column: their transposes are a rotation and a position";
                self.add_with("product(so3,euclid:3)", settings, reason, false);
            }
            _ if self.columns.len() == 9 => {
                self.add("so3", "nine columns without names, if they are rotation matrices", false);
            }
            _ => {}
        }
    }

    /// Several columns that go more than half around a circle in degrees, and stay within one turn.
    fn wide_ranges(&mut self) {
        if self.found.iter().any(|s| s.certain || s.asks_for(Setting::Euler)) {
            return;
        }
        let turns = |c: &usize| {
            let (min, max) = range(self.table, *c);
            max - min > 180.0 && ((min >= -180.0 && max <= 180.0) || (min >= 0.0 && max <= 360.0))
        };
        let angles: Vec<usize> = self.numeric.iter().copied().filter(turns).collect();
        let known = self.found.iter().any(|s| s.spec == format!("torus:{}", angles.len()));
        let chosen = self.options.columns.is_none() || angles.len() == self.columns.len();
        if angles.len() > 1 && !known && chosen && self.options.angle_unit != Some(AngleUnit::Rad) {
            self.torus(&angles, "columns of numbers that go around within one turn, if they are angles in degrees");
        }
    }

    /// Any numbers, where nothing better is known.
    fn numbers(&mut self) {
        let euler = self.found.iter().any(|s| s.asks_for(Setting::Euler));
        let all = self.numeric.len() == self.columns.len();
        if self.numeric.is_empty() || euler || self.found.iter().any(|s| s.certain) {
            return;
        }
        if !all && self.options.columns.is_some() {
            return;
        }
        let settings = (!all).then(|| (Setting::Columns, numbered(&self.numeric)));
        let spec = format!("euclid:{}", self.numeric.len());
        self.add_with(&spec, settings, "columns of numbers, if any numbers can occur in them", false);
    }

    /// The choice of these columns, unless the user has chosen already.
    fn columns_setting(&self, columns: &[usize]) -> Option<(Setting, String)> {
        if self.options.columns.is_some() {
            return None;
        }
        // A name that a shell or the list would cut is given by its number.
        let plain = |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c));
        let names: Vec<String> = columns.iter().map(|&c| self.table.column_name(c)).collect();
        let named = self.table.header().is_some() && names.iter().all(plain);
        Some((Setting::Columns, if named { names.join(",") } else { numbered(columns) }))
    }

    /// The unit of angles, unless the names or the user give it.
    fn unit_setting(&self, columns: &[usize], guess: AngleUnit) -> Option<(Setting, String)> {
        let known = self.options.angle_unit.is_some() || columns.iter().all(|&c| unit(&self.name(c)).is_some());
        (!known).then(|| (Setting::AngleUnit, guess.short().to_owned()))
    }

    /// The unit that angles seem to have.
    fn unit_of(&self, columns: &[usize]) -> AngleUnit {
        if columns.iter().any(|&c| largest(self.table, c) > TAU) { AngleUnit::Deg } else { AngleUnit::Rad }
    }
}

/// Columns by their numbers, from 1.
fn numbered(columns: &[usize]) -> String {
    columns.iter().map(|c| (c + 1).to_string()).collect::<Vec<_>>().join(",")
}

/// Smallest and largest value of a column.
fn range(table: &Table, column: usize) -> (f64, f64) {
    let numbers = (0..table.len()).filter_map(|row| table.number(row, column).ok());
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), x| (min.min(x), max.max(x)))
}

/// Largest absolute value of a column.
fn largest(table: &Table, column: usize) -> f64 {
    (0..table.len()).filter_map(|row| table.number(row, column).ok()).fold(0.0, |m: f64, x| m.max(x.abs()))
}
