//! A flow of the rotations: circle maps with centres and projective maps carry the law of an image to the uniform one.

use super::{
    PoseBatch, PoseConfig, PoseError,
    grid::LN_VOLUME,
    method::{PoseMethod, PoseMethodEntry, PoseModel, PoseSamples, asks_once},
};
use crate::{
    bridge,
    kernel::{
        Activation, Plan, chain,
        forward::{Forward, Scratch},
    },
    net::Layout,
    vision::Encoder,
};
use burn::tensor::{Device, Tensor, activation::softplus};
use mad_core::{
    manifold::{Quaternion, multiply},
    pose::rotation,
    rng::{Purpose, Rng, stream},
};
use rayon::prelude::*;

/// Largest distance of a centre from the middle of the circle: no centre moves a point by more than 2 asin 0.7 = 89°, so that
/// means of angles are never ambiguous.
const REACH: f64 = 0.7;

/// Half of the interval in which an angle is looked for when a circle map is undone: 2 asin 0.7 and a little.
const BRACKET: f64 = 1.56;

/// Hidden layers of the network that places the centres.
const HIDDEN: usize = 2;

/// Numbers of a projective map.
const MAP: usize = 16;

/// Weights of maps at first, relative to the usual ones: near the identity, but no two centres alike.
const FIRST_SCALE: f32 = 1.0;

/// Samples of each image among which the most likely one is looked for, at least.
const CANDIDATES: usize = 64;

/// The flow.
pub(super) const ENTRY: PoseMethodEntry = PoseMethodEntry {
    name: "flow",
    summary: "normalising flow: `depth` Möbius couplings of `draws` centres with projective maps of quaternions between them",
    method: &Flow,
};

#[derive(Debug)]
struct Flow;

impl PoseMethod for Flow {
    fn settings(&self) -> &'static str {
        "depth = 12\ndraws = 16\nwidth = 64\nsymmetrised = false"
    }

    fn refuses(&self, config: &PoseConfig) -> Option<String> {
        asks_once(config)
    }

    fn model(&self, config: &PoseConfig) -> Box<dyn PoseModel> {
        Box::new(Coupled::new(config))
    }
}

/// A flow from the poses of an image to the uniform law, in quaternions.
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
    config: PoseConfig,
    encoder: Encoder,
    /// Dense layers from the image to the first map.
    first: Plan,
    /// Dense layers from a direction and the image to centres and their weights, for each coupling.
    coupling: Plan,
    parts: Vec<Layout>,
    layout: Layout,
}

/// Axes (c, a, b) of coupling number `index`.
fn axes(index: usize) -> [usize; 3] {
    [index % 3, (index + 1) % 3, (index + 2) % 3]
}

impl Coupled {
    fn new(config: &PoseConfig) -> Self {
        let encoder = Encoder::new(&config.encoder, config.encoder_shape(config.features))
            .expect("checked when the config was made");
        let plan = |inputs: usize, outputs: usize| {
            let mut sizes = vec![inputs];
            sizes.extend(std::iter::repeat_n(config.width, HIDDEN));
            sizes.push(outputs);
            Plan::new(&sizes, Activation::Silu)
        };
        let (first, coupling) = (plan(config.features, MAP), plan(3 + config.features, 4 * config.draws));
        let mut names = vec!["encoder".to_string(), "first".to_string()];
        let mut parts = vec![encoder.layout().clone(), Layout::chain(&first)];
        for i in 0..config.depth {
            names.push(format!("coupling{i}"));
            parts.push(Layout::chain(&coupling));
        }
        for i in 0..config.depth - 1 {
            names.push(format!("map{i}"));
            parts.push(Layout::tensors(&[("weight", &[4, 4])]));
        }
        let layout = Layout::joined(names.iter().map(String::as_str).zip(&parts));
        Self { config: config.clone(), encoder, first, coupling, parts, layout }
    }

    /// Where the weights of part `index` begin: encoder, first map, couplings, maps.
    fn start(&self, index: usize) -> usize {
        self.parts[..index].iter().map(Layout::len).sum()
    }

    fn part(&self, weights: &Tensor<1>, index: usize) -> Tensor<1> {
        let from = self.start(index);
        weights.clone().narrow(0, from, self.parts[index].len())
    }

    /// Log-density of one pose for each image, open to the backward pass.
    fn likelihood(&self, weights: &Tensor<1>, seen: Tensor<2>, poses: &[Quaternion], device: &Device) -> Tensor<2> {
        let n = poses.len();
        let flat: Vec<f64> = poses.iter().flatten().copied().collect();
        let q = bridge::matrix(&flat, 4, device);
        let map = chain(seen.clone(), self.part(weights, 1), &self.first);
        let (mut q, mut stretch) = projected(map.reshape([n, 4, 4]), q, device);
        for i in 0..self.config.depth {
            let (turned, grown) = self.coupled(self.part(weights, 2 + i), i, &seen, q);
            (q, stretch) = (turned, stretch + grown);
            if i + 1 < self.config.depth {
                let map = self.part(weights, 2 + self.config.depth + i).reshape([1, 4, 4]);
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
        let part = |index: usize| {
            let from = self.start(index);
            &weights[from..from + self.parts[index].len()]
        };
        let depth = self.config.depth;
        Ready {
            model: self,
            first: Forward::new(self.first.clone(), part(1)),
            couplings: (0..depth).map(|i| Forward::new(self.coupling.clone(), part(2 + i))).collect(),
            maps: (0..depth - 1).map(|i| Projective::new(part(2 + depth + i))).collect(),
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

/// q ↦ Wq/|Wq|.
#[derive(Debug, Clone)]
struct Projective {
    numbers: [f64; MAP],
}

impl Projective {
    fn new(numbers: &[f32]) -> Self {
        Self { numbers: std::array::from_fn(|i| f64::from(numbers[i])) }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.numbers[4 * i + j]
    }

    /// ln of the stretch at a point with |Wq| = norm.
    fn stretch(&self, norm: f64) -> f64 {
        (0..4).map(|i| self.at(i, i)).sum::<f64>() - 4.0 * norm.ln()
    }

    fn apply(&self, q: &Quaternion) -> (Quaternion, f64) {
        let up: Quaternion = std::array::from_fn(|i| {
            (q[i] + (i + 1..4).map(|j| self.at(i, j) * q[j]).sum::<f64>()) * self.at(i, i).exp()
        });
        let down: Quaternion = std::array::from_fn(|i| up[i] + (0..i).map(|j| self.at(i, j) * up[j]).sum::<f64>());
        let norm = mad_core::special::norm(&down);
        (down.map(|v| v / norm), self.stretch(norm))
    }

    /// The point that is mapped to `q`, and ln of the stretch there.
    fn undo(&self, q: &Quaternion) -> (Quaternion, f64) {
        let mut x = *q;
        for i in 0..4 {
            x[i] -= (0..i).map(|j| self.at(i, j) * x[j]).sum::<f64>();
        }
        for i in (0..4).rev() {
            x[i] = x[i] * (-self.at(i, i)).exp() - (i + 1..4).map(|j| self.at(i, j) * x[j]).sum::<f64>();
        }
        let norm = mad_core::special::norm(&x);
        // W(x/|x|) = q/|x|.
        (x.map(|v| v / norm), self.stretch(1.0 / norm))
    }
}

/// Centres in the plane of a circle, with their weights.
struct Circle {
    /// Weight, real and imaginary part.
    centres: Vec<[f64; 3]>,
}

impl Circle {
    /// What the network says of the circle around R e_c, seen from R e_a.
    fn new(said: &[f32], q: &Quaternion, index: usize) -> Self {
        let k = said.len() / 4;
        let matrix = rotation::matrix(q);
        let [_, a, b] = axes(index);
        let soft = |v: f32| {
            let v = f64::from(v);
            v.max(0.0) + (-v.abs()).exp().ln_1p() + 1e-6
        };
        let total: f64 = said[..k].iter().map(|&v| soft(v)).sum();
        let centre = |(share, w): (&f32, &[f32])| {
            let along = |column: usize| (0..3).map(|i| f64::from(w[i]) * matrix[i][column]).sum::<f64>();
            let (u, v) = (along(a), along(b));
            let shrink = REACH / (1.0 + u * u + v * v).sqrt();
            [soft(*share) / total, shrink * u, shrink * v]
        };
        Self { centres: said[..k].iter().zip(said[k..].chunks_exact(3)).map(centre).collect() }
    }

    /// The angle by which the point at angle `t` is moved, and the stretch there.
    fn shift(&self, t: f64) -> (f64, f64) {
        let (sin, cos) = t.sin_cos();
        self.centres.iter().fold((0.0, 0.0), |(shift, stretch), [share, u, v]| {
            // w as seen from the point.
            let (u, v) = (u * cos + v * sin, v * cos - u * sin);
            let away = (1.0 - u).powi(2) + v * v;
            (shift - 2.0 * share * (v / (1.0 - u)).atan(), stretch + share * (1.0 - u * u - v * v) / away)
        })
    }

    /// The angle t that is moved to zero: t + shift(t) = 0, by Newton's steps inside a shrinking bracket.
    fn source(&self) -> f64 {
        let (mut low, mut high, mut t) = (-BRACKET, BRACKET, 0.0);
        for _ in 0..100 {
            let (shift, stretch) = self.shift(t);
            let off = t + shift;
            if off > 0.0 {
                high = t
            } else {
                low = t
            }
            let step = t - off / stretch;
            let next = if step > low && step < high { step } else { 0.5 * (low + high) };
            if (next - t).abs() < 1e-14 {
                return next;
            }
            t = next;
        }
        t
    }
}

/// q turned by `angle` about its own axis c.
fn turned(q: &Quaternion, c: usize, angle: f64) -> Quaternion {
    let mut turn = [0.0, 0.0, 0.0, (0.5 * angle).cos()];
    turn[c] = (0.5 * angle).sin();
    multiply(q, &turn)
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
        let encoder = &self.model.encoder;
        let seen = encoder.encode_host(images, &weights[..encoder.layout().len()]);
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
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        let mut weights = self.encoder.initialise(seed);
        for (i, part) in self.parts.iter().enumerate().skip(1) {
            let chained = i < 2 + self.config.depth;
            let seed = seed.wrapping_add(i as u64);
            let mut numbers = if chained { part.initialise_plainly(seed) } else { vec![0.0; part.len()] };
            if chained {
                let plan = if i == 1 { &self.first } else { &self.coupling };
                let last = plan.layers()[HIDDEN].weight.clone();
                let scale = if i == 1 { 0.1 * FIRST_SCALE } else { FIRST_SCALE };
                numbers[last].iter_mut().for_each(|w| *w *= scale);
            }
            weights.extend(numbers);
        }
        weights
    }

    /// −ln p of one pose for each image.
    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, _rng: &mut Rng, device: &Device) -> Tensor<1> {
        let n = batch.poses.len();
        let images = bridge::matrix_f32(batch.images.clone(), [n, batch.images.len() / n], device);
        let seen = self.encoder.encode(images, self.part(&weights, 0));
        self.likelihood(&weights, seen, &batch.poses, device).sum() / -(n as f32)
    }

    /// Uniform rotations are taken back by the flow; the mode is the most likely of them.
    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, seed: u64) -> Result<PoseSamples, PoseError> {
        let ready = self.ready(weights);
        let drawn = ready.images(weights, images).into_par_iter().enumerate().with_max_len(1).map(|(i, image)| {
            let mut rng = stream(seed, Purpose::Sample, i as u64);
            let base = (0..draws.max(CANDIDATES)).map(|_| rotation::uniform(&mut rng)).collect();
            let samples = ready.backward(&image, base);
            let mode = samples.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or([0.0, 0.0, 0.0, 1.0], |best| best.0);
            (samples.into_iter().take(draws).map(|(q, _)| q).collect::<Vec<_>>(), mode)
        });
        let (poses, modes): (Vec<Vec<Quaternion>>, Vec<Quaternion>) = drawn.unzip();
        Ok(PoseSamples { poses: poses.concat(), modes: Some(modes), drift: None })
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
mod tests {
    use super::*;
    use crate::{
        device,
        pose::{grid::Cell, testing},
    };
    use mad_core::pose::Symmetry;
    use rand::RngExt as _;

    /// A model with weights that move poses about.
    fn lively() -> (Coupled, Vec<f32>, PoseBatch) {
        let text = "method = 'flow'\nsize = 16\nfeatures = 8\nwidth = 16\ndepth = 4\ndraws = 5";
        let model = Coupled::new(&PoseConfig::new("cube", &text.parse().unwrap()).unwrap());
        let mut weights = model.initialise(4);
        let mut rng = stream(1, Purpose::Metric, 0);
        let from = model.start(2);
        weights[from..].iter_mut().for_each(|w| *w = *w * 1.5 + 0.3 * (rng.random::<f32>() - 0.5));
        (model, weights, testing::batch("cube", 16, 3))
    }

    fn poses(count: usize) -> Vec<Quaternion> {
        let mut rng = stream(2, Purpose::Metric, 0);
        (0..count).map(|_| rotation::uniform(&mut rng)).collect()
    }

    #[test]
    fn stretch_is_the_determinant() {
        let (model, weights, batch) = lively();
        let ready = model.ready(&weights);
        let image = &ready.images(&weights, &batch.images)[0];
        // Dense layers in single precision do not bear small steps.
        let h = 2e-2;
        for q in poses(6) {
            let at = |v: [f64; 3]| ready.forward(image, &[multiply(&q, &rotation::by(&v))])[0];
            let (centre, density) = at([0.0; 3]);
            let inverse = mad_core::manifold::conjugate(&centre);
            let mut jacobian = [[0.0; 3]; 3];
            for k in 0..3 {
                let along = |h: f64| {
                    let mut v = [0.0; 3];
                    v[k] = h;
                    let p = multiply(&inverse, &at(v).0);
                    let sign = p[3].signum();
                    let sin = mad_core::special::norm(&p[..3]).max(1e-300);
                    let angle = 2.0 * sin.atan2(p[3].abs());
                    [0, 1, 2].map(|i| sign * p[i] / sin * angle)
                };
                // Fourth order.
                let (a, b, c, d) = (along(h), along(-h), along(2.0 * h), along(-2.0 * h));
                (0..3).for_each(|i| jacobian[i][k] = (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h));
            }
            let [a, b, c] = jacobian;
            let determinant = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0]);
            let said = density + LN_VOLUME;
            assert!((determinant.ln() - said).abs() < 5e-3, "{} {said}", determinant.ln());
        }
    }

    #[test]
    fn backward_undoes_forward() {
        let (model, weights, batch) = lively();
        let ready = model.ready(&weights);
        let given = poses(50);
        for image in &ready.images(&weights, &batch.images) {
            let there = ready.forward(image, &given);
            let back = ready.backward(image, there.iter().map(|(q, _)| *q).collect());
            let mut moved: f64 = 0.0;
            for ((q, there), back) in given.iter().zip(&there).zip(back) {
                assert!(rotation::angle(q, &back.0) < 1e-4, "{q:?} {back:?}");
                assert!((there.1 - back.1).abs() < 1e-3);
                moved = moved.max(rotation::angle(q, &there.0));
            }
            assert!(moved > 0.3, "the flow hardly moves: {moved}");
        }
    }

    #[test]
    fn a_circle_map_is_undone_exactly() {
        let mut rng = stream(3, Purpose::Metric, 0);
        for q in poses(20) {
            let said: Vec<f32> = (0..24).map(|_| 8.0 * (rng.random::<f32>() - 0.5)).collect();
            let circle = Circle::new(&said, &q, 1);
            let from = circle.source();
            assert!((from + circle.shift(from).0).abs() < 1e-12);
            let numeric = (circle.shift(1e-5).0 - circle.shift(-1e-5).0) / 2e-5 + 1.0;
            assert!((numeric - circle.shift(0.0).1).abs() < 1e-7);
        }
    }

    #[test]
    fn the_density_has_mass_one() {
        let (model, weights, batch) = lively();
        let cells: Vec<Cell> = Cell::all(2).collect();
        let centres: Vec<Quaternion> = cells.iter().map(|cell| cell.centre()).collect();
        let densities = model.log_density(&weights, &batch.images, &vec![centres; 3]).unwrap();
        for density in densities {
            let mass: f64 = density.iter().zip(&cells).map(|(d, cell)| (d + cell.ln_volume()).exp()).sum();
            let largest = density.iter().copied().fold(f64::MIN, f64::max);
            assert!((mass - 1.0).abs() < 0.02, "{mass}");
            assert!(largest + LN_VOLUME > 0.5, "the law is not lively: {largest}");
        }
    }

    #[test]
    fn tensors_and_host_agree() {
        let (model, weights, batch) = lively();
        let listed: Vec<Vec<Quaternion>> = batch.poses.iter().map(|q| vec![*q]).collect();
        let host = model.log_density(&weights, &batch.images, &listed).unwrap();
        let device = device::inference();
        let encoder = model.encoder.layout().len();
        let seen = model.encoder.encode_host(&batch.images, &weights[..encoder]);
        let seen = bridge::matrix_f32(seen, [3, model.config.features], &device);
        let tensor = bridge::vector_f32(weights, &device);
        let said = bridge::numbers_f64(model.likelihood(&tensor, seen, &batch.poses, &device));
        for (a, b) in host.iter().flatten().zip(said) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let (model, _, batch) = lively();
        testing::check_gradient(&model, &batch, model.layout.len() - model.start(1), 5e-3);
    }

    #[test]
    fn training_lowers_loss_and_spread() {
        let text = "method = 'flow'\nsize = 16\nwidth = 32\ndepth = 6\ndraws = 8\nimages = 64\nfeatures = 32";
        let learned = testing::learn("cone", text, 200, 3e-3);
        assert!(learned.last_loss < learned.first_loss - 0.5, "{learned:?}");
        assert!(learned.spread < 0.75 * testing::chance(Symmetry::Axial), "{learned:?}");
    }
}
