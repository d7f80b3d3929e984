//! Tables of the page: scores, categories, numbers by column.

use super::html::{Html, paragraph, table};
use crate::number::significant;
use mad_core::Points;
use mad_core::catalogue::Measurement;
use mad_core::table::{Cell, Columns};
use std::collections::{BTreeMap, HashMap};

/// Most rows of a table of categories.
const MOST_LEVELS: usize = 40;

/// Most columns that get a table of their categories.
const MOST_TABLES: usize = 30;

/// Combinations of categories that are listed.
const COMBINATIONS: usize = 15;

/// Data and samples as the rows of a file.
pub struct Rows {
    header: Vec<String>,
    data: Vec<Vec<Cell>>,
    samples: Vec<Vec<Cell>>,
}

impl Rows {
    /// Writes both sets of points in the columns of the training file.
    pub fn new(columns: &Columns, data: &Points, samples: &Points) -> Self {
        Self { header: columns.encode_header(), data: columns.encode(data), samples: columns.encode(samples) }
    }

    /// One table per column of categories, and one of the most frequent combinations; empty without categories.
    pub fn categories(&self, columns: &Columns) -> Html {
        let levels = columns.levels();
        let places: Vec<usize> =
            levels.iter().filter_map(|(name, _)| self.header.iter().position(|n| n == name)).collect();
        if places.is_empty() {
            return Html::default();
        }
        let mut out: Html = places.iter().take(MOST_TABLES).map(|&place| self.marginal(place)).collect();
        if places.len() > MOST_TABLES {
            out = out.and(paragraph(format!("The first {MOST_TABLES} of {} columns are shown.", places.len())));
        }
        out = Html::classed("div", "tables", out);
        if places.len() > 1 { out.and(self.combinations(&places)) } else { out }
    }

    fn marginal(&self, place: usize) -> Html {
        let (data, samples) = (shares(&self.data, &[place]), shares(&self.samples, &[place]));
        let caption = format!("Values of {}", self.header[place]);
        let rows = compared(&data, &samples, MOST_LEVELS, |levels| levels.join(", "));
        table(&caption, &["value", "data", "samples", "difference"], &rows)
    }

    fn combinations(&self, places: &[usize]) -> Html {
        let (data, samples) = (shares(&self.data, places), shares(&self.samples, places));
        let names: Vec<&str> = places.iter().map(|&place| self.header[place].as_str()).collect();
        let caption = format!("Most frequent combinations of {}", names.join(", "));
        let rows = compared(&data, &samples, COMBINATIONS, |levels| levels.join(" · "));
        let seen = |of: &HashMap<Vec<String>, f64>| of.len();
        let new: f64 = samples.iter().filter(|(key, _)| !data.contains_key(*key)).map(|(_, share)| share).sum();
        let note = format!(
            "{} combinations occur in the training rows, {} in the samples; {} of the samples are combinations that no \
             training row has.",
            seen(&data),
            seen(&samples),
            percent(new)
        );
        table(&caption, &["combination", "data", "samples", "difference"], &rows).and(paragraph(note))
    }

    /// Least, middle and largest values of every column of numbers, data and samples; empty without numbers.
    pub fn numbers(&self) -> Html {
        let mut rows = Vec::new();
        for (place, name) in self.header.iter().enumerate() {
            for (set, cells) in [("data", &self.data), ("samples", &self.samples)] {
                let mut values: Vec<f64> = cells.iter().filter_map(|row| number(&row[place])).collect();
                if values.is_empty() {
                    continue;
                }
                values.sort_by(f64::total_cmp);
                let at = |q: f64| values[(q * (values.len() - 1) as f64).round() as usize];
                let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| shown(at(q)));
                rows.push([format!("{name}, {set}")].into_iter().chain(quantiles).collect());
            }
        }
        if rows.is_empty() {
            return Html::default();
        }
        let caption = "Values by column, in the units of the file";
        table(caption, &["column", "least", "25 %", "median", "75 %", "largest"], &rows)
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(x) => Some(*x),
        Cell::Text(_) => None,
    }
}

/// Share of the rows with each combination of values in these columns.
fn shares(rows: &[Vec<Cell>], places: &[usize]) -> HashMap<Vec<String>, f64> {
    let mut shares = HashMap::new();
    for row in rows {
        let key: Vec<String> = places.iter().map(|&place| row[place].to_string()).collect();
        *shares.entry(key).or_insert(0.0) += 1.0 / rows.len() as f64;
    }
    shares
}

/// Rows of a table of shares, the most frequent in the data first; what is left out is added up.
fn compared(
    data: &HashMap<Vec<String>, f64>,
    samples: &HashMap<Vec<String>, f64>,
    most: usize,
    name: impl Fn(&[String]) -> String,
) -> Vec<Vec<String>> {
    let mut both: BTreeMap<&Vec<String>, (f64, f64)> = BTreeMap::new();
    data.iter().for_each(|(key, share)| both.entry(key).or_default().0 = *share);
    samples.iter().for_each(|(key, share)| both.entry(key).or_default().1 = *share);
    let mut ranked: Vec<_> = both.into_iter().collect();
    ranked.sort_by(|a, b| (b.1.0, b.1.1).partial_cmp(&(a.1.0, a.1.1)).unwrap_or(std::cmp::Ordering::Equal));
    let row = |name: String, (data, samples): (f64, f64)| {
        let difference = 100.0 * (samples - data);
        vec![name, percent(data), percent(samples), format!("{difference:+.1} %").replace('-', "−")]
    };
    let (kept, rest) = ranked.split_at(most.min(ranked.len()));
    let mut rows: Vec<_> = kept.iter().map(|(key, pair)| row(name(key), *pair)).collect();
    if !rest.is_empty() {
        let sum = rest.iter().fold((0.0, 0.0), |sum, (_, pair)| (sum.0 + pair.0, sum.1 + pair.1));
        rows.push(row(format!("{} others", rest.len()), sum));
    }
    rows
}

/// Scores with their floors.
pub fn scores(measurements: &[Measurement]) -> Html {
    let floor_of = |name: &str| measurements.iter().find(|m| m.name == format!("{name}_floor"));
    let is_floor = |m: &&Measurement| {
        m.name.strip_suffix("_floor").is_some_and(|name| measurements.iter().any(|other| other.name == name))
    };
    let rows: Vec<Vec<String>> = measurements
        .iter()
        .filter(|m| !is_floor(m))
        .map(|m| {
            let floor = floor_of(&m.name).map(|floor| shown(floor.value)).unwrap_or_default();
            vec![m.name.clone(), shown(m.value), floor, m.note.clone()]
        })
        .collect();
    table("Scores on the test rows", &["metric", "value", "floor", "meaning"], &rows)
}

/// A share with one decimal.
fn percent(share: f64) -> String {
    format!("{:.1} %", (100.0 * share).max(0.0))
}

/// A number with four significant digits and the sign of print.
pub fn shown(value: f64) -> String {
    significant(value).replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_rare_are_gathered() {
        let cells = |words: &str| words.chars().map(|c| vec![Cell::Text(c.to_string())]).collect::<Vec<_>>();
        let (data, samples) = (shares(&cells("aaabbc"), &[0]), shares(&cells("aabd"), &[0]));
        let rows = compared(&data, &samples, 2, |key| key.join(""));
        assert_eq!(rows[0], ["a", "50.0 %", "50.0 %", "+0.0 %"]);
        assert_eq!(rows[1], ["b", "33.3 %", "25.0 %", "−8.3 %"]);
        assert_eq!(rows[2], ["2 others", "16.7 %", "25.0 %", "+8.3 %"]);
    }
}
