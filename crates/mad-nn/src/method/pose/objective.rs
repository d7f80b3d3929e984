//! What a run on pictures minimises, and how it is validated.

use super::{IDENTITY, PoseModel};
use crate::{
    bridge,
    condition::{Pictures, PoseBatch},
    method::{Graded, Objective, Validation},
    net::Layout,
    parts::Part,
    run::{Run, RunError},
};
use burn_tensor::Device;
use mad_core::{
    Moments,
    likelihood::BoundConfig,
    rng::{Purpose, stream},
};

/// The objective of a run that learns `model`.
pub(crate) fn objective(run: &Run, model: Box<dyn PoseModel>) -> Result<Box<dyn Objective + '_>, RunError> {
    let config = run.config();
    let pictures = match config.solid_pictures() {
        Some(pictures) => pictures.training()?,
        None => Pictures::Kept { size: config.size, train: run.pictures(Part::Train, usize::MAX)?, mirror: None },
    };
    let validation = match config.evaluate_every {
        0 => PoseBatch::default(),
        _ => run.pictures(Part::Validation, config.validation_rows as usize)?,
    };
    Ok(Box::new(PoseObjective { run, model, pictures, pretrained: config.pretrained()?, validation }))
}

struct PoseObjective<'a> {
    run: &'a Run,
    model: Box<dyn PoseModel>,
    pictures: Pictures,
    /// First weights of the encoder, if they are not random.
    pretrained: Vec<f32>,
    /// Pictures that training does not see.
    validation: PoseBatch,
}

impl Objective for PoseObjective<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        let mut weights = self.model.initialise(seed);
        weights[..self.pretrained.len()].copy_from_slice(&self.pretrained);
        weights
    }

    fn gradient(&self, weights: &mut Vec<f32>, step: u64, device: &Device) -> Graded {
        let config = self.run.config();
        let batch = self.pictures.batch(config.batch as usize, config.seed, step);
        let mut rng = stream(config.seed, Purpose::Train, step);
        let (loss, gradient) =
            bridge::differentiate(weights, device, |weights| self.model.loss(weights, &batch, &mut rng, device));
        Graded { loss, gradient, levels: Vec::new() }
    }

    /// # Formula
    /// The mean of −ln p(true pose | picture) with respect to volume. Denoisers have the likelihood bound instead, which for
    /// canonical targets is that of the representative.
    fn validate(&self, weights: &[f32], step: u64) -> Option<Validation> {
        if self.validation.poses.is_empty() {
            return None;
        }
        let config = self.run.config();
        let (levels, repeats) = (config.bound_levels as usize, config.bound_repeats as usize);
        let bound = BoundConfig { levels, repeats, seed: config.seed };
        let uniform = -self.run.manifold().uniform().log_weight(&IDENTITY);
        let (ratios, is_bound) = match self.model.log_ratio_bound(weights, &self.validation, &bound) {
            Some(ratios) => (ratios, true),
            None => {
                let poses: Vec<_> = self.validation.poses.iter().map(|q| vec![*q]).collect();
                let densities = self.model.log_density(weights, &self.validation.images, &poses)?;
                (densities.into_iter().flatten().map(|density| density + uniform).collect(), false)
            }
        };
        let moments = Moments::of(&ratios);
        let (log_ratio, standard_error) = (moments.mean, moments.standard_error());
        Some(Validation { step, nll: uniform - log_ratio, log_ratio, is_bound, standard_error, best: false })
    }
}
