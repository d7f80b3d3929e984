//! Rotations about one axis, each a little off it: points that a program has made, not read.
//!
//! ```text
//! cargo run --release --example rotations
//! ```

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

use mad_nn::prelude::*;
use rand_distr::{Distribution, Normal, Uniform};

/// Unit quaternions x, y, z, w: turns about the z axis by any angle, with some noise.
fn turns(n: usize) -> Points {
    let mut rng = stream(1, Purpose::Data, 0);
    let angle = Uniform::new(0.0, std::f64::consts::PI).expect("a proper range");
    let noise = Normal::new(0.0, 0.05).expect("a proper width");
    let mut points = Points::new(4);
    for _ in 0..n {
        let half: f64 = angle.sample(&mut rng);
        let mut q = [0.0, 0.0, half.sin(), half.cos()].map(|v| v + noise.sample(&mut rng));
        let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
        q.iter_mut().for_each(|v| *v /= length);
        points.push(&q);
    }
    points
}

/// The mean angle in degrees between the z axis and where the rotations take it.
fn tilt(points: &Points) -> f64 {
    let tilts = points.rows().map(|q| 2.0 * q[0].hypot(q[1]).min(1.0).asin().to_degrees());
    tilts.sum::<f64>() / points.len() as f64
}

fn main() -> Result<(), Error> {
    let data = turns(2000);

    // The base measure that is fitted to rotations by default, alone and with a network beside it.
    for steps in [0, 100] {
        let fit = Fit::points(&data, "so3").steps(steps).set("width", 64).set("depth", 2).set("batch", 128).seed(1);
        let model = fit.run()?;
        let test = model.run().part(Part::Test)?;
        let (nll, error) = model.likelihood(&test)?.negative_mean();
        let samples = model.sample(2000, 1)?;
        println!(
            "{steps:3} steps: NLL at most {nll:.3} ± {error:.3} nats, mean tilt {:.2}° (data {:.2}°)",
            tilt(&samples),
            tilt(&data)
        );
    }
    Ok(())
}
