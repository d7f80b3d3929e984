//! Noise levels and noised batches with their targets.

use mad_core::{
    Points,
    measure::{BaseMeasure, Finite},
    noise::{Anchor, LevelDraw, NoiseError, NoiseRange, NoisedBatch, Schedule},
    rng::{Purpose, Rng, stream},
};
use std::sync::Arc;

/// Two equally likely points ±1 on the line, where everything is a hyperbolic tangent.
#[derive(Debug)]
struct TwoPoints;

impl BaseMeasure for TwoPoints {
    fn ambient_dim(&self) -> usize {
        1
    }

    fn posterior_mean(&self, x: &[f64], sigma: f64, mean: &mut [f64]) {
        mean[0] = (x[0] / (sigma * sigma)).tanh();
    }

    fn log_density(&self, _x: &[f64], _sigma: f64) -> f64 {
        f64::NAN
    }

    fn log_weight(&self, _x0: &[f64]) -> f64 {
        -std::f64::consts::LN_2
    }

    fn sample(&self, _rng: &mut Rng, x0: &mut [f64]) {
        x0[0] = 1.0;
    }
}

fn draw(anchor: &Anchor) -> (Points, NoisedBatch) {
    let x0 = Points::from_vec((0..200).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect(), 1);
    let range = NoiseRange { min: 0.05, max: 5.0 };
    let batch = NoisedBatch::draw(&x0, LevelDraw::LogUniform, range, anchor, &mut stream(5, Purpose::Train, 0));
    (x0, batch)
}

#[test]
fn the_ambient_target_is_minus_the_noise() {
    let (x0, batch) = draw(&Anchor::Ambient);
    let mut square = 0.0;
    for i in 0..x0.len() {
        let noise = (batch.x.row(i)[0] - x0.row(i)[0]) / batch.sigma[i];
        assert!((batch.target.row(i)[0] + noise).abs() < 1e-12);
        square += noise * noise;
    }
    // χ² with 200 degrees of freedom: standard deviation 20.
    assert!((square - 200.0).abs() < 100.0, "{square}");
}

#[test]
fn the_base_target_is_the_one_of_the_paper() {
    let (x0, batch) = draw(&Anchor::Base(Arc::new(TwoPoints)));
    for i in 0..x0.len() {
        let (x0, x, s) = (x0.row(i)[0], batch.x.row(i)[0], batch.sigma[i]);
        let base_score = ((x / (s * s)).tanh() - x) / (s * s);
        let paper = (x0 - x) / s - s * base_score;
        let target = batch.target.row(i)[0];
        assert!((target - paper).abs() < 1e-9 * (1.0 + 1.0 / s), "{target} {paper} at {s}");
    }
}

/// With weights .3 and .7 on ±1 the mean of x₀ given x is tanh(x/σ² + ln(.7/.3)/2).
#[test]
fn averaged_targets_are_means_of_single_ones() {
    let data = Finite::weighted(Points::from_vec(vec![-1.0, 1.0], 1), &[0.3, 0.7]).expect("two weights");
    let x0 = Points::from_vec(vec![1.0; 50], 1);
    let range = NoiseRange { min: 0.3, max: 3.0 };
    let rng = || stream(6, Purpose::Train, 0);
    let single = NoisedBatch::draw(&x0, LevelDraw::LogUniform, range, &Anchor::Ambient, &mut rng());
    let averaged = NoisedBatch::draw_averaged(&x0, &data, LevelDraw::LogUniform, range, &Anchor::Ambient, &mut rng());
    assert_eq!((&single.x, &single.sigma), (&averaged.x, &averaged.sigma));
    for i in 0..x0.len() {
        let (x, s) = (averaged.x.row(i)[0], averaged.sigma[i]);
        let mean = (x / (s * s) + 0.5 * (0.7f64 / 0.3).ln()).tanh();
        assert!((averaged.target.row(i)[0] - (mean - x) / s).abs() < 1e-12);
    }
}

#[test]
fn all_anchors_see_the_same_noise() {
    let (_, a) = draw(&Anchor::Ambient);
    let (_, b) = draw(&Anchor::Base(Arc::new(TwoPoints)));
    let (x0, c) = draw(&Anchor::Skip { sigma_data: 0.5 });
    assert_eq!((&a.x, &a.sigma), (&b.x, &b.sigma));
    assert_eq!((&a.x, &a.sigma), (&c.x, &c.sigma));
    let (x, s) = (c.x.row(7)[0], c.sigma[7]);
    assert!((c.target.row(7)[0] - (x0.row(7)[0] - x * 0.25 / (0.25 + s * s)) / s).abs() < 1e-12);
}

const WIDE: NoiseRange = NoiseRange { min: 1e-6, max: 1e3 };

#[test]
fn ranges_are_checked() {
    assert!(NoiseRange::new(1e-6, 10.0).is_ok());
    for (min, max) in [(0.0, 1.0), (-1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.1, f64::INFINITY)] {
        assert!(matches!(NoiseRange::new(min, max), Err(NoiseError::Range { .. })), "{min} {max}");
    }
    for (min, max) in [(1e-9, 1.0), (1.0, 1e7)] {
        assert!(matches!(NoiseRange::new(min, max), Err(NoiseError::Resolution { .. })), "{min} {max}");
    }
}

#[test]
fn levels_fall_strictly_between_the_exact_ends() {
    for schedule in [Schedule::Geometric, Schedule::Karras { rho: 7.0 }, Schedule::Karras { rho: 1.0 }] {
        for n in [2, 3, 100, 5000] {
            let levels = schedule.levels(WIDE, n);
            assert_eq!((levels.len(), levels[0], levels[n - 1]), (n, WIDE.max, WIDE.min));
            assert!(levels.windows(2).all(|w| w[0] > w[1] && w[1] > 0.0), "{schedule:?} {n}");
        }
    }
    assert!(Schedule::Karras { rho: 0.0 }.check().is_err());
    assert!(Schedule::Karras { rho: f64::NAN }.check().is_err());
}

#[test]
fn geometric_levels_have_a_constant_ratio_and_karras_levels_a_constant_root_step() {
    let levels = Schedule::Geometric.levels(WIDE, 10);
    for w in levels.windows(2) {
        assert!((w[0] / w[1] - 10.0).abs() < 1e-9);
    }
    let range = NoiseRange { min: 0.002, max: 80.0 };
    let roots: Vec<f64> = Schedule::Karras { rho: 7.0 }.levels(range, 18).iter().map(|s| s.powf(1.0 / 7.0)).collect();
    for w in roots.windows(3) {
        assert!((w[0] - 2.0 * w[1] + w[2]).abs() < 1e-12);
    }
}

#[test]
fn stratified_draws_hit_every_slice_once_in_random_order() {
    let n = 64;
    let levels = LevelDraw::LogUniform.draw(WIDE, n, &mut stream(3, Purpose::Train, 0));
    let slice = |s: f64| ((s / WIDE.min).ln() / WIDE.log_length() * n as f64).floor() as usize;
    let order: Vec<usize> = levels.iter().map(|&s| slice(s)).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..n).collect::<Vec<_>>());
    assert_ne!(order, sorted, "slices came in order");
}

#[test]
fn scales_and_log_normal_draws_stay_on_their_support() {
    let range = NoiseRange { min: 0.01, max: 10.0 };
    let mut rng = stream(3, Purpose::Train, 1);
    let scales = Schedule::Geometric.levels(range, 5);
    let drawn = LevelDraw::Scales { n: 5 }.draw(range, 500, &mut rng);
    for s in &scales {
        let share = drawn.iter().filter(|d| *d == s).count() as f64 / 500.0;
        // Binomial standard error √(.2 · .8/500) = .018, five of them.
        assert!((share - 0.2).abs() < 0.09, "{share}");
    }
    assert!(drawn.iter().all(|d| scales.contains(d)));
    let (mean, std, n) = (-1.2, 0.5, 4000);
    let logs: Vec<f64> = LevelDraw::LogNormal { mean, std }.draw(range, n, &mut rng).iter().map(|s| s.ln()).collect();
    let m = logs.iter().sum::<f64>() / n as f64;
    let v = logs.iter().map(|l| (l - m) * (l - m)).sum::<f64>() / n as f64;
    let error = std / (n as f64).sqrt();
    assert!((m - mean).abs() < 5.0 * error && (v.sqrt() - std).abs() < 5.0 * error, "{m} {v}");
    assert!(LevelDraw::Scales { n: 1 }.check().is_err());
    assert!(LevelDraw::LogNormal { mean: 0.0, std: 0.0 }.check().is_err());
}
