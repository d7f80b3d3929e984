//! A flow of the rotations: circle maps with centres and projective maps carry the distribution of an image to the uniform one.

mod maps;

use super::{
    IDENTITY,
    grid::LN_VOLUME,
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
use burn_tensor::{Device, Tensor, activation::softplus};
use mad_core::{
    rng::{Purpose, Rng, stream},
    rotation,
    rotation::Quaternion,
};
use maps::{Circle, MAP, Projective, REACH, axes, turned};
use rayon::prelude::*;
use std::ops::Range;

/// Hidden layers of the network that places the centres.
const HIDDEN: usize = 2;

/// Weights of the last layer of the first map at first, relative to the usual ones: near the identity.
const FIRST_SCALE: f32 = 0.1;

/// Samples of each image among which the most likely one is looked for, at least.
const CANDIDATES: usize = 64;

/// Name in errors and reports.
const NAME: &str = "rotation-flow";

/// The flow.
pub(in crate::method) const ROTATION_FLOW: PoseMethod = PoseMethod(|config, _| Box::new(Coupled::new(config)));

/// A flow from the poses of an image to the uniform distribution, in quaternions.
///
/// # Formula
/// First a projective map W(image), then `depth` couplings with a projective map between any two.
///
/// A coupling about axis c turns the pose q to q (sin(Δ/2) e_c, cos(Δ/2)). It leaves y = R e_c where it is and moves x = R e_a on
/// the circle around y by Δ = Σ aₖ φₖ, φₖ = 2 arg(1 − wₖ), where wₖ is the complex number of centre k in the plane (x, R e_b), with
/// (c, a, b) in cyclic order. Centres and weights are said by dense layers of y and the image; |wₖ| < 0.7. It stretches by
/// Σ aₖ (1 − |wₖ|²)/|1 − wₖ|².
///
/// A projective map is q ↦ Wq/|Wq|, W = (1 + L) e^D (1 + U) with L below, D on and U above the diagonal. It stretches by
/// |det W|/|Wq|⁴, det W = e^{tr D}.
///
/// # Reference
/// Liu et al., Delving into Discrete Normalizing Flows on SO(3) Manifold for Probabilistic Rotation Modeling (2023). There W is a
/// free matrix and wₖ shrinks by 1/(1 + |w|), here by 1/√(1 + |w|²), which is smooth at zero.
struct Coupled {
    config: Config,
    network: PictureNetwork,
    /// Dense layers from the image to the first map.
    first: Plan,
    /// Dense layers from a direction and the image to centres and their weights, for each coupling.
    coupling: Plan,
    /// First map, couplings, maps between these.
    parts: Vec<Layout>,
}

impl Coupled {
    fn new(config: &Config) -> Self {
        let width = config.width as usize;
        let plan = |inputs: usize, outputs: usize| Plan::hidden(inputs, width, HIDDEN, outputs, Activation::Silu);
        let (first, coupling) = (plan(config.features, MAP), plan(3 + config.features, 4 * config.draws));
        let depth = config.depth as usize;
        let mut named = vec![("first".to_string(), Layout::chain(&first))];
        named.extend((0..depth).map(|i| (format!("coupling{i}"), Layout::chain(&coupling))));
        named.extend((0..depth - 1).map(|i| (format!("map{i}"), Layout::tensors(&[("weight", &[4, 4])]))));
        let heads: Vec<(&str, &Layout)> = named.iter().map(|(name, part)| (name.as_str(), part)).collect();
        let network = PictureNetwork::new(config.build_encoder(config.features), &heads);
        let parts = named.into_iter().map(|(_, part)| part).collect();
        Self { config: config.clone(), network, first, coupling, parts }
    }

    /// Where the weights of part `index` are among those of the heads.
    fn range(&self, index: usize) -> Range<usize> {
        let from = self.parts[..index].iter().map(Layout::len).sum();
        from..from + self.parts[index].len()
    }

    /// Log-density of one pose for each image, open to the backward pass.
    fn likelihood(&self, heads: &Tensor<1>, seen: Tensor<2>, poses: &[Quaternion], device: &Device) -> Tensor<2> {
        let (n, depth) = (poses.len(), self.config.depth as usize);
        let part = |index: usize| heads.clone().slice([self.range(index)]);
        let flat: Vec<f64> = poses.iter().flatten().copied().collect();
        let q = bridge::matrix(&flat, 4, device);
        let map = chain(seen.clone(), part(0), &self.first);
        let (mut q, mut stretch) = projected(map.reshape([n, 4, 4]), q, device);
        for i in 0..depth {
            let (turned, grown) = self.coupled(part(1 + i), i, &seen, q);
            (q, stretch) = (turned, stretch + grown);
            if i + 1 < depth {
                let map = part(1 + depth + i).reshape([1, 4, 4]);
                let (mapped, grown) = projected(map, q, device);
                (q, stretch) = (mapped, stretch + grown);
            }
        }
        stretch - LN_VOLUME
    }

    /// The turned poses and ln of the stretch.
    fn coupled(&self, weights: Tensor<1>, index: usize, seen: &Tensor<2>, q: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let (n, k) = (q.dims()[0], self.config.draws);
        let [c, a, b] = axes(index);
        let columns = columns(&q);
        let inputs = Tensor::cat(vec![columns[c].clone(), seen.clone()], 1);
        let said = chain(inputs, weights, &self.coupling);
        let share = softplus(said.clone().narrow(1, 0, k), 1.0) + 1e-6;
        let share = share.clone() / share.sum_dim(1);
        let centres = said.narrow(1, k, 3 * k).reshape([n, k, 3]);
        let along =
            |column: &Tensor<2>| (centres.clone() * column.clone().reshape([n, 1, 3])).sum_dim(2).reshape([n, k]);
        let (u, v) = (along(&columns[a]), along(&columns[b]));
        let square = u.clone().square() + v.clone().square();
        let shrink = (square.clone() + 1.0).sqrt().recip() * REACH;
        let (u, v) = (u * shrink.clone(), v * shrink.clone());
        let square = square * shrink.square();
        let away = u.neg() + 1.0;
        let stretch = (share.clone() * (square.neg() + 1.0) / (away.clone().square() + v.clone().square())).sum_dim(1);
        // Half of Δ: φ/2 = arg(1 − w) = −atan(v/(1 − u)).
        let half = (share * (v / away).atan()).sum_dim(1).neg();
        let (sin, cos) = (half.clone().sin(), half.cos());
        let number = |j: usize| q.clone().narrow(1, j, 1);
        // q e_c, column by column: w e_c + v × e_c, and −v_c.
        let mut product = vec![number(0); 4];
        product[c] = number(3);
        product[a] = number(b);
        product[b] = number(a).neg();
        product[3] = number(c).neg();
        (q.clone() * cos + Tensor::cat(product, 1) * sin, stretch.log())
    }

    fn ready(&self, weights: &[f32]) -> Ready<'_> {
        let heads = self.network.heads_on_host(weights);
        let part = |index: usize| &heads[self.range(index)];
        let depth = self.config.depth as usize;
        Ready {
            model: self,
            first: Forward::new(self.first.clone(), part(0)),
            couplings: (0..depth).map(|i| Forward::new(self.coupling.clone(), part(1 + i))).collect(),
            maps: (0..depth - 1).map(|i| Projective::new(part(1 + depth + i))).collect(),
        }
    }
}

/// Columns of the rotation matrices of unit quaternions.
fn columns(q: &Tensor<2>) -> [Tensor<2>; 3] {
    let number = |j: usize| q.clone().narrow(1, j, 1);
    let (x, y, z, w) = (number(0), number(1), number(2), number(3));
    let twice = |a: &Tensor<2>, b: &Tensor<2>| a.clone() * b.clone() * 2.0;
    let diagonal = |a: &Tensor<2>, b: &Tensor<2>| (a.clone().square() + b.clone().square()) * -2.0 + 1.0;
    let (xy, xz, yz) = (twice(&x, &y), twice(&x, &z), twice(&y, &z));
    let (xw, yw, zw) = (twice(&x, &w), twice(&y, &w), twice(&z, &w));
    [
        Tensor::cat(vec![diagonal(&y, &z), xy.clone() + zw.clone(), xz.clone() - yw.clone()], 1),
        Tensor::cat(vec![xy - zw, diagonal(&x, &z), yz.clone() + xw.clone()], 1),
        Tensor::cat(vec![xz + yw, yz - xw, diagonal(&x, &y)], 1),
    ]
}

/// Wq/|Wq| and ln of the stretch, for one map or one for each row.
fn projected(map: Tensor<3>, q: Tensor<2>, device: &Device) -> (Tensor<2>, Tensor<2>) {
    let n = q.dims()[0];
    let mask = |keep: &dyn Fn(usize, usize) -> bool| {
        let numbers: Vec<f32> = (0..16).map(|i| f32::from(u8::from(keep(i / 4, i % 4)))).collect();
        bridge::matrix_f32(numbers, [4, 4], device).reshape([1, 4, 4])
    };
    let times = |matrix: Tensor<3>, q: Tensor<2>| (matrix * q.reshape([n, 1, 4])).sum_dim(2).reshape([n, 4]);
    let [rows, _, _] = map.dims();
    let logs = (map.clone() * mask(&|i, j| i == j)).sum_dim(2).reshape([rows, 4]);
    let up = q.clone() + times(map.clone() * mask(&|i, j| j > i), q);
    let scaled = up * logs.clone().exp();
    let down = scaled.clone() + times(map * mask(&|i, j| j < i), scaled);
    let square = down.clone().square().sum_dim(1);
    let stretch = logs.sum_dim(1) - square.clone().log() * 2.0;
    (down / square.sqrt(), stretch)
}

/// The flow with its weights on the host, in double precision but for the dense layers.
struct Ready<'a> {
    model: &'a Coupled,
    first: Forward,
    couplings: Vec<Forward>,
    maps: Vec<Projective>,
}

impl Ready<'_> {
    /// Features of images, and the first map of each.
    fn images(&self, weights: &[f32], images: &[f32]) -> Vec<(Vec<f32>, Projective)> {
        let seen = self.model.network.features_on_host(weights, images);
        let image = |seen: &[f32]| {
            let mut map = [0.0; MAP];
            self.first.eval(seen, 1, &mut Scratch::default(), &mut map);
            (seen.to_vec(), Projective::new(&map))
        };
        seen.chunks_exact(self.model.config.features).map(image).collect()
    }

    /// What coupling `index` says of poses of one image.
    fn circles(&self, index: usize, seen: &[f32], poses: &[Quaternion]) -> Vec<Circle> {
        let outputs = self.model.coupling.outputs();
        let c = axes(index)[0];
        let mut inputs = Vec::with_capacity(poses.len() * (3 + seen.len()));
        for q in poses {
            inputs.extend(rotation::matrix(q).iter().map(|row| row[c] as f32));
            inputs.extend(seen);
        }
        let mut said = vec![0.0; poses.len() * outputs];
        self.couplings[index].eval(&inputs, poses.len(), &mut Scratch::default(), &mut said);
        said.chunks_exact(outputs).zip(poses).map(|(said, q)| Circle::new(said, q, index)).collect()
    }

    /// Where the flow takes poses of one image, and their log-densities.
    fn forward(&self, (seen, first): &(Vec<f32>, Projective), poses: &[Quaternion]) -> Vec<(Quaternion, f64)> {
        let mut points: Vec<Quaternion> = poses.to_vec();
        let mut densities = vec![-LN_VOLUME; poses.len()];
        for i in 0..self.couplings.len() {
            let map = if i == 0 { first } else { &self.maps[i - 1] };
            for (q, density) in points.iter_mut().zip(&mut densities) {
                let (mapped, stretch) = map.apply(q);
                (*q, *density) = (mapped, *density + stretch);
            }
            let circles = self.circles(i, seen, &points);
            for ((q, density), circle) in points.iter_mut().zip(&mut densities).zip(circles) {
                let (shift, stretch) = circle.shift(0.0);
                (*q, *density) = (turned(q, axes(i)[0], shift), *density + stretch.ln());
            }
        }
        points.into_iter().zip(densities).collect()
    }

    /// The poses of one image that the flow takes to these points, and their log-densities.
    fn backward(&self, (seen, first): &(Vec<f32>, Projective), points: Vec<Quaternion>) -> Vec<(Quaternion, f64)> {
        let mut points = points;
        let mut densities = vec![-LN_VOLUME; points.len()];
        for i in (0..self.couplings.len()).rev() {
            let circles = self.circles(i, seen, &points);
            for ((q, density), circle) in points.iter_mut().zip(&mut densities).zip(circles) {
                let from = circle.source();
                (*q, *density) = (turned(q, axes(i)[0], from), *density + circle.shift(from).1.ln());
            }
            let map = if i == 0 { first } else { &self.maps[i - 1] };
            for (q, density) in points.iter_mut().zip(&mut densities) {
                let (mapped, stretch) = map.undo(q);
                (*q, *density) = (mapped, *density + stretch);
            }
        }
        points.into_iter().zip(densities).collect()
    }
}

impl PoseModel for Coupled {
    fn network(&self) -> &PictureNetwork {
        &self.network
    }

    fn initialise_heads(&self, seed: u64) -> Vec<f32> {
        let mut weights = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            let chained = i <= self.config.depth as usize;
            let seed = seed.wrapping_add(1 + i as u64);
            let mut numbers = if chained { part.initialise_plainly(seed) } else { vec![0.0; part.len()] };
            if i == 0 {
                let last = self.first.layers()[HIDDEN].weight.clone();
                numbers[last].iter_mut().for_each(|w| *w *= FIRST_SCALE);
            }
            weights.extend(numbers);
        }
        weights
    }

    /// −ln p of one pose for each image.
    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, _rng: &mut Rng, device: &Device) -> Tensor<1> {
        let seen = self.network.features(&weights, batch, device);
        let heads = self.network.heads(weights);
        self.likelihood(&heads, seen, &batch.poses, device).sum() / -(batch.poses.len() as f32)
    }

    /// Uniform rotations are taken back by the flow; the mode is the most likely of them.
    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, request: &SampleRequest) -> PoseResult {
        in_one_pass(NAME, request, |seed| {
            let ready = self.ready(weights);
            let images = ready.images(weights, images).into_par_iter().enumerate().with_max_len(1);
            let drawn = images.map(|(i, image)| {
                let mut rng = stream(seed, Purpose::Sample, i as u64);
                let base = (0..draws.max(CANDIDATES)).map(|_| rotation::uniform(&mut rng)).collect();
                let samples = ready.backward(&image, base);
                let mode = samples.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(IDENTITY, |best| best.0);
                (samples.into_iter().take(draws).map(|(q, _)| q).collect::<Vec<_>>(), mode)
            });
            let (poses, modes): (Vec<Vec<Quaternion>>, Vec<Quaternion>) = drawn.unzip();
            (poses.concat(), modes)
        })
    }

    fn log_density(&self, weights: &[f32], images: &[f32], poses: &[Vec<Quaternion>]) -> Option<Vec<Vec<f64>>> {
        let ready = self.ready(weights);
        let images = ready.images(weights, images);
        let rows = images.par_iter().zip(poses);
        let density = |(image, poses): (&(Vec<f32>, Projective), &Vec<Quaternion>)| {
            ready.forward(image, poses).into_iter().map(|(_, density)| density).collect()
        };
        Some(rows.map(density).collect())
    }
}

#[cfg(test)]
mod tests;
