//! Mixtures of wrapped normals on SO(3), exactly as in the RSGM benchmark.
//!
//! K Haar-uniform means with equal weights; precisions Gamma(100, 1). A draw is μ_k exp(w) with rotation vector
//! w ~ N(0, s_k²/2 I), s_k = precision^(−1/2): about 0.07 rad per axis, so that nothing ever wraps.

use super::{DatasetEntry, Parameter};
use crate::{
    rng::{Purpose, Rng, stream},
    rotation::{by, conjugate, multiply, unit},
};
use rand::RngExt as _;
use rand_distr::{Distribution, Gamma, StandardNormal};
use std::f64::consts::{LN_2, PI};

/// The data set.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "so3-mixture",
    summary: "mixture of K wrapped normals on SO(3) as in the RSGM and MAD papers; another mixture per target",
    parameters: &[Parameter {
        name: "k",
        default: 32.0,
        range: (1.0, 10_000.0),
        whole: true,
        summary: "number of components",
    }],
    manifold: |_| "so3".into(),
    is_distribution: true,
    make: |request| {
        let mixture = So3Mixture::new(request.arguments.whole("k"), request.target);
        Ok(request.numbers("so3-mixture", &["qx", "qy", "qz", "qw"], |rng, q| mixture.sample(rng, q)))
    },
};

/// A mixture of wrapped normals on SO(3) with equal weights.
#[derive(Debug, Clone, PartialEq)]
pub struct So3Mixture {
    /// Means as unit quaternions x, y, z, w.
    pub means: Vec<[f64; 4]>,
    /// Standard deviations of the rotation vector, per axis.
    pub deviations: Vec<f64>,
}

impl So3Mixture {
    /// The mixture of `k` components that belongs to `seed`.
    pub fn new(k: usize, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Data, 0);
        let gamma = Gamma::new(100.0, 1.0).expect("shape and scale are positive");
        let mut mixture = Self { means: Vec::with_capacity(k), deviations: Vec::with_capacity(k) };
        for _ in 0..k {
            let mut mean = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
            unit(&mut mean);
            mixture.means.push(mean);
            let precision: f64 = gamma.sample(&mut rng);
            mixture.deviations.push((0.5 / precision).sqrt());
        }
        mixture
    }

    /// Draws a rotation as a quaternion x, y, z, w with w ≥ 0.
    pub fn sample(&self, rng: &mut Rng, q: &mut [f64]) {
        let k = rng.random_range(0..self.means.len());
        let w: [f64; 3] = std::array::from_fn(|_| {
            let z: f64 = StandardNormal.sample(rng);
            self.deviations[k] * z
        });
        let mut product = multiply(&self.means[k], &by(&w));
        unit(&mut product);
        let sign = if product[3] < 0.0 { -1.0 } else { 1.0 };
        q.iter_mut().zip(product).for_each(|(q, p)| *q = sign * p);
    }

    /// Log-density with respect to the volume of SO(3), which is 8π² in all.
    ///
    /// # Formula
    /// p(R) = Σ_k (1/K) N(w_k; 0, s_k²/2 I) (θ_k / (2 sin(θ_k/2)))², w_k = log(μ_kᵀ R), θ_k = |w_k|.
    ///
    /// # Reference
    /// baselines: RSGM's mixture; the last factor is the Jacobian of the exponential map.
    ///
    /// # Numerics
    /// The far branch of the logarithm (angle 2π − θ) is left out: it is below e^(−400) of the sum.
    pub fn log_density(&self, q: &[f64]) -> f64 {
        let terms: Vec<f64> = self
            .means
            .iter()
            .zip(&self.deviations)
            .map(|(mean, s)| {
                let d = multiply(&conjugate(mean), q);
                let half_sine = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
                let half = half_sine.atan2(d[3].abs());
                let jacobian = if half < 1e-8 { 1.0 } else { (half / half.sin()).powi(2) };
                let squares = (2.0 * half / s).powi(2);
                -0.5 * squares - 3.0 * s.ln() - 1.5 * (LN_2 + PI.ln()) + jacobian.ln()
            })
            .collect();
        let largest = terms.iter().fold(f64::NEG_INFINITY, |m, t| m.max(*t));
        largest + terms.iter().map(|t| (t - largest).exp()).sum::<f64>().ln() - (terms.len() as f64).ln()
    }
}
