//! One step: a batch, its loss, its gradient.

use crate::{
    bridge,
    net::{Condition, Model, Question},
};
use burn::tensor::Device;
use mad_core::{
    Points,
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
    pub points: &'a Points,
    /// Their conditions.
    pub conditions: Option<&'a Points>,
    /// Share of rows that do not see their condition.
    pub dropout: f64,
    /// Blocks of coordinates whose sign is free and drawn at random; none for networks that are odd by themselves.
    pub sign_blocks: Vec<Range<usize>>,
    /// Rows in a batch.
    pub rows: usize,
    /// How noise levels are drawn.
    pub levels: LevelDraw,
    /// Their range.
    pub range: NoiseRange,
    /// What the target is measured from.
    pub anchor: &'a Anchor,
    /// Seed of the run.
    pub seed: u64,
}

impl BatchSource<'_> {
    /// The batch of `step`: rows with replacement, signs, conditions, noise.
    pub fn draw(&self, step: u64) -> Batch {
        let mut rng = stream(self.seed, Purpose::Train, step);
        let rows: Vec<usize> = (0..self.rows).map(|_| rng.random_range(0..self.points.len())).collect();
        let mut x0 = self.points.select(&rows);
        self.flip_signs(&mut x0, &mut rng);
        let condition = self.conditions.map(|conditions| {
            let present = rows.iter().map(|_| rng.random::<f64>() >= self.dropout).collect();
            (conditions.select(&rows), present)
        });
        let noised = NoisedBatch::draw(&x0, self.levels, self.range, self.anchor, &mut rng);
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

/// The loss and its gradient in the order of the model's layout.
///
/// # Formula
/// Mean over the batch of Σᵢ (Fᵢ − targetᵢ)², which is the paper's loss with weight σ² (MAD, Eq. (8)).
pub fn gradient(model: &Model, weights: &[f32], batch: &Batch, device: &Device) -> (f64, Vec<f32>) {
    let NoisedBatch { x, sigma, target } = &batch.noised;
    let weights = model.on_tensors(weights, device);
    let chain = model.chain(weights.clone());
    let condition = batch.condition.as_ref().map(|(values, present)| Condition { values, present });
    let question = Question { x, sigma, condition, tangents: false };
    let answer = model.answer(&chain, &question, device).value;
    let error = answer - bridge::tensor(target, device);
    let loss = error.square().sum() / x.len() as f32;
    let mut gradients = loss.backward();
    let gradient = weights.grad_remove(&mut gradients).expect("the loss depends on the weights");
    (bridge::numbers_f64(loss.inner())[0], bridge::numbers_f32(gradient))
}
