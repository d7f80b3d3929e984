//! A network whose answer is a tangent vector: X(x, t) = Σ fᵢ(x, t) Xᵢ(x).

use crate::{
    bridge,
    config::Config,
    kernel::{
        Plan, chain_tangents,
        forward::{Forward, Scratch},
    },
    net::Layout,
};
use burn_tensor::{Device, Tensor};
use mad_core::{
    Points,
    manifold::Manifold,
    measure::SphereBlock,
    riemannian::{Frames, Generator, Spheres, TangentField},
    special::dot,
};
use rayon::prelude::*;

/// Rows evaluated together.
const BLOCK_ROWS: usize = 128;

/// Size and geometry of the network; everything but the weights.
#[derive(Debug, Clone)]
pub struct FieldNetwork {
    spheres: Spheres,
    generator: Generator,
    gain: f64,
    plan: Plan,
    layout: Layout,
}

/// What a loss needs to know at each point of a batch besides the network's answer.
pub(super) struct Places {
    /// ⟨basis vector a, Xᵢ⟩, `d × n × m`.
    pub coefficients: Tensor<3>,
    /// div Xᵢ, `n × m`.
    pub divergences: Tensor<2>,
    /// Basis vectors, `n` rows of `d` vectors.
    pub bases: Vec<Vec<f64>>,
}

impl FieldNetwork {
    /// A network of the size in `config` on `manifold`, which must be made of spheres. `generator` may be `auto`.
    pub fn new(config: &Config, manifold: &dyn Manifold, generator: &str) -> Option<Self> {
        let spheres = Spheres::of(manifold)?;
        let named = Generator::ALL.iter().find(|(name, _)| *name == generator).map(|(_, generator)| *generator);
        let generator = named.unwrap_or_else(|| Generator::usual(&spheres));
        if !generator.suits(&spheres) {
            return None;
        }
        let inputs = spheres.blocks().iter().map(features).sum::<usize>() + 1;
        let (width, depth) = (config.width as usize, config.depth as usize);
        let plan = Plan::hidden(inputs, width, depth, generator.fields(&spheres), config.activation);
        Some(Self { layout: Layout::chain(&plan), spheres, generator, gain: config.input_gain, plan })
    }

    /// Names and shapes of the weights.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The geometry.
    pub fn spheres(&self) -> &Spheres {
        &self.spheres
    }

    fn features(&self) -> usize {
        self.plan.inputs() - 1
    }

    /// What the first layer sees of x and t.
    fn write_input(&self, x: &[f64], t: f64, out: &mut [f64]) {
        self.write_features(x, out);
        out[self.features()] = t;
    }

    fn write_features(&self, x: &[f64], out: &mut [f64]) {
        let mut first = 0;
        for block in self.spheres.blocks() {
            let x = &x[block.range.clone()];
            let target = &mut out[first..first + features(block)];
            match block.antipodal {
                false => target.copy_from_slice(x),
                true => even(x, target),
            }
            target.iter_mut().for_each(|v| *v *= self.gain);
            first += features(block);
        }
    }

    /// The derivative of what the first layer sees along `v`. Features are linear or quadratic in x, so a difference is exact.
    fn write_tangent(&self, x: &[f64], v: &[f64], out: &mut [f64]) {
        let moved = |sign: f64| {
            let there: Vec<f64> = x.iter().zip(v).map(|(x, v)| x + sign * v).collect();
            let mut features = vec![0.0; self.features()];
            self.write_features(&there, &mut features);
            features
        };
        for ((out, after), before) in out.iter_mut().zip(moved(1.0)).zip(moved(-1.0)) {
            *out = 0.5 * (after - before);
        }
        out[self.features()] = 0.0;
    }

    /// Numbers that follow the frames of all rows.
    pub(super) fn places(&self, x: &Points, device: &Device) -> Places {
        let (n, d, m) = (x.len(), self.spheres.intrinsic_dim(), self.plan.outputs());
        let bases: Vec<Vec<f64>> = x.rows().map(|x| self.spheres.basis(x)).collect();
        let frames: Vec<Frames> =
            x.rows().zip(&bases).map(|(x, basis)| self.generator.frames(&self.spheres, x, basis)).collect();
        let mut coefficients = vec![0.0; d * n * m];
        for (i, frames) in frames.iter().enumerate() {
            for (a, row) in frames.coefficients.chunks_exact(m).enumerate() {
                coefficients[(a * n + i) * m..][..m].copy_from_slice(row);
            }
        }
        let divergences: Vec<f64> = frames.iter().flat_map(|f| f.divergences.iter().copied()).collect();
        Places {
            coefficients: bridge::matrix(&coefficients, m, device).reshape([d, n, m]),
            divergences: bridge::matrix(&divergences, m, device),
            bases,
        }
    }

    /// The network's numbers f, `n × m`, and their derivatives along `directions[row][k]`, one matrix after the other.
    pub(super) fn answer(
        &self,
        weights: Tensor<1>,
        x: &Points,
        t: &[f64],
        directions: &[Vec<f64>],
        device: &Device,
    ) -> Tensor<3> {
        let (n, dim, width) = (x.len(), x.dim(), self.plan.inputs());
        let count = directions.first().map_or(0, |row| row.len() / dim);
        let mut input = vec![0.0; (1 + count) * n * width];
        for (i, (x, &t)) in x.rows().zip(t).enumerate() {
            self.write_input(x, t, &mut input[i * width..][..width]);
            for k in 0..count {
                let v = &directions[i][k * dim..][..dim];
                self.write_tangent(x, v, &mut input[((1 + k) * n + i) * width..][..width]);
            }
        }
        let input = bridge::matrix(&input, width, device).reshape([1 + count, n, width]);
        chain_tangents(input, weights, &self.plan)
    }

    /// The mean over rows of |X − target|², and its gradient; `target` is a tangent vector at each row of `x`.
    pub(super) fn regress(
        &self,
        weights: &mut Vec<f32>,
        x: &Points,
        t: &[f64],
        target: &Points,
        device: &Device,
    ) -> (f64, Vec<f32>) {
        let places = self.places(x, device);
        let (n, dim, d) = (x.len(), x.dim(), self.spheres.intrinsic_dim());
        let mut along = vec![0.0; d * n];
        for (i, (basis, target)) in places.bases.iter().zip(target.rows()).enumerate() {
            for (a, vector) in basis.chunks_exact(dim).enumerate() {
                along[a * n + i] = dot(vector, target);
            }
        }
        let along = bridge::matrix(&along, n, device);
        bridge::differentiate(weights, device, |weights| {
            let f = self.answer(weights, x, t, &[], device);
            let found = (places.coefficients * f).sum_dim(2).reshape([d, n]);
            (found - along).square().sum() / n as f32
        })
    }

    /// The network with these weights, ready to answer; vectors are scaled by `scale(t)`.
    pub fn learned(&self, weights: &[f32], scale: impl Fn(f64) -> f64 + Send + Sync + 'static) -> LearnedField {
        let forward = Forward::new(self.plan.clone(), weights);
        LearnedField { network: self.clone(), forward, scale: Box::new(scale) }
    }
}

/// Numbers that stand for a block: its coordinates or, where the sign is free, what does not depend on it.
fn features(block: &SphereBlock) -> usize {
    let n = block.range.len();
    match (block.antipodal, n) {
        (false, _) => n,
        (true, 4) => 9,
        (true, _) => n * (n + 1) / 2,
    }
}

/// The rotation matrix of a quaternion; on other spheres all products of two coordinates.
fn even(x: &[f64], out: &mut [f64]) {
    if let [a, b, c, w] = *x {
        let (aa, bb, cc, ww) = (a * a, b * b, c * c, w * w);
        out.copy_from_slice(&[
            ww + aa - bb - cc,
            2.0 * (a * b - c * w),
            2.0 * (a * c + b * w),
            2.0 * (a * b + c * w),
            ww - aa + bb - cc,
            2.0 * (b * c - a * w),
            2.0 * (a * c - b * w),
            2.0 * (b * c + a * w),
            ww - aa - bb + cc,
        ]);
        return;
    }
    let pairs = (0..x.len()).flat_map(|i| (i..x.len()).map(move |j| (i, j)));
    out.iter_mut().zip(pairs).for_each(|(out, (i, j))| *out = x[i] * x[j]);
}

/// A field network with its weights.
pub struct LearnedField {
    network: FieldNetwork,
    forward: Forward,
    scale: Box<dyn Fn(f64) -> f64 + Send + Sync>,
}

impl LearnedField {
    /// The geometry.
    pub fn spheres(&self) -> &Spheres {
        &self.network.spheres
    }

    fn block(&self, x: &[f64], t: f64, with_divergence: bool) -> (Vec<f64>, Vec<f64>) {
        let FieldNetwork { spheres, generator, plan, .. } = &self.network;
        let (dim, d, m, width) = (spheres.ambient_dim(), spheres.intrinsic_dim(), plan.outputs(), plan.inputs());
        let n = x.len() / dim;
        let count = if with_divergence { d } else { 0 };
        let bases: Vec<Vec<f64>> = x.chunks_exact(dim).map(|x| spheres.basis(x)).collect();
        let (mut values, mut tangents) = (vec![0.0f32; n * width], vec![0.0f32; count * n * width]);
        let mut row = vec![0.0; width];
        let rounded = |target: &mut [f32], row: &[f64]| target.iter_mut().zip(row).for_each(|(t, v)| *t = *v as f32);
        for (i, (x, basis)) in x.chunks_exact(dim).zip(&bases).enumerate() {
            self.network.write_input(x, t, &mut row);
            rounded(&mut values[i * width..][..width], &row);
            for k in 0..count {
                self.network.write_tangent(x, &basis[k * dim..][..dim], &mut row);
                rounded(&mut tangents[(k * n + i) * width..][..width], &row);
            }
        }
        let (mut f, mut slopes) = (vec![0.0f32; n * m], vec![0.0f32; count * n * m]);
        self.forward.eval_tangents(&values, &tangents, count, n, &mut Scratch::default(), &mut f, &mut slopes);
        let scale = (self.scale)(t);
        let (mut vectors, mut divergences) = (vec![0.0; n * dim], vec![0.0; if with_divergence { n } else { 0 }]);
        for (i, (x, basis)) in x.chunks_exact(dim).zip(&bases).enumerate() {
            let frames = generator.frames(spheres, x, basis);
            let f = &f[i * m..][..m];
            let sum = |weights: &[f64], f: &[f32]| weights.iter().zip(f).map(|(w, f)| w * f64::from(*f)).sum::<f64>();
            for (a, coefficients) in frames.coefficients.chunks_exact(m).enumerate() {
                let along = scale * sum(coefficients, f);
                let vector = &mut vectors[i * dim..][..dim];
                vector.iter_mut().zip(&basis[a * dim..][..dim]).for_each(|(v, e)| *v += along * e);
                if with_divergence {
                    divergences[i] += scale * sum(coefficients, &slopes[(a * n + i) * m..][..m]);
                }
            }
            if with_divergence {
                divergences[i] += scale * sum(&frames.divergences, f);
            }
        }
        (vectors, divergences)
    }

    fn all(&self, x: &Points, t: f64, with_divergence: bool) -> (Points, Vec<f64>) {
        let dim = x.dim();
        let blocks: Vec<_> =
            x.as_slice().par_chunks(BLOCK_ROWS * dim).map(|x| self.block(x, t, with_divergence)).collect();
        let (mut vectors, mut divergences) = (Vec::with_capacity(x.as_slice().len()), Vec::new());
        for (v, d) in blocks {
            vectors.extend(v);
            divergences.extend(d);
        }
        (Points::from_vec(vectors, dim), divergences)
    }
}

impl TangentField for LearnedField {
    fn at(&self, x: &Points, t: f64) -> Points {
        self.all(x, t, false).0
    }

    fn with_divergence(&self, x: &Points, t: f64) -> (Points, Vec<f64>) {
        self.all(x, t, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Partial;
    use mad_core::{
        catalogue::{BuildContext, build},
        rng::{Purpose, stream},
    };

    /// The divergence on the set against differences of the field extended by x/|x|, whose divergence it is.
    #[test]
    fn divergences_are_those_of_the_field() {
        for (spec, generator) in [
            ("sphere:2", "div-free"),
            ("sphere:2", "ambient"),
            ("so3", "lie-algebra"),
            ("so3", "div-free"),
            ("torus:3", "div-free"),
            ("product(so3,sphere:2)", "auto"),
        ] {
            let manifold = build(spec, &BuildContext::without_files()).expect("known");
            let settings = Partial::from_toml("width = 24\ndepth = 2\nactivation = 'sin'\ninput_gain = 1.3", "test");
            let config = Config::resolve(&settings.expect("valid"), manifold.as_ref()).expect("valid");
            let network = FieldNetwork::new(&config, manifold.as_ref(), generator).expect("made of spheres");
            let field = network.learned(&network.layout.initialise_plainly(5), |t| 2.0 + t);
            let mut x = Points::zeros(5, manifold.ambient_dim());
            let mut rng = stream(2, Purpose::Data, 0);
            x.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
            let (vectors, divergences) = field.with_divergence(&x, 0.4);
            for (i, row) in x.rows().enumerate() {
                let mut tangent = vectors.row(i).to_vec();
                field.spheres().tangent(row, &mut tangent);
                assert!(tangent.iter().zip(vectors.row(i)).all(|(a, b)| (a - b).abs() < 1e-12), "{spec}: not tangent");
                let h = 1e-2;
                let found: f64 = (0..row.len())
                    .map(|k| {
                        let moved = |h: f64| {
                            let mut there = row.to_vec();
                            there[k] += h;
                            field.spheres().normalise(&mut there);
                            field.at(&Points::from_vec(there, row.len()), 0.4).row(0)[k]
                        };
                        // Fourth order, so that h can be large against the rounding of the network.
                        (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h)
                    })
                    .sum();
                let error = (found - divergences[i]).abs();
                assert!(error < 2e-3 * (1.0 + found.abs()), "{spec} {generator}: {found} {}", divergences[i]);
            }
        }
    }

    #[test]
    fn fields_on_rotations_do_not_know_the_sign() {
        let manifold = build("so3", &BuildContext::without_files()).expect("known");
        let config = Config::resolve(&Partial::new(), manifold.as_ref()).expect("valid");
        let network = FieldNetwork::new(&config, manifold.as_ref(), "auto").expect("made of spheres");
        let field = network.learned(&network.layout.initialise_plainly(1), |_| 1.0);
        let q = [0.5, -0.5, 0.1, 0.7f64];
        let length = q.iter().map(|q| q * q).sum::<f64>().sqrt();
        let q: Vec<f64> = q.iter().map(|q| q / length).collect();
        let at = |q: Vec<f64>| field.at(&Points::from_vec(q, 4), 0.2).into_vec();
        let (plus, minus) = (at(q.clone()), at(q.iter().map(|q| -q).collect()));
        assert!(plus.iter().zip(minus).all(|(a, b)| (a + b).abs() < 1e-12));
    }
}
