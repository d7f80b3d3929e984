//! What a registered manifold must obey beyond the laws of all manifolds: its spec builds it again.

use super::{BuildContext, build};
use crate::Points;
use crate::manifold::{
    PointTable,
    laws::{self, Subject, Violation},
};
use std::f64::consts::PI;

/// Runs every law of [`laws::LAWS`], and that [`build`] makes the manifold again from its spec.
pub fn check(subject: Subject<'_>) -> Result<(), Violation> {
    spec_round_trips(subject)?;
    laws::check(subject)
}

/// `spec()` is text from which [`build`] makes a manifold of the same spec and dimension.
pub fn spec_round_trips(s: Subject<'_>) -> Result<(), Violation> {
    let (spec, law) = (s.manifold.spec(), "the spec builds the same manifold");
    match build(&spec, &context()) {
        Ok(again) if again.spec() == spec && again.ambient_dim() == s.manifold.ambient_dim() => Ok(()),
        Ok(again) => Err(Violation { law, spec, detail: again.spec() }),
        Err(error) => Err(Violation { law, spec, detail: error.to_string() }),
    }
}

/// A context whose files are the finite sets of the examples: `circle8.csv` and `weighted.csv`.
pub fn context() -> BuildContext<'static> {
    BuildContext::new(|file| example_points(file).ok_or_else(|| format!("no example file `{file}`").into()))
}

/// The finite set of the examples that is called `file`.
pub fn example_points(file: &str) -> Option<PointTable> {
    let circle = (0..8).map(|i| PI * f64::from(i) / 4.0).flat_map(|a| [a.cos(), a.sin()]).collect();
    match file {
        "circle8.csv" => Some(PointTable { points: Points::from_vec(circle, 2), weights: None }),
        "weighted.csv" => {
            let points = Points::from_vec(vec![0.0, 0.0, 1.0, 1.5, 0.5, 0.0, -2.0, 0.25, 0.5, 3.0, 3.0, 3.0], 3);
            Some(PointTable { points, weights: Some(vec![4.0, 1.0, 0.5, 2.5]) })
        }
        _ => None,
    }
}
