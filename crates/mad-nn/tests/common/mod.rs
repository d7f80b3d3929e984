//! Small runs for the tests of this crate.
#![allow(dead_code)]

use mad_core::{
    Points,
    catalogue::build,
    estimate::BaseChoice,
    load::Loaded,
    manifold::{Manifold, PointTable},
    rng::{Purpose, stream},
    table::{ColumnOptions, Columns, Layout, Table},
};
use mad_nn::{
    Config, Partial,
    run::{Contents, Parts, RunColumns},
    train::{Observer, StepReport},
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A manifold of the registry; finite sets may be those of its examples.
pub fn manifold(spec: &str) -> Arc<dyn Manifold> {
    build(spec, &mad_core::catalogue::context()).unwrap()
}

/// The files of the finite sets that a manifold of the registry is built from.
fn supports(spec: &str) -> Vec<(String, PointTable)> {
    let files = ["circle8.csv", "weighted.csv"].into_iter().filter(|file| spec.contains(file));
    files.map(|file| (file.to_owned(), mad_core::catalogue::example_points(file).unwrap())).collect()
}

/// Points near a few places of the manifold.
pub fn clustered(manifold: &dyn Manifold, n: usize, index: u64) -> Points {
    let base = manifold.uniform();
    let d = manifold.ambient_dim();
    let mut places = Points::zeros(4, d);
    let mut rng = stream(11, Purpose::Data, 0);
    places.rows_mut().for_each(|row| base.sample_prior(1e-9, &mut rng, row));
    let mut rng = stream(11, Purpose::Data, 1 + index);
    let mut points = Points::zeros(n, d);
    for (i, row) in points.rows_mut().enumerate() {
        base.sample_prior(1e-9, &mut rng, row);
        for (x, place) in row.iter_mut().zip(places.row(i % 4)) {
            *x = place + 0.2 * *x;
        }
        manifold.project(row);
    }
    points
}

pub fn partial(settings: &[&str]) -> Partial {
    let mut partial = Partial::new();
    for setting in settings {
        partial.assign(setting, "test").unwrap();
    }
    partial
}

/// Points as a table, and its columns.
fn table(points: &Points) -> (Table, Columns) {
    let dim = points.dim();
    let header = (0..dim).map(|i| format!("x{i}")).collect();
    let table = Table::numbers("made for a test", Some(header), dim, points.as_slice().to_vec());
    let columns = Columns::find(&Layout::Coordinates(dim), &table, &ColumnOptions::default()).unwrap();
    (table, columns)
}

/// A run on `spec` with these settings.
pub fn contents(spec: &str, settings: &[&str]) -> Contents {
    let manifold = manifold(spec);
    let config = Config::resolve(&partial(settings), manifold.as_ref()).unwrap();
    let parts = Parts {
        train: clustered(manifold.as_ref(), 300, 0),
        validation: clustered(manifold.as_ref(), 60, 1),
        test: clustered(manifold.as_ref(), 60, 2),
    };
    let columns = RunColumns { points: table(&parts.train).1, condition: None };
    Contents {
        manifold,
        base: BaseChoice::Default,
        parts,
        conditions: None,
        pictures: None,
        columns,
        supports: supports(spec),
        config,
        split: None,
    }
}

/// A run made from a table of `rows` points, as the program makes it: rows divided, base measure fitted.
pub fn prepared(spec: &str, rows: usize, settings: &[&str]) -> Contents {
    prepared_from(spec, &clustered(manifold(spec).as_ref(), rows, 0), settings)
}

/// As [`prepared`], from these points.
pub fn prepared_from(spec: &str, points: &Points, settings: &[&str]) -> Contents {
    let (table, columns) = table(points);
    let loaded = Loaded {
        manifold: manifold(spec),
        columns,
        points: points.clone(),
        notices: Vec::new(),
        supports: supports(spec),
    };
    Contents::new(&table, loaded, &partial(settings)).unwrap()
}

/// Raises a flag after some step.
pub struct StopAfter<'a> {
    pub step: u64,
    pub stop: &'a AtomicBool,
}

impl Observer for StopAfter<'_> {
    fn stepped(&mut self, report: &StepReport) {
        if report.step == self.step {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// All files of a checkpoint.
pub fn checkpoint_bytes(run: &Path, step: u64) -> (Vec<u8>, Vec<u8>) {
    let place = mad_nn::checkpoint::path_of(&run.join("checkpoints"), step);
    (std::fs::read(place.join("tensors.safetensors")).unwrap(), std::fs::read(place.join("manifest.json")).unwrap())
}
