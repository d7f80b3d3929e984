//! Blocks of neighbours.
//!
//! Rows that are linked by steps of at most the distance form a block, as in single-linkage clustering. On dense data such
//! chains can run through most of the rows, and a part could not be filled. A chain with more than a share of the rows is
//! therefore cut: each of its rows goes to the nearest of a few of its rows drawn at random. Rows on both sides of a cut
//! may be close, so rows too close to a part that is judged by are left out of the other one. Whatever was cut, rows of
//! different parts are farther apart than the distance.

use super::{Division, SplitError, SplitRule, shuffle};
use crate::{
    Points,
    groups::Groups,
    manifold::Manifold,
    neighbours::Neighbours,
    rng::{Purpose, Rng, stream},
};
use rayon::prelude::*;

/// Largest share of the rows in a block: half a test part, so that a part is made of several blocks.
const LARGEST_SHARE: f64 = 0.05;

/// Cells that a chain is cut into, per block of the largest size. Cells around random rows differ in size; with two per block few
/// are larger than a block may be.
const CELLS_PER_BLOCK: f64 = 2.0;

/// Divides the rows of `points` into blocks, assigns these to parts and leaves out rows closer than `distance` to another part.
pub(super) fn divide(
    points: &Points,
    manifold: &dyn Manifold,
    distance: f64,
    rule: &SplitRule,
    fractions: [f64; 3],
    seed: u64,
) -> Result<Division, SplitError> {
    let groups = Groups::of(points);
    let distinct = points.select(&groups.firsts());
    let mut rng = stream(seed, Purpose::Split, 1);
    let blocks = cells(&distinct, manifold, distance, &|point| groups.rows(point as usize).len(), &mut rng);
    let in_rows = |block: &Vec<u32>| block.iter().flat_map(|point| groups.rows(*point as usize).to_vec()).collect();
    let blocks: Vec<Vec<u32>> = blocks.iter().map(in_rows).collect();
    let mut division = Division::assign(blocks, "blocks", rule, fractions, &mut rng)?;
    division.keep_apart(points, manifold, distance);
    for (part, (rows, share)) in
        ["training", "validation", "test"].into_iter().zip(division.parts.iter().zip(fractions))
    {
        if rows.is_empty() && share > 0.0 {
            return Err(SplitError::Crowded { rule: rule.to_string(), part });
        }
    }
    Ok(division)
}

/// The chains of distinct points, those with too many rows cut into cells.
fn cells(
    points: &Points,
    manifold: &dyn Manifold,
    distance: f64,
    rows_of: &dyn Fn(u32) -> usize,
    rng: &mut Rng,
) -> Vec<Vec<u32>> {
    let size = |block: &[u32]| block.iter().map(|point| rows_of(*point)).sum::<usize>() as f64;
    let chains = Neighbours::new(manifold, points).components(distance);
    let largest = LARGEST_SHARE * chains.iter().map(|chain| size(chain)).sum::<f64>();
    let mut blocks = Vec::new();
    for chain in chains {
        let size = size(&chain);
        if size <= largest || chain.len() == 1 {
            blocks.push(chain);
            continue;
        }
        let count = ((CELLS_PER_BLOCK * size / largest).ceil() as usize).min(chain.len());
        let mut centres = chain.clone();
        shuffle(&mut centres, rng);
        centres.truncate(count);
        let nearest: Vec<usize> = chain
            .par_iter()
            .map(|point| {
                let to = |centre: &u32| manifold.distance(points.row(*point as usize), points.row(*centre as usize));
                let distances = centres.iter().map(to).enumerate();
                distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(cell, _)| cell)
            })
            .collect();
        let mut cells = vec![Vec::new(); count];
        chain.iter().zip(nearest).for_each(|(point, cell)| cells[cell].push(*point));
        blocks.extend(cells.into_iter().filter(|cell| !cell.is_empty()));
    }
    blocks
}

impl Division {
    /// Leaves out rows of the validation part that are close to a test row, and rows of the training part that are close to either.
    fn keep_apart(&mut self, points: &Points, manifold: &dyn Manifold, distance: f64) {
        let mut judges = Points::new(points.dim());
        for part in (0..3).rev() {
            let rows = &mut self.parts[part];
            let tree = Neighbours::new(manifold, &judges);
            let near = |row: &u32| tree.nearest(points.row(*row as usize)) <= distance;
            let near: Vec<bool> = rows.par_iter().map(near).collect();
            let mut near = near.into_iter();
            let before = rows.len();
            rows.retain(|_| near.next() == Some(false));
            self.left_out += before - rows.len();
            drop(tree);
            judges.extend(&points.select(&rows.iter().map(|row| *row as usize).collect::<Vec<_>>()));
        }
    }
}
