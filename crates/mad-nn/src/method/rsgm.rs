//! Riemannian score-based generative modelling.

use super::{
    Fitted, Graded, Likelihood, Method, MethodEntry, MethodOption, MethodSpec, Objective, SampleRequest, Sampled,
    field::{self, FieldNetwork, LearnedField},
    field_run::{FieldRun, finished},
    fitted::no_choice,
};
use crate::{
    bridge,
    config::Domain,
    net::Layout,
    run::{Run, RunError},
    train::{Validation, summary},
};
use burn::tensor::{Device, Tensor};
use mad_core::{
    Points,
    manifold::Manifold,
    riemannian::{Flow, Spheres, TangentField, TimeChange, heat_score, reverse_walk, walk},
    rng::{Purpose, Rng, stream},
    sample::{SampleError, in_blocks},
    special::dot,
};
use rand::RngExt as _;
use std::{ops::ControlFlow, sync::Arc};

/// Registry entry.
pub const ENTRY: MethodEntry = MethodEntry {
    name: "rsgm",
    summary: "Riemannian score-based modelling: the score of Brownian motion on the set, geodesic random walks",
    method: &Rsgm,
};

const OPTIONS: &[MethodOption] = &[
    MethodOption::new(
        "generator",
        Domain::Choice(|| vec!["auto", "div-free", "ambient", "lie-algebra"]),
        "auto",
        "how the network's numbers become a tangent vector; auto is lie-algebra on rotations, else div-free",
    ),
    MethodOption::new(
        "loss",
        Domain::Choice(|| vec!["ism", "ssm", "dsmv", "dsm0"]),
        "ism",
        "implicit, sliced, or denoising by Varadhan's formula, everywhere or at small times only",
    ),
    MethodOption::new("beta_min", Domain::Number(1e-6, 1e3), "0.001", "speed of the noise at time 0"),
    MethodOption::new("beta_max", Domain::Number(1e-6, 1e3), "5", "speed of the noise at time 1"),
    MethodOption::new("time_min", Domain::Number(1e-9, 0.5), "0.001", "earliest time"),
    MethodOption::new("walk", Domain::Count(1, 100_000), "100", "steps of the random walk that adds noise"),
];

/// Steps of the flow in validations and reported likelihoods.
const VALIDATION_STEPS: usize = 16;
const LIKELIHOOD_STEPS: usize = 50;

/// Where the first walk starts, in the time of the noise.
const WALK_START: f64 = 1e-3;

/// Up to this variance Varadhan's formula serves as the target of `dsm0`, beyond it the heat series of this degree.
const SERIES_FROM: f64 = 0.5;
const SERIES_DEGREE: usize = 5;

/// A score X/std(t) of Brownian motion sped up by β, that carries the data to the uniform law.
///
/// # Formula
/// std(t)² = 1 − exp(−B(t)); losses as in the table of [`Loss`].
///
/// # Reference
/// De Bortoli et al. (2022), "Riemannian score-based generative modelling", and its code for all constants.
#[derive(Debug)]
struct Rsgm;

/// Which loss, for a target g and a score s = X/std.
///
/// | loss | mean of |
/// |---|---|
/// | ism | β (\|s\|²/2 + div s) |
/// | ssm | the same with div s by one random direction |
/// | dsmv | std² \|s − g\|² with g = log_y(x₀)/B |
/// | dsm0 | the same, g from the heat kernel once B > 1/2 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Implicit,
    Sliced,
    Varadhan,
    Heat,
}

impl Method for Rsgm {
    fn options(&self) -> &'static [MethodOption] {
        OPTIONS
    }

    fn settings(&self) -> &'static str {
        "nfe = 100\nactivation = 'sin'\ninput_gain = 1.0\nclip = 0.0\nselect = 'last'"
    }

    fn refuses(&self, spec: &MethodSpec, manifold: &dyn Manifold) -> Option<String> {
        field::refuses(spec, manifold, spec.word("generator"))
    }

    fn layout(&self, run: &Run) -> Layout {
        network(run).layout().clone()
    }

    fn objective<'a>(&self, run: &'a Run) -> Result<Box<dyn Objective + 'a>, RunError> {
        let spec = run.config().method_spec();
        let loss = match spec.word("loss") {
            "ism" => Loss::Implicit,
            "ssm" => Loss::Sliced,
            "dsmv" => Loss::Varadhan,
            _ => Loss::Heat,
        };
        let noise = Noise::of(&spec);
        Ok(Box::new(Matching { network: network(run), data: FieldRun::open(run)?, noise, loss }))
    }

    fn fitted(&self, run: &Run, weights: &[f32]) -> Result<Box<dyn Fitted>, RunError> {
        let noise = Noise::of(&run.config().method_spec());
        let score = learned(&network(run), noise, weights);
        Ok(Box::new(FittedScore { score, manifold: run.manifold().clone(), noise, nfe: run.config().nfe as usize }))
    }
}

fn network(run: &Run) -> FieldNetwork {
    let spec = run.config().method_spec();
    FieldNetwork::new(run.config(), run.manifold().as_ref(), spec.word("generator"))
        .expect("checked when the config was made")
}

/// How noise grows.
#[derive(Debug, Clone, Copy)]
struct Noise {
    time: TimeChange,
    time_min: f64,
    walk: usize,
}

impl Noise {
    fn of(spec: &MethodSpec) -> Self {
        Self {
            time: TimeChange { start: spec.number("beta_min"), end: spec.number("beta_max") },
            time_min: spec.number("time_min"),
            walk: spec.number("walk") as usize,
        }
    }

    /// The standard deviation of flat noise, which scales the score.
    fn deviation(&self, t: f64) -> f64 {
        (-(-self.time.elapsed(t)).exp_m1()).sqrt()
    }

    /// The same noise in the metric of the unit sphere.
    ///
    /// On rotations noise has unit variance in the Frobenius norm of matrices: 1/2 per axis of the rotation vector, a quarter of
    /// that on unit quaternions.
    fn on_sphere(&self, spheres: &Spheres) -> TimeChange {
        let factor = if rotations(spheres) { 1.0 / 8.0 } else { 1.0 };
        TimeChange { start: factor * self.time.start, end: factor * self.time.end }
    }

    /// By what the network's field is multiplied to be the score in the metric of the unit sphere.
    ///
    /// On rotations the network speaks in rotation vectors: half of one is a tangent of the quaternion, and the gradient in a
    /// metric an eighth as large is eight times as long.
    fn scale(&self, spheres: &Spheres, t: f64) -> f64 {
        let unit = if rotations(spheres) { 4.0 } else { 1.0 };
        unit / self.deviation(t)
    }
}

fn rotations(spheres: &Spheres) -> bool {
    spheres.blocks().iter().all(|block| block.antipodal)
}

/// The score with these weights.
fn learned(network: &FieldNetwork, noise: Noise, weights: &[f32]) -> LearnedField {
    let spheres = network.spheres().clone();
    network.learned(weights, move |t| noise.scale(&spheres, t))
}

struct Matching<'a> {
    network: FieldNetwork,
    data: FieldRun<'a>,
    noise: Noise,
    loss: Loss,
}

impl Matching<'_> {
    /// The score that a denoising loss aims at, in the metric of the sphere.
    fn target(&self, x0: &[f64], y: &[f64], elapsed: f64, target: &mut [f64]) {
        let spheres = self.network.spheres();
        if self.loss == Loss::Heat && elapsed > SERIES_FROM {
            return heat_score(spheres, x0, y, elapsed, SERIES_DEGREE, target);
        }
        spheres.log(y, x0, target);
        target.iter_mut().for_each(|g| *g /= elapsed);
    }

    /// Random signs for the basis vectors: their sum is a direction with identity covariance.
    fn probes(&self, bases: &[Vec<f64>], rng: &mut Rng) -> (Vec<Vec<f64>>, Vec<f64>) {
        let dim = self.network.spheres().ambient_dim();
        let d = self.network.spheres().intrinsic_dim();
        let mut signs = vec![0.0; d * bases.len()];
        let probe = |(i, basis): (usize, &Vec<f64>)| {
            let mut v = vec![0.0; dim];
            for (a, vector) in basis.chunks_exact(dim).enumerate() {
                let sign = if rng.random() { 1.0 } else { -1.0 };
                signs[a * bases.len() + i] = sign;
                v.iter_mut().zip(vector).for_each(|(v, e)| *v += sign * e);
            }
            v
        };
        let probes = bases.iter().enumerate().map(probe).collect();
        (probes, signs)
    }
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
        let (n, dim, d) = (x0.len(), x0.dim(), spheres.intrinsic_dim());
        let time = self.noise.on_sphere(spheres);
        let t: Vec<f64> = (0..n).map(|_| rng.random_range(self.noise.time_min..1.0)).collect();
        let mut y = x0.clone();
        for (y, &t) in y.rows_mut().zip(&t) {
            walk(spheres, y, time, (WALK_START, t), self.noise.walk, &mut rng);
        }
        let places = self.network.places(&y, device);
        let column = |f: &dyn Fn(f64) -> f64| {
            let values: Vec<f64> = t.iter().map(|&t| f(t)).collect();
            bridge::matrix(&values, n, device)
        };
        let (loss, gradient) = match self.loss {
            Loss::Implicit | Loss::Sliced => {
                let sliced = self.loss == Loss::Sliced;
                let (probes, signs) = if sliced { self.probes(&places.bases, &mut rng) } else { Default::default() };
                let directions = if sliced { &probes } else { &places.bases };
                let signs = sliced.then(|| bridge::matrix(&signs, n, device));
                let rate = column(&|t| time.rate(t));
                let scale = column(&|t| self.noise.scale(spheres, t));
                bridge::differentiate(weights, device, |weights| {
                    let answer = self.network.answer(weights, &y, &t, directions, device);
                    let m = answer.dims()[2];
                    let f = answer.clone().narrow(0, 0, 1);
                    let slopes = answer.narrow(0, 1, directions[0].len() / dim);
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
                    let divergence = (along + own) * scale.clone();
                    let size = x.square().sum_dim(0) * scale.square();
                    (rate * (size * 0.5 + divergence)).sum() / n as f32
                })
            }
            Loss::Varadhan | Loss::Heat => {
                let mut target = vec![0.0; d * n];
                let mut g = vec![0.0; dim];
                for (i, (x0, y)) in x0.rows().zip(y.rows()).enumerate() {
                    self.target(x0, y, time.elapsed(t[i]), &mut g);
                    for (a, vector) in places.bases[i].chunks_exact(dim).enumerate() {
                        target[a * n + i] = dot(vector, &g) / self.noise.scale(spheres, t[i]);
                    }
                }
                let target = bridge::matrix(&target, n, device);
                bridge::differentiate(weights, device, |weights| {
                    let f = self.network.answer(weights, &y, &t, &[], device);
                    let found = (places.coefficients * f).sum_dim(2).reshape([d, n]);
                    (found - target).square().sum() / n as f32
                })
            }
        };
        Graded { loss, gradient, levels: t }
    }

    fn validate(&self, weights: &[f32], step: u64) -> Option<Validation> {
        let points = self.data.validation()?;
        let (run, noise) = (self.data.run, self.noise);
        let score = learned(&self.network, noise, weights);
        let log_density = log_densities(&score, noise, run.manifold().as_ref(), &points, VALIDATION_STEPS);
        Some(summary(step, &log_density, &points, run.base().as_ref()))
    }
}

/// The probability flow −β s/2 over τ = √t, which spends its steps where the noise is small.
struct ProbabilityFlow<'a> {
    score: &'a LearnedField,
    time: TimeChange,
}

impl ProbabilityFlow<'_> {
    fn speed(&self, tau: f64) -> f64 {
        -0.5 * self.time.rate(tau * tau) * 2.0 * tau
    }
}

impl TangentField for ProbabilityFlow<'_> {
    fn at(&self, x: &Points, tau: f64) -> Points {
        let mut v = self.score.at(x, tau * tau);
        v.as_mut_slice().iter_mut().for_each(|v| *v *= self.speed(tau));
        v
    }

    fn with_divergence(&self, x: &Points, tau: f64) -> (Points, Vec<f64>) {
        let (mut v, mut divergence) = self.score.with_divergence(x, tau * tau);
        let speed = self.speed(tau);
        v.as_mut_slice().iter_mut().chain(&mut divergence).for_each(|v| *v *= speed);
        (v, divergence)
    }
}

/// # Formula
/// log p(x) = −log vol + ∫ div v dt over the probability flow v = −β s/2 from the earliest time to 1.
fn log_densities(
    score: &LearnedField,
    noise: Noise,
    manifold: &dyn Manifold,
    points: &Points,
    steps: usize,
) -> Vec<f64> {
    let flow = ProbabilityFlow { score, time: noise.on_sphere(score.spheres()) };
    let mut x = points.clone();
    let way = Flow { from: noise.time_min.sqrt(), to: 1.0, steps };
    let fallen = way.follow(score.spheres(), &flow, &mut x);
    fallen.into_iter().map(|fallen| fallen - manifold.log_volume()).collect()
}

struct FittedScore {
    score: LearnedField,
    manifold: Arc<dyn Manifold>,
    noise: Noise,
    nfe: usize,
}

impl Fitted for FittedScore {
    fn sample(
        &self,
        request: &SampleRequest,
        n: usize,
        sink: &mut dyn FnMut(Points) -> ControlFlow<()>,
    ) -> Result<Sampled, SampleError> {
        no_choice(ENTRY.name, request)?;
        let nfe = request.nfe.unwrap_or(self.nfe);
        let (uniform, spheres) = (self.manifold.uniform(), self.score.spheres());
        let time = self.noise.on_sphere(spheres);
        let drift = in_blocks(n, request.seed, sink, |first, rows, rng| {
            let mut x = Points::zeros(rows, self.manifold.ambient_dim());
            x.rows_mut().for_each(|x| uniform.sample(rng, x));
            reverse_walk(spheres, &self.score, &mut x, time, self.noise.time_min, nfe, rng);
            finished(ENTRY.name, self.manifold.as_ref(), first, x)
        })?;
        Ok(Sampled { drift, sampler: "geodesic-walk".into(), nfe })
    }

    fn log_density(&self, points: &Points, steps: usize) -> Vec<f64> {
        log_densities(&self.score, self.noise, self.manifold.as_ref(), points, steps)
    }

    fn likelihood(&self, points: &Points) -> Likelihood {
        Likelihood { per_point: self.log_density(points, LIKELIHOOD_STEPS), is_bound: false }
    }
}
