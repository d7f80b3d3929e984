//! A trained model of poses, as an answer to one picture.

use super::{IDENTITY, PoseModel, PoseSamples};
use crate::{
    method::{Fitted, Likelihood, SampleRequest, Sampled, Sink},
    run::Run,
};
use mad_core::{Points, metrics::Drift, rotation::Quaternion, sample::SampleError};

/// The trained model of a run with these weights.
pub(crate) fn fitted(run: &Run, model: Box<dyn PoseModel>, weights: &[f32]) -> Box<dyn Fitted> {
    Box::new(FittedPoses {
        method: run.config().method.entry.name,
        model,
        weights: weights.to_vec(),
        picture: None,
        is_quotient: run.manifold().is_quotient(),
    })
}

struct FittedPoses {
    method: &'static str,
    model: Box<dyn PoseModel>,
    weights: Vec<f32>,
    picture: Option<Vec<f32>>,
    is_quotient: bool,
}

impl FittedPoses {
    /// Models learn one representative of each class, so that their densities are not those of the classes.
    fn densities(&self, points: &Points) -> Option<Vec<f64>> {
        if self.is_quotient {
            return None;
        }
        let poses: Vec<Quaternion> = points.rows().map(|q| [q[0], q[1], q[2], q[3]]).collect();
        self.model.log_density(&self.weights, self.picture.as_ref()?, &[poses]).map(|rows| rows.concat())
    }
}

impl Fitted for FittedPoses {
    fn sample(&self, request: &SampleRequest, n: usize, sink: Sink) -> Result<Sampled, SampleError> {
        let picture = self.picture.as_ref().ok_or(SampleError::NoPicture { method: self.method })?;
        let PoseSamples { poses, drift, sampler: (sampler, nfe), .. } =
            self.model.sample(&self.weights, picture, n, request)?;
        // Whoever breaks off has all that is wanted.
        let _ = sink(Points::from_vec(poses.into_iter().flatten().collect(), 4));
        Ok(Sampled { drift: drift.unwrap_or_else(Drift::default), sampler, nfe })
    }

    fn log_density(&self, points: &Points, _steps: usize) -> Vec<f64> {
        self.densities(points).unwrap_or_else(|| vec![f64::NAN; points.len()])
    }

    fn has_density(&self) -> bool {
        self.picture.is_some() && self.densities(&Points::from_vec(IDENTITY.to_vec(), 4)).is_some()
    }

    fn likelihood(&self, points: &Points) -> Likelihood {
        Likelihood::exact(self.log_density(points, 0))
    }

    fn see(&mut self, picture: Vec<f32>) {
        self.picture = Some(picture);
    }
}
