//! Features, geometries and properties as they stand in JSON.

use crate::table::Cell;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::{borrow::Cow, fmt};

/// One feature.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Feature {
    #[serde(rename = "type")]
    pub(super) kind: Value,
    pub(super) geometry: Option<Geometry>,
    pub(super) properties: Option<Properties>,
}

/// A geometry of any kind.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Geometry {
    #[serde(rename = "type")]
    pub(super) kind: Value,
    pub(super) coordinates: Value,
}

/// The properties of a feature, in the order of the file.
#[derive(Default)]
pub(super) struct Properties(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(Self::default())
    }
}

impl<'de> Visitor<'de> for Properties {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("properties")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(property) = map.next_entry()? {
            self.0.push(property);
        }
        Ok(self)
    }
}

/// Longitude, latitude and the third number of a position; `None` if it is none.
pub(super) fn place(position: &Value) -> Option<[Option<f64>; 3]> {
    match position {
        Value::Null => Some([None; 3]),
        Value::Array(list) if list.is_empty() => Some([None; 3]),
        Value::Array(list) => match (list[0].as_f64(), list.get(1).and_then(Value::as_f64)) {
            (Some(lon), Some(lat)) => Some([Some(lon), Some(lat), list.get(2).and_then(Value::as_f64)]),
            _ => None,
        },
        _ => None,
    }
}

/// The text of a property; `None` for lists and objects.
pub(super) fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => Some("".into()),
        Value::String(text) => Some(text.into()),
        Value::Number(number) if number.is_f64() => {
            Some(Cell::Number(number.as_f64().unwrap_or(f64::NAN)).to_string().into())
        }
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
