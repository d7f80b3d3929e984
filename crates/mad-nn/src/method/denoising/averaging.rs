//! Distributions over which regression targets are averaged: that of all training points, or that of a block of rows.

use crate::method::Rows;
use mad_core::{
    Points,
    estimate::distinct,
    manifold::Manifold,
    measure::{Finite, FiniteError},
    rng::{Purpose, stream},
};
use std::sync::{Arc, Mutex, PoisonError};

/// Most distinct points, counting signs, over which targets are averaged by default: up to here the sums take less than half
/// of a step with the usual network.
const MOST_AVERAGED: usize = 20_000;

/// Share of the posterior that averages may leave out: what is left is as exact as the network's numbers, in about 0.7 of the
/// time of sums to 1e-16.
const LEFT_OUT: f64 = 1e-8;

/// Most rows on this manifold whose targets are averaged by default.
pub(crate) fn most_averaged(manifold: &dyn Manifold) -> usize {
    MOST_AVERAGED >> manifold.odd_blocks().len().min(16)
}

/// The distribution of distinct points that occur this often, with both signs where the sign is free.
pub(crate) fn distribution_of(
    (mut points, mut counts): (Points, Vec<f64>),
    manifold: &dyn Manifold,
) -> Result<Finite, FiniteError> {
    for block in manifold.odd_blocks() {
        let mut flipped = points.clone();
        flipped.rows_mut().for_each(|x| x[block.clone()].iter_mut().for_each(|v| *v = -*v));
        points.extend(&flipped);
        counts.extend_from_within(..);
    }
    Ok(Finite::weighted(points, &counts)?.leaving_out(LEFT_OUT))
}

/// Rows that serve for several steps, with their distribution.
#[derive(Debug)]
pub struct Block {
    /// Rows to draw batches from.
    pub points: Points,
    /// Their distribution.
    pub distribution: Finite,
}

/// Rows in blocks, where there are too many to average over all of them, or new ones in every step. A block holds as many rows as
/// its steps draw, so that no more rows are used than without blocks.
///
/// Given the block, an averaged target is the mean of the single ones over everything in it that could have become x. So the
/// expected gradient is that of single targets, and the noise is less.
#[derive(Debug)]
pub struct Blocks {
    manifold: Arc<dyn Manifold>,
    /// Rows in a batch.
    rows: usize,
    /// Steps that share a block.
    steps: u64,
    seed: u64,
    /// The block that was asked for last, with its number.
    last: Mutex<Option<(u64, Arc<Block>)>>,
}

impl Blocks {
    /// Blocks for batches of `rows`; `None` if a single batch is too large to average over.
    pub fn new(manifold: Arc<dyn Manifold>, rows: usize, seed: u64) -> Option<Self> {
        let steps = (most_averaged(manifold.as_ref()) / rows.max(1)) as u64;
        (steps > 0).then(|| Self { manifold, rows, steps, seed, last: Mutex::default() })
    }

    /// The block of a step out of `source`: always the same one, whatever was asked before.
    pub fn of(&self, step: u64, source: &Rows) -> Arc<Block> {
        let number = step / self.steps;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = last.as_ref().filter(|(known, _)| *known == number) {
            return block.clone();
        }
        let mut rng = stream(self.seed, Purpose::Block, number);
        let (points, _) = source.draw(self.rows * self.steps as usize, &mut rng);
        let distribution = distribution_of(distinct(&points), self.manifold.as_ref());
        let block = Arc::new(Block { distribution: distribution.expect("points of a manifold are finite"), points });
        *last = Some((number, block.clone()));
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Fresh;
    use mad_core::{
        catalogue::datasets,
        load::load,
        noise::{Anchor, LevelDraw, NoiseRange, NoisedBatch},
        table::ColumnOptions,
    };

    fn fresh() -> (Fresh, Arc<dyn Manifold>) {
        let table = datasets::make("so3-mixture:4", Some(8), 0, 0, None).unwrap();
        let loaded = load(&table, "so3", &ColumnOptions::default()).unwrap();
        let fresh = Fresh::new("so3-mixture:4", 0, loaded.columns, loaded.manifold.clone()).unwrap();
        (fresh, loaded.manifold)
    }

    #[test]
    fn a_step_always_has_the_same_block_and_the_next_one_is_new() {
        let (fresh, manifold) = fresh();
        let kept = fresh.make(30_000, 1).unwrap();
        for source in [Rows::Fresh(&fresh), Rows::Kept(&kept)] {
            let blocks = Blocks::new(manifold.clone(), 4000, 7).unwrap();
            assert_eq!(blocks.steps, 2, "both signs of 10 000 rows, 4000 in each step");
            let (first, second) = (blocks.of(1, &source), blocks.of(2, &source));
            assert_eq!(first.points.len(), 8000);
            assert_eq!(first.distribution.points().len(), 2 * distinct(&first.points).0.len());
            assert_ne!(first.points, second.points);
            assert_eq!(blocks.of(3, &source).points, second.points);
            assert_eq!(blocks.of(0, &source).points, first.points);
        }
    }

    #[test]
    fn batches_too_large_to_average_over_have_no_blocks() {
        let (_, manifold) = fresh();
        assert!(Blocks::new(manifold.clone(), 10_001, 0).is_none() && Blocks::new(manifold, 10_000, 0).is_some());
    }

    /// The mean of single targets over all rows of the block, weighted by how likely each became x, is the averaged target.
    #[test]
    fn averaged_targets_are_the_mean_of_single_ones_over_the_block() {
        let (fresh, manifold) = fresh();
        let block = Blocks::new(manifold, 64, 7).unwrap().of(0, &Rows::Fresh(&fresh));
        let rows = block.points.head(16);
        let mut rng = stream(1, Purpose::Train, 0);
        let range = NoiseRange { min: 0.2, max: 0.4 };
        let batch = NoisedBatch::draw_averaged(
            &rows,
            &block.distribution,
            LevelDraw::LogUniform,
            range,
            &Anchor::Ambient,
            &mut rng,
        );
        for ((x, target), sigma) in batch.x.rows().zip(batch.target.rows()).zip(&batch.sigma) {
            let (mut total, mut sum) = (0.0, [0.0; 4]);
            for u in block.points.rows() {
                for sign in [1.0, -1.0] {
                    let square: f64 = u.iter().zip(x).map(|(u, x)| (sign * u - x).powi(2)).sum();
                    let weight = (-0.5 * square / (sigma * sigma)).exp();
                    total += weight;
                    sum.iter_mut().zip(u).zip(x).for_each(|((s, u), x)| *s += weight * (sign * u - x) / sigma);
                }
            }
            for (sum, target) in sum.iter().zip(target) {
                assert!((sum / total - target).abs() < 1e-6, "{} {target}", sum / total);
            }
        }
    }
}
