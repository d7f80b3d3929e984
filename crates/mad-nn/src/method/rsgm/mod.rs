//! Riemannian score-based generative modelling.

mod fitted;
mod loss;
#[cfg(test)]
mod tests;

use super::{
    Fitted, Method, MethodSpec, Objective,
    field::{FieldNetwork, LearnedField},
    field_run::FieldRun,
};
use crate::{
    net::Layout,
    run::{Run, RunError},
};
use fitted::FittedScore;
use loss::{Loss, Matching};
use mad_core::riemannian::{Spheres, TimeChange};

/// A score X/std(t) of Brownian motion sped up by β, that carries the data to the uniform distribution.
///
/// # Formula
/// std(t)² = 1 − exp(−B(t)); losses as in the table of [`Loss`].
///
/// # Reference
/// De Bortoli et al. (2022), "Riemannian score-based generative modelling", and its code for all constants.
pub(super) struct Rsgm;

impl Method for Rsgm {
    fn layout(&self, run: &Run) -> Layout {
        network(run).layout().clone()
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        let spec = &run.config().method;
        let (loss, noise) = (Loss::of(spec), Noise::of(spec));
        Ok(Box::new(Matching { network: network(run), data: FieldRun::open(run)?, noise, loss }))
    }

    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        let noise = Noise::of(&run.config().method);
        let score = learned(&network(run), noise, weights);
        Ok(Box::new(FittedScore { score, manifold: run.manifold().clone(), noise, nfe: run.config().nfe as usize }))
    }
}

fn network(run: &Run) -> FieldNetwork {
    FieldNetwork::new(run.config(), run.manifold().as_ref(), run.config().method.word("generator"))
        .expect("checked when the config was made")
}

/// How noise grows.
#[derive(Debug, Clone, Copy)]
struct Noise {
    time: TimeChange,
    time_min: f64,
    walk: usize,
}

impl Noise {
    fn of(spec: &MethodSpec) -> Self {
        Self {
            time: TimeChange { start: spec.number("beta_min"), end: spec.number("beta_max") },
            time_min: spec.number("time_min"),
            walk: spec.number("walk") as usize,
        }
    }

    /// The standard deviation of flat noise, which scales the score.
    fn deviation(&self, t: f64) -> f64 {
        (-(-self.time.elapsed(t)).exp_m1()).sqrt()
    }

    /// The same noise in the metric of the unit sphere.
    ///
    /// On rotations noise has unit variance in the Frobenius norm of matrices: 1/2 per axis of the rotation vector, a quarter of
    /// that on unit quaternions. Products of rotations and others, which were not published, have the metric of quaternions.
    fn on_sphere(&self, spheres: &Spheres) -> TimeChange {
        let factor = if spheres.are_rotations() { 1.0 / 8.0 } else { 1.0 };
        TimeChange { start: factor * self.time.start, end: factor * self.time.end }
    }

    /// By what the network's field is multiplied to be the score in the metric of the unit sphere.
    ///
    /// On rotations the network returns rotation vectors: half of one is a tangent of the quaternion, and the gradient in a
    /// metric an eighth as large is eight times as long.
    fn scale(&self, spheres: &Spheres, t: f64) -> f64 {
        let unit = if spheres.are_rotations() { 4.0 } else { 1.0 };
        unit / self.deviation(t)
    }
}

/// The score with these weights.
fn learned(network: &FieldNetwork, noise: Noise, weights: &[f32]) -> LearnedField {
    let spheres = network.spheres().clone();
    network.learned(weights, move |t| noise.scale(&spheres, t))
}
