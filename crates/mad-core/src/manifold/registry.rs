//! The list of known manifolds, and how a spec becomes one of them.

use super::spec::ALIASES;
use super::{Manifold, Spec, categorical, euclid, finite, product, so3, sphere, torus};
use crate::{Points, base::FiniteError};
use std::sync::Arc;
use thiserror::Error;

/// Every manifold that can be named, in the order in which they are listed.
pub const MANIFOLDS: &[ManifoldEntry] =
    &[sphere::ENTRY, so3::ENTRY, torus::ENTRY, finite::ENTRY, categorical::ENTRY, euclid::ENTRY, product::ENTRY];

/// One line of [`MANIFOLDS`].
#[derive(Debug, Clone, Copy)]
pub struct ManifoldEntry {
    /// Name that a spec begins with.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// How a spec is written.
    pub usage: &'static str,
    /// What may follow the name.
    pub form: Form,
    /// Specs on which the laws are run; files among them are those of [`laws::context`](super::laws::context).
    pub examples: &'static [&'static str],
    /// Makes the manifold from a spec that has this form.
    pub build: Build,
}

/// Makes a manifold from its parsed spec.
pub type Build = fn(&Spec, &BuildContext<'_>) -> Result<Arc<dyn Manifold>, ManifoldError>;

/// What follows the name in a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `:N`, a dimension.
    Dimension,
    /// `:FILE`.
    File,
    /// Nothing or `:TEXT`.
    OptionalText,
    /// Nothing or `/GROUP`.
    Quotient,
    /// `(SPEC,SPEC,…)`.
    Blocks,
}

/// Points and optional weights, as read from the file of a `points:FILE` spec.
#[derive(Debug, Clone, PartialEq)]
pub struct PointTable {
    /// Columns x0, x1, ….
    pub points: Points,
    /// Column `weight`, if there is one.
    pub weights: Option<Vec<f64>>,
}

/// What a reader of point files may answer.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// What building needs from outside: a reader for the files that specs name.
pub struct BuildContext<'a> {
    reader: Option<Box<Reader<'a>>>,
}

/// A function from file name to table.
type Reader<'a> = dyn Fn(&str) -> Result<PointTable, ReadError> + 'a;

impl<'a> BuildContext<'a> {
    /// Files are read by `reader`, given the text after `points:`.
    pub fn new(reader: impl Fn(&str) -> Result<PointTable, ReadError> + 'a) -> Self {
        Self { reader: Some(Box::new(reader)) }
    }

    /// Specs that name files are refused.
    pub fn without_files() -> Self {
        Self { reader: None }
    }

    pub(super) fn read_points(&self, file: &str) -> Result<PointTable, ManifoldError> {
        let fail = |source| ManifoldError::Points { file: file.into(), source };
        match &self.reader {
            Some(reader) => reader(file).map_err(fail),
            None => Err(fail("files cannot be read here".into())),
        }
    }
}

/// Why a spec does not name a manifold.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifoldError {
    /// The name is not in [`MANIFOLDS`].
    #[error("unknown manifold `{name}`{}; known: {}", suggest(name), known())]
    Unknown {
        /// The name.
        name: String,
    },
    /// The text cannot be parsed.
    #[error("manifold `{spec}`: expected {expected} at character {position}")]
    Syntax {
        /// The whole text.
        spec: String,
        /// Where, counted from 1.
        position: usize,
        /// What should stand there.
        expected: String,
    },
    /// The text after the name does not fit the manifold.
    #[error("manifold `{spec}`: expected {expected}")]
    Invalid {
        /// The spec.
        spec: String,
        /// What should stand there.
        expected: String,
    },
    /// A number is out of range.
    #[error("{manifold}: needs {needs}, got {got}")]
    Dimension {
        /// Name of the manifold.
        manifold: String,
        /// The range.
        needs: &'static str,
        /// The number given.
        got: usize,
    },
    /// The file of a finite set cannot be read.
    #[error("points:{file}: {source}")]
    Points {
        /// The file.
        file: String,
        /// What the reader said.
        source: ReadError,
    },
    /// The file of a finite set holds something else.
    #[error("points:{file}: {source}")]
    Finite {
        /// The file.
        file: String,
        /// What is wrong.
        source: FiniteError,
    },
    /// A finite set lists a point twice.
    #[error("points:{file}: points {first} and {second} are equal: list each point once and use a `weight` column")]
    Duplicate {
        /// The file.
        file: String,
        /// First of the two, counted from 1.
        first: usize,
        /// Second of the two.
        second: usize,
    },
}

/// `; did you mean …?` for the nearest known name, if one is near.
fn suggest(name: &str) -> String {
    let names = MANIFOLDS.iter().map(|e| e.name).chain(ALIASES.iter().map(|a| a.0));
    let nearest = names.map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match nearest {
        Some((distance, known)) if distance <= 1 + name.len() / 4 => format!(", did you mean `{known}`?"),
        _ => String::new(),
    }
}

fn known() -> String {
    MANIFOLDS.iter().map(|e| e.usage).collect::<Vec<_>>().join(", ")
}

/// The manifold that `spec` names.
///
/// ```
/// use mad_core::manifold::{BuildContext, build};
/// let poses = build("product(so3,euclid:3)", &BuildContext::without_files())?;
/// assert_eq!(poses.ambient_dim(), 7);
/// # Ok::<(), mad_core::manifold::ManifoldError>(())
/// ```
pub fn build(spec: &str, context: &BuildContext<'_>) -> Result<Arc<dyn Manifold>, ManifoldError> {
    build_spec(&spec.parse()?, context)
}

/// The manifold that a parsed spec names.
pub fn build_spec(spec: &Spec, context: &BuildContext<'_>) -> Result<Arc<dyn Manifold>, ManifoldError> {
    let entry = MANIFOLDS
        .iter()
        .find(|entry| entry.name == spec.name)
        .ok_or_else(|| ManifoldError::Unknown { name: spec.name.clone() })?;
    let (argument, quotient, blocks) = (spec.argument.is_some(), spec.quotient.is_some(), !spec.blocks.is_empty());
    let fits = match entry.form {
        Form::Dimension | Form::File => argument && !quotient && !blocks,
        Form::OptionalText => !quotient && !blocks,
        Form::Quotient => !argument && !blocks,
        Form::Blocks => !argument && !quotient && blocks,
    };
    if !fits {
        return Err(spec.invalid(format!("the form {}", entry.usage)));
    }
    (entry.build)(spec, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(spec: &str) -> String {
        build(spec, &BuildContext::without_files()).map(|m| m.spec()).expect_err("must be refused").to_string()
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = MANIFOLDS.iter().map(|e| e.name).chain(ALIASES.iter().map(|a| a.0)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name stands twice in MANIFOLDS or ALIASES");
    }

    #[test]
    fn every_entry_has_examples_and_aliases_parse() {
        assert!(MANIFOLDS.iter().all(|e| !e.examples.is_empty() && !e.summary.is_empty()));
        for (short, long) in ALIASES {
            let built = build(short, &BuildContext::without_files()).unwrap();
            assert_eq!(&built.spec(), long);
        }
    }

    #[test]
    fn refusals_say_what_to_write() {
        assert!(error("shpere:2").contains("did you mean `sphere`?"), "{}", error("shpere:2"));
        assert!(error("klein").contains("known: sphere:N, so3 or so3/GROUP"), "{}", error("klein"));
        assert!(error("sphere").contains("the form sphere:N"));
        assert!(error("sphere:two").contains("a whole number"));
        assert!(error("sphere:0").contains("at least 1, got 0"));
        assert!(error("torus:200000").contains("at most 100000"));
        assert!(error("so3/X").contains("SO2, O2"));
        assert!(error("so3:4").contains("the form so3 or so3/GROUP"));
        assert!(error("product(so3,").contains("the name of a manifold at character 13"));
        assert!(error("product(so3").contains("`,` or `)` at character 12"));
        assert!(error("product").contains("the form product(SPEC"));
        assert!(error("sphere:2)").contains("a whole number"));
        assert!(error("so3) ").contains("the end at character 4"));
        assert!(error("points:a.csv").contains("files cannot be read here"));
        assert!(error("categorical:3,x").contains("numbers of levels"));
        assert!(error("categorical:3,0").contains("at least one level"));
        assert!(error(&"product(".repeat(100_000)).contains("less nesting"));
        assert!(error("").contains("the name of a manifold"));
    }
}
