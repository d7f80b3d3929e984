//! The likelihood's term of volume against determinants.

use super::*;
use crate::{
    disk::RealDisk,
    run::{self, Contents, Parts, RunColumns},
};
use mad_core::{
    Moments,
    estimate::BaseChoice,
    table::{ColumnOptions, Columns, Layout as FileLayout, Table},
};

/// The slope of log|det Df| at each row of `x`, summed, in weight `i`: a difference of fourth order, so that its step can be large
/// against the rounding of the network.
fn slope_of_log_determinant(model: &Model, weights: &[f32], x: &Points, i: usize) -> f64 {
    let at = |h: f32| -> f64 {
        let mut weights = weights.to_vec();
        weights[i] += h;
        let all = jacobians(model, &weights, x);
        all.into_iter().map(|mut j| fitted::eliminate(&mut j, &mut [], model.spheres.intrinsic_dim())).sum()
    };
    let h = 0.02;
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * f64::from(h))
}

/// With u = (Df)⁻¹ v and v running over √d times a basis, the mean of v·Df\[u\] has the slope of log|det Df|.
#[test]
fn surrogate_has_the_slope_of_the_log_determinant() {
    for spec in MANIFOLDS {
        let (manifold, _, model, mut weights) = moved(spec, "fff:blocks=2", 0.1);
        let x = uniform_points(manifold.as_ref(), 8);
        let (n, dim, d) = (x.len(), x.dim(), model.spheres.intrinsic_dim());
        let z = flow(&manifold, &model, &weights, 0).encode(&x);
        let derivatives = jacobians(&model, &weights, &x);
        let device = device::training();
        let mut pairs = Vec::new();
        for k in 0..d {
            let (mut v, mut u) = (Points::zeros(n, dim), Points::zeros(n, dim));
            for (i, derivative) in derivatives.iter().enumerate() {
                let basis = model.spheres.basis(z.row(i));
                v.row_mut(i).iter_mut().zip(&basis[k * dim..]).for_each(|(v, e)| *v = (d as f64).sqrt() * e);
                let mut along = vec![0.0; d];
                along[k] = (d as f64).sqrt();
                fitted::eliminate(&mut derivative.clone(), &mut along, d);
                for (along, e) in along.iter().zip(model.spheres.basis(x.row(i)).chunks_exact(dim)) {
                    u.row_mut(i).iter_mut().zip(e).for_each(|(u, e)| *u += along * e);
                }
            }
            pairs.push((bridge::tensor(&v, &device), bridge::tensor(&u, &device)));
        }
        let points = bridge::tensor(&x, &device);
        let (_, slope) = bridge::differentiate(&mut weights, &device, |weights| {
            let encoder = model.split(&weights).encoder;
            let surrogate = |(v, u): (Tensor<2>, Tensor<2>)| {
                (v * model.map.along(points.clone(), u, &encoder).tangents()).sum() / d as f32
            };
            pairs.into_iter().map(surrogate).reduce(|a, b| a + b).expect("a positive dimension")
        });
        for slot in model.map.layout().slots().iter().step_by(3) {
            let i = slot.range.start + slot.range.len() / 2;
            let expected = slope_of_log_determinant(&model, &weights, &x, i);
            let found = f64::from(slope[i]);
            assert!(
                (found - expected).abs() < 3e-3 * (1.0 + expected.abs()),
                "{spec} {}: {found} {expected}",
                slot.name
            );
        }
    }
}

/// Makes the decoder inverse to the encoder at `x`, with its derivative: g(y) = B y/|B y| where B takes z = f(x) to x and tangents
/// at z to their images under (Df)⁻¹.
///
/// F(y) = (B − 1) y of a residual block is a chain of one hidden layer because silu(a) − silu(−a) = a; on quaternions it is
/// M y with M constant.
fn invert_at(manifold: &Arc<dyn Manifold>, model: &Model, weights: &mut [f32], x: &Points) {
    let (dim, d, spheres) = (x.dim(), model.spheres.intrinsic_dim(), &model.spheres);
    let z = flow(manifold, model, weights, 0).encode(x);
    let (x, z, jacobian) = (x.row(0), z.row(0), jacobians(model, weights, x).remove(0));
    let mut residual = vec![0.0; dim * dim];
    for block in spheres.blocks() {
        for i in block.range.clone() {
            block.range.clone().for_each(|j| residual[i * dim + j] += x[i] * z[j]);
            residual[i * dim + i] -= 1.0;
        }
    }
    for (k, there) in spheres.basis(z).chunks_exact(dim).enumerate() {
        let mut along = vec![0.0; d];
        along[k] = 1.0;
        fitted::eliminate(&mut jacobian.clone(), &mut along, d);
        for (along, here) in along.iter().zip(spheres.basis(x).chunks_exact(dim)) {
            (0..dim * dim).for_each(|e| residual[e] += along * here[e / dim] * there[e % dim]);
        }
    }
    let decoder = model.map.layout().len()..model.latent_range().start;
    weights[decoder].fill(0.0);
    let place = |name: &str| {
        let name = format!("decoder.block0.{name}");
        model.layout.slots().iter().find(|slot| slot.name == name).expect("a tensor of the first block").range.start
    };
    let (first, output, bias) = (place("layer0.weight"), place("output.weight"), place("output.bias"));
    let width = output - place("layer0.bias");
    for (e, &residual) in residual.iter().enumerate() {
        let (i, j) = (e / dim, e % dim);
        if spheres.are_rotations() {
            weights[bias + e] = residual as f32;
            continue;
        }
        for (hidden, sign) in [(2 * j, 1.0), (2 * j + 1, -1.0)] {
            weights[first + j * width + hidden] = sign;
            weights[output + hidden * dim + i] = sign * residual as f32;
        }
    }
}

/// A run with these settings whose training part is `train`.
fn run_on(folder: &std::path::Path, manifold: &Arc<dyn Manifold>, config: Config, train: &Points) -> Run {
    let dim = train.dim();
    let table = Table::numbers("made for a test", None, dim, train.as_slice().to_vec());
    let columns = Columns::find(&FileLayout::Coordinates(dim), &table, &ColumnOptions::default()).expect("coordinates");
    let parts = Parts { train: train.clone(), validation: Points::zeros(0, dim), test: Points::zeros(0, dim) };
    let columns = RunColumns { points: columns, condition: None };
    let (manifold, base, supports) = (manifold.clone(), BaseChoice::Default, Vec::new());
    let contents =
        Contents { manifold, base, parts, conditions: None, pictures: None, columns, supports, config, split: None };
    run::create(&RealDisk, folder, &contents, contents.plan().expect("parts that fit")).expect("a run")
}

/// Training on one point with a decoder that is inverse there moves the encoder along the slope of −log|det Df|, the decoder not at
/// all.
#[test]
fn the_likelihood_has_the_slope_of_the_log_determinant() {
    let folder = tempfile::tempdir().expect("a folder");
    let method = "fff:blocks=2,nll=1,reconstruction=0,z_sample=0,x_sample=0";
    for spec in ["sphere:2", "so3", "torus:3"] {
        let settings = "width = 12\ndepth = 1\nactivation = 'silu'\nbatch = 512";
        let (manifold, config, model, mut weights) = moved_with(spec, method, settings, 0.3);
        let x = uniform_points(manifold.as_ref(), 1);
        invert_at(&manifold, &model, &mut weights, &x);
        let flow = flow(&manifold, &model, &weights, 0);
        assert!(apart(flow.decode(&flow.encode(&x)).as_slice(), x.as_slice()) < 1e-5, "{spec}");
        let run = run_on(&folder.path().join(spec), &manifold, config, &x);
        let objective = Training::open(model.clone(), &run).expect("rows to learn from");
        let steps: Vec<Vec<f32>> =
            (0..64).map(|step| objective.gradient(&mut weights, step, &device::training()).gradient).collect();
        let encoder = model.map.layout().len();
        assert!(steps.iter().all(|slope| slope[encoder..].iter().all(|&slope| slope == 0.0)), "{spec}: decoder moves");
        let mut largest = 0.0f64;
        for i in (0..encoder).step_by(5) {
            let expected = -slope_of_log_determinant(&model, &weights, &x, i);
            let found = Moments::of(&steps.iter().map(|slope| f64::from(slope[i])).collect::<Vec<_>>());
            let error = found.standard_error();
            assert!(
                (found.mean - expected).abs() < 5.0 * error + 1e-3,
                "{spec} {i}: {} ± {error} {expected}",
                found.mean
            );
            largest = largest.max(expected.abs() / error);
        }
        assert!(largest > 100.0, "{spec}: the slope is lost in noise");
    }
}
