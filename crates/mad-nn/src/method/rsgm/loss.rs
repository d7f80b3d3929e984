//! What training minimises.

use super::{
    super::{
        Graded, MethodSpec, Objective, Validation,
        field::{FieldNetwork, Places},
        field_run::{FieldRun, VALIDATION_STEPS},
    },
    Noise,
    fitted::log_densities,
    learned,
};
use crate::{bridge, net::Layout};
use burn_tensor::{Device, Tensor};
use mad_core::{
    Points,
    riemannian::{Spheres, heat_score, walk},
    rng::{Purpose, Rng, stream},
};
use rand::RngExt as _;

/// When walks start, in the time of the noise. As published also where t is earlier, whose walk then runs back in time; targets
/// use the noise since time 0.
const WALK_START: f64 = 1e-3;

/// Up to this B Varadhan's formula serves as the target of `dsm0`, beyond it the heat series of this degree.
const SERIES_FROM: f64 = 0.5;
const SERIES_DEGREE: usize = 5;

/// On rotations the terms of the series fall as exp(−k (k + 2) B/16): beyond this degree they are below rounding.
const ROTATION_DEGREE: usize = 36;

/// Which loss, for a target g and a score s = X/std.
///
/// | loss | mean of |
/// |---|---|
/// | ism | β (\|s\|²/2 + div s) |
/// | ssm | the same with div s by one random direction |
/// | dsmv | std² \|s − g\|² with g = log_y(x₀)/B |
/// | dsm0 | the same, g from the heat kernel once B > 1/2 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    Implicit,
    Sliced,
    Varadhan,
    Heat,
}

impl Loss {
    pub fn of(spec: &MethodSpec) -> Self {
        match spec.word("loss") {
            "ism" => Loss::Implicit,
            "ssm" => Loss::Sliced,
            "dsmv" => Loss::Varadhan,
            _ => Loss::Heat,
        }
    }

    /// The score that a denoising loss aims at after time `t`, in the metric of the sphere.
    pub fn target(self, noise: Noise, spheres: &Spheres, x0: &[f64], y: &[f64], t: f64, target: &mut [f64]) {
        let elapsed = noise.on_sphere(spheres).elapsed(t);
        // B is that of the noise, also where the sphere has another unit of time.
        if self == Loss::Heat && noise.time.elapsed(t) > SERIES_FROM {
            let degree = if spheres.are_rotations() { ROTATION_DEGREE } else { SERIES_DEGREE };
            return heat_score(spheres, x0, y, elapsed, degree, target);
        }
        spheres.log(y, x0, target);
        target.iter_mut().for_each(|g| *g /= elapsed);
    }
}

/// Random signs, `d × n`.
fn random_signs(d: usize, n: usize, rng: &mut Rng) -> Vec<f64> {
    let mut signs = vec![0.0; d * n];
    for i in 0..n {
        for a in 0..d {
            signs[a * n + i] = if rng.random() { 1.0 } else { -1.0 };
        }
    }
    signs
}

/// The sum of the basis vectors of each row under `signs`, `d × n`: with random ones a direction with identity covariance.
pub(super) fn probes(bases: &[Vec<f64>], signs: &[f64], dim: usize) -> Vec<Vec<f64>> {
    let probe = |(i, basis): (usize, &Vec<f64>)| {
        let mut v = vec![0.0; dim];
        for (a, vector) in basis.chunks_exact(dim).enumerate() {
            let sign = signs[a * bases.len() + i];
            v.iter_mut().zip(vector).for_each(|(v, e)| *v += sign * e);
        }
        v
    };
    bases.iter().enumerate().map(probe).collect()
}

/// |X|² and div X at each row, `1 × n` both, from what the network says there: its numbers and their derivatives along the
/// basis, or along the [`probes`] of `signs`.
pub(super) fn square_and_divergence(
    places: Places,
    answer: Tensor<3>,
    signs: Option<Tensor<2>>,
) -> (Tensor<2>, Tensor<2>) {
    let [parts, n, m] = answer.dims();
    let d = places.coefficients.dims()[0];
    let f = answer.clone().narrow(0, 0, 1);
    let slopes = answer.narrow(0, 1, parts - 1);
    let x = (places.coefficients.clone() * f.clone()).sum_dim(2).reshape([d, n]);
    let along: Tensor<2> = match signs {
        // Σ_a ⟨e_a, Xᵢ⟩ D_a fᵢ with the directions e_a themselves …
        None => (places.coefficients * slopes).sum_dim(2).reshape([d, n]).sum_dim(0),
        // … or one direction Σ r_a e_a, whose cross terms vanish on average.
        Some(signs) => {
            let seen = (places.coefficients * signs.reshape([d, n, 1])).sum_dim(0);
            (seen * slopes).sum_dim(2).reshape([1, n])
        }
    };
    let own = (places.divergences * f.reshape([n, m])).sum_dim(1).reshape([1, n]);
    (x.square().sum_dim(0), along + own)
}

/// The mean over rows of the implicit loss at `y` after times `t`, and its gradient. With `signs`, `d × n`, div s is taken along the
/// [`probes`] of these.
///
/// # Formula
/// β (|s|²/2 + div s) with s = scale X, all in the metric of the unit sphere.
pub(super) fn implicit(
    network: &FieldNetwork,
    noise: Noise,
    weights: &mut Vec<f32>,
    y: &Points,
    t: &[f64],
    signs: Option<Vec<f64>>,
    device: &Device,
) -> (f64, Vec<f32>) {
    let (spheres, n) = (network.spheres(), y.len());
    let time = noise.on_sphere(spheres);
    let column = |f: &dyn Fn(f64) -> f64| {
        let values: Vec<f64> = t.iter().map(|&t| f(t)).collect();
        bridge::matrix(&values, n, device)
    };
    let (rate, scale) = (column(&|t| time.rate(t)), column(&|t| noise.scale(spheres, t)));
    let places = network.places(y, device);
    let probes = signs.as_ref().map(|signs| probes(&places.bases, signs, y.dim()));
    let signs = signs.map(|signs| bridge::matrix(&signs, n, device));
    bridge::differentiate(weights, device, |weights| {
        let directions = probes.as_ref().unwrap_or(&places.bases);
        let answer = network.answer(weights, y, t, directions, device);
        let (square, divergence) = square_and_divergence(places, answer, signs);
        let (size, divergence) = (square * scale.clone().square(), divergence * scale);
        (rate * (size * 0.5 + divergence)).sum() / n as f32
    })
}

/// The objective of a run.
pub(super) struct Matching<'a> {
    pub network: FieldNetwork,
    pub data: FieldRun<'a>,
    pub noise: Noise,
    pub loss: Loss,
}

impl Objective for Matching<'_> {
    fn layout(&self) -> &Layout {
        self.network.layout()
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        self.network.layout().initialise_plainly(seed)
    }

    fn gradient(&self, weights: &mut Vec<f32>, step: u64, device: &Device) -> Graded {
        let mut rng = stream(self.data.config.seed, Purpose::Train, step);
        let x0 = self.data.rows().draw(self.data.config.batch as usize, &mut rng).0;
        let spheres = self.network.spheres();
        let time = self.noise.on_sphere(spheres);
        let t: Vec<f64> = (0..x0.len()).map(|_| rng.random_range(self.noise.time_min..1.0)).collect();
        let mut y = x0.clone();
        for (y, &t) in y.rows_mut().zip(&t) {
            walk(spheres, y, time, (WALK_START, t), self.noise.walk, &mut rng);
        }
        let (loss, gradient) = match self.loss {
            Loss::Implicit | Loss::Sliced => {
                let d = spheres.intrinsic_dim();
                let signs = (self.loss == Loss::Sliced).then(|| random_signs(d, y.len(), &mut rng));
                implicit(&self.network, self.noise, weights, &y, &t, signs, device)
            }
            Loss::Varadhan | Loss::Heat => {
                let mut target = x0.clone();
                for (((x0, y), &t), target) in x0.rows().zip(y.rows()).zip(&t).zip(target.rows_mut()) {
                    self.loss.target(self.noise, spheres, x0, y, t, target);
                    let scale = self.noise.scale(spheres, t);
                    target.iter_mut().for_each(|g| *g /= scale);
                }
                self.network.regress(weights, &y, &t, &target, device)
            }
        };
        Graded { loss, gradient, levels: t }
    }

    fn validate(&self, weights: &[f32], step: u64) -> Option<Validation> {
        let (noise, spheres) = (self.noise, self.network.spheres());
        let (score, manifold) = (learned(&self.network, noise, weights), self.data.run.manifold().as_ref());
        self.data.validate(step, |points| log_densities(&score, spheres, noise, manifold, points, VALIDATION_STEPS))
    }
}
