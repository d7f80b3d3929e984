//! Points on the globe as GeoJSON: one feature per row, longitude first, other columns as properties.
//!
//! # Reference
//! Butler et al. (2016), RFC 7946.

use super::{AngleUnit, Cell, DataError, RowWriter, cells::styled, columns, output::Output};
use std::io::Write;

/// How features are put together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Collection {
    /// As one collection.
    Whole,
    /// As one feature per line.
    Lines,
}

/// Writes rows as features.
pub(super) struct GeoJsonWriter {
    collection: Collection,
    output: Output,
    header: Vec<String>,
    lat: usize,
    lon: usize,
    rows: usize,
}

impl GeoJsonWriter {
    pub(super) fn create(
        output: Output,
        header: &[String],
        collection: Collection,
    ) -> Result<Box<dyn RowWriter>, DataError> {
        let place = |test: fn(&str) -> bool| header.iter().position(|h| test(h));
        let (Some(lat), Some(lon)) = (place(columns::is_latitude), place(columns::is_longitude)) else {
            return Err(DataError::NoPlaces { file: output.name(), columns: header.join(", ") });
        };
        let mut writer = Self { collection, output, header: header.to_vec(), lat, lon, rows: 0 };
        if collection == Collection::Whole {
            writer.text("{\"type\":\"FeatureCollection\",\"features\":[")?;
        }
        Ok(Box::new(writer))
    }

    fn text(&mut self, text: &str) -> Result<(), DataError> {
        self.output.write_all(text.as_bytes()).map_err(|e| self.output.failed(e))
    }
}

impl RowWriter for GeoJsonWriter {
    fn write(&mut self, rows: &[Vec<Cell>]) -> Result<(), DataError> {
        for row in rows {
            let mut text = String::from(match (self.collection, self.rows) {
                (Collection::Lines, _) => "",
                (Collection::Whole, 0) => "\n",
                (Collection::Whole, _) => ",\n",
            });
            text.push_str("{\"type\":\"Feature\",\"geometry\":");
            let place = |column: usize| {
                let given = match &row[column] {
                    Cell::Number(x) => Some(*x),
                    Cell::Text(text) => text.trim().parse().ok(),
                };
                let radians = columns::unit(&self.header[column]) == Some(AngleUnit::Rad);
                given.filter(|x| x.is_finite()).map(|x| if radians { x.to_degrees() } else { x })
            };
            match (place(self.lon), place(self.lat)) {
                (Some(lon), Some(lat)) => {
                    // Beyond 180 degrees a map would draw the point outside its frame.
                    let lon = if lon > 180.0 { lon - 360.0 } else { lon };
                    let (lon, lat) = (Cell::Number(lon), Cell::Number(lat));
                    text.push_str(&format!("{{\"type\":\"Point\",\"coordinates\":[{lon},{lat}]}}"));
                }
                _ => text.push_str("null"),
            }
            text.push_str(",\"properties\":{");
            let others = self.header.iter().zip(row).enumerate().filter(|(i, _)| *i != self.lat && *i != self.lon);
            for (count, (_, (name, cell))) in others.enumerate() {
                text.push_str(if count == 0 { "" } else { "," });
                text.push_str(&format!("{}:{}", quoted(name), value(cell)));
            }
            text.push_str(if self.collection == Collection::Lines { "}}\n" } else { "}}" });
            self.text(&text)?;
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), DataError> {
        if self.collection == Collection::Whole {
            self.text("\n]}\n")?;
        }
        self.output.commit()
    }
}

/// A cell as JSON: a number if it is written like one, `null` where there is no finite number.
fn value(cell: &Cell) -> String {
    match cell {
        Cell::Number(x) if x.is_finite() => cell.to_string(),
        Cell::Number(_) => "null".into(),
        Cell::Text(text) if styled(text).is_some() => text.clone(),
        Cell::Text(text) if text.is_empty() => "null".into(),
        Cell::Text(text) => quoted(text),
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
