//! The text form of a manifold.

use super::{Form, MANIFOLDS};
use crate::{manifold::ManifoldError, registry::lookup};
use std::fmt;

/// Short names for common specs.
pub(super) const ALIASES: [(&str, &str); 3] =
    [("s1", "sphere:1"), ("s2", "sphere:2"), ("se3", "product(so3,euclid:3)")];

/// The one manifold whose spec is completed by a file.
const CATEGORICAL: &str = "categorical";

/// Largest dimension that a spec may ask for.
const MAX_DIMENSION: usize = 100_000;

/// Deepest nesting of products.
const MAX_DEPTH: usize = 16;

/// A parsed spec. `Display` writes it back.
///
/// ```
/// use mad_core::catalogue::Spec;
/// let spec: Spec = "product(so3/O, euclid:3)".parse()?;
/// assert_eq!(spec.to_string(), "product(so3/O,euclid:3)");
/// # Ok::<(), mad_core::manifold::ManifoldError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Name, in lower case.
    pub name: String,
    /// Text after `:`.
    pub argument: Option<String>,
    /// Text after `/`.
    pub quotient: Option<String>,
    /// Specs between parentheses.
    pub blocks: Vec<Spec>,
}

impl Spec {
    /// The argument as a dimension.
    pub(super) fn dimension(&self) -> Result<usize, ManifoldError> {
        let text = self.argument.as_deref().unwrap_or_default();
        let n: usize = text.parse().map_err(|_| self.invalid(format!("a whole number after `{}:`", self.name)))?;
        if n > MAX_DIMENSION {
            return Err(ManifoldError::dimension(&self.name, "a dimension of at most 100000", n));
        }
        Ok(n)
    }

    pub(super) fn invalid(&self, expected: impl Into<String>) -> ManifoldError {
        ManifoldError::Invalid { spec: self.to_string(), expected: expected.into() }
    }

    /// The files that the spec names, from left to right.
    pub(crate) fn files_mut(&mut self) -> Vec<&mut String> {
        let is_file = lookup(MANIFOLDS, &self.name).is_some_and(|entry| entry.form == Form::File);
        let own = self.argument.as_mut().filter(|_| is_file);
        own.into_iter().chain(self.blocks.iter_mut().flat_map(Spec::files_mut)).collect()
    }

    /// Whether nothing is left to be learnt from a file: every `categorical` has its numbers of levels.
    pub fn is_resolved(&self) -> bool {
        (self.name != CATEGORICAL || self.argument.is_some()) && self.blocks.iter().all(Spec::is_resolved)
    }

    /// Gives each unresolved `categorical`, from left to right, its numbers of levels.
    ///
    /// ```
    /// use mad_core::catalogue::Spec;
    /// let spec: Spec = "product(categorical,euclid:1)".parse()?;
    /// assert_eq!(spec.resolve(&[vec![3, 2]]).to_string(), "product(categorical:3,2,euclid:1)");
    /// # Ok::<(), mad_core::manifold::ManifoldError>(())
    /// ```
    pub fn resolve(&self, levels: &[Vec<usize>]) -> Spec {
        fn walk<'a>(spec: &mut Spec, levels: &mut impl Iterator<Item = &'a Vec<usize>>) {
            if spec.name == CATEGORICAL && spec.argument.is_none() {
                let text = |levels: &Vec<usize>| levels.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(",");
                spec.argument = levels.next().map(text);
            }
            for block in &mut spec.blocks {
                walk(block, levels);
            }
        }
        let mut resolved = self.clone();
        walk(&mut resolved, &mut levels.iter());
        resolved
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(argument) = &self.argument {
            write!(f, ":{argument}")?;
        }
        if let Some(quotient) = &self.quotient {
            write!(f, "/{quotient}")?;
        }
        for (i, block) in self.blocks.iter().enumerate() {
            write!(f, "{}{block}", if i == 0 { "(" } else { "," })?;
        }
        f.write_str(if self.blocks.is_empty() { "" } else { ")" })
    }
}

impl std::str::FromStr for Spec {
    type Err = ManifoldError;

    fn from_str(text: &str) -> Result<Self, ManifoldError> {
        let mut parser = Parser { text, position: 0 };
        let spec = parser.spec(0)?;
        match parser.peek() {
            None => Ok(spec),
            Some(_) => parser.expected("the end"),
        }
    }
}

/// A reader of spec text, one item at a time.
struct Parser<'a> {
    text: &'a str,
    position: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    /// The next character after blanks.
    fn peek(&mut self) -> Option<char> {
        self.position += self.rest().len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn take(&mut self, length: usize) -> String {
        let taken = self.rest()[..length].trim().to_string();
        self.position += length;
        taken
    }

    fn word(&mut self) -> String {
        self.peek();
        let end = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        self.take(end.unwrap_or(self.rest().len()))
    }

    fn expected<T>(&self, expected: &str) -> Result<T, ManifoldError> {
        let position = self.text[..self.position].chars().count() + 1;
        Err(ManifoldError::Syntax { spec: self.text.into(), position, expected: expected.into() })
    }

    /// Up to the end at the outermost level; inside a product up to `)` or a comma that no digit follows.
    fn argument(&mut self, depth: usize) -> String {
        let rest = self.rest();
        let ends = |(i, c): &(usize, char)| match c {
            ')' => true,
            ',' => !rest[i + 1..].trim_start().starts_with(|c: char| c.is_ascii_digit()),
            _ => false,
        };
        let end = if depth == 0 { None } else { rest.char_indices().find(ends).map(|(i, _)| i) };
        self.take(end.unwrap_or(rest.len()))
    }

    fn spec(&mut self, depth: usize) -> Result<Spec, ManifoldError> {
        if depth > MAX_DEPTH {
            return self.expected("less nesting");
        }
        let name = self.word().to_lowercase();
        if name.is_empty() {
            return self.expected("the name of a manifold");
        }
        let mut spec = Spec { name, argument: None, quotient: None, blocks: Vec::new() };
        match self.peek() {
            Some(':') => {
                self.position += 1;
                let argument = self.argument(depth);
                if argument.is_empty() {
                    return self.expected("a value after `:`");
                }
                spec.argument = Some(argument);
            }
            Some('/') => {
                self.position += 1;
                let group = self.word();
                if group.is_empty() {
                    return self.expected("a group after `/`");
                }
                spec.quotient = Some(group);
            }
            Some('(') => loop {
                self.position += 1;
                spec.blocks.push(self.spec(depth + 1)?);
                match self.peek() {
                    Some(',') => {}
                    Some(')') => {
                        self.position += 1;
                        break;
                    }
                    _ => return self.expected("`,` or `)`"),
                }
            },
            _ => {
                if let Some((_, long)) = ALIASES.iter().find(|(short, _)| *short == spec.name) {
                    return long.parse();
                }
            }
        }
        Ok(spec)
    }
}
