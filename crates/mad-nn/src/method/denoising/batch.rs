//! The batch of a step, its loss and its gradient.

use crate::{
    bridge,
    method::Rows,
    net::{Condition, Model, Question},
};
use burn_tensor::Device;
use mad_core::{
    Points,
    measure::BaseMeasure,
    noise::{Anchor, LevelDraw, NoiseRange, NoisedBatch},
    rng::{Purpose, Rng, stream},
};
use rand::RngExt as _;
use std::ops::Range;

/// What one step sees.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Noised points and targets.
    pub noised: NoisedBatch,
    /// Conditions, one row per point, and whether the network may see them.
    pub condition: Option<(Points, Vec<bool>)>,
}

/// Where batches come from. Step s always sees the same batch, whatever happened before.
#[derive(Debug, Clone)]
pub struct BatchSource<'a> {
    /// Clean points.
    pub points: Rows<'a>,
    /// Their conditions.
    pub conditions: Option<&'a Points>,
    /// Share of rows that do not see their condition.
    pub dropout: f64,
    /// Blocks of coordinates whose sign is free and drawn at random; none for networks that are odd by construction.
    pub sign_blocks: Vec<Range<usize>>,
    /// Rows in a batch.
    pub rows: usize,
    /// How noise levels are drawn.
    pub levels: LevelDraw,
    /// Their range.
    pub range: NoiseRange,
    /// What the target is measured from.
    pub anchor: &'a Anchor,
    /// The distribution of the clean points, if targets are to be averaged over it.
    pub distribution: Option<&'a dyn BaseMeasure>,
    /// Seed of the run.
    pub seed: u64,
}

impl BatchSource<'_> {
    /// The batch of `step`: rows with replacement, signs, conditions, noise.
    pub fn draw(&self, step: u64) -> Batch {
        let mut rng = stream(self.seed, Purpose::Train, step);
        let (mut x0, places) = self.points.draw(self.rows, &mut rng);
        self.flip_signs(&mut x0, &mut rng);
        let condition = self.conditions.map(|conditions| {
            let present = places.iter().map(|_| rng.random::<f64>() >= self.dropout).collect();
            (conditions.select(&places), present)
        });
        let (levels, range, anchor) = (self.levels, self.range, self.anchor);
        let noised = match self.distribution {
            None => NoisedBatch::draw(&x0, levels, range, anchor, &mut rng),
            Some(distribution) => NoisedBatch::draw_averaged(&x0, distribution, levels, range, anchor, &mut rng),
        };
        Batch { noised, condition }
    }

    fn flip_signs(&self, x0: &mut Points, rng: &mut Rng) {
        if self.sign_blocks.is_empty() {
            return;
        }
        for row in x0.rows_mut() {
            for block in &self.sign_blocks {
                if rng.random::<bool>() {
                    row[block.clone()].iter_mut().for_each(|v| *v = -*v);
                }
            }
        }
    }
}

/// The loss and its gradient in the order of the model's layout. The weights are lent to a tensor and come back unchanged.
///
/// # Formula
/// Mean over the batch of Σᵢ (Fᵢ − targetᵢ)², which is the paper's loss with weight σ² (MAD, Eq. (8)).
pub fn gradient(model: &Model, weights: &mut Vec<f32>, batch: &Batch, device: &Device) -> (f64, Vec<f32>) {
    let NoisedBatch { x, sigma, target } = &batch.noised;
    let condition = batch.condition.as_ref().map(|(values, present)| Condition { values, present });
    let question = Question { x, sigma, condition, tangents: false };
    bridge::differentiate(weights, device, |weights| {
        let answer = model.answer(&model.chain(weights), &question, device).value;
        (answer - bridge::tensor(target, device)).square().sum() / x.len() as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device, kernel,
        net::{self, Activation, Shape},
    };

    /// Copies of all weights in every step would cost as much as the optimiser.
    #[test]
    fn weights_are_lent_and_not_copied() {
        let shape = Shape { dim: 3, condition: 0, width: 32, depth: 2, activation: Activation::Sin, input_gain: 1.0 };
        let model = Model::new(&net::NETWORKS[0], shape);
        let points = Points::from_vec(vec![0.0, 0.0, 1.0], 3);
        let batches = BatchSource {
            points: Rows::Kept(&points),
            conditions: None,
            dropout: 0.0,
            sign_blocks: Vec::new(),
            rows: 8,
            levels: LevelDraw::LogUniform,
            range: NoiseRange { min: 0.1, max: 1.0 },
            anchor: &Anchor::Ambient,
            distribution: None,
            seed: 0,
        };
        let mut weights = model.initialise(0);
        let (before, place) = (weights.clone(), weights.as_ptr());
        let (loss, slope) = gradient(&model, &mut weights, &batches.draw(0), &device::training());
        assert!(loss > 0.0 && slope.len() == weights.len());
        assert_eq!((weights.as_ptr(), &weights), (place, &before));
        let gradient_place = slope.as_ptr();
        kernel::recycle(slope);
        for step in 1..20 {
            let (_, slope) = gradient(&model, &mut weights, &batches.draw(step), &device::training());
            assert_eq!((weights.as_ptr(), slope.as_ptr()), (place, gradient_place), "step {step}");
            kernel::recycle(slope);
        }
    }
}
