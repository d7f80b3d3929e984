//! The list of known manifolds, and how a spec becomes one of them.

use super::{Spec, spec::ALIASES};
use crate::manifold::{
    Categorical, Euclid, FiniteSet, Manifold, ManifoldError, PointTable, Product, ReadError, Rotations, Sphere, Torus,
};
use crate::registry::{Named, lookup, unknown};
use crate::{metrics::Kernel, rotation::GROUP_NAMES, table::Layout};
use std::sync::Arc;

/// Every manifold that can be named, in the order in which they are listed.
pub const MANIFOLDS: &[ManifoldEntry] = &[SPHERE, SO3, TORUS, POINTS, CATEGORICAL, EUCLID, PRODUCT];

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
    /// Specs on which the laws are run; files among them are those of [`context`](super::context).
    pub examples: &'static [&'static str],
    /// Makes the manifold from a spec that has this form.
    pub build: Build,
    /// How points stand in a file.
    layout: fn(&Spec, &dyn Manifold) -> Layout,
    /// How points are drawn.
    view: fn(&Spec, &dyn Manifold) -> View,
    /// The kernel with which samples are compared.
    kernel: fn(&dyn Manifold) -> Kernel,
}

impl Named for ManifoldEntry {
    const KIND: &'static str = "manifold";

    fn name(&self) -> &'static str {
        self.name
    }

    fn usage(&self) -> &'static str {
        self.usage
    }
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

/// The manifold that `spec` names.
///
/// ```
/// use mad_core::catalogue::{BuildContext, build};
/// let poses = build("product(so3,euclid:3)", &BuildContext::without_files())?;
/// assert_eq!(poses.ambient_dim(), 7);
/// # Ok::<(), mad_core::manifold::ManifoldError>(())
/// ```
pub fn build(spec: &str, context: &BuildContext<'_>) -> Result<Arc<dyn Manifold>, ManifoldError> {
    build_spec(&spec.parse()?, context)
}

/// The manifold that a parsed spec names.
pub fn build_spec(spec: &Spec, context: &BuildContext<'_>) -> Result<Arc<dyn Manifold>, ManifoldError> {
    let entry = lookup(MANIFOLDS, &spec.name).ok_or_else(|| {
        let aliases = ALIASES.map(|(short, _)| short);
        ManifoldError::Unknown(unknown(MANIFOLDS, &spec.name, &aliases))
    })?;
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

/// How points of a manifold are best shown.
#[derive(Debug, Clone, PartialEq)]
pub enum View {
    /// A world map (unit vectors in R³).
    Map,
    /// Rotations: direction of the turned axis on a map, tilt as colour (unit quaternions x, y, z, w).
    Rotations,
    /// Angles (pairs cos, sin): one panel per pair of neighbouring angles.
    Angles(usize),
    /// Columns of categories with these numbers of levels, as bars.
    Bars(Vec<usize>),
    /// The first two coordinates as a scatter plot.
    Scatter,
    /// One view per block of coordinates: (number of ambient coordinates, view).
    Blocks(Vec<(usize, View)>),
}

/// The entry of `manifold` with its spec, if it is a registered one.
fn entry(manifold: &dyn Manifold) -> Option<(Spec, &'static ManifoldEntry)> {
    let spec: Spec = manifold.spec().parse().ok()?;
    let entry = lookup(MANIFOLDS, &spec.name)?;
    Some((spec, entry))
}

/// How points of `manifold` stand in a file: as coordinates unless it is a registered manifold with columns of its own.
pub fn layout(manifold: &dyn Manifold) -> Layout {
    let coordinates = || Layout::Coordinates(manifold.ambient_dim());
    entry(manifold).map_or_else(coordinates, |(spec, entry)| (entry.layout)(&spec, manifold))
}

/// How points of `manifold` are best shown.
pub fn view(manifold: &dyn Manifold) -> View {
    entry(manifold).map_or(View::Scatter, |(spec, entry)| (entry.view)(&spec, manifold))
}

/// The kernel with which samples on `manifold` are compared.
pub fn kernel(manifold: &dyn Manifold) -> Kernel {
    entry(manifold).map_or_else(Kernel::default, |(_, entry)| (entry.kernel)(manifold))
}

const SPHERE: ManifoldEntry = ManifoldEntry {
    name: "sphere",
    summary: "unit sphere S^n in R^(n+1), n >= 1; sphere:2 takes latitude and longitude",
    usage: "sphere:N",
    form: Form::Dimension,
    examples: &["sphere:1", "sphere:2", "sphere:3", "sphere:9", "sphere:99"],
    build: |spec, _| Ok(Arc::new(Sphere::new(spec.dimension()?)?)),
    layout: |_, m| if m.intrinsic_dim() == 2 { Layout::Direction } else { Layout::Coordinates(m.ambient_dim()) },
    view: |_, m| if m.intrinsic_dim() == 2 { View::Map } else { View::Scatter },
    kernel: |m| if m.intrinsic_dim() == 2 { Kernel::HeatSphere } else { Kernel::default() },
};

const SO3: ManifoldEntry = ManifoldEntry {
    name: "so3",
    summary: "rotations as unit quaternions (x, y, z, w); so3/G for objects symmetric under G = C_n, D_n, T, O, I, SO2, O2",
    usage: "so3 or so3/GROUP",
    form: Form::Quotient,
    examples: &["so3", "so3/C4", "so3/D3", "so3/T", "so3/O", "so3/I", "so3/SO2", "so3/O2"],
    build: |spec, _| {
        let group = match spec.quotient.as_deref() {
            None => None,
            Some(text) => Some(text.parse().map_err(|()| spec.invalid(format!("one of the groups {GROUP_NAMES}")))?),
        };
        Ok(Arc::new(Rotations::new(group)))
    },
    layout: |_, _| Layout::Rotation,
    view: |_, _| View::Rotations,
    kernel: |_| Kernel::HeatRotations,
};

const TORUS: ManifoldEntry = ManifoldEntry {
    name: "torus",
    summary: "n angles as points (cos, sin) of circles, n >= 1",
    usage: "torus:N",
    form: Form::Dimension,
    examples: &["torus:1", "torus:2", "torus:7"],
    build: |spec, _| Ok(Arc::new(Torus::new(spec.dimension()?)?)),
    layout: |_, m| Layout::Angles(m.intrinsic_dim()),
    view: |_, m| View::Angles(m.intrinsic_dim()),
    kernel: |_| Kernel::default(),
};

const POINTS: ManifoldEntry = ManifoldEntry {
    name: "points",
    summary: "the points of a file, columns x0, x1, …; a column `weight` makes the base measure weighted",
    usage: "points:FILE",
    form: Form::File,
    examples: &["points:circle8.csv", "points:weighted.csv"],
    build: |spec, context| {
        let file = spec.argument.as_deref().unwrap_or_default();
        let table = context.read_points(file)?;
        Ok(Arc::new(FiniteSet::new(file, table)?))
    },
    layout: |_, m| Layout::Coordinates(m.ambient_dim()),
    view: |_, _| View::Scatter,
    kernel: |_| Kernel::default(),
};

const CATEGORICAL: ManifoldEntry = ManifoldEntry {
    name: "categorical",
    summary: "columns of categories as one-hot blocks; the numbers of levels come from the file unless given",
    usage: "categorical or categorical:LEVELS,LEVELS,…",
    form: Form::OptionalText,
    examples: &["categorical:3,4,2", "categorical:5"],
    build: |spec, _| match levels(spec)? {
        None => Ok(Arc::new(Categorical::unresolved())),
        Some(levels) => Ok(Arc::new(Categorical::new(levels)?)),
    },
    layout: |spec, _| Layout::Categories(levels(spec).ok().flatten()),
    view: |spec, _| View::Bars(levels(spec).ok().flatten().unwrap_or_default()),
    kernel: |_| Kernel::default(),
};

const EUCLID: ManifoldEntry = ManifoldEntry {
    name: "euclid",
    summary: "flat space R^n; columns are standardised by the training part",
    usage: "euclid:N",
    form: Form::Dimension,
    examples: &["euclid:1", "euclid:3"],
    build: |spec, _| Ok(Arc::new(Euclid::new(spec.dimension()?)?)),
    layout: |_, m| Layout::Real(m.ambient_dim()),
    view: |_, _| View::Scatter,
    kernel: |_| Kernel::default(),
};

const PRODUCT: ManifoldEntry = ManifoldEntry {
    name: "product",
    summary: "several manifolds side by side, such as poses: product(so3,euclid:3)",
    usage: "product(SPEC,SPEC,…)",
    form: Form::Blocks,
    examples: &[
        "product(so3,euclid:3)",
        "product(sphere:2,torus:2)",
        "product(sphere:1,categorical:3,2,points:circle8.csv)",
        "product(so3/C4,product(so3,sphere:3))",
    ],
    build: |spec, context| {
        let factors: Result<Vec<_>, _> = spec.blocks.iter().map(|block| build_spec(block, context)).collect();
        Ok(Arc::new(Product::new(factors?)?))
    },
    layout: |_, m| Layout::Blocks(m.factors().iter().map(|(_, factor)| layout(factor.as_ref())).collect()),
    view: |_, m| View::Blocks(m.factors().iter().map(|(range, factor)| (range.len(), view(factor.as_ref()))).collect()),
    kernel: |_| Kernel::default(),
};

/// The numbers of levels in the spec of a table of categories, if it gives them.
fn levels(spec: &Spec) -> Result<Option<Vec<usize>>, ManifoldError> {
    let Some(text) = spec.argument.as_deref() else { return Ok(None) };
    let levels: Result<Vec<usize>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    levels.map(Some).map_err(|_| spec.invalid("numbers of levels separated by commas, such as 3,4,2"))
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
