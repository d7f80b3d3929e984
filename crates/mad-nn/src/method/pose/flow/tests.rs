//! Circle maps, projective maps and the flow made of them.

use super::*;
use crate::method::pose::testing::on_solid;
use crate::{
    device,
    method::pose::{grid::Cell, testing},
};
use mad_core::rotation::{Symmetry, multiply};
use rand::RngExt as _;

/// A model with weights that move poses about.
fn lively() -> (Coupled, Vec<f32>, PoseBatch) {
    let text = "method = 'rotation-flow'\nsize = 16\nfeatures = 8\nwidth = 16\ndepth = 4\ndraws = 5";
    let model = Coupled::new(&on_solid("cube", text));
    let mut weights = model.initialise(4);
    let mut rng = stream(1, Purpose::Metric, 0);
    let from = weights.len() - model.network.heads_on_host(&weights).len() + model.range(1).start;
    weights[from..].iter_mut().for_each(|w| *w = *w * 1.5 + 0.3 * (rng.random::<f32>() - 0.5));
    (model, weights, testing::batch("cube", 16, 3))
}

fn poses(count: usize) -> Vec<Quaternion> {
    let mut rng = stream(2, Purpose::Metric, 0);
    (0..count).map(|_| rotation::uniform(&mut rng)).collect()
}

#[test]
fn stretch_is_the_determinant() {
    let (model, weights, batch) = lively();
    let ready = model.ready(&weights);
    let image = &ready.images(&weights, &batch.images)[0];
    // Dense layers in single precision do not bear small steps.
    let h = 2e-2;
    for q in poses(6) {
        let at = |v: [f64; 3]| ready.forward(image, &[multiply(&q, &rotation::by(&v))])[0];
        let (centre, density) = at([0.0; 3]);
        let inverse = mad_core::rotation::conjugate(&centre);
        let mut jacobian = [[0.0; 3]; 3];
        for k in 0..3 {
            let along = |h: f64| {
                let mut v = [0.0; 3];
                v[k] = h;
                let p = multiply(&inverse, &at(v).0);
                let sign = p[3].signum();
                let sin = mad_core::special::norm(&p[..3]).max(1e-300);
                let angle = 2.0 * sin.atan2(p[3].abs());
                [0, 1, 2].map(|i| sign * p[i] / sin * angle)
            };
            // Fourth order.
            let (a, b, c, d) = (along(h), along(-h), along(2.0 * h), along(-2.0 * h));
            (0..3).for_each(|i| jacobian[i][k] = (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h));
        }
        let [a, b, c] = jacobian;
        let determinant = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        let said = density + LN_VOLUME;
        assert!((determinant.ln() - said).abs() < 5e-3, "{} {said}", determinant.ln());
    }
}

#[test]
fn backward_undoes_forward() {
    let (model, weights, batch) = lively();
    let ready = model.ready(&weights);
    let given = poses(50);
    for image in &ready.images(&weights, &batch.images) {
        let there = ready.forward(image, &given);
        let back = ready.backward(image, there.iter().map(|(q, _)| *q).collect());
        let mut moved: f64 = 0.0;
        for ((q, there), back) in given.iter().zip(&there).zip(back) {
            assert!(rotation::angle(q, &back.0) < 1e-4, "{q:?} {back:?}");
            assert!((there.1 - back.1).abs() < 1e-3);
            moved = moved.max(rotation::angle(q, &there.0));
        }
        assert!(moved > 0.3, "the flow hardly moves: {moved}");
    }
}

#[test]
fn a_circle_map_is_undone_exactly() {
    let mut rng = stream(3, Purpose::Metric, 0);
    for q in poses(20) {
        let said: Vec<f32> = (0..24).map(|_| 8.0 * (rng.random::<f32>() - 0.5)).collect();
        let circle = Circle::new(&said, &q, 1);
        let from = circle.source();
        assert!((from + circle.shift(from).0).abs() < 1e-12);
        let numeric = (circle.shift(1e-5).0 - circle.shift(-1e-5).0) / 2e-5 + 1.0;
        assert!((numeric - circle.shift(0.0).1).abs() < 1e-7);
    }
}

#[test]
fn the_density_has_mass_one() {
    let (model, weights, batch) = lively();
    let cells: Vec<Cell> = Cell::all(2).collect();
    let centres: Vec<Quaternion> = cells.iter().map(|cell| cell.centre()).collect();
    let densities = model.log_density(&weights, &batch.images, &vec![centres; 3]).unwrap();
    for density in densities {
        let mass: f64 = density.iter().zip(&cells).map(|(d, cell)| (d + cell.ln_volume()).exp()).sum();
        let largest = density.iter().copied().fold(f64::MIN, f64::max);
        assert!((mass - 1.0).abs() < 0.02, "{mass}");
        assert!(largest + LN_VOLUME > 0.5, "the density is not lively: {largest}");
    }
}

#[test]
fn tensors_and_host_agree() {
    let (model, weights, batch) = lively();
    let listed: Vec<Vec<Quaternion>> = batch.poses.iter().map(|q| vec![*q]).collect();
    let host = model.log_density(&weights, &batch.images, &listed).unwrap();
    let device = device::inference();
    let seen = model.network.features_on_host(&weights, &batch.images);
    let seen = bridge::matrix_f32(seen, [3, model.config.features], &device);
    let heads = model.network.heads(bridge::vector_f32(weights, &device));
    let said = bridge::numbers_f64(model.likelihood(&heads, seen, &batch.poses, &device));
    for (a, b) in host.iter().flatten().zip(said) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn the_gradient_is_that_of_the_loss() {
    let (model, _, batch) = lively();
    let heads = model.parts.iter().map(Layout::len).sum();
    testing::check_gradient(&model, &batch, heads, 5e-3);
}

#[test]
fn training_lowers_loss_and_spread() {
    let text = "method = 'rotation-flow'\nsize = 16\nwidth = 32\ndepth = 6\ndraws = 8\nbatch = 64\nfeatures = 32";
    let learned = testing::learn("cone", text, 200, 3e-3);
    assert!(learned.last_loss < learned.first_loss - 0.5, "{learned:?}");
    assert!(learned.spread < 0.75 * testing::chance(Symmetry::Axial), "{learned:?}");
}
