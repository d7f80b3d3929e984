//! Likelihoods of exact models: the truth is known in closed form, so nothing but the method is tested.

mod exact;

use exact::{CircleSet, Exact, Mixture, mean_and_error};
use mad_core::{
    Points,
    likelihood::{
        BoundConfig, BoundPoints, FlowConfig, FlowModel, Remainder, likelihood_bound, log_ratio, step_doubling,
    },
    measure::{BaseMeasure, Flat, ProductMeasure, UniformSphere},
    noise::{Anchor, NoiseRange},
    rng::{Purpose, stream},
    sample::{BaseDenoiser, Denoiser},
};
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

const RANGE: NoiseRange = NoiseRange { min: 0.003, max: 10.0 };

fn target() -> Mixture {
    Mixture::random(8, 30.0, 1000.0, 4)
}

fn truth(target: &Mixture, x0: &Points) -> Vec<f64> {
    x0.rows().map(|x| target.log_ratio(x)).collect()
}

fn errors(model: &Exact, base: &dyn BaseMeasure, x0: &Points, truth: &[f64], config: &FlowConfig) -> (f64, f64) {
    let errors: Vec<f64> = log_ratio(model, base, x0, config).iter().zip(truth).map(|(a, b)| a - b).collect();
    let rmse = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    (mean_and_error(&errors).0, rmse)
}

#[test]
fn the_coupled_flow_finds_the_density_of_a_mixture() {
    let target = target();
    let x0 = target.draw(400, 7);
    let truth = truth(&target, &x0);
    let base = Arc::new(UniformSphere::new(3));
    let model = Exact::new(target, Anchor::Base(base.clone()));
    let (bias, rmse) = errors(&model, base.as_ref(), &x0, &truth, &FlowConfig::new(RANGE));
    // The rest is |E x₀|/σ_max per point: the prior of the model is the noised base, not the noised distribution.
    assert!(bias.abs() < 0.005 && rmse < 0.036, "bias {bias}, rmse {rmse}");
}

#[test]
fn the_direct_flow_agrees_with_the_coupled_one() {
    let target = target();
    let x0 = target.draw(100, 8);
    let base = Arc::new(UniformSphere::new(3));
    let config = FlowConfig { range: RANGE, steps: 60 };
    let coupled = log_ratio(&Exact::new(target.clone(), Anchor::Base(base.clone())), base.as_ref(), &x0, &config);
    for anchor in [Anchor::Ambient, Anchor::Skip { sigma_data: 0.6 }] {
        let direct = log_ratio(&Exact::new(target.clone(), anchor), base.as_ref(), &x0, &config);
        for (c, d) in coupled.iter().zip(&direct) {
            assert!((c - d).abs() < 0.01, "coupled {c}, direct {d}");
        }
    }
}

#[test]
fn a_density_relative_to_another_base_differs_by_the_weights() {
    let target = target();
    let x0 = target.draw(50, 9);
    let uniform = UniformSphere::new(3);
    let other: Arc<dyn BaseMeasure> = Arc::new(Mixture::random(3, 1.0, 4.0, 2));
    let model = Exact::new(target, Anchor::Base(other.clone()));
    let config = FlowConfig { range: NoiseRange { min: 0.003, max: 30.0 }, steps: 40 };
    let own = log_ratio(&model, other.as_ref(), &x0, &config);
    let against_uniform = log_ratio(&model, &uniform, &x0, &config);
    for ((row, a), b) in x0.rows().zip(&own).zip(&against_uniform) {
        let expected = a + other.log_weight(row) - uniform.log_weight(row);
        // The two models start from different priors, which differ by |E x₀|/σ_max.
        assert!((b - expected).abs() < 2.0 / 30.0, "{b} against {expected}");
    }
}

#[test]
fn the_base_itself_has_log_ratio_zero() {
    let base: Arc<dyn BaseMeasure> = Arc::new(UniformSphere::new(3));
    let x0 = Mixture::uniform().draw(600, 3);
    let model = Exact { target: base.clone(), anchor: Anchor::Base(base.clone()) };
    assert!(log_ratio(&model, base.as_ref(), &x0, &FlowConfig::new(RANGE)).iter().all(|v| *v == 0.0));
    let bound = likelihood_bound(&BaseDenoiser(base.clone()), base.as_ref(), RANGE, &x0, &BoundConfig::default());
    assert!(bound.per_point.iter().all(|v| *v == 0.0));
    assert_eq!((bound.mean, bound.standard_error), (0.0, 0.0));
    let area = (4.0 * std::f64::consts::PI).ln();
    assert!((bound.negative_log_likelihood(base.as_ref(), &x0) - area).abs() < 1e-12);
}

#[test]
fn the_bound_meets_the_truth_for_an_exact_denoiser_and_lies_below_for_a_wrong_one() {
    let target = target();
    let base = UniformSphere::new(3);
    let x0 = target.draw(2048, 11);
    let truth = truth(&target, &x0);
    let range = NoiseRange { min: 0.001, max: 10.0 };
    let difference = |model: &dyn Denoiser| {
        let bound = likelihood_bound(model, &base, range, &x0, &BoundConfig { levels: 32, repeats: 2, seed: 1 });
        let paired: Vec<f64> = bound.per_point.iter().zip(&truth).map(|(b, t)| b - t).collect();
        mean_and_error(&paired)
    };
    let (gap, error) = difference(&Exact::new(target.clone(), Anchor::Ambient));
    assert!(error < 0.02, "the bound is too noisy: {error}");
    assert!(gap.abs() < 4.0 * error, "gap {gap}, standard error {error}");

    let mut wrong = target.clone();
    wrong.parts.iter_mut().for_each(|part| part.2 *= 0.5);
    let kl = mean_and_error(&x0.rows().map(|x| target.log_ratio(x) - wrong.log_ratio(x)).collect::<Vec<_>>()).0;
    let (gap, error) = difference(&Exact::new(wrong, Anchor::Ambient));
    // The exact denoiser of another distribution has that distribution as its model, so the bound is again tight.
    assert!((gap + kl).abs() < 4.0 * error, "gap {gap}, minus KL {}, standard error {error}", -kl);
}

#[test]
fn points_that_are_kept_give_the_same_bound() {
    let target = target();
    let x0 = target.draw(1100, 5);
    let config = BoundConfig { levels: 8, repeats: 2, seed: 6 };
    // A base with a prior of its own, too.
    let flat = Flat::new(3);
    for base in [&UniformSphere::new(3) as &dyn BaseMeasure, &flat] {
        let kept = BoundPoints::new(base, RANGE, &x0, config);
        for target in [target.clone(), Mixture::random(2, 3.0, 9.0, 7)] {
            let model = Exact::new(target, Anchor::Ambient);
            assert_eq!(kept.bound(&model), likelihood_bound(&model, base, RANGE, &x0, &config));
        }
    }
}

#[test]
fn finite_sets_get_their_weights_back() {
    let target = CircleSet::skewed(8);
    let even = CircleSet::even(8);
    let x0 = Points::from_vec(target.points.concat(), 2);
    let expected: Vec<f64> = target.weights.iter().map(|w| (w * 8.0).ln()).collect();
    let range = NoiseRange { min: 0.01, max: 200.0 };
    let base: Arc<dyn BaseMeasure> = Arc::new(even);
    for (anchor, tolerance) in [(Anchor::Base(base.clone()), 0.01), (Anchor::Ambient, 0.01)] {
        let model = Exact::new(target.clone(), anchor);
        let found = log_ratio(&model, base.as_ref(), &x0, &FlowConfig { range, steps: 150 });
        for (f, e) in found.iter().zip(&expected) {
            assert!((f - e).abs() < tolerance, "{:?}: {f} against {e}", model.anchor);
        }
    }
    let many = Points::from_vec(x0.as_slice().repeat(500), 2);
    let model = Exact::new(target, Anchor::Ambient);
    let bound = likelihood_bound(&model, base.as_ref(), range, &many, &BoundConfig { levels: 64, repeats: 1, seed: 3 });
    for (i, e) in expected.iter().enumerate() {
        let (mean, error) = mean_and_error(&bound.per_point.iter().skip(i).step_by(8).copied().collect::<Vec<_>>());
        assert!((mean - e).abs() < 4.0 * error.max(0.005), "point {i}: {mean} ± {error} against {e}");
    }
}

/// Exact model of N(0, s² I) in flat space.
struct Gaussian {
    dim: usize,
    variance: f64,
    anchor: Anchor,
}

impl Denoiser for Gaussian {
    fn ambient_dim(&self) -> usize {
        self.dim
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        let keep = self.variance / (self.variance + sigma * sigma);
        Points::from_vec(x.as_slice().iter().map(|x| keep * x).collect(), self.dim)
    }
}

impl FlowModel for Gaussian {
    fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    fn remainder(&self, x: &Points, sigma: f64) -> Remainder {
        let slope = -sigma / (self.variance + sigma * sigma);
        let value = Points::from_vec(x.as_slice().iter().map(|x| slope * x).collect(), self.dim);
        Remainder { value, divergence: vec![slope * self.dim as f64; x.len()] }
    }
}

#[test]
fn flat_space_has_its_lebesgue_density() {
    let (dim, variance) = (2, 0.7);
    let mut rng = stream(5, Purpose::Data, 0);
    let x0 = Points::from_vec(
        (0..4000 * dim)
            .map(|_| {
                let z: f64 = StandardNormal.sample(&mut rng);
                z * f64::sqrt(variance)
            })
            .collect(),
        dim,
    );
    let density = |x: &[f64]| {
        -exact::dot(x, x) / (2.0 * variance) - dim as f64 / 2.0 * (2.0 * std::f64::consts::PI * variance).ln()
    };
    let base: Arc<dyn BaseMeasure> = Arc::new(Flat::new(dim));
    let range = NoiseRange { min: 0.003, max: 10.0 };
    for anchor in [Anchor::Base(base.clone()), Anchor::Ambient] {
        let model = Gaussian { dim, variance, anchor };
        let found = log_ratio(&model, base.as_ref(), &x0.head(50), &FlowConfig { range, steps: 60 });
        for (f, x) in found.iter().zip(x0.rows()) {
            assert!((f - density(x)).abs() < 0.01, "{f} against {}", density(x));
        }
    }
    let model = Gaussian { dim, variance, anchor: Anchor::Ambient };
    let bound = likelihood_bound(&model, base.as_ref(), range, &x0, &BoundConfig::default());
    let paired: Vec<f64> = bound.per_point.iter().zip(x0.rows()).map(|(b, x)| b - density(x)).collect();
    let (gap, error) = mean_and_error(&paired);
    assert!(gap.abs() < 4.0 * error && error < 0.05, "gap {gap} ± {error}");
}

/// Two independent blocks side by side.
struct SideBySide(Exact, Gaussian, Anchor);

impl SideBySide {
    fn split(x: &Points) -> (Points, Points) {
        let (mut a, mut b) = (Points::new(3), Points::new(2));
        for row in x.rows() {
            a.push(&row[..3]);
            b.push(&row[3..]);
        }
        (a, b)
    }

    fn join(a: &Points, b: &Points) -> Points {
        Points::from_vec(a.rows().zip(b.rows()).flat_map(|(a, b)| [a, b].concat()).collect(), 5)
    }
}

impl Denoiser for SideBySide {
    fn ambient_dim(&self) -> usize {
        5
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        let (a, b) = Self::split(x);
        Self::join(&self.0.denoise(&a, sigma), &self.1.denoise(&b, sigma))
    }
}

impl FlowModel for SideBySide {
    fn anchor(&self) -> &Anchor {
        &self.2
    }

    fn remainder(&self, x: &Points, sigma: f64) -> Remainder {
        let (a, b) = Self::split(x);
        let (a, b) = (self.0.remainder(&a, sigma), self.1.remainder(&b, sigma));
        let divergence = a.divergence.iter().zip(&b.divergence).map(|(a, b)| a + b).collect();
        Remainder { value: Self::join(&a.value, &b.value), divergence }
    }
}

#[test]
fn a_product_adds_the_log_ratios_of_its_blocks() {
    let target = target();
    let directions = target.draw(40, 2);
    let flat = Points::from_vec((0..80).map(|i| (i as f64 * 0.7).sin()).collect(), 2);
    let (sphere, plane): (Arc<dyn BaseMeasure>, Arc<dyn BaseMeasure>) =
        (Arc::new(UniformSphere::new(3)), Arc::new(Flat::new(2)));
    let both: Arc<dyn BaseMeasure> = Arc::new(ProductMeasure::new(vec![sphere.clone(), plane.clone()]));
    let parts = (
        Exact::new(target, Anchor::Base(sphere.clone())),
        Gaussian { dim: 2, variance: 0.5, anchor: Anchor::Base(plane.clone()) },
    );
    let config = FlowConfig::new(RANGE);
    let a = log_ratio(&parts.0, sphere.as_ref(), &directions, &config);
    let b = log_ratio(&parts.1, plane.as_ref(), &flat, &config);
    let model = SideBySide(parts.0, parts.1, Anchor::Base(both.clone()));
    let found = log_ratio(&model, both.as_ref(), &SideBySide::join(&directions, &flat), &config);
    for ((f, a), b) in found.iter().zip(a).zip(b) {
        assert!((f - a - b).abs() < 1e-9, "{f} against {}", a + b);
    }
}

#[test]
fn step_doubling_sees_coarse_steps() {
    let target = target();
    let x0 = target.draw(100, 12);
    let base = Arc::new(UniformSphere::new(3));
    let model = Exact::new(target, Anchor::Base(base.clone()));
    let check = |steps| step_doubling(&model, base.as_ref(), &x0, &FlowConfig { range: RANGE, steps });
    let (coarse, fine) = (check(5), check(40));
    assert!(coarse.mean_absolute_difference > 0.05, "{}", coarse.mean_absolute_difference);
    assert!(fine.mean_absolute_difference < 0.002, "{}", fine.mean_absolute_difference);
    assert_eq!(fine.refined, log_ratio(&model, base.as_ref(), &x0, &FlowConfig { range: RANGE, steps: 80 }));
}

#[test]
fn threads_and_absence_of_points_do_not_matter() {
    let target = target();
    let x0 = target.draw(1500, 1);
    let base = Arc::new(UniformSphere::new(3));
    let model = Exact::new(target, Anchor::Base(base.clone()));
    let both = || {
        let flow = log_ratio(&model, base.as_ref(), &x0, &FlowConfig { range: RANGE, steps: 3 });
        let config = BoundConfig { levels: 3, ..BoundConfig::default() };
        (flow, likelihood_bound(&model, base.as_ref(), RANGE, &x0, &config).per_point)
    };
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool of threads");
    assert_eq!(pool(1).install(both), pool(2).install(both));
    let none = Points::new(3);
    assert!(log_ratio(&model, base.as_ref(), &none, &FlowConfig::new(RANGE)).is_empty());
    let bound = likelihood_bound(&model, base.as_ref(), RANGE, &none, &BoundConfig::default());
    assert!(bound.per_point.is_empty() && bound.mean.is_nan());
}

/// The same rows with other levels and noise: what the standard error covers beyond the spread of the rows.
#[test]
fn the_standard_error_knows_the_levels_that_rows_share() {
    let target = target();
    let base = UniformSphere::new(3);
    let x0 = target.draw(1500, 12);
    let model = Exact::new(target, Anchor::Ambient);
    let range = NoiseRange { min: 0.001, max: 10.0 };
    for (levels, repeats) in [(32, 1), (24, 2), (64, 1)] {
        let bounds: Vec<_> = (0..24)
            .map(|seed| likelihood_bound(&model, &base, range, &x0, &BoundConfig { levels, repeats, seed }))
            .collect();
        let means: Vec<f64> = bounds.iter().map(|bound| bound.mean).collect();
        let spread = mean_and_error(&means).1 * 24f64.sqrt();
        let errors = bounds.iter().map(|bound| bound.level_error).sum::<f64>() / 24.0;
        // 24 runs know the spread to 15 %; the estimate contains the noise of the rows and curvature.
        assert!((0.7..4.0).contains(&(errors / spread)), "{levels} levels: {errors}, spread over seeds {spread}");
        assert!(bounds.iter().all(|bound| bound.standard_error >= bound.level_error));
    }
}
