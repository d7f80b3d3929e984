//! A base measure of one's own: a uniform share, and the rest near a known place.
//!
//! ```text
//! cargo run --release --example own_base
//! ```

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

use mad_nn::prelude::*;
use rand::RngExt;
use std::sync::Arc;

/// A blend of two measures; all that is asked of it follows from what they return.
#[derive(Debug)]
struct Blend {
    parts: [(f64, Arc<dyn BaseMeasure>); 2],
}

impl Blend {
    /// What `value` says of each part, with its weight: the shares of both in the sum, and the logarithm of the sum.
    fn shares(&self, value: impl Fn(&dyn BaseMeasure) -> f64) -> ([f64; 2], f64) {
        let logs = self.parts.each_ref().map(|(weight, part)| weight.ln() + value(part.as_ref()));
        let most = logs[0].max(logs[1]);
        let [a, b] = logs.map(|log| (log - most).exp());
        ([a / (a + b), b / (a + b)], most + (a + b).ln())
    }
}

impl BaseMeasure for Blend {
    fn ambient_dim(&self) -> usize {
        self.parts[0].1.ambient_dim()
    }
    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        let (shares, _) = self.shares(|part| part.log_density(x, sigma));
        let mut own = vec![0.0; mean.len()];
        mean.fill(0.0);
        for (share, (_, part)) in shares.into_iter().zip(&self.parts) {
            part.posterior_mean(x, sigma, &mut own);
            mean.iter_mut().zip(&own).for_each(|(m, own)| *m += share * own);
        }
    }
    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        self.shares(|part| part.log_density(x, sigma)).1
    }
    fn log_weight(&self, x0: &[f64]) -> f64 {
        self.shares(|part| part.log_weight(x0)).1
    }
    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        let first: f64 = rng.random();
        self.parts[usize::from(first >= self.parts[0].0)].1.sample(rng, x0);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let globe = Sphere::new(2)?;
    let mut alaska = vec![-0.42, -0.24, 0.88];
    globe.project(&mut alaska);
    let peak = Component { weight: 1.0, mean: alaska, concentrations: vec![30.0] };
    let near = VonMisesFisherMixture::on(&globe, vec![peak])?;
    let blend = Blend { parts: [(0.7, globe.uniform()), (0.3, Arc::new(near))] };
    laws::check(laws::Subject { manifold: &globe, base: &blend })?;

    let table = datasets::make("earthquakes-week", None, 0, 0, None)?;
    let fit = || Fit::table(&table, "sphere:2").steps(200).set("width", 64).set("depth", 2).seed(1);
    for (name, fit) in [("uniform", fit().set("base", "uniform")), ("blend", fit().base(Arc::new(blend)))] {
        let model = fit.run()?;
        let (nll, error) = model.likelihood(&model.run().part(Part::Test)?)?.negative_mean();
        println!("{name:7}: NLL at most {nll:.2} ± {error:.2} nats per steradian");
    }
    Ok(())
}
