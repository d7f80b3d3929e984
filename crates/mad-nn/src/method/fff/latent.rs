//! The distribution of the codes.

use super::map::same_sphere;
use crate::{bridge, net::Layout};
use burn_tensor::{Tensor, activation::log_softmax};
use mad_core::{
    manifold::Manifold,
    measure::{BaseMeasure, Component, MAX_CONCENTRATION, SphereBlock, VonMisesFisherMixture},
    riemannian::Spheres,
    rng::{Purpose, stream},
    special::{bessel_ratio, ln_mean_exp, norm},
};
use std::sync::Arc;

/// Components of a mixture and their concentration at the start, as published for the earth sets.
const COMPONENTS: usize = 5;
const START: f64 = 5.0 * std::f64::consts::SQRT_2;

/// Uniform (no components), or a mixture of products of von Mises–Fisher densities with learned numbers.
///
/// # Formula
/// p(z) = Σ_j w_j Π_b exp(κ_jb μ_jb·z_b)/J(κ_jb) / vol, b over spheres; with cosh instead of exp where signs are free. Learned
/// are vectors along μ, ln κ, and w up to a softmax.
#[derive(Debug, Clone)]
pub(super) struct Latent {
    blocks: Vec<SphereBlock>,
    dim: usize,
    components: usize,
    manifold: Arc<dyn Manifold>,
    layout: Layout,
}

impl Latent {
    /// The distribution called `uniform` or `mixture`.
    pub fn new(name: &str, spheres: &Spheres, manifold: Arc<dyn Manifold>) -> Self {
        let (dim, blocks) = (spheres.ambient_dim(), spheres.blocks().to_vec());
        let components = if name == "mixture" { COMPONENTS } else { 0 };
        let layout = match components {
            0 => Layout::empty(),
            k => {
                Layout::tensors(&[("mean", &[k, dim]), ("log_concentration", &[k, blocks.len()]), ("log_weight", &[k])])
            }
        };
        Self { blocks, dim, components, manifold, layout }
    }

    /// Names and shapes of the learned numbers.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Centres uniform, weights equal. Chance comes from the stream `index` of initial weights.
    pub fn initialise(&self, seed: u64, index: u64) -> Vec<f32> {
        let (mut rng, uniform) = (stream(seed, Purpose::Init, index), self.manifold.uniform());
        let mut numbers = vec![0.0; self.layout.len()];
        let (means, rest) = numbers.split_at_mut(self.components * self.dim);
        for mean in means.chunks_exact_mut(self.dim) {
            let mut centre = vec![0.0; self.dim];
            uniform.sample(&mut rng, &mut centre);
            mean.iter_mut().zip(centre).for_each(|(m, v)| *m = v as f32);
        }
        rest[..self.components * self.blocks.len()].fill(START.ln() as f32);
        numbers
    }

    /// The distribution with these numbers, for draws and exact densities.
    pub fn distribution(&self, numbers: &[f32]) -> Arc<dyn BaseMeasure> {
        let (dim, spheres) = (self.dim, self.blocks.len());
        let component = |j: usize| {
            let part = |first: usize, len: usize| {
                numbers[self.components * first + j * len..][..len].iter().map(|&v| f64::from(v)).collect::<Vec<f64>>()
            };
            let mut mean = part(0, dim);
            self.normalise(&mut mean);
            let concentrations = part(dim, spheres).into_iter().map(|v| v.exp().min(MAX_CONCENTRATION)).collect();
            let weight = part(dim + spheres, 1)[0].exp().clamp(f64::MIN_POSITIVE, f64::MAX.sqrt());
            Component { weight, mean, concentrations }
        };
        match self.components {
            0 => self.manifold.uniform(),
            k => {
                let mixture = VonMisesFisherMixture::on(self.manifold.as_ref(), (0..k).map(component).collect());
                Arc::new(mixture.expect("weights of a model are finite, and its set is made of spheres"))
            }
        }
    }

    fn normalise(&self, mean: &mut [f64]) {
        for block in &self.blocks {
            let mean = &mut mean[block.range.clone()];
            let length = norm(mean);
            mean.iter_mut().for_each(|m| *m /= length);
        }
    }

    /// Log-density of each row with respect to volume, `n`, open to the backward pass in `z` and `numbers`.
    ///
    /// # Numerics
    /// ln J enters as ln J(κ₀) + A(κ₀) (κ − κ₀), with κ₀ the value of κ: exact with its slope, and Bessel functions stay on the
    /// host.
    pub fn log_density(&self, z: Tensor<2>, numbers: &Tensor<1>) -> Tensor<1> {
        let (n, k, dim, spheres) = (z.dims()[0], self.components, self.dim, self.blocks.len());
        let device = z.device();
        if k == 0 {
            return Tensor::full([n], -self.manifold.log_volume(), &device);
        }
        let piece = |first: usize, len: usize| numbers.clone().narrow(0, first, len);
        let means = piece(0, k * dim).reshape([k, dim]);
        let means = means.clone() / means.square().matmul(same_sphere(&self.blocks, dim, &device)).sqrt();
        let kappa = piece(k * dim, k * spheres).reshape([k, spheres]).exp();
        let weights = log_softmax(piece(k * (dim + spheres), k), 0).reshape([1, k]);
        let now = bridge::numbers_f64(kappa.clone().detach());
        let per_sphere = |f: &dyn Fn(usize, f64) -> f64| {
            let values: Vec<f64> =
                now.iter().enumerate().map(|(i, &kappa)| f(self.blocks[i % spheres].range.len(), kappa)).collect();
            bridge::matrix(&values, spheres, &device)
        };
        let slope = |dim: usize, kappa: f64| bessel_ratio(dim as f64 / 2.0 - 1.0, kappa);
        let slopes = per_sphere(&slope);
        let constants = per_sphere(&|dim, kappa| ln_mean_exp(dim, kappa) - slope(dim, kappa) * kappa);
        let normaliser = (constants + slopes * kappa.clone()).sum_dim(1).reshape([1, k]);
        let mut terms = weights - normaliser;
        for (b, block) in self.blocks.iter().enumerate() {
            let (first, len) = (block.range.start, block.range.len());
            let tilt = means.clone().narrow(1, first, len) * kappa.clone().narrow(1, b, 1);
            let along = z.clone().narrow(1, first, len).matmul(tilt.transpose());
            let gain = match block.antipodal {
                false => along,
                // ln cosh a = |a| + ln(1 + e^{−2|a|}) − ln 2
                true => {
                    let size = along.abs();
                    size.clone() + (size * -2.0).exp().log1p() - std::f64::consts::LN_2
                }
            };
            terms = gain + terms;
        }
        let largest = terms.clone().detach().max_dim(1);
        let sum = (terms - largest.clone()).exp().sum_dim(1).log() + largest;
        sum.reshape([n]) - self.manifold.log_volume()
    }
}
