//! Adam, averaged weights and learning rates, against formulas written out by hand.

use mad_nn::{
    kernel::{Activation, Plan},
    net::Layout,
    optim::{Adam, Decline, Rate, Weights},
};

const ADAM: Adam =
    Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0, clip: 0.0, ema: 0.99, warm_start: true };

fn layout() -> Layout {
    Layout::chain(&Plan::new(&[2, 1], Activation::Identity))
}

/// Three steps written out by hand in `f64`.
#[test]
fn follows_the_textbook() {
    let layout = layout();
    let mut weights = Weights::new(vec![1.0, -2.0, 0.5]);
    let gradients = [[0.3f32, -0.1, 2.0], [0.1, 0.4, -1.0], [-0.2, 0.05, 0.0]];
    let mut expected = [(1.0f64, 0.0f64, 0.0f64), (-2.0, 0.0, 0.0), (0.5, 0.0, 0.0)];
    for (n, gradient) in gradients.iter().enumerate() {
        ADAM.step(&layout, &mut weights, gradient, 0.01);
        for ((w, m, v), &g) in expected.iter_mut().zip(gradient) {
            let g = f64::from(g);
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            let n = (n + 1) as i32;
            *w -= 0.01 * (*m / (1.0 - 0.9f64.powi(n))) / ((*v / (1.0 - 0.999f64.powi(n))).sqrt() + 1e-8);
        }
    }
    for (w, (expected, _, _)) in weights.model.iter().zip(expected) {
        assert!((f64::from(*w) - expected).abs() < 1e-6, "{w} {expected}");
    }
}

#[test]
fn gradients_with_infinite_squares_move_nothing() {
    let (mut weights, gradient) = (Weights::new(vec![1.0; 3]), [1e25; 3]);
    let before = weights.clone();
    assert_eq!(ADAM.step(&layout(), &mut weights, &gradient, 0.1), f64::INFINITY);
    assert_eq!(weights, before);
    let norm = Adam { clip: 1.0, ..ADAM }.step(&layout(), &mut weights, &gradient, 0.1);
    assert!(norm.is_finite() && weights.second.iter().all(|v| v.is_finite()) && weights != before);
}

#[test]
fn clips_by_the_global_norm() {
    let layout = layout();
    let adam = Adam { clip: 1.0, ..ADAM };
    let mut weights = Weights::new(vec![0.0; 3]);
    let norm = adam.step(&layout, &mut weights, &[3.0, 0.0, 4.0], 0.0);
    assert_eq!(norm, 5.0);
    assert!((weights.first[0] - 0.06).abs() < 1e-7 && (weights.first[2] - 0.08).abs() < 1e-7);
}

#[test]
fn stands_still_without_a_finite_gradient() {
    let mut weights = Weights::new(vec![1.0; 3]);
    let before = weights.clone();
    assert!(!ADAM.step(&layout(), &mut weights, &[1.0, f32::NAN, 0.0], 0.5).is_finite());
    assert_eq!(weights, before);
}

#[test]
fn decays_weights_but_not_biases() {
    let layout = layout();
    let adam = Adam { weight_decay: 0.1, ..ADAM };
    let mut weights = Weights::new(vec![1.0; 3]);
    adam.step(&layout, &mut weights, &[0.0; 3], 0.5);
    assert_eq!(weights.model, [0.95, 0.95, 1.0]);
}

#[test]
fn average_starts_warm() {
    let layout = layout();
    let mut weights = Weights::new(vec![0.0; 3]);
    ADAM.step(&layout, &mut weights, &[1.0; 3], 1.0);
    // d = 2/11 in the first step, so 9/11 of the new weight −1.
    assert!((weights.ema[0] + 9.0 / 11.0).abs() < 1e-6, "{}", weights.ema[0]);
    let mut weights = Weights::new(vec![0.0; 3]);
    Adam { warm_start: false, ..ADAM }.step(&layout, &mut weights, &[1.0; 3], 1.0);
    assert!((weights.ema[0] + 0.01).abs() < 1e-6, "{}", weights.ema[0]);
}

#[test]
fn warms_up_then_falls_to_zero() {
    let rate = Rate { start: 0.0, peak: 2.0, end: 0.0, warmup: 4, steps: 104, decline: Decline::Cosine };
    assert_eq!(rate.at(0), 0.5);
    assert_eq!(rate.at(3), 2.0);
    assert_eq!(rate.at(4), 2.0);
    assert!((rate.at(54) - 1.0).abs() < 1e-12);
    assert!(rate.at(103) < 1e-3 && rate.at(103) > 0.0);
    assert_eq!(Rate { decline: Decline::Constant, ..rate }.at(103), 2.0);
    let between = Rate { start: 0.2, end: 0.1, ..rate };
    assert_eq!((between.at(0), between.at(3)), (0.65, 2.0));
    assert!((between.at(104) - 0.1).abs() < 1e-12);
}
