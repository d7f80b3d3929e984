//! One look-up for all lists of named things.

use thiserror::Error;

/// Names more alike than this, on the scale of Jaro and Winkler from 0 to 1, are suggested in place of an unknown one. That
/// scale favours a common beginning; short words with a slip are found by the number of slips.
const ALIKE: f64 = 0.8;

/// An entry of a list in which things are found by name.
pub trait Named {
    /// What the list holds, in the singular, such as `manifold`.
    const KIND: &'static str;

    /// Name under which it is found.
    fn name(&self) -> &'static str;

    /// Further names under which it is found.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// How it is written in lists.
    fn usage(&self) -> &'static str {
        self.name()
    }
}

/// A name that is not in a list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown {kind} `{name}`; {}: {known}", suggestion(nearest))]
pub struct Unknown {
    /// What was looked for, in the singular.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The most similar known name, if one is similar.
    pub nearest: Option<&'static str>,
    /// All known names.
    pub known: String,
}

fn suggestion(nearest: &Option<&str>) -> String {
    nearest.map_or("known".into(), |name| format!("did you mean `{name}`? Known"))
}

/// The entry called `name`, if there is one.
pub fn lookup<T: Named>(entries: &'static [T], name: &str) -> Option<&'static T> {
    entries.iter().find(|entry| entry.name() == name || entry.aliases().contains(&name))
}

/// The entry called `name`, or an error with the nearest name.
pub fn find<T: Named>(entries: &'static [T], name: &str) -> Result<&'static T, Unknown> {
    lookup(entries, name).ok_or_else(|| unknown(entries, name, &[]))
}

/// The error for `name`, which neither `entries` nor `others` have.
pub fn unknown<T: Named>(entries: &'static [T], name: &str, others: &[&'static str]) -> Unknown {
    let names = entries.iter().flat_map(|entry| std::iter::once(entry.name()).chain(entry.aliases().iter().copied()));
    let nearest = nearest(name, names.chain(others.iter().copied()));
    let known = entries.iter().map(Named::usage).chain(others.iter().copied()).collect::<Vec<_>>().join(", ");
    Unknown { kind: T::KIND, name: name.into(), nearest, known }
}

/// The most similar of `names`, if one is similar.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |known: &str| {
        let known = known.to_lowercase();
        let slips = strsim::damerau_levenshtein(&known, &name);
        let likeness = strsim::jaro_winkler(&known, &name);
        // One slip, and one more for every four letters.
        if slips <= 1 + name.len() / 4 { 2.0 - slips as f64 / (1 + name.len()) as f64 } else { likeness }
    };
    let rated = names.into_iter().map(|known| (likeness(known), known)).filter(|(likeness, _)| *likeness > ALIKE);
    rated.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_and_beginnings_are_recognised_and_other_words_are_not() {
        let known = ["sphere", "mmd", "euler-maruyama", "drift"];
        let near = |name| nearest(name, known);
        assert_eq!(["shpere", "mdm", "Euler-M", "drfit"].map(near), known.map(Some));
        assert_eq!(["klein", "zzz", ""].map(near), [None; 3]);
    }
}
