//! Features, geometries and properties as they stand in JSON.

use crate::table::Cell;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// One feature.
#[derive(Default)]
pub(super) struct Feature {
    pub(super) kind: Option<String>,
    pub(super) geometry: Option<Geometry>,
    pub(super) properties: Vec<(String, Scalar)>,
}

/// A geometry of any kind.
#[derive(Default)]
pub(super) struct Geometry {
    pub(super) kind: Option<String>,
    pub(super) coordinates: Nested,
}

/// Numbers in lists, of which only the two outer levels matter.
#[derive(Default)]
pub(super) enum Nested {
    #[default]
    Nothing,
    Number(f64),
    List(Vec<Nested>),
}

/// The value of a property.
pub(super) enum Scalar {
    Text(String),
    Null,
    Nested,
}

impl Nested {
    /// Longitude, latitude and the third number of a position; `None` if it is none.
    pub(super) fn place(&self) -> Option<[Option<f64>; 3]> {
        let number = |nested: &Nested| match nested {
            Nested::Number(x) => Some(*x),
            _ => None,
        };
        match self {
            Nested::Nothing => Some([None; 3]),
            Nested::List(list) if list.is_empty() => Some([None; 3]),
            Nested::List(list) => match (list.first().and_then(number), list.get(1).and_then(number)) {
                (Some(lon), Some(lat)) => Some([Some(lon), Some(lat), list.get(2).and_then(number)]),
                _ => None,
            },
            Nested::Number(_) => None,
        }
    }
}

impl Scalar {
    pub(super) fn text(&self) -> &str {
        match self {
            Scalar::Text(text) => text,
            Scalar::Null | Scalar::Nested => "",
        }
    }
}

impl Feature {
    /// Takes the value of a key.
    pub(super) fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "geometry" => self.geometry = map.next_value()?,
            "properties" => self.properties = map.next_value::<Option<Properties>>()?.map_or(Vec::new(), |p| p.0),
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl Scalar {
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads a type from an object, one key after another.
macro_rules! of_object {
    ($type:ident, $what:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
                struct Reader;

                impl<'de> Visitor<'de> for Reader {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$type, A::Error> {
                        let mut value = <$type>::default();
                        while let Some(key) = map.next_key::<String>()? {
                            value.take(&key, &mut map)?;
                        }
                        Ok(value)
                    }
                }

                json.deserialize_map(Reader)
            }
        }
    };
}

/// The properties of a feature.
#[derive(Default)]
struct Properties(Vec<(String, Scalar)>);

of_object!(Feature, "a feature");
of_object!(Geometry, "a geometry");
of_object!(Properties, "properties");

impl Geometry {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => self.kind = map.next_value::<Scalar>()?.into_text(),
            "coordinates" => self.coordinates = map.next_value()?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl Properties {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.0.push((key.to_owned(), map.next_value()?));
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Nested;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("coordinates")
            }

            fn visit_unit<E>(self) -> Result<Nested, E> {
                Ok(Nested::Nothing)
            }

            fn visit_f64<E>(self, x: f64) -> Result<Nested, E> {
                Ok(Nested::Number(x))
            }

            fn visit_i64<E>(self, x: i64) -> Result<Nested, E> {
                Ok(Nested::Number(x as f64))
            }

            fn visit_u64<E>(self, x: u64) -> Result<Nested, E> {
                Ok(Nested::Number(x as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Nested, A::Error> {
                let mut all = Vec::new();
                while let Some(element) = list.next_element()? {
                    all.push(element);
                }
                Ok(Nested::List(all))
            }
        }

        json.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Null)
            }

            fn visit_bool<E>(self, truth: bool) -> Result<Scalar, E> {
                Ok(Scalar::Text(truth.to_string()))
            }

            fn visit_f64<E>(self, x: f64) -> Result<Scalar, E> {
                Ok(Scalar::Text(Cell::Number(x).to_string()))
            }

            fn visit_i64<E>(self, x: i64) -> Result<Scalar, E> {
                Ok(Scalar::Text(x.to_string()))
            }

            fn visit_u64<E>(self, x: u64) -> Result<Scalar, E> {
                Ok(Scalar::Text(x.to_string()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Nested)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Nested)
            }
        }

        json.deserialize_any(Reader)
    }
}
