mod volume;

use super::{loss::probe_length, *};
use crate::{
    bridge,
    config::Partial,
    device,
    method::{MethodSpec, SampleRequest},
};
use mad_core::{
    Points,
    catalogue::{BuildContext, build},
    measure::SphereBlock,
    rng::{Purpose, stream},
    special::dot,
};
use rand::RngExt as _;

const MANIFOLDS: [&str; 5] = ["sphere:2", "so3", "torus:3", "sphere:4", "product(so3,sphere:2)"];

/// A small model on `spec` whose weights are moved off the identity by `size`.
fn moved(spec: &str, method: &str, size: f64) -> (Arc<dyn Manifold>, Config, Model, Vec<f32>) {
    moved_with(spec, method, "width = 16\ndepth = 2\nactivation = 'sin'", size)
}

fn moved_with(spec: &str, method: &str, settings: &str, size: f64) -> (Arc<dyn Manifold>, Config, Model, Vec<f32>) {
    let manifold = build(spec, &BuildContext::without_files()).expect("a known manifold");
    let text = format!("method = '{method}'\n{settings}\ninput_gain = 1.0");
    let settings = Partial::from_toml(&text, "test").expect("valid");
    let config = Config::resolve(&settings, manifold.as_ref()).expect("valid");
    let model = Model::new(&config, &manifold).expect("made of spheres");
    let mut weights = model.initialise(&config, 3);
    let mut rng = stream(5, Purpose::Init, 1000);
    let latent = model.latent_range();
    for weight in &mut weights[..latent.start] {
        *weight += (size * (2.0 * rng.random::<f64>() - 1.0)) as f32;
    }
    (manifold, config, model, weights)
}

fn uniform_points(manifold: &dyn Manifold, n: usize) -> Points {
    let mut x = Points::zeros(n, manifold.ambient_dim());
    let mut rng = stream(2, Purpose::Data, 0);
    x.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
    x
}

fn flow(manifold: &Arc<dyn Manifold>, model: &Model, weights: &[f32], newton: usize) -> FreeFormFlow {
    FreeFormFlow::new(model.clone(), weights, manifold.clone(), newton)
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The derivative of the encoder at each row of `x` between orthonormal bases: entry (a, k) is ⟨basis a at f(x), Df basis k⟩.
fn jacobians(model: &Model, weights: &[f32], x: &Points) -> Vec<Vec<f64>> {
    let (n, dim, d) = (x.len(), x.dim(), model.spheres.intrinsic_dim());
    let parameters = model.split(&bridge::vector_f32(weights.to_vec(), &device::inference()));
    let images: Vec<(Points, Points)> = (0..d)
        .map(|k| {
            let mut tangents = Points::zeros(n, dim);
            for (x, t) in x.rows().zip(tangents.rows_mut()) {
                t.copy_from_slice(&model.spheres.basis(x)[k * dim..][..dim]);
            }
            let (x, tangents) =
                (bridge::tensor(x, &device::inference()), bridge::tensor(&tangents, &device::inference()));
            let image = model.map.along(x, tangents, &parameters.encoder);
            (bridge::points(image.points()), bridge::points(image.tangents()))
        })
        .collect();
    let jacobian = |i: usize| {
        let mut z = images[0].0.row(i).to_vec();
        model.spheres.normalise(&mut z);
        let basis = model.spheres.basis(&z);
        let entries = basis.chunks_exact(dim).flat_map(|e| images.iter().map(|image| dot(e, image.1.row(i))));
        entries.collect()
    };
    (0..n).map(jacobian).collect()
}

#[test]
fn networks_start_as_the_identity() {
    for spec in MANIFOLDS {
        let (manifold, _, model, weights) = moved(spec, "fff", 0.0);
        let x = uniform_points(manifold.as_ref(), 20);
        let flow = flow(&manifold, &model, &weights, 0);
        assert!(apart(flow.encode(&x).as_slice(), x.as_slice()) < 1e-6);
        let uniform = -manifold.log_volume();
        assert!(flow.read(&x).per_point.iter().all(|density| (density - uniform).abs() < 1e-5), "{spec}");
    }
}

#[test]
fn maps_stay_on_the_set_and_their_tangents_are_derivatives() {
    for spec in MANIFOLDS {
        let (manifold, _, model, weights) = moved(spec, "fff:blocks=2", 0.1);
        let x = uniform_points(manifold.as_ref(), 6);
        let flow = flow(&manifold, &model, &weights, 0);
        let z = flow.encode(&x);
        assert!(apart(z.as_slice(), x.as_slice()) > 0.05, "{spec}: hardly moved");
        let found = jacobians(&model, &weights, &x);
        let (dim, d, h) = (x.dim(), model.spheres.intrinsic_dim(), 1e-2);
        for k in 0..d {
            let along = |h: f64| {
                let mut there = x.clone();
                for (there, x) in there.rows_mut().zip(x.rows()) {
                    let v: Vec<f64> = model.spheres.basis(x)[k * dim..][..dim].iter().map(|e| h * e).collect();
                    model.spheres.exp(there, &v);
                }
                flow.encode(&there)
            };
            let (near, far) = ((along(h), along(-h)), (along(2.0 * h), along(-2.0 * h)));
            for (i, found) in found.iter().enumerate() {
                for (a, e) in model.spheres.basis(z.row(i)).chunks_exact(dim).enumerate() {
                    // Fourth order, so that h can be large against the rounding of the network.
                    let change = |pair: &(Points, Points)| dot(e, pair.0.row(i)) - dot(e, pair.1.row(i));
                    let expected = (8.0 * change(&near) - change(&far)) / (12.0 * h);
                    let error = (found[a * d + k] - expected).abs();
                    assert!(error < 1e-3 * (1.0 + expected.abs()), "{spec}: {} {expected}", found[a * d + k]);
                }
            }
        }
    }
}

#[test]
fn maps_of_rotations_are_odd() {
    for spec in ["so3", "product(so3,sphere:2)"] {
        let (manifold, _, model, weights) = moved(spec, "fff:latent=mixture", 0.3);
        let x = uniform_points(manifold.as_ref(), 20);
        let mut flipped = x.clone();
        flipped.rows_mut().for_each(|x| x[..4].iter_mut().for_each(|x| *x = -*x));
        let flow = flow(&manifold, &model, &weights, 0);
        for (a, b) in [(flow.encode(&x), flow.encode(&flipped)), (flow.decode(&x), flow.decode(&flipped))] {
            for (a, b) in a.rows().zip(b.rows()) {
                let opposite: Vec<f64> = b[..4].iter().map(|b| -b).collect();
                assert!(apart(&a[..4], &opposite) < 1e-6 && apart(&a[4..], &b[4..]) < 1e-6, "{spec}");
            }
        }
        assert!(apart(&flow.read(&x).per_point, &flow.read(&flipped).per_point) < 1e-4, "{spec}");
    }
}

#[test]
fn probes_have_identity_covariance_and_published_ones_are_too_long() {
    for spec in MANIFOLDS {
        let (manifold, config, model, _) = moved(spec, "fff", 0.0);
        let (dim, d) = (model.spheres.ambient_dim(), model.spheres.intrinsic_dim());
        // Rotations are matrices where this was published.
        let coordinates = |block: &SphereBlock| if block.antipodal { 9 } else { block.range.len() };
        let ambient: usize = model.spheres.blocks().iter().map(coordinates).sum();
        let tangent = probe_length(&config.method, &model.spheres);
        let published = probe_length(&"fff:volume=ambient".parse::<MethodSpec>().expect("known"), &model.spheres);
        assert!((published * published / tangent / tangent - ambient as f64 / d as f64).abs() < 1e-12);
        let z = uniform_points(manifold.as_ref(), 1);
        let many = Points::from_vec(z.row(0).repeat(4000), dim);
        let probes = loss::probes(&model.spheres, &many, tangent, &mut stream(1, Purpose::Train, 0));
        let basis = model.spheres.basis(z.row(0));
        for (a, e) in basis.chunks_exact(dim).enumerate() {
            for (b, f) in basis.chunks_exact(dim).enumerate() {
                let mean = probes.rows().map(|v| dot(v, e) * dot(v, f)).sum::<f64>() / 4000.0;
                // Products of coordinates have a deviation below d, and that of a mean is 63 times less.
                let expected = f64::from(a == b);
                assert!((mean - expected).abs() < 5.0 * d.min(2) as f64 / 63.0, "{spec}: {mean} {expected}");
            }
        }
    }
}

/// Where the encoder does not invert the decoder, its code is that of another point, and it is said how often.
#[test]
fn densities_of_other_points_are_counted() {
    for spec in MANIFOLDS {
        let (manifold, _, model, weights) = moved(spec, "fff", 0.05);
        let x = uniform_points(manifold.as_ref(), 40);
        let unsolved = |newton: usize| flow(&manifold, &model, &weights, newton).read(&x).unsolved;
        assert_eq!((unsolved(0), unsolved(10)), (40, 0), "{spec}");
    }
}

/// Newton steps make the density that of the decoder alone, which has total mass one whatever the encoder is.
#[test]
fn densities_integrate_to_one() {
    for (spec, method) in [
        ("sphere:2", "fff:blocks=2"),
        ("sphere:2", "fff:blocks=2,latent=mixture"),
        ("so3", "fff:blocks=2"),
        ("so3", "fff:blocks=2,latent=mixture"),
        ("torus:2", "fff:blocks=2,latent=mixture"),
    ] {
        let (manifold, _, model, weights) = moved(spec, method, 0.05);
        let n = 4000;
        let grid = manifold.grid(n).unwrap_or_else(|| uniform_points(manifold.as_ref(), 4 * n));
        let read = flow(&manifold, &model, &weights, 8).read(&grid);
        assert_eq!(read.unsolved, 0, "{spec} {method}");
        let ratios: Vec<f64> = read.per_point.iter().map(|v| (v + manifold.log_volume()).exp()).collect();
        let count = ratios.len() as f64;
        let total = ratios.iter().sum::<f64>() / count;
        let spread = (ratios.iter().map(|r| (r - total) * (r - total)).sum::<f64>() / count).sqrt();
        assert!(spread > 0.05, "{spec} {method}: as good as uniform");
        let tolerance = if manifold.grid(n).is_some() { 0.01 } else { 5.0 * spread / count.sqrt() };
        assert!((total - 1.0).abs() < tolerance, "{spec} {method}: {total}");
    }
}

/// Training and evaluation see the same distribution, computed in different ways.
#[test]
fn latent_distribution_is_the_same_for_tensors_and_in_the_core() {
    for spec in MANIFOLDS {
        for method in ["fff", "fff:latent=mixture"] {
            let (manifold, _, model, weights) = moved(spec, method, 0.0);
            let (dim, spheres) = (manifold.ambient_dim(), model.spheres.blocks().len());
            let mut numbers = weights[model.latent_range()].to_vec();
            // Concentrations and weights of several sizes; centres of any length.
            for (i, v) in numbers.iter_mut().enumerate() {
                *v = if i < 5 * dim { *v * 1.5 } else { *v + 0.8 * ((i - 5 * dim) as f32 / spheres as f32 - 2.5) };
            }
            let latent = model.latent.distribution(&numbers);
            let mut z = uniform_points(manifold.as_ref(), 50);
            let mut rng = stream(1, Purpose::Sample, 0);
            z.rows_mut().take(25).for_each(|z| latent.sample(&mut rng, z));
            let tensor = bridge::vector_f32(numbers, &device::inference());
            let found = model.latent.log_density(bridge::tensor(&z, &device::inference()), &tensor);
            for (found, z) in bridge::numbers_f64(found).into_iter().zip(z.rows()) {
                let expected = latent.log_weight(z);
                assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{spec}: {found} {expected}");
            }
        }
    }
}

/// The slope in the concentrations is exact although Bessel functions are constants to the backward pass.
#[test]
fn latent_numbers_are_learned_along_the_slope() {
    for spec in ["sphere:2", "so3", "torus:2"] {
        let (manifold, _, model, weights) = moved(spec, "fff:latent=mixture", 0.0);
        let mut numbers = weights[model.latent_range()].to_vec();
        let z = uniform_points(manifold.as_ref(), 20);
        let device = device::training();
        let points = bridge::tensor(&z, &device);
        let sum = |numbers: &mut Vec<f32>| {
            bridge::differentiate(numbers, &device, |numbers| model.latent.log_density(points.clone(), &numbers).sum())
        };
        let slope = sum(&mut numbers).1;
        for i in (0..numbers.len()).step_by(3) {
            let at = |h: f32| {
                let mut moved = numbers.clone();
                moved[i] += h;
                sum(&mut moved).0
            };
            let expected = (at(0.02) - at(-0.02)) / 0.04;
            let found = f64::from(slope[i]);
            assert!((found - expected).abs() < 0.02 * (1.0 + expected.abs()), "{spec} {i}: {found} {expected}");
        }
    }
}

#[test]
fn samples_lie_on_the_set_and_take_one_call() {
    for spec in MANIFOLDS {
        let (manifold, _, model, weights) = moved(spec, "fff:latent=mixture", 0.3);
        let flow = flow(&manifold, &model, &weights, 0);
        let (points, sampled) = flow.draw(&SampleRequest::new(1), 300).expect("finite");
        assert_eq!((points.len(), sampled.nfe), (300, 1));
        assert!(points.rows().all(|x| manifold.deviation(x) < 1e-12), "{spec}");
        let chosen = SampleRequest { sampler: Some("euler"), ..SampleRequest::new(1) };
        assert!(flow.draw(&chosen, 1).is_err());
    }
}

#[test]
fn sets_without_spheres_are_refused() {
    let settings = Partial::from_toml("method = 'fff'", "test").expect("known");
    for (name, refused) in [("sphere:2", false), ("torus:7", false), ("so3", false), ("euclid:2", true)] {
        let manifold = build(name, &BuildContext::without_files()).expect("known");
        assert_eq!(Config::resolve(&settings, manifold.as_ref()).is_err(), refused, "{name}");
    }
}
