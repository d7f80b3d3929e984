//! A mixture of Bingham distributions of quaternions.

use super::{
    IDENTITY,
    method::{PoseMethod, PoseModel, PoseResult, in_one_pass},
    network::PictureNetwork,
    normaliser::LogNormaliser,
};
use crate::{
    bridge,
    condition::PoseBatch,
    config::Config,
    kernel::{Activation, Plan, chain},
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
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Numbers of a component: four of its mode, three of its sharpness, one of its weight.
const NUMBERS: usize = 8;

/// Share of the winner in the loss that the components fight over.
const WINNER: f64 = 0.95;

/// Largest logarithm of a step of λ: a spread of about 0.2°.
const SHARPEST: f64 = 13.0;

/// ln s of a new component.
const FIRST_SHARPNESS: f32 = 1.5;

/// Weights of the output layer at first, relative to the usual ones.
const FIRST_SCALE: f32 = 0.3;

/// ln 4: from the volume 2π² of the quaternions, where each rotation has two, to the volume 8π² of the rotations.
const LN_SCALE: f64 = 2.0 * std::f64::consts::LN_2;

/// Name in errors and reports.
const NAME: &str = "bingham";

/// The mixture.
pub(in crate::method) const BINGHAM: PoseMethod = PoseMethod(|config, _| Box::new(Mixed::new(config)));

/// Σ wₖ B(q; mₖ, λₖ) with numbers that dense layers say of the image.
///
/// # Formula
/// B(q; m, λ) = exp(Σ λⱼ rⱼ²)/F(λ), r the vector part of m⁻¹q, λ = −(s₁, s₁ + s₂, s₁ + s₂ + s₃). The loss is
/// −ln Σ wₖ Bₖ − (0.95 − 1/N) max ln Bₖ − 0.05 mean ln Bₖ over N components: the mixture's likelihood, and the winner takes most.
///
/// # Reference
/// Deng et al., Deep Bingham Networks (2022). There sⱼ is a softplus and λ ≥ −900, which keeps the spread above 4.3°; here
/// sⱼ = eᶻ and λ goes down to where the spread is about 0.2°, so that sharp distributions are in reach.
struct Mixed {
    config: Config,
    network: PictureNetwork,
    plan: Plan,
    head: Layout,
}

/// One distribution of a mixture.
#[derive(Debug, Clone, Copy)]
struct Component {
    ln_weight: f64,
    mode: Quaternion,
    lambda: [f64; 3],
    ln_normaliser: f64,
}

impl Component {
    /// ln of weight times density with respect to the volume of the rotations.
    fn ln_density(&self, q: &Quaternion) -> f64 {
        let r = multiply(&conjugate(&self.mode), q);
        let exponent: f64 = (0..3).map(|j| self.lambda[j] * r[j] * r[j]).sum();
        self.ln_weight + exponent - self.ln_normaliser - LN_SCALE
    }

    /// A rotation drawn from it.
    ///
    /// # Formula
    /// With A = −diag(λ, 0) and b the root of Σ 1/(b + 2Aᵢ) = 1, x from the angular central Gaussian distribution of Ω = 1 + 2A/b is taken
    /// with probability e^{−xᵀAx} (xᵀΩx)² e^{(4−b)/2} (b/4)².
    ///
    /// # Reference
    /// Kent, Ganeiber, Mardia (2013).
    fn draw(&self, rng: &mut Rng) -> Quaternion {
        let a = [-self.lambda[0], -self.lambda[1], -self.lambda[2], 0.0];
        let (mut low, mut high) = (1.0, 4.0);
        for _ in 0..60 {
            let b: f64 = 0.5 * (low + high);
            if a.iter().map(|a| 1.0 / (b + 2.0 * a)).sum::<f64>() > 1.0 { low = b } else { high = b }
        }
        let b = 0.5 * (low + high);
        let omega = a.map(|a| 1.0 + 2.0 * a / b);
        loop {
            let mut x: Quaternion = omega.map(|o| {
                let z: f64 = StandardNormal.sample(rng);
                z / o.sqrt()
            });
            let norm = mad_core::special::norm(&x);
            x = x.map(|v| v / norm);
            let (mut exponent, mut square) = (0.0, 0.0);
            for i in 0..4 {
                exponent -= a[i] * x[i] * x[i];
                square += omega[i] * x[i] * x[i];
            }
            let taken = (exponent + 0.5 * (4.0 - b)).exp() * (square * b / 4.0).powi(2);
            if rng.random::<f64>() < taken {
                return multiply(&self.mode, &x);
            }
        }
    }
}

/// ln Σ e^v.
fn ln_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::MIN, f64::max);
    largest + values.map(|v| (v - largest).exp()).sum::<f64>().ln()
}

impl Mixed {
    fn new(config: &Config) -> Self {
        let (width, depth) = (config.width as usize, config.depth as usize);
        let plan = Plan::hidden(config.features, width, depth, NUMBERS * config.draws, Activation::Silu);
        let head = Layout::chain(&plan);
        let network = PictureNetwork::new(config.build_encoder(config.features), &[("head", &head)]);
        Self { config: config.clone(), network, plan, head }
    }

    /// Log-densities of components on the quaternions and logarithms of their weights, `n × N`, given one pose for each image.
    fn components(&self, said: Tensor<2>, poses: &[Quaternion], device: &Device) -> (Tensor<2>, Tensor<2>) {
        let (n, k) = (poses.len(), self.config.draws);
        let part = |from: usize, count: usize| said.clone().narrow(1, from * k, count * k);
        let raw = part(0, 4).reshape([n, k, 4]);
        let mode = raw.clone() / (raw.square().sum_dim(2) + 1e-12).sqrt();
        // Vector part of m⁻¹ q, linear in m.
        let unit = |i: usize| std::array::from_fn::<f64, 4, _>(|j| f64::from(u8::from(i == j)));
        let linear: Vec<f64> = poses
            .iter()
            .flat_map(|q| {
                (0..4).flat_map(|i| multiply(&conjugate(&unit(i)), q).into_iter().take(3).collect::<Vec<_>>())
            })
            .collect();
        let linear = bridge::matrix(&linear, 3, device).reshape([n, 4, 3]);
        let square = mode.matmul(linear).square();
        let steps = part(4, 3).clamp_max(SHARPEST).exp().reshape([n, k, 3]);
        let step = |j: usize| steps.clone().narrow(2, j, 1);
        let two = step(0) + step(1);
        let lambda = Tensor::cat(vec![step(0), two.clone(), two + step(2)], 2).neg();
        let ln_density = (lambda.clone() * square).sum_dim(2).reshape([n, k]) - ln_normaliser(lambda, device);
        (ln_density, log_softmax(part(7, 1), 1))
    }

    /// The distributions of images.
    fn mixtures(&self, weights: &[f32], images: &[f32]) -> Vec<Vec<Component>> {
        let device = crate::device::inference();
        let (seen, head) = (self.network.features_on_host(weights, images), self.network.heads_on_host(weights));
        let n = seen.len() / self.config.features;
        let seen = bridge::matrix_f32(seen, [n, self.config.features], &device);
        let said = bridge::numbers_f64(chain(seen, bridge::vector_f32(head.to_vec(), &device), &self.plan));
        let k = self.config.draws;
        let mixture = |said: &[f64]| -> Vec<Component> {
            let total = ln_sum(said[7 * k..].iter().copied());
            let component = |i: usize| {
                let mut mode: Quaternion = std::array::from_fn(|j| said[4 * i + j]);
                let norm = (mode.iter().map(|v| v * v).sum::<f64>() + 1e-12).sqrt();
                mode = mode.map(|v| v / norm);
                let step = |j: usize| said[4 * k + 3 * i + j].min(SHARPEST).exp();
                let two = step(0) + step(1);
                let lambda = [-step(0), -two, -two - step(2)];
                let ln_normaliser = LogNormaliser::at(&lambda).value;
                Component { ln_weight: said[7 * k + i] - total, mode, lambda, ln_normaliser }
            };
            (0..k).map(component).collect()
        };
        said.par_chunks_exact(NUMBERS * k).map(mixture).collect()
    }
}

/// ln F of `n × N × 3` numbers λ, open to the backward pass: its values and slopes come from the host.
fn ln_normaliser(lambda: Tensor<3>, device: &Device) -> Tensor<2> {
    let [n, k, _] = lambda.dims();
    let known = bridge::numbers_f64(lambda.clone().detach());
    let found: Vec<LogNormaliser> = known
        .par_chunks_exact(3)
        .with_min_len(64)
        .map(|lambda| LogNormaliser::at(&[lambda[0], lambda[1], lambda[2]]))
        .collect();
    let values: Vec<f64> = found.iter().map(|f| f.value).collect();
    let slopes: Vec<f64> = found.iter().flat_map(|f| f.slope).collect();
    let slopes = bridge::matrix(&slopes, 3, device).reshape([n, k, 3]);
    let still = lambda.clone().detach();
    bridge::matrix(&values, k, device) + ((lambda - still) * slopes).sum_dim(2).reshape([n, k])
}

impl PoseModel for Mixed {
    fn network(&self) -> &PictureNetwork {
        &self.network
    }

    /// Components begin at modes drawn uniformly: alike they would stay alike.
    fn initialise_heads(&self, seed: u64) -> Vec<f32> {
        let k = self.config.draws;
        let mut head = self.head.initialise_plainly(seed.wrapping_add(1));
        let last = self.plan.layers()[self.config.depth as usize].clone();
        head[last.weight].iter_mut().for_each(|w| *w *= FIRST_SCALE);
        let mut rng = stream(seed, Purpose::Init, 1 << 20);
        let bias = &mut head[last.bias];
        for mode in bias[..4 * k].chunks_exact_mut(4) {
            let q = rotation::uniform(&mut rng);
            mode.iter_mut().zip(q).for_each(|(b, v)| *b = v as f32);
        }
        bias[4 * k..7 * k].fill(FIRST_SHARPNESS);
        head
    }

    fn loss(&self, weights: Tensor<1>, batch: &PoseBatch, _rng: &mut Rng, device: &Device) -> Tensor<1> {
        let n = batch.poses.len();
        let seen = self.network.features(&weights, batch, device);
        let said = chain(seen, self.network.heads(weights), &self.plan);
        let (density, weight) = self.components(said, &batch.poses, device);
        let all = density.clone() + weight;
        let largest = all.clone().detach().max_dim(1);
        let mixture = (all - largest.clone()).exp().sum_dim(1).log() + largest;
        let winner = density.clone().max_dim(1) * (WINNER - 1.0 / self.config.draws as f64).max(0.0);
        let others = density.mean_dim(1) * (1.0 - WINNER);
        (mixture + winner + others).sum() / -(n as f32)
    }

    fn sample(&self, weights: &[f32], images: &[f32], draws: usize, request: &SampleRequest) -> PoseResult {
        in_one_pass(NAME, request, |seed| {
            let mixtures = self.mixtures(weights, images);
            let mut poses = Vec::with_capacity(mixtures.len() * draws);
            for (i, mixture) in mixtures.iter().enumerate() {
                let mut rng = stream(seed, Purpose::Sample, i as u64);
                for _ in 0..draws {
                    let mut at = rng.random::<f64>();
                    let chosen = mixture.iter().find(|component| {
                        at -= component.ln_weight.exp();
                        at < 0.0
                    });
                    poses.extend(chosen.or(mixture.last()).map(|component| component.draw(&mut rng)));
                }
            }
            let peak = |c: &&Component| c.ln_weight - c.ln_normaliser;
            let best = |m: &Vec<Component>| m.iter().max_by(|a, b| peak(a).total_cmp(&peak(b))).map(|c| c.mode);
            (poses, mixtures.iter().map(|mixture| best(mixture).unwrap_or(IDENTITY)).collect())
        })
    }

    fn log_density(&self, weights: &[f32], images: &[f32], poses: &[Vec<Quaternion>]) -> Option<Vec<Vec<f64>>> {
        let mixtures = self.mixtures(weights, images);
        let density = |m: &Vec<Component>, q: &Quaternion| ln_sum(m.iter().map(|component| component.ln_density(q)));
        let rows = mixtures.iter().zip(poses);
        Some(rows.map(|(mixture, poses)| poses.iter().map(|q| density(mixture, q)).collect()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::pose::testing::on_solid;
    use crate::{
        device,
        method::pose::{grid::Cell, testing},
    };
    use mad_core::rotation::Symmetry;

    fn small() -> Mixed {
        let text = "method = 'bingham'\nsize = 16\nfeatures = 8\nwidth = 16\ndraws = 6";
        Mixed::new(&on_solid("cube", text))
    }

    #[test]
    fn the_density_has_mass_one() {
        let model = small();
        let batch = testing::batch("cube", 16, 2);
        let cells: Vec<Cell> = Cell::all(2).collect();
        let centres: Vec<Quaternion> = cells.iter().map(|cell| cell.centre()).collect();
        let densities = model.log_density(&model.initialise(1), &batch.images, &vec![centres; 2]).unwrap();
        for density in densities {
            let mass: f64 = density.iter().zip(&cells).map(|(d, cell)| (d + cell.ln_volume()).exp()).sum();
            assert!((mass - 1.0).abs() < 0.01, "{mass}");
        }
    }

    #[test]
    fn samples_have_the_moments_of_the_distribution() {
        // E r_j² = ∂ ln F/∂λ_j.
        for lambda in [[-0.5, -2.0, -3.0], [-5.0, -40.0, -900.0], [-3e4, -4e4, -2e5]] {
            let found = LogNormaliser::at(&lambda);
            let mode = rotation::uniform(&mut stream(1, Purpose::Metric, 0));
            let component = Component { ln_weight: 0.0, mode, lambda, ln_normaliser: found.value };
            let mut rng = stream(2, Purpose::Metric, 0);
            let (mut sums, n) = ([0.0; 3], 20_000);
            for _ in 0..n {
                let r = multiply(&conjugate(&mode), &component.draw(&mut rng));
                (0..3).for_each(|j| sums[j] += r[j] * r[j] / f64::from(n));
            }
            for j in 0..3 {
                assert!((sums[j] / found.slope[j] - 1.0).abs() < 0.06, "{lambda:?}: {sums:?} {:?}", found.slope);
            }
        }
    }

    #[test]
    fn tensors_and_host_agree() {
        let model = small();
        let weights = model.initialise(7);
        let batch = testing::batch("cube", 16, 3);
        let listed: Vec<Vec<Quaternion>> = batch.poses.iter().map(|q| vec![*q]).collect();
        let host = model.log_density(&weights, &batch.images, &listed).unwrap();
        let device = device::inference();
        let head = model.network.heads_on_host(&weights);
        let seen = bridge::matrix_f32(model.network.features_on_host(&weights, &batch.images), [3, 8], &device);
        let said = chain(seen, bridge::vector_f32(head.to_vec(), &device), &model.plan);
        let (density, weight) = model.components(said, &batch.poses, &device);
        let both = bridge::numbers_f64(density + weight);
        for (host, both) in host.iter().flatten().zip(both.chunks_exact(6)) {
            let said = ln_sum(both.iter().copied()) - LN_SCALE;
            assert!((host - said).abs() < 1e-4, "{host} {said}");
        }
    }

    #[test]
    fn the_gradient_sees_the_normaliser() {
        let model = small();
        let batch = testing::batch("cube", 16, 4);
        testing::check_gradient(&model, &batch, model.plan.len(), 5e-3);
    }

    #[test]
    fn training_lowers_loss_and_spread() {
        let text = "method = 'bingham'\nsize = 16\nwidth = 64\ndraws = 16\nbatch = 64\nfeatures = 32";
        let learned = testing::learn("cone", text, 200, 3e-3);
        assert!(learned.last_loss < learned.first_loss - 0.5, "{learned:?}");
        assert!(learned.spread < 0.75 * testing::chance(Symmetry::Axial), "{learned:?}");
    }
}
