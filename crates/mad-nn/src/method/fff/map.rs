//! A map of a product of spheres to itself: residual blocks, then projection.

use crate::{
    bridge,
    config::Config,
    kernel::{Plan, chain_tangents},
    net::Layout,
};
use burn_tensor::{Device, Tensor};
use mad_core::{measure::SphereBlock, riemannian::Spheres};
use std::ops::Range;

/// Size and geometry of the map.
///
/// # Formula
/// y ← y + F(y) block by block, then y/|y| sphere by sphere. Where x and −x are the same point, as for quaternions, F sees
/// y yᵀ and answers with a matrix M: y ← y + M(y yᵀ) y. So the map is odd, f(−x) = −f(x), and a map of rotations.
#[derive(Debug, Clone)]
pub(super) struct Map {
    blocks: Vec<SphereBlock>,
    gain: f64,
    plan: Plan,
    layout: Layout,
    count: usize,
}

/// Where points went.
pub(super) struct Image {
    /// Before projection, `n × D`.
    pub raw: Tensor<2>,
    /// On the set, and tangents there, one matrix after the other: `(1 + directions) × n × D`.
    pub on_set: Tensor<3>,
}

impl Image {
    /// The points, `n × D`.
    pub fn points(&self) -> Tensor<2> {
        part(&self.on_set, 0)
    }

    /// The first tangents, `n × D`.
    pub fn tangents(&self) -> Tensor<2> {
        part(&self.on_set, 1)
    }

    /// Squared distance from the set before projection, summed over rows.
    pub(crate) fn off_set(&self) -> Tensor<1> {
        (self.raw.clone() - self.points()).square().sum()
    }
}

fn part(parts: &Tensor<3>, index: usize) -> Tensor<2> {
    let [_, n, dim] = parts.dims();
    parts.clone().narrow(0, index, 1).reshape([n, dim])
}

impl Map {
    /// A map of `count` residual blocks, each with hidden layers as in `config`.
    pub fn new(config: &Config, spheres: &Spheres, count: usize) -> Self {
        let blocks = spheres.blocks().to_vec();
        let numbers = |antipodal: fn(usize) -> usize| -> usize {
            let of = |b: &SphereBlock| if b.antipodal { antipodal(b.range.len()) } else { b.range.len() };
            blocks.iter().map(of).sum()
        };
        let ends = numbers(|n| n * n);
        let plan = Plan::hidden(ends, config.width as usize, config.depth as usize, ends, config.activation);
        let one = Layout::chain(&plan);
        let names: Vec<String> = (0..count).map(|i| format!("block{i}")).collect();
        let layout = Layout::joined(names.iter().map(|name| (name.as_str(), &one)));
        Self { blocks, gain: config.input_gain, plan, layout, count }
    }

    /// Names and shapes of the weights.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the weights of each block are if those of the map begin at `first`.
    pub fn ranges(&self, first: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let len = self.plan.len();
        (0..self.count).map(move |i| first + i * len..first + (i + 1) * len)
    }

    /// The images of points and of tangents at them, laid out as in [`chain_tangents`]; all open to the backward pass.
    pub fn run(&self, x: Tensor<3>, weights: &[Tensor<1>]) -> Image {
        let y = weights.iter().fold(x, |y, weights| {
            let answer = chain_tangents(self.features(&y), weights.clone(), &self.plan);
            y.clone() + self.residual(y, answer)
        });
        self.project(y)
    }

    /// The images of points alone.
    pub fn points(&self, x: Tensor<2>, weights: &[Tensor<1>]) -> Image {
        self.run(x.unsqueeze_dim(0), weights)
    }

    /// The images of points and of one tangent at each.
    pub fn along(&self, x: Tensor<2>, tangent: Tensor<2>, weights: &[Tensor<1>]) -> Image {
        self.run(Tensor::stack(vec![x, tangent], 0), weights)
    }

    fn is_plain(&self) -> bool {
        self.blocks.iter().all(|block| !block.antipodal)
    }

    /// What the first layer sees: y, or √n y yᵀ, whose entries have the root mean square of those of y.
    fn features(&self, y: &Tensor<3>) -> Tensor<3> {
        if self.is_plain() {
            return y.clone() * self.gain;
        }
        let [parts, rows, _] = y.dims();
        let of = |block: &SphereBlock| {
            let n = block.range.len();
            let y = y.clone().narrow(2, block.range.start, n);
            if !block.antipodal {
                return y * self.gain;
            }
            let squares = product(y.clone().unsqueeze_dim(3), y.unsqueeze_dim(2));
            squares.reshape([parts, rows, n * n]) * (self.gain * (n as f64).sqrt())
        };
        Tensor::cat(self.blocks.iter().map(of).collect(), 2)
    }

    /// What a block adds to y.
    fn residual(&self, y: Tensor<3>, answer: Tensor<3>) -> Tensor<3> {
        if self.is_plain() {
            return answer;
        }
        let [parts, rows, _] = y.dims();
        let mut first = 0;
        let of = |block: &SphereBlock| {
            let n = block.range.len();
            let width = if block.antipodal { n * n } else { n };
            let answer = answer.clone().narrow(2, first, width);
            first += width;
            if !block.antipodal {
                return answer;
            }
            let y = y.clone().narrow(2, block.range.start, n).unsqueeze_dim(2);
            product(answer.reshape([parts, rows, n, n]), y).sum_dim(3).reshape([parts, rows, n])
        };
        Tensor::cat(self.blocks.iter().map(of).collect(), 2)
    }

    /// # Formula
    /// p = y/|y| and ṗ = (ẏ − p (p·ẏ))/|y|, sphere by sphere.
    fn project(&self, y: Tensor<3>) -> Image {
        let [parts, rows, dim] = y.dims();
        let same = same_sphere(&self.blocks, dim, &y.device());
        let over_sphere = |v: Tensor<3>| {
            let shape = v.dims();
            v.reshape([shape[0] * rows, dim]).matmul(same.clone()).reshape(shape)
        };
        let raw = y.clone().narrow(0, 0, 1);
        let length = over_sphere(raw.clone().square()).sqrt();
        let point = raw.clone() / length.clone();
        let raw = raw.reshape([rows, dim]);
        if parts == 1 {
            return Image { raw, on_set: point };
        }
        let moved = y.narrow(0, 1, parts - 1);
        let away = over_sphere(moved.clone() * point.clone());
        let tangents = (moved - away * point.clone()) / length;
        Image { raw, on_set: Tensor::cat(vec![point, tangents], 0) }
    }
}

/// The matrix that replaces each coordinate by the sum over its sphere.
pub(super) fn same_sphere(blocks: &[SphereBlock], dim: usize, device: &Device) -> Tensor<2> {
    let mut same = vec![0.0; dim * dim];
    for block in blocks {
        for i in block.range.clone() {
            same[i * dim..][block.range.clone()].fill(1.0);
        }
    }
    bridge::matrix(&same, dim, device)
}

/// The product of two quantities and its derivatives: along the first axis values come first, then tangents.
fn product(a: Tensor<4>, b: Tensor<4>) -> Tensor<4> {
    let parts = a.dims()[0];
    let (a0, b0) = (a.clone().narrow(0, 0, 1), b.clone().narrow(0, 0, 1));
    let value = a0.clone() * b0.clone();
    if parts == 1 {
        return value;
    }
    let tangents = a.narrow(0, 1, parts - 1) * b0 + a0 * b.narrow(0, 1, parts - 1);
    Tensor::cat(vec![value, tangents], 0)
}
