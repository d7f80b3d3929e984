//! A manifold of one's own: a ring of radius 2 in the plane.
//!
//! ```text
//! cargo run --release --example own_manifold
//! ```

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

use mad_nn::prelude::*;
use rand_distr::{Distribution, Normal};
use std::{f64::consts::TAU, sync::Arc};

const RADIUS: f64 = 2.0;

#[derive(Debug)]
struct Ring;

impl Manifold for Ring {
    fn spec(&self) -> String {
        "ring".into()
    }
    fn ambient_dim(&self) -> usize {
        2
    }
    fn intrinsic_dim(&self) -> usize {
        1
    }
    fn log_volume(&self) -> f64 {
        (TAU * RADIUS).ln()
    }
    fn project(&self, x: &mut [f64]) {
        let length = x[0].hypot(x[1]);
        if length > 0.0 { x.iter_mut().for_each(|x| *x *= RADIUS / length) } else { x.copy_from_slice(&[RADIUS, 0.0]) }
    }
    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        Arc::new(UniformRing(UniformSphere::new(2)))
    }
}

/// The uniform measure: that of the unit circle, seen in units of the radius.
#[derive(Debug)]
struct UniformRing(UniformSphere);

impl BaseMeasure for UniformRing {
    fn ambient_dim(&self) -> usize {
        2
    }
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        self.0.posterior_mean(&[x[0] / RADIUS, x[1] / RADIUS], sigma / RADIUS, mean);
        mean.iter_mut().for_each(|m| *m *= RADIUS);
    }
    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        self.0.log_density(&[x[0] / RADIUS, x[1] / RADIUS], sigma / RADIUS) - 2.0 * RADIUS.ln()
    }
    fn log_weight(&self, _: &[f64]) -> f64 {
        -Ring.log_volume()
    }
    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        self.0.sample(rng, x0);
        x0.iter_mut().for_each(|x| *x *= RADIUS);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Mistakes in formulas are found by the laws that every manifold obeys.
    laws::check(laws::Subject { manifold: &Ring, base: Ring.uniform().as_ref() })?;

    // Points around the angle 1.
    let angles = Normal::new(1.0, 0.4)?.sample_iter(stream(1, Purpose::Data, 0)).take(1000);
    let points = Points::from_vec(angles.flat_map(|a: f64| [RADIUS * a.cos(), RADIUS * a.sin()]).collect(), 2);

    let model = Fit::on(Arc::new(Ring), &points).steps(2000).set("width", 64).set("depth", 2).seed(1).run()?;
    let samples = model.sample(1000, 1)?;
    for (name, points) in [("data", &points), ("samples", &samples)] {
        let near = points.rows().filter(|x| (x[1].atan2(x[0]) - 1.0).abs() < 0.4).count();
        let share = 100.0 * near as f64 / points.len() as f64;
        println!("{name:7}: {share:.0} % within 0.4 of the angle 1");
    }
    let farthest = samples.rows().map(|x| (x[0].hypot(x[1]) - RADIUS).abs()).fold(0.0, f64::max);
    println!("samples are within {farthest:.0e} of the ring");
    Ok(())
}
