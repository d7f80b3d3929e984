//! Mixtures of von Mises–Fisher distributions on spheres of any dimension, with known density.

use super::{DatasetEntry, Parameter};
use crate::{
    measure::{BaseMeasure as _, Component, VonMisesFisherMixture, log_area},
    rng::{Purpose, stream},
    special::norm,
};
use rand::RngExt as _;
use rand_distr::{Distribution, StandardNormal};

/// The data set.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "vmf-mixture",
    summary: "mixture of K von Mises-Fisher distributions on the sphere S^dim, with known density; lat, lon if dim is 2",
    parameters: &[
        Parameter { name: "k", default: 8.0, range: (1.0, 10_000.0), whole: true, summary: "number of components" },
        Parameter { name: "dim", default: 2.0, range: (1.0, 500.0), whole: true, summary: "dimension of the sphere" },
        Parameter {
            name: "kappa",
            default: 40.0,
            range: (0.0, 1e6),
            whole: false,
            summary: "typical concentration; components vary between half and twice of it",
        },
    ],
    manifold: |arguments| format!("sphere:{}", arguments.whole("dim")),
    is_distribution: true,
    make: |request| {
        let a = request.arguments;
        let mixture = vmf_mixture(a.whole("dim"), a.whole("k"), a.number("kappa"), request.target);
        if a.whole("dim") == 2 {
            let mut x = [0.0; 3];
            return Ok(request.numbers("vmf-mixture", &["lat", "lon"], |rng, row| {
                mixture.sample(rng, &mut x);
                row[0] = x[2].atan2(x[0].hypot(x[1])).to_degrees();
                row[1] = x[1].atan2(x[0]).to_degrees();
            }));
        }
        let names: Vec<String> = (0..=a.whole("dim")).map(|i| format!("x{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(request.numbers("vmf-mixture", &names, |rng, row| mixture.sample(rng, row)))
    },
};

/// The mixture of `k` components on S^dim that belongs to `seed`; its `log_weight` is the log-density of the data set.
///
/// Means are uniform, weights vary by a factor of three, concentrations lie between κ/2 and 2κ. Panics if `k` or `dim` is
/// zero or κ is outside 0 … 1e6.
pub fn vmf_mixture(dim: usize, k: usize, kappa: f64, seed: u64) -> VonMisesFisherMixture {
    let mut rng = stream(seed, Purpose::Data, 0);
    let component = |_| {
        let mut mean: Vec<f64> = (0..=dim).map(|_| StandardNormal.sample(&mut rng)).collect();
        let length = norm(&mean);
        mean.iter_mut().for_each(|m| *m /= length);
        let weight = 0.5 + rng.random::<f64>();
        Component::new(weight, mean, kappa * rng.random_range(-1.0..1.0f64).exp2())
    };
    let components = (0..k).map(component).collect();
    VonMisesFisherMixture::on_sphere(components, false, log_area(dim + 1)).expect("the arguments are in range")
}
