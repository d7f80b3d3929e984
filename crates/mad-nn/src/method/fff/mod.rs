//! Free-form flows on manifolds: an encoder and a decoder that learn to be inverse to each other.

mod fitted;
mod latent;
mod loss;
mod map;
#[cfg(test)]
mod tests;

use super::{Fitted, Method, Objective};
use crate::{
    config::Config,
    net::Layout,
    run::{Run, RunError},
};
use burn_tensor::Tensor;
use fitted::FreeFormFlow;
use latent::Latent;
use loss::Training;
use mad_core::{manifold::Manifold, riemannian::Spheres};
use map::Map;
use std::{ops::Range, sync::Arc};

/// Maps f (encoder) and g (decoder) of the set to itself, trained to be inverse and to make codes f(x) follow the latent distribution.
///
/// # Formula
/// Samples are g(z), z from the latent distribution p_Z. The loss is the batch mean of
/// −log p_Z(f(x)) − v·Df(x)\[sg(Dg(z)\[v\])\] + λ |x − g(f(x))|² + further terms, sg stopping gradients: if g inverts f, the
/// gradient of the second term is on average that of the log-determinant of Df.
///
/// # Reference
/// Sorrenson et al. (2024), "Learning distributions on manifolds with free-form flows", and its code for all constants.
///
/// # Deviations
/// Rotations are unit quaternions with odd maps instead of 3×3 matrices with a polar projection ([`map`]). Networks start as
/// the identity. The probe v has length √d instead of √D (`volume=ambient` for the latter). Densities are read where g(z) = x
/// (`newton=0` reads them at z = f(x)).
pub(super) struct FreeForm;

impl Method for FreeForm {
    fn layout(&self, run: &Run) -> Layout {
        model(run).layout
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        Ok(Box::new(Training::open(model(run), run)?))
    }

    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        let newton = run.config().method.number("newton") as usize;
        Ok(Box::new(FreeFormFlow::new(model(run), weights, run.manifold().clone(), newton)))
    }
}

fn model(run: &Run) -> Model {
    Model::new(run.config(), run.manifold()).expect("checked when the config was made")
}

/// Sizes of both networks and of the latent distribution; everything but the numbers.
#[derive(Debug, Clone)]
struct Model {
    spheres: Spheres,
    map: Map,
    latent: Latent,
    layout: Layout,
}

/// The numbers of a model, one vector for each block of each network.
struct Parameters {
    encoder: Vec<Tensor<1>>,
    decoder: Vec<Tensor<1>>,
    latent: Tensor<1>,
}

impl Model {
    /// A model of the size in `config`; `None` unless `manifold` is made of spheres.
    fn new(config: &Config, manifold: &Arc<dyn Manifold>) -> Option<Self> {
        let spheres = Spheres::of(manifold.as_ref())?;
        let spec = &config.method;
        let map = Map::new(config, &spheres, spec.number("blocks") as usize);
        let latent = Latent::new(spec.word("latent"), &spheres, manifold.clone());
        let parts = [("encoder", map.layout()), ("decoder", map.layout()), ("latent", latent.layout())];
        let layout = Layout::joined(parts);
        Some(Self { spheres, map, latent, layout })
    }

    /// Identity maps and a latent distribution with random centres.
    fn initialise(&self, config: &Config, seed: u64) -> Vec<f32> {
        let maps = Layout::joined([("encoder", self.map.layout()), ("decoder", self.map.layout())]);
        let mut numbers = maps.initialise(config.activation, seed);
        numbers.extend(self.latent.initialise(seed, maps.slots().len() as u64));
        numbers
    }

    /// Where the latent distribution has its numbers.
    fn latent_range(&self) -> Range<usize> {
        2 * self.map.layout().len()..self.layout.len()
    }

    fn split(&self, numbers: &Tensor<1>) -> Parameters {
        let blocks = |first: usize| self.map.ranges(first).map(|range| numbers.clone().slice([range])).collect();
        let latent = match self.latent_range() {
            range if range.is_empty() => Tensor::empty([0], &numbers.device()),
            range => numbers.clone().slice([range]),
        };
        Parameters { encoder: blocks(0), decoder: blocks(self.map.layout().len()), latent }
    }
}
