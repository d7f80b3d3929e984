//! Parameters of data sets, as text and as numbers.

use super::DatasetEntry;
use crate::table::DataError;

/// A number that shapes a data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Name in `name=value`.
    pub name: &'static str,
    /// Value if not given.
    pub default: f64,
    /// Smallest and largest value allowed.
    pub range: (f64, f64),
    /// Whether it must be whole.
    pub whole: bool,
    /// What it is.
    pub summary: &'static str,
}

/// Values of all parameters of a data set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arguments(Vec<(&'static str, f64)>);

impl Arguments {
    /// Reads `64` or `dim=3,k=4`; what is not given keeps its default.
    pub(super) fn parse(entry: &DatasetEntry, text: &str) -> Result<Self, DataError> {
        let failed = |problem: String| DataError::DatasetArgument { name: entry.name.into(), problem };
        let mut values: Vec<_> = entry.parameters.iter().map(|p| (p.name, p.default)).collect();
        for (position, part) in text.split(',').map(str::trim).filter(|p| !p.is_empty()).enumerate() {
            let (name, value) = match (part.split_once('='), entry.parameters.first()) {
                (Some((name, value)), _) => (name.trim(), value.trim()),
                (None, Some(first)) if position == 0 => (first.name, part),
                (None, _) => return Err(failed(format!("`{part}` is not of the form name=value; {}", usage(entry)))),
            };
            let Some(i) = entry.parameters.iter().position(|p| p.name == name) else {
                return Err(failed(format!("no parameter `{name}`; {}", usage(entry))));
            };
            let parameter = &entry.parameters[i];
            let (low, high) = parameter.range;
            let kind = if parameter.whole { "a whole number" } else { "a number" };
            match value.parse::<f64>() {
                Ok(v) if (low..=high).contains(&v) && (!parameter.whole || v.fract() == 0.0) => values[i].1 = v,
                _ => return Err(failed(format!("{name} must be {kind} from {low} to {high}, got `{value}`"))),
            }
        }
        Ok(Self(values))
    }

    /// Value of a parameter. Panics if the entry does not declare it.
    pub fn number(&self, name: &str) -> f64 {
        let found = self.0.iter().find(|(n, _)| *n == name);
        found.unwrap_or_else(|| panic!("parameter {name} is not declared")).1
    }

    /// Value of a whole parameter.
    pub fn whole(&self, name: &str) -> usize {
        self.number(name) as usize
    }
}

fn usage(entry: &DatasetEntry) -> String {
    if entry.parameters.is_empty() {
        return "it takes none".into();
    }
    let known = entry.parameters.iter().map(|p| format!("{}={} ({})", p.name, p.default, p.summary));
    format!("known: {}", known.collect::<Vec<_>>().join(", "))
}
