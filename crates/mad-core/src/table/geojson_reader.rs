//! Points of GeoJSON files as tables: longitude, latitude, and the properties of each feature as further columns.
//!
//! Collections, features and bare geometries are read, one after another, so that a file of one feature per line is read as
//! well. Features stream by: memory is taken for columns, not for the tree.
//!
//! # Reference
//! Butler et al. (2016), RFC 7946.

mod value;

use super::{DataError, ReadOptions, RowFault, Table, cells::ColumnCells, columns, input::Input};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::{cell::RefCell, collections::HashMap, fmt, io::BufRead};
use value::{Feature, Geometry, place, text};

/// Most different properties.
const MOST_PROPERTIES: usize = 1000;

/// Reads all points of a file; features of other geometries are rows that cannot be used.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<Table, DataError> {
    let name = input.name.clone();
    let start = input.stream.fill_buf().map_err(|e| DataError::read(&name, e))?;
    if start.starts_with("\u{feff}".as_bytes()) {
        input.stream.consume(3);
    }
    // What goes wrong inside is kept here, since a deserializer only passes texts on.
    let rows = RefCell::new(Rows::new(options.max_bytes));
    let mut json = serde_json::Deserializer::from_reader(&mut input.stream);
    let outcome = loop {
        match (Object { rows: &rows }).deserialize(&mut json) {
            Ok(()) if json.end().is_ok() => break Ok(()),
            Ok(()) => {}
            Err(error) => break Err(error),
        }
    };
    let rows = rows.into_inner();
    match outcome {
        _ if rows.too_large => Err(DataError::TooLarge { file: name, limit: options.max_bytes }),
        Err(error) if error.is_io() => Err(DataError::read(&name, error.into())),
        Err(error) if error.is_eof() && rows.seen == 0 && error.line() <= 1 && error.column() == 0 => {
            Err(DataError::Empty { file: name })
        }
        Err(error) => Err(DataError::damaged(&name, "GeoJSON", error.to_string())),
        Ok(()) => Ok(rows.table(&name)),
    }
}

/// The columns while features arrive.
struct Rows {
    /// Features seen.
    seen: usize,
    lon: ColumnCells,
    lat: ColumnCells,
    altitude: ColumnCells,
    /// Whether any position has a third number.
    high: bool,
    /// Feature of each row, from 1.
    lines: Vec<usize>,
    names: Vec<String>,
    places: HashMap<String, usize>,
    properties: Vec<ColumnCells>,
    /// Properties that are lists or objects, and those that repeat the place.
    nested: Vec<String>,
    repeated: Vec<String>,
    bad: Vec<(usize, RowFault)>,
    max_bytes: u64,
    too_large: bool,
}

impl Rows {
    fn new(max_bytes: u64) -> Self {
        Self {
            seen: 0,
            lon: ColumnCells::numbers(),
            lat: ColumnCells::numbers(),
            altitude: ColumnCells::numbers(),
            high: false,
            lines: Vec::new(),
            names: Vec::new(),
            places: HashMap::new(),
            properties: Vec::new(),
            nested: Vec::new(),
            repeated: Vec::new(),
            bad: Vec::new(),
            max_bytes,
            too_large: false,
        }
    }

    /// Adds the rows of a feature.
    fn add(&mut self, feature: Feature) -> Result<(), String> {
        self.seen += 1;
        let mut cells: Vec<(usize, Value)> = Vec::new();
        for (name, value) in feature.properties.unwrap_or_default().0 {
            if let Some(place) = self.property(name, &value)? {
                cells.push((place, value));
            }
        }
        let positions = match feature.geometry {
            // A feature without a place is a row without one.
            None => vec![Value::Null],
            Some(Geometry { kind, coordinates }) => match (kind.as_str(), coordinates) {
                (Some("Point"), position) => vec![position],
                (Some("MultiPoint"), Value::Array(positions)) => positions,
                (Some("MultiPoint"), _) => vec![Value::from(0.0)],
                (kind, _) => {
                    let kind: String = kind.unwrap_or("geometry without a type").chars().take(40).collect();
                    self.bad.push((self.seen, RowFault::Geometry(kind)));
                    return Ok(());
                }
            },
        };
        for position in positions {
            let Some([lon, lat, altitude]) = place(&position) else {
                self.bad.push((self.seen, RowFault::Position));
                continue;
            };
            self.lon.push_number(lon);
            self.lat.push_number(lat);
            self.altitude.push_number(altitude);
            self.high |= altitude.is_some();
            self.lines.push(self.seen);
            let rows = self.lines.len();
            for (place, value) in &cells {
                if self.properties[*place].len() < rows {
                    self.properties[*place].push(&text(value).unwrap_or_default());
                }
            }
            self.properties.iter_mut().filter(|column| column.len() < rows).for_each(|column| column.push(""));
            // Sparse properties take memory in every row.
            if 2 * (rows as u64) * (self.properties.len() as u64 + 12) > self.max_bytes.max(1 << 20) {
                self.too_large = true;
                return Err("too many rows".into());
            }
        }
        Ok(())
    }

    /// The column of a property, unless it is left out.
    fn property(&mut self, name: String, value: &Value) -> Result<Option<usize>, String> {
        if let Some(&place) = self.places.get(&name) {
            return Ok(Some(place));
        }
        let left_out = match value {
            value if text(value).is_none() => Some(&mut self.nested),
            _ if columns::is_latitude(&name) || columns::is_longitude(&name) => Some(&mut self.repeated),
            _ => None,
        };
        if let Some(list) = left_out {
            if list.len() < MOST_PROPERTIES && !list.contains(&name) {
                list.push(name);
            }
            return Ok(None);
        }
        if self.names.len() == MOST_PROPERTIES {
            return Err(format!("more than {MOST_PROPERTIES} different properties"));
        }
        let mut column = ColumnCells::default();
        (0..self.lines.len()).for_each(|_| column.push(""));
        self.places.insert(name.clone(), self.names.len());
        self.names.push(name);
        self.properties.push(column);
        Ok(Some(self.names.len() - 1))
    }

    fn table(self, source: &str) -> Table {
        let mut names = vec!["lon".to_owned(), "lat".to_owned()];
        let mut columns = vec![self.lon, self.lat];
        if self.high {
            names.push("altitude".into());
            columns.push(self.altitude);
        }
        for (name, column) in self.names.into_iter().zip(self.properties) {
            let taken = names.contains(&name);
            names.push(if taken { format!("properties.{name}") } else { name });
            columns.push(column);
        }
        let mut table = Table::of_columns(source, names, columns);
        table.set_lines("feature", &self.lines);
        self.bad.into_iter().for_each(|(feature, fault)| table.ragged.push(feature, None, fault));
        if !self.nested.is_empty() {
            table
                .notices
                .push(format!("properties that are lists or objects are not read: {}", self.nested.join(", ")));
        }
        if !self.repeated.is_empty() {
            let names = self.repeated.join(", ");
            table.notices.push(format!("the geometry holds the place; properties left out: {names}"));
        }
        table.recognise(b',');
        table
    }
}

/// A collection, a feature or a geometry, whose rows are added as they are read.
struct Object<'a> {
    rows: &'a RefCell<Rows>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a FeatureCollection, a Feature or a Point")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut feature, mut bare) = (Feature::default(), Geometry::default());
        let mut collection = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "features" => {
                    collection = true;
                    map.next_value_seed(Features { rows: self.rows })?;
                }
                "type" => feature.kind = map.next_value()?,
                "geometry" => feature.geometry = map.next_value()?,
                "properties" => feature.properties = map.next_value()?,
                "coordinates" => bare.coordinates = map.next_value()?,
                _ => map.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        bare.kind.clone_from(&feature.kind);
        match feature.kind.as_str() {
            _ if collection => Ok(()),
            Some("FeatureCollection") => Err(serde::de::Error::custom("a FeatureCollection without features")),
            Some("Feature") => self.rows.borrow_mut().add(feature).map_err(serde::de::Error::custom),
            Some(_) => {
                let feature = Feature { geometry: Some(bare), ..Feature::default() };
                self.rows.borrow_mut().add(feature).map_err(serde::de::Error::custom)
            }
            None => Err(serde::de::Error::custom("an object without a type; is this GeoJSON?")),
        }
    }
}

/// The features of a collection.
struct Features<'a> {
    rows: &'a RefCell<Rows>,
}

impl<'de> DeserializeSeed<'de> for Features<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Features<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(feature) = list.next_element::<Feature>()? {
            self.rows.borrow_mut().add(feature).map_err(serde::de::Error::custom)?;
        }
        Ok(())
    }
}
