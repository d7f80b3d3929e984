//! Odd by asking twice.

use super::{Chain, Condition, Dual, Network, Question, Shape, input::assemble, mlp::coordinates};
use burn_tensor::Device;
use mad_core::Points;

/// F = (f(x) − f(−x))/2 with a plain network f (MAD, section on SO(3)).
#[derive(Debug, Clone, Copy)]
pub struct AntisymmetricMlp;

impl Network for AntisymmetricMlp {
    fn features(&self, dim: usize) -> usize {
        dim
    }

    fn outputs(&self, dim: usize) -> usize {
        dim
    }

    /// Both signs go through the chain as one batch: rows 0..n are x, rows n..2n are −x.
    ///
    /// # Formula
    /// F = (f(x) − f(−x))/2 and ∂F = (f′(x) + f′(−x))/2.
    fn answer(&self, shape: &Shape, chain: &Chain, question: &Question, device: &Device) -> Dual {
        let (n, d) = (question.x.len(), shape.dim);
        let mut x = question.x.clone();
        x.extend(&Points::from_vec(question.x.as_slice().iter().map(|v| -v).collect(), question.x.dim()));
        let sigma = [question.sigma, question.sigma].concat();
        let condition = question.condition.map(|c| {
            let mut values = c.values.clone();
            values.extend(c.values);
            (values, [c.present, c.present].concat())
        });
        let both = Question {
            x: &x,
            sigma: &sigma,
            condition: condition.as_ref().map(|(values, present)| Condition { values, present }),
            tangents: question.tangents,
        };
        let f = chain.run(assemble(shape, &coordinates(shape.dim), &both, device));
        Dual {
            value: (f.value.clone().slice([0..n, 0..d]) - f.value.slice([n..2 * n, 0..d])) * 0.5,
            tangent: f.tangent.map(|t| (t.clone().slice([0..d, 0..n]) + t.slice([0..d, n..2 * n])) * 0.5),
        }
    }
}
