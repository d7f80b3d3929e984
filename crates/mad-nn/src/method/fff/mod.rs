//! Free-form flows on manifolds: an encoder and a decoder that learn to be inverse to each other.

mod fitted;
mod latent;
mod loss;
mod map;
#[cfg(test)]
mod tests;

use super::{Fitted, Method, MethodEntry, MethodOption, MethodSpec, Objective};
use crate::{
    config::{Config, Domain},
    net::Layout,
    run::{Run, RunError},
};
use burn::tensor::Tensor;
use fitted::FreeFormFlow;
use latent::Latent;
use loss::Training;
use mad_core::{manifold::Manifold, riemannian::Spheres};
use map::Map;
use std::{ops::Range, sync::Arc};

/// Registry entry.
pub const ENTRY: MethodEntry = MethodEntry {
    name: "fff",
    summary: "free-form flow: an encoder and a decoder that learn to be inverse; one network call per sample",
    method: &FreeForm,
};

const WEIGHT: Domain = Domain::Number(0.0, 1e9);

/// Published: earth `reconstruction=10000,z_sample=200,x_sample=200,latent=mixture,noise=0.0015,volume=ambient`; rotations
/// `blocks=2,reconstruction=4000,z_sample=80,x_sample=80,z_projection=10,x_projection=10,volume=ambient` with width 512, depth 5,
/// activation silu. There the published weights 500, 10 and 10 are of distances between matrices, whose squares are eight times
/// those between quaternions for a small turn.
const OPTIONS: &[MethodOption] = &[
    MethodOption::new("blocks", Domain::Count(1, 64), "4", "residual blocks in each of the two networks"),
    MethodOption::new(
        "latent",
        Domain::Choice(|| vec!["uniform", "mixture"]),
        "uniform",
        "law of the codes: uniform, or a learned mixture of five von Mises-Fisher densities",
    ),
    MethodOption::new("nll", WEIGHT, "1", "weight of the likelihood"),
    MethodOption::new("reconstruction", WEIGHT, "500", "weight of |x - g(f(x))|^2 on data"),
    MethodOption::new("z_sample", WEIGHT, "10", "weight of |z - f(g(z))|^2 on draws of the latent law"),
    MethodOption::new("x_sample", WEIGHT, "10", "weight of |x - g(f(x))|^2 on draws of the latent law"),
    MethodOption::new("z_reconstruction", WEIGHT, "0", "weight of |z - f(g(z))|^2 on codes of data"),
    MethodOption::new("z_projection", WEIGHT, "0", "weight of the encoder's distance from the set before projection"),
    MethodOption::new("x_projection", WEIGHT, "0", "weight of the decoder's distance from the set before projection"),
    MethodOption::new(
        "volume",
        Domain::Choice(|| vec!["tangent", "ambient"]),
        "tangent",
        "dimension that scales the estimate of the volume: tangent has no bias, ambient (9 for a rotation) is published",
    ),
    MethodOption::new("noise", Domain::Number(0.0, 10.0), "0", "deviation of noise on inputs, before projection"),
    MethodOption::new(
        "newton",
        Domain::Count(0, 100),
        "10",
        "most Newton steps from f(x) towards g(z) = x before a density is read; 0 is published",
    ),
];

/// Maps f (encoder) and g (decoder) of the set to itself, trained to be inverse and to make codes f(x) follow the latent law.
///
/// # Formula
/// Samples are g(z), z from the latent law p_Z. The loss is the batch mean of
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
#[derive(Debug)]
struct FreeForm;

impl Method for FreeForm {
    fn options(&self) -> &'static [MethodOption] {
        OPTIONS
    }

    fn settings(&self) -> &'static str {
        // The likelihood of an encoder that is not yet inverse to the decoder means nothing, so it selects nothing.
        "nfe = 1\nwidth = 256\ndepth = 2\ninput_gain = 2.0\nselect = 'last'"
    }

    fn refuses(&self, spec: &MethodSpec, manifold: &dyn Manifold) -> Option<String> {
        let name = spec.entry.name;
        let problem = || format!("{name} needs a set made of unit spheres: spheres, so3, tori and products of these");
        manifold.spheres().is_none().then(problem)
    }

    fn layout(&self, run: &Run) -> Layout {
        model(run).layout
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        Ok(Box::new(Training::open(model(run), run)?))
    }

    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        let newton = run.config().method_spec().number("newton") as usize;
        Ok(Box::new(FreeFormFlow::new(model(run), weights, run.manifold().clone(), newton)))
    }
}

fn model(run: &Run) -> Model {
    Model::new(run.config(), run.manifold()).expect("checked when the config was made")
}

/// Sizes of both networks and of the latent law; everything but the numbers.
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
        let spec = config.method_spec();
        let map = Map::new(config, &spheres, spec.number("blocks") as usize);
        let latent = Latent::new(spec.word("latent"), &spheres, manifold.clone());
        let parts = [("encoder", map.layout()), ("decoder", map.layout()), ("latent", latent.layout())];
        let layout = Layout::joined(parts);
        Some(Self { spheres, map, latent, layout })
    }

    /// Identity maps and a latent law with random centres.
    fn initialise(&self, config: &Config, seed: u64) -> Vec<f32> {
        let maps = Layout::joined([("encoder", self.map.layout()), ("decoder", self.map.layout())]);
        let mut numbers = maps.initialise(config.activation, seed);
        numbers.extend(self.latent.initialise(seed, maps.slots().len() as u64));
        numbers
    }

    /// Where the latent law has its numbers.
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
