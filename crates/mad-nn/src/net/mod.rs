//! Networks F(x, σ, c): their inputs, how they are evaluated, and the list of kinds.
//!
//! All kinds are a chain of dense layers; they differ in what they feed into it and how they read its output. One forward
//! function serves training (values, recorded by Burn) and densities (values with exact derivatives along x).

mod antisymmetric;
mod dense;
mod input;
mod mlp;
mod odd;
mod parameters;

pub use crate::kernel::Activation;
pub use antisymmetric::AntisymmetricMlp;
pub use dense::{Chain, Dual};
pub use input::{Condition, Question};
pub use mlp::Mlp;
pub use odd::OddMlp;
pub use parameters::{Layout, Slot};

use crate::kernel::{Plan, forward::Forward};
use burn_tensor::{Device, Tensor};
use mad_core::registry::Named;

/// How a kind of network turns a question into an answer with a chain of dense layers.
pub trait Network: std::fmt::Debug + Send + Sync {
    /// How many numbers the chain is fed about x, in `dim` ambient coordinates.
    fn features(&self, dim: usize) -> usize;

    /// How many numbers the chain answers.
    fn outputs(&self, dim: usize) -> usize;

    /// F for every row of the question, `n × d`, with its derivatives if the question asks for them.
    fn answer(&self, shape: &Shape, chain: &Chain, question: &Question, device: &Device) -> Dual;
}

/// One line of [`NETWORKS`].
#[derive(Debug, Clone, Copy)]
pub struct NetworkEntry {
    /// Name in commands and configs.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Whether F(−x) = −F(x) by construction, which only suits sets where x and −x are the same point.
    pub odd: bool,
    /// The network.
    pub network: &'static dyn Network,
}

/// All kinds of networks.
pub const NETWORKS: &[NetworkEntry] = &[
    NetworkEntry {
        name: "mlp",
        summary: "dense layers on the scaled point and the noise level",
        odd: false,
        network: &Mlp,
    },
    NetworkEntry {
        name: "odd-mlp",
        summary: "odd by construction: matrix M(x xᵀ, σ) times x, one evaluation",
        odd: true,
        network: &OddMlp,
    },
    NetworkEntry {
        name: "antisymmetric-mlp",
        summary: "odd by two evaluations: (f(x) − f(−x))/2, as in the MAD paper",
        odd: true,
        network: &AntisymmetricMlp,
    },
];

impl Named for NetworkEntry {
    const KIND: &'static str = "network";

    fn name(&self) -> &'static str {
        self.name
    }
}

/// Size of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Ambient coordinates d.
    pub dim: usize,
    /// Numbers in the condition; 0 for none.
    pub condition: usize,
    /// Numbers in each hidden layer.
    pub width: usize,
    /// Hidden layers.
    pub depth: usize,
    /// Activation function of the hidden layers.
    pub activation: Activation,
    /// Factor on the features of the scaled point.
    pub input_gain: f64,
}

/// A kind of network with its size: everything but the weights.
#[derive(Debug, Clone)]
pub struct Model {
    entry: &'static NetworkEntry,
    shape: Shape,
    plan: Plan,
    layout: Layout,
}

impl Model {
    /// A network of this kind and size.
    pub fn new(entry: &'static NetworkEntry, shape: Shape) -> Self {
        let inputs = entry.network.features(shape.dim) + input::extra(&shape);
        let outputs = entry.network.outputs(shape.dim);
        let plan = Plan::hidden(inputs, shape.width, shape.depth, outputs, shape.activation);
        Self { entry, layout: Layout::chain(&plan), plan, shape }
    }

    /// Its line in [`NETWORKS`].
    pub fn entry(&self) -> &'static NetworkEntry {
        self.entry
    }

    /// Its size.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Sizes of its layers.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Names and shapes of its weights.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Initial weights under `seed`.
    pub fn initialise(&self, seed: u64) -> Vec<f32> {
        self.layout.initialise(self.shape.activation, seed)
    }

    /// The layers with these weights on tensors.
    pub fn chain(&self, weights: Tensor<1>) -> Chain {
        Chain::Tensors { weights, plan: self.plan.clone() }
    }

    /// The layers with these weights on the host, for answers.
    pub(crate) fn on_host(&self, weights: &[f32]) -> Chain {
        Chain::Host(Forward::new(self.plan.clone(), weights))
    }

    /// F for every row of the question, `n × d`, computed with the weights in `chain`.
    pub fn answer(&self, chain: &Chain, question: &Question, device: &Device) -> Dual {
        self.entry.network.answer(&self.shape, chain, question, device)
    }
}
