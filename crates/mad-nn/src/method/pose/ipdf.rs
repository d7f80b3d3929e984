//! An implicit density: a network scores a rotation for an image, a grid of rotations makes a density of the scores.

use super::{
    IDENTITY,
    grid::{Cell, LN_VOLUME},
    head::repeated,
    method::{PoseMethod, PoseModel, PoseResult, in_one_pass},
    network::PictureNetwork,
};
use crate::{
    bridge,
    condition::PoseBatch,
    config::Config,
    kernel::{
        Activation, Plan, chain,
        forward::{Forward, Scratch},
    },
    method::SampleRequest,
    net::Layout,
};
use burn_tensor::{Device, Tensor, activation::log_softmax};
use mad_core::{
    rng::{Purpose, Rng, stream},
    rotation,
    rotation::{Quaternion, conjugate, multiply},
};
use rand::RngExt as _;
use rayon::prelude::*;

/// Waves per entry of the matrix: sines and cosines of r, 2r, 4r.
const OCTAVES: usize = 3;

/// Numbers that tell the network of a rotation.
const QUERY_NUMBERS: usize = 9 * 2 * OCTAVES;

/// Level of the grid that is scored as a whole.
const COARSE: u32 = 2;

/// Level at which the density is a constant in each cell, where it matters.
const FINE: u32 = 5;

/// Cells of a level that are divided.
const KEPT: usize = 512;

/// Rows that are scored at a time.
const BLOCK: usize = 4096;

/// Name in errors and reports.
const NAME: &str = "ipdf";

/// The implicit density.
pub(in crate::method) const IMPLICIT_PDF: PoseMethod = PoseMethod(|config, _| Box::new(Scored::new(config)));

/// Sines and cosines of 2ᵏ times each entry of the matrix of a rotation.
///
/// # Numerics
/// Octaves come from the double angle: one sine and cosine per entry.
fn encode(q: &Quaternion, out: &mut [f32]) {
    let matrix = rotation::matrix(q);
    for (entry, out) in matrix.iter().flatten().zip(out.chunks_exact_mut(2 * OCTAVES)) {
        let (mut sin, mut cos) = entry.sin_cos();
        for pair in out.chunks_exact_mut(2) {
            (pair[0], pair[1]) = (sin as f32, cos as f32);
            (sin, cos) = (2.0 * sin * cos, (cos - sin) * (cos + sin));
        }
    }
}

fn encoded<'a>(rotations: impl ExactSizeIterator<Item = &'a Quaternion>) -> Vec<f32> {
    let mut numbers = vec![0.0; rotations.len() * QUERY_NUMBERS];
    numbers.chunks_exact_mut(QUERY_NUMBERS).zip(rotations).for_each(|(out, q)| encode(q, out));
    numbers
}

/// f(R, image), dense layers of the encoded rotation and the features of the image.
///
/// # Formula
/// p(R | image) = e^{f(R)}/∫e^f. The loss is −ln softmax of f at the truth among `draws` uniform rotations one of which is the
/// truth, in units of a log-density.
///
/// # Reference
/// Murphy et al., Implicit-PDF (2021). Its activation function is silu instead of relu.
struct Scored {
    config: Config,
    network: PictureNetwork,
    plan: Plan,
    head: Layout,
}

/// The density of one image: cells with their scores, which together are all rotations.
struct Leaves {
    cells: Vec<(Cell, f64)>,
    /// ln ∫e^f over the volume 8π².
    ln_total: f64,
}

/// The score of one image, as a chain that is fed the rotation alone.
struct Scorer(Forward);

impl Scorer {
    fn scores(&self, encoded: &[f32]) -> Vec<f32> {
        let mut scratch = Scratch::default();
        let rows = encoded.len() / QUERY_NUMBERS;
        let mut out = vec![0.0; rows];
        for (out, encoded) in out.chunks_mut(BLOCK).zip(encoded.chunks(BLOCK * QUERY_NUMBERS)) {
            self.0.eval(encoded, out.len(), &mut scratch, out);
        }
        out
    }

    fn score_cells(&self, cells: Vec<Cell>) -> Vec<(Cell, f64)> {
        let centres: Vec<Quaternion> = cells.iter().map(|cell| cell.centre()).collect();
        let scores = self.scores(&encoded(centres.iter()));
        cells.into_iter().zip(scores.into_iter().map(f64::from)).collect()
    }

    /// Cells of the coarse grid, the best of which are divided from level to level.
    fn leaves(&self, coarse: &[Cell], coarse_encoded: &[f32]) -> Leaves {
        let scores = self.scores(coarse_encoded).into_iter().map(f64::from);
        let mut current: Vec<(Cell, f64)> = coarse.iter().copied().zip(scores).collect();
        let mut cells = Vec::new();
        for _ in COARSE..FINE {
            let kept = KEPT.min(current.len());
            if kept < current.len() {
                current.select_nth_unstable_by(kept, |a, b| b.1.total_cmp(&a.1));
            }
            cells.extend(current.drain(kept..));
            current = self.score_cells(current.iter().flat_map(|(cell, _)| cell.children()).collect());
        }
        cells.extend(current);
        let mass = |(cell, score): &(Cell, f64)| score + cell.ln_volume();
        let largest = cells.iter().map(mass).fold(f64::MIN, f64::max);
        let ln_total = largest + cells.iter().map(|leaf| (mass(leaf) - largest).exp()).sum::<f64>().ln();
        Leaves { cells, ln_total }
    }
}

impl Leaves {
    fn mode(&self) -> Quaternion {
        let best = self.cells.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(IDENTITY, |(cell, _)| cell.centre())
    }

    fn draw(&self, count: usize, rng: &mut Rng) -> Vec<Quaternion> {
        let mut below = Vec::with_capacity(self.cells.len());
        let mut sum = 0.0;
        for (cell, score) in &self.cells {
            sum += (score + cell.ln_volume() - self.ln_total).exp();
            below.push(sum);
        }
        let one = |rng: &mut Rng| {
            let at = sum * rng.random::<f64>();
            let place = below.partition_point(|&b| b <= at).min(below.len() - 1);
            self.cells[place].0.draw(rng)
        };
        (0..count).map(|_| one(rng)).collect()
    }
}

impl Scored {
    fn new(config: &Config) -> Self {
        let plan = plan(QUERY_NUMBERS + config.features, config);
        let head = Layout::chain(&plan);
        let network = PictureNetwork::new(config.build_encoder(config.features), &[("head", &head)]);
        Self { config: config.clone(), network, plan, head }
    }

    /// The scorer of an image; what the image adds to the first layer is computed here, once.
    fn scorer(&self, head: &[f32], plan: &Plan, seen: &[f32]) -> Scorer {
        let first = &self.plan.layers()[0];
        let cut = first.weight.start + QUERY_NUMBERS * first.outputs;
        let mut bias = head[first.bias.clone()].to_vec();
        for (v, row) in seen.iter().zip(head[cut..first.weight.end].chunks_exact(first.outputs)) {
            bias.iter_mut().zip(row).for_each(|(b, w)| *b += v * w);
        }
        let numbers = [&head[first.weight.start..cut], &bias, &head[first.bias.end..]].concat();
        Scorer(Forward::new(plan.clone(), &numbers))
    }

    /// What `answer` makes of the scorer and the density of each image; both are large, so that none outlives its answer.
    fn each<T: Send>(
        &self,
        weights: &[f32],
        images: &[f32],
        answer: impl Fn(usize, &Scorer, &Leaves) -> T + Sync,
    ) -> Vec<T> {
        let coarse: Vec<Cell> = Cell::all(COARSE).collect();
        let centres: Vec<Quaternion> = coarse.iter().map(|cell| cell.centre()).collect();
        let numbers = encoded(centres.iter());
        let plan = plan(QUERY_NUMBERS, &self.config);
        let (seen, head) = (self.network.features_on_host(weights, images), self.network.heads_on_host(weights));
        let one = |(i, seen): (usize, &[f32])| {
            let scorer = self.scorer(head, &plan, seen);
            answer(i, &scorer, &scorer.leaves(&coarse, &numbers))
        };
        seen.par_chunks_exact(self.config.features).enumerate().with_max_len(1).map(one).collect()
    }
}

fn plan(inputs: usize, config: &Config) -> Plan {
    Plan::hidden(inputs, config.width as usize, config.depth as usize, 1, Activation::Silu)
}

impl PoseModel for Scored {
    fn network(&self) -> &PictureNetwork {
        &self.network
    }

    fn initialise_heads(&self, seed: u64) -> Vec<f32> {
        self.head.initialise(Activation::Silu, seed.wrapping_add(1))
    }

    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, rng: &mut Rng, device: &Device) -> Tensor<1> {
        let (n, draws) = (batch.poses.len(), self.config.draws);
        let drawn: Vec<Quaternion> = (0..draws).map(|_| rotation::uniform(rng)).collect();
        let mut numbers = vec![0.0; n * draws * QUERY_NUMBERS];
        numbers.par_chunks_exact_mut(draws * QUERY_NUMBERS).zip(&batch.poses).for_each(|(out, truth)| {
            // All are turned so that the first becomes the truth.
            let turn = multiply(&conjugate(&drawn[0]), truth);
            let rows = out.chunks_exact_mut(QUERY_NUMBERS).zip(&drawn);
            rows.for_each(|(out, q)| encode(&multiply(q, &turn), out));
        });
        let seen = self.network.features(&weights, batch, device);
        let queries = bridge::matrix_f32(numbers, [n * draws, QUERY_NUMBERS], device);
        let inputs = Tensor::cat(vec![queries, repeated(seen, draws)], 1);
        let scores = chain(inputs, self.network.heads(weights), &self.plan).reshape([n, draws]);
        let truth = log_softmax(scores, 1).narrow(1, 0, 1);
        (truth.sum() / -(n as f32)) + (LN_VOLUME - (draws as f64).ln())
    }

    /// Samples are drawn from the cells of the grid by their share of the mass, and uniformly within a cell.
    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, request: &SampleRequest) -> PoseResult {
        in_one_pass(NAME, request, |seed| {
            let drawn = self.each(weights, images, |i, _, density| {
                (density.draw(draws, &mut stream(seed, Purpose::Sample, i as u64)), density.mode())
            });
            let (poses, modes): (Vec<_>, Vec<_>) = drawn.into_iter().unzip();
            (poses.concat(), modes)
        })
    }

    /// # Formula
    /// f(R) − ln Σ e^f V over the cells of the grid, which are small where the density is large.
    fn log_density(&self, weights: &[f32], images: &[f32], poses: &[Vec<Quaternion>]) -> Option<Vec<Vec<f64>>> {
        Some(self.each(weights, images, |i, scorer, density| {
            let scores = scorer.scores(&encoded(poses[i].iter()));
            scores.into_iter().map(|f| f64::from(f) - density.ln_total).collect()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::pose::testing::on_solid;
    use crate::{device, method::pose::testing};
    use mad_core::rotation::Symmetry;

    fn small(text: &str) -> Scored {
        let base = "method = 'ipdf'\nsize = 16\nfeatures = 16\nwidth = 32\ndepth = 2\n";
        Scored::new(&on_solid("cube", &format!("{base}{text}")))
    }

    #[test]
    fn octaves_are_sines_and_cosines() {
        let q = rotation::uniform(&mut stream(1, Purpose::Metric, 0));
        let mut out = [0.0; QUERY_NUMBERS];
        encode(&q, &mut out);
        for (i, entry) in rotation::matrix(&q).iter().flatten().enumerate() {
            for k in 0..OCTAVES {
                let (sin, cos) = (entry * f64::from(1 << k)).sin_cos();
                assert!((f64::from(out[6 * i + 2 * k]) - sin).abs() < 1e-6);
                assert!((f64::from(out[6 * i + 2 * k + 1]) - cos).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_new_network_gives_the_uniform_density() {
        let model = small("");
        let weights = model.initialise(3);
        let images = vec![0.5; 2 * 256];
        let poses = vec![vec![[0.0, 0.0, 0.0, 1.0]; 2]; 2];
        let densities = model.log_density(&weights, &images, &poses).unwrap();
        assert!(densities.iter().flatten().all(|v| (v + LN_VOLUME).abs() < 1e-6), "{densities:?}");
    }

    #[test]
    fn the_density_sums_to_one_and_is_the_one_that_is_trained() {
        let model = small("draws = 4000");
        let mut weights = model.initialise(3);
        // Weights of the output that make a lively score.
        let mut rng = stream(5, Purpose::Metric, 0);
        let from = weights.len() - 33;
        weights[from..].iter_mut().for_each(|w| *w = 6.0 * (rng.random::<f32>() - 0.5));
        let batch = testing::batch("cube", 16, 1);
        let mut rng = stream(6, Purpose::Metric, 0);
        let uniform: Vec<Quaternion> = (0..20_000).map(|_| rotation::uniform(&mut rng)).collect();
        let densities = model.log_density(&weights, &batch.images, std::slice::from_ref(&uniform)).unwrap();
        let values: Vec<f64> = densities[0].iter().map(|v| (v + LN_VOLUME).exp()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let spread = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        assert!(spread > 0.3, "the density is not lively: {spread}");
        assert!((mean - 1.0).abs() < 5.0 * spread / (values.len() as f64).sqrt() + 0.01, "{mean}");
        // The loss estimates −ln p of the truth.
        let truth = model.log_density(&weights, &batch.images, std::slice::from_ref(&batch.poses)).unwrap()[0][0];
        let device = device::training();
        let tensor = bridge::vector_f32(weights, &device);
        let loss = bridge::numbers_f64(model.loss(tensor, &batch, &mut rng, &device))[0];
        assert!((loss + truth).abs() < 0.1 + spread / 20.0, "{loss} {truth}");
    }

    #[test]
    fn samples_follow_the_scores() {
        let model = small("");
        let mut weights = model.initialise(3);
        let mut rng = stream(5, Purpose::Metric, 0);
        let from = weights.len() - 33;
        weights[from..].iter_mut().for_each(|w| *w = 6.0 * (rng.random::<f32>() - 0.5));
        let batch = testing::batch("cube", 16, 1);
        let said = model.sample(&weights, &batch.images, 4000, &SampleRequest::new(1)).unwrap();
        let at =
            |poses: &[Quaternion]| model.log_density(&weights, &batch.images, &[poses.to_vec()]).unwrap().remove(0);
        // E_p ln p from samples and from weighted uniform points.
        let drawn = at(&said.poses);
        let uniform: Vec<Quaternion> = (0..20_000).map(|_| rotation::uniform(&mut rng)).collect();
        let entropy = at(&uniform).iter().map(|v| v * (v + LN_VOLUME).exp()).sum::<f64>() / 20_000.0;
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean - entropy).abs() < 0.1, "{mean} {entropy}");
        let best = at(&said.modes.unwrap())[0];
        assert!(drawn.iter().all(|v| *v < best + 0.2));
    }

    #[test]
    fn training_lowers_loss_and_spread() {
        let text = "method = 'ipdf'\nsize = 16\nwidth = 64\ndepth = 2\nbatch = 32\ndraws = 256\nfeatures = 32";
        let learned = testing::learn("cone", text, 200, 3e-3);
        assert!(learned.last_loss < learned.first_loss - 0.5, "{learned:?}");
        assert!(learned.spread < 0.75 * testing::chance(Symmetry::Axial), "{learned:?}");
    }
}
