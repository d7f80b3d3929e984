//! The likelihood bound as a function of the point: the same noise for every point.

use super::{blocks, bound::Level};
use crate::{
    Points,
    measure::BaseMeasure,
    noise::NoiseRange,
    rng::{Purpose, Rng, stream},
    sample::Denoiser,
    special::{dot, norm},
};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Rows evaluated together.
const BLOCK_ROWS: usize = 128;

/// Noise levels per unit of log σ. The integrand is smooth in log σ: twice as many move the bound of an exact denoiser by less
/// than 1e-3 (test `levels_are_close_enough`).
const LEVELS_PER_UNIT: f64 = 4.0;

/// Index of the random stream, beyond those of the blocks of [`likelihood_bound`](super::likelihood_bound).
const STREAM: u64 = 1 << 40;

/// Fixed noise at which a denoiser is evaluated to bound the log-density at a point.
///
/// [`likelihood_bound`](super::likelihood_bound) draws fresh noise for each row, which is right for a mean over many rows. With
/// fixed noise the bound is a function of the point alone: the same point has the same value in every batch.
///
/// # Numerics
/// Levels are the midpoints of equal slices of the log range. At each of them, every direction ε is used together with −ε, which
/// cancels what is odd in ε. Directions form orthogonal frames of equal length, of two lengths in turn: two whole frames average
/// polynomials in ε up to the third degree, and powers of |ε|² up to the second, exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundDesign {
    range: NoiseRange,
    levels: Vec<(f64, Points)>,
    prior: Points,
}

impl BoundDesign {
    /// `pairs` pairs of opposite directions in `dim` coordinates at each level of `range`.
    pub fn new(dim: usize, range: NoiseRange, pairs: usize, seed: u64) -> Self {
        Self::with_levels(dim, range, (LEVELS_PER_UNIT * range.log_length()).ceil() as usize, pairs, seed)
    }

    fn with_levels(dim: usize, range: NoiseRange, levels: usize, pairs: usize, seed: u64) -> Self {
        let mut directions = Directions::new(dim, seed);
        // Two frames have the second moments of Gaussian noise, which is what the prior of flat space needs.
        let prior = directions.draw(2 * dim);
        let levels = levels.max(1);
        let level = |i: usize| (range.at((i as f64 + 0.5) / levels as f64), directions.draw(pairs.max(1)));
        Self { range, levels: (0..levels).map(level).collect(), prior }
    }

    /// A lower bound on log dp/dμ at each row of `x0`, where μ is `base`, as in
    /// [`likelihood_bound`](super::likelihood_bound).
    pub fn bound(&self, denoiser: &dyn Denoiser, base: &dyn BaseMeasure, x0: &Points) -> Vec<f64> {
        let bound = |block: Points| self.bound_block(denoiser, base, &block);
        blocks(x0, BLOCK_ROWS).into_par_iter().with_max_len(1).map(bound).collect::<Vec<_>>().concat()
    }

    fn bound_block(&self, denoiser: &dyn Denoiser, base: &dyn BaseMeasure, x0: &Points) -> Vec<f64> {
        let nodes = self.levels[0].1.len();
        let repeated = Points::from_vec(
            x0.rows().flat_map(|row| std::iter::repeat_n(row, nodes).flatten()).copied().collect(),
            x0.dim(),
        );
        let mut total = vec![0.0; repeated.len()];
        for (sigma, noise) in &self.levels {
            let noise = Points::from_vec(noise.as_slice().repeat(x0.len()), x0.dim());
            Level::new(base, &repeated, &noise, 1.0, *sigma).add_integrand(denoiser, base, &repeated, &mut total);
        }
        let weight = self.range.log_length() / (self.levels.len() * nodes) as f64;
        let sums = total.chunks_exact(nodes).map(|row| weight * row.iter().sum::<f64>());
        sums.zip(x0.rows()).map(|(sum, x0)| sum + self.prior_term(base, x0)).collect()
    }

    /// E log_prior_ratio(x₀ + σ_max ε).
    fn prior_term(&self, base: &dyn BaseMeasure, x0: &[f64]) -> f64 {
        if base.is_proper() {
            return 0.0;
        }
        let mut x = vec![0.0; x0.len()];
        let mut sum = 0.0;
        for noise in self.prior.rows() {
            for ((x, x0), z) in x.iter_mut().zip(x0).zip(noise) {
                *x = x0 + self.range.max * z;
            }
            sum += base.log_prior_ratio(&x, self.range.max);
        }
        sum / self.prior.len() as f64
    }
}

/// Directions in opposite pairs.
struct Directions {
    dim: usize,
    rng: Rng,
    /// Frames drawn so far.
    frames: u32,
}

impl Directions {
    fn new(dim: usize, seed: u64) -> Self {
        Self { dim, rng: stream(seed, Purpose::Evaluate, STREAM), frames: 0 }
    }

    /// The length of the directions of the next frame.
    ///
    /// # Formula
    /// √(d ± √(2d)), which has the first two moments of the squared length of a Gaussian vector. The signs are the Thue-Morse
    /// sequence, of which every two neighbours from an even place on differ, and which averages out what is smooth in log σ.
    fn length(&mut self) -> f64 {
        let square = self.dim as f64;
        let low = (square - (2.0 * square).sqrt()).max(0.0);
        let is_long = self.frames.count_ones() % 2 == 1;
        self.frames += 1;
        if is_long { (2.0 * square - low).sqrt() } else { low.sqrt() }
    }

    /// `pairs` directions and their opposites, one after the other.
    fn draw(&mut self, pairs: usize) -> Points {
        let mut nodes = Points::new(self.dim);
        let mut frame: Vec<Vec<f64>> = Vec::new();
        let mut radius = 0.0;
        for pair in 0..pairs {
            if pair % self.dim == 0 {
                frame.clear();
                radius = self.length();
            }
            let mut direction = normal(self.dim, &mut self.rng);
            for other in &frame {
                let along = dot(&direction, other);
                direction.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
            }
            let length = norm(&direction).max(f64::MIN_POSITIVE);
            direction.iter_mut().for_each(|x| *x /= length);
            for sign in [radius, -radius] {
                nodes.push(&direction.iter().map(|x| sign * x).collect::<Vec<_>>());
            }
            frame.push(direction);
        }
        nodes
    }
}

fn normal(dim: usize, rng: &mut Rng) -> Vec<f64> {
    (0..dim).map(|_| StandardNormal.sample(rng)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifold::{Manifold, Sphere};
    use crate::measure::{Component, UniformSphere, VonMisesFisherMixture};
    use crate::sample::BaseDenoiser;
    use std::sync::Arc;

    #[test]
    fn directions_come_in_opposite_pairs_with_orthogonal_frames_and_gaussian_moments() {
        let nodes = Directions::new(3, 1).draw(3000);
        assert_eq!(nodes.len(), 6000);
        let (mut square, mut fourth) = (0.0, 0.0);
        for frame in nodes.as_slice().chunks_exact(18) {
            let row = |i: usize| &frame[3 * i..3 * i + 3];
            for i in 0..3 {
                assert!(row(2 * i).iter().zip(row(2 * i + 1)).all(|(a, b)| *a == -b));
                for j in 0..i {
                    assert!(dot(row(2 * i), row(2 * j)).abs() < 1e-12 * norm(row(2 * i)) * norm(row(2 * j)));
                }
                square += dot(row(2 * i), row(2 * i));
                fourth += dot(row(2 * i), row(2 * i)).powi(2);
            }
        }
        // E|ε|² = d and E|ε|⁴ = d (d + 2).
        assert!((square / 3000.0 - 3.0).abs() < 1e-9 && (fourth / 3000.0 - 15.0).abs() < 1e-9, "{square} {fourth}");
    }

    #[test]
    fn levels_are_close_enough() {
        let sphere = Sphere::new(2).expect("a sphere");
        let component =
            |mean: [f64; 3], kappa: f64| Component { weight: 1.0, mean: mean.into(), concentrations: vec![kappa] };
        let data = vec![component([0.0, 0.0, 1.0], 200.0), component([1.0, 0.0, 0.0], 10.0)];
        let data = VonMisesFisherMixture::on(&sphere, data).expect("a proper mixture");
        let (range, base) = (NoiseRange { min: 0.003, max: 5.0 }, UniformSphere::new(3));
        let x0 = sphere.grid(50).expect("a grid");
        let model = BaseDenoiser(Arc::new(data));
        // Averages over 200 pairs leave the error of the levels, of which there are 30 by default.
        let mean = |levels: usize| {
            let design = BoundDesign::with_levels(3, range, levels, 200, 3);
            design.bound(&model, &base, &x0).iter().sum::<f64>() / 50.0
        };
        let (usual, fine) = (mean(30), mean(120));
        assert!((usual - fine).abs() < 0.02, "{usual} against {fine}");
    }
}
