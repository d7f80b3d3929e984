//! Laws whose posterior means are known exactly, written apart from the library so that they check it.
#![allow(dead_code, missing_docs)]

use mad_core::{
    Points,
    likelihood::{FlowModel, Remainder},
    manifold::Manifold,
    measure::{BaseMeasure, posterior_means},
    noise::Anchor,
    rng::{Purpose, Rng, stream},
    sample::Denoiser,
};
use rand::RngExt as _;
use rand_distr::{Distribution, StandardNormal};
use std::{f64::consts::PI, sync::Arc};

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

pub fn log_sum_exp(terms: &[f64]) -> f64 {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
}

/// log(sinh k/k): the mean of exp(k u·x) over the unit sphere in R³.
pub fn log_sinhc(k: f64) -> f64 {
    if k < 1e-3 { k * k / 6.0 } else { k + (-(-2.0 * k).exp()).ln_1p() - (2.0 * k).ln() }
}

/// coth k − 1/k.
fn langevin(k: f64) -> f64 {
    if k < 1e-3 { k / 3.0 } else { 1.0 / k.tanh() - 1.0 / k }
}

/// A mixture of von Mises-Fisher distributions on S²; one component with concentration 0 is the uniform distribution.
#[derive(Debug, Clone)]
pub struct Mixture {
    /// (weight, direction, concentration)
    pub parts: Vec<(f64, [f64; 3], f64)>,
}

impl Mixture {
    pub fn uniform() -> Self {
        Self { parts: vec![(1.0, [0.0, 0.0, 1.0], 0.0)] }
    }

    /// `n` random directions, concentrations log-uniform between the two ends, uneven weights.
    pub fn random(n: usize, low: f64, high: f64, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Data, 99);
        let mut parts: Vec<_> = (0..n)
            .map(|_| {
                let z: [f64; 3] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
                let weight = 0.2 + rng.random::<f64>();
                let k = low * (high / low).powf(rng.random::<f64>());
                (weight, z.map(|v| v / norm(&z)), k)
            })
            .collect();
        let total: f64 = parts.iter().map(|p| p.0).sum();
        parts.iter_mut().for_each(|p| p.0 /= total);
        Self { parts }
    }

    /// log density with respect to the uniform probability measure.
    pub fn log_ratio(&self, x0: &[f64]) -> f64 {
        let terms: Vec<f64> = self.parts.iter().map(|(w, u, k)| w.ln() + k * dot(u, x0) - log_sinhc(*k)).collect();
        log_sum_exp(&terms)
    }

    pub fn draw(&self, n: usize, seed: u64) -> Points {
        let mut rng = stream(seed, Purpose::Data, 0);
        let mut out = Points::zeros(n, 3);
        out.rows_mut().for_each(|row| self.sample(&mut rng, row));
        out
    }

    /// log w_j − log J(k_j) + log J(|η_j|), and η_j, of every component.
    fn tilted(&self, x: &[f64], sigma: f64) -> (Vec<f64>, Vec<[f64; 3]>) {
        let eta = |u: &[f64; 3], k: f64| std::array::from_fn(|i| k * u[i] + x[i] / (sigma * sigma));
        self.parts
            .iter()
            .map(|(w, u, k)| {
                let eta: [f64; 3] = eta(u, *k);
                (w.ln() - log_sinhc(*k) + log_sinhc(norm(&eta)), eta)
            })
            .unzip()
    }
}

impl BaseMeasure for Mixture {
    fn ambient_dim(&self) -> usize {
        3
    }

    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        let (terms, etas) = self.tilted(x, sigma);
        let total = log_sum_exp(&terms);
        mean.fill(0.0);
        for (term, eta) in terms.iter().zip(&etas) {
            let k = norm(eta);
            let share = (term - total).exp() * if k > 0.0 { langevin(k) / k } else { 1.0 / 3.0 };
            mean.iter_mut().zip(eta).for_each(|(m, e)| *m += share * e);
        }
    }

    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        let s2 = sigma * sigma;
        log_sum_exp(&self.tilted(x, sigma).0) - (dot(x, x) + 1.0) / (2.0 * s2) - 1.5 * (2.0 * PI * s2).ln()
    }

    fn log_weight(&self, x0: &[f64]) -> f64 {
        self.log_ratio(x0) - (4.0 * PI).ln()
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        let mut u: f64 = rng.random();
        let last = self.parts.len() - 1;
        let pick = self.parts.iter().position(|p| {
            u -= p.0;
            u < 0.0
        });
        let (_, axis, k) = self.parts[pick.unwrap_or(last)];
        let v: f64 = rng.random();
        let c = if k == 0.0 { 2.0 * v - 1.0 } else { 1.0 + (v + (1.0 - v) * (-2.0 * k).exp()).ln() / k };
        let z: [f64; 3] = std::array::from_fn(|_| StandardNormal.sample(rng));
        let along = dot(&z, &axis);
        let side: [f64; 3] = std::array::from_fn(|i| z[i] - along * axis[i]);
        let scale = (1.0 - c * c).max(0.0).sqrt() / norm(&side);
        for i in 0..3 {
            x0[i] = c * axis[i] + scale * side[i];
        }
    }
}

/// Points on the unit circle with weights.
#[derive(Debug, Clone)]
pub struct CircleSet {
    pub points: Vec<[f64; 2]>,
    pub weights: Vec<f64>,
}

impl CircleSet {
    /// `n` equally spaced points with weights exp(−.8 d), d the number of places from a quarter turn (the paper's skewed set).
    pub fn skewed(n: usize) -> Self {
        let peak = n / 4;
        let raw: Vec<f64> = (0..n)
            .map(|i| {
                let d = i.abs_diff(peak);
                (-0.8 * d.min(n - d) as f64).exp()
            })
            .collect();
        let total: f64 = raw.iter().sum();
        Self { weights: raw.iter().map(|w| w / total).collect(), ..Self::even(n) }
    }

    pub fn even(n: usize) -> Self {
        let angle = |i: usize| 2.0 * PI * i as f64 / n as f64;
        let points = (0..n).map(|i| [angle(i).cos(), angle(i).sin()]).collect();
        Self { points, weights: vec![1.0 / n as f64; n] }
    }

    pub fn nearest(&self, x: &[f64]) -> usize {
        (0..self.points.len()).max_by(|a, b| dot(&self.points[*a], x).total_cmp(&dot(&self.points[*b], x))).unwrap()
    }

    fn terms(&self, x: &[f64], sigma: f64) -> Vec<f64> {
        self.points.iter().zip(&self.weights).map(|(u, w)| w.ln() + dot(u, x) / (sigma * sigma)).collect()
    }
}

impl BaseMeasure for CircleSet {
    fn ambient_dim(&self) -> usize {
        2
    }

    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        let terms = self.terms(x, sigma);
        let total = log_sum_exp(&terms);
        mean.fill(0.0);
        for (t, u) in terms.iter().zip(&self.points) {
            mean.iter_mut().zip(u).for_each(|(m, u)| *m += (t - total).exp() * u);
        }
    }

    fn log_density(&self, x: &[f64], sigma: f64) -> f64 {
        let s2 = sigma * sigma;
        log_sum_exp(&self.terms(x, sigma)) - (dot(x, x) + 1.0) / (2.0 * s2) - (2.0 * PI * s2).ln()
    }

    fn log_weight(&self, x0: &[f64]) -> f64 {
        self.weights[self.nearest(x0)].ln()
    }

    fn sample(&self, rng: &mut Rng, x0: &mut [f64]) {
        let mut u: f64 = rng.random();
        let pick = self.weights.iter().position(|w| {
            u -= w;
            u < 0.0
        });
        x0.copy_from_slice(&self.points[pick.unwrap_or(self.points.len() - 1)]);
    }
}

/// The unit sphere of R^d as the place where samples belong.
#[derive(Debug, Clone, Copy)]
pub struct UnitSphere(pub usize);

impl Manifold for UnitSphere {
    fn spec(&self) -> String {
        format!("sphere:{}", self.0 - 1)
    }

    fn ambient_dim(&self) -> usize {
        self.0
    }

    fn intrinsic_dim(&self) -> usize {
        self.0 - 1
    }

    fn log_volume(&self) -> f64 {
        (4.0 * PI).ln()
    }

    fn project(&self, x: &mut [f64]) {
        let r = norm(x);
        x.iter_mut().for_each(|v| *v /= r);
    }

    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        Arc::new(Mixture::uniform())
    }
}

/// The exact model of a distribution on a unit sphere, written as anchor plus remainder.
#[derive(Debug, Clone)]
pub struct Exact {
    pub target: Arc<dyn BaseMeasure>,
    pub anchor: Anchor,
}

impl Exact {
    pub fn new(target: impl BaseMeasure + 'static, anchor: Anchor) -> Self {
        Self { target: Arc::new(target), anchor }
    }
}

impl Denoiser for Exact {
    fn ambient_dim(&self) -> usize {
        self.target.ambient_dim()
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        posterior_means(self.target.as_ref(), x, &vec![sigma; x.len()])
    }
}

impl FlowModel for Exact {
    fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// div D = tr Cov\[x₀ | x\]/σ², and tr Cov = 1 − |D|² because |x₀| = 1.
    fn remainder(&self, x: &Points, sigma: f64) -> Remainder {
        let mut value = self.denoise(x, sigma);
        let mean = self.anchor.means(x, &vec![sigma; x.len()]);
        let s2 = sigma * sigma;
        let divergence = value
            .rows()
            .zip(mean.rows())
            .map(|(d, m)| {
                let of_denoiser = (1.0 - dot(d, d)) / s2;
                let of_difference = match &self.anchor {
                    Anchor::Base(_) => m.iter().zip(d).map(|(m, d)| (m - d) * (m + d)).sum::<f64>() / s2,
                    Anchor::Ambient => of_denoiser - x.dim() as f64,
                    Anchor::Skip { sigma_data } => {
                        of_denoiser - x.dim() as f64 * sigma_data * sigma_data / (s2 + sigma_data * sigma_data)
                    }
                };
                of_difference / sigma
            })
            .collect();
        for (v, m) in value.as_mut_slice().iter_mut().zip(mean.as_slice()) {
            *v = (*v - m) / sigma;
        }
        Remainder { value, divergence }
    }
}

/// Mean and standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
