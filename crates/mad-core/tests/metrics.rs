//! Metrics agree with hand-made values, know equal from unequal samples, and are fast enough.

use mad_core::{
    Points, Unit,
    catalogue::{
        BuildContext, Comparison, METRICS, build,
        datasets::{circle, so3_mixture::So3Mixture, vmf_mixture::vmf_mixture},
        metric,
    },
    manifold::{Manifold, PointTable},
    measure::BaseMeasure as _,
    metrics::{
        Drift, FloorSource, Kernel, MetricError, closest, floor, mmd, nearest_neighbour, total_variation,
        total_variation_to,
    },
    rng::{Purpose, stream},
};
use std::sync::Arc;

fn manifold(spec: &str) -> Arc<dyn Manifold> {
    let context = BuildContext::new(|_| Ok(PointTable { points: circle::support(), weights: None }));
    build(spec, &context).unwrap()
}

/// Draws of the uniform measure.
fn uniform(manifold: &dyn Manifold, n: usize, seed: u64) -> Points {
    let (measure, mut rng) = (manifold.uniform(), stream(seed, Purpose::Data, 0));
    let mut points = Points::zeros(n, manifold.ambient_dim());
    points.rows_mut().for_each(|x| measure.sample(&mut rng, x));
    points
}

fn vmf(n: usize, mixture: u64, seed: u64) -> Points {
    let (mixture, mut rng) = (vmf_mixture(2, 8, 40.0, mixture), stream(seed, Purpose::Data, 1));
    let mut points = Points::zeros(n, 3);
    points.rows_mut().for_each(|x| mixture.sample(&mut rng, x));
    points
}

fn rotations(n: usize, mixture: u64, seed: u64) -> Points {
    let (mixture, mut rng) = (So3Mixture::new(32, mixture), stream(seed, Purpose::Data, 1));
    let mut points = Points::zeros(n, 4);
    points.rows_mut().for_each(|x| mixture.sample(&mut rng, x));
    points
}

#[test]
fn three_points_have_the_published_value() {
    let sphere = manifold("sphere:2");
    let x = Points::from_vec(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3);
    let y = Points::from_vec(vec![-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3);
    let found = mmd(sphere.as_ref(), &Kernel::HeatSphere, &x, &y).unwrap();
    assert!((found.biased_root - 0.384079).abs() < 5e-7, "{found:?}");
    assert!((found.biased_root.powi(2) - 0.1475166).abs() < 5e-8);
    // Unbiased: the off-diagonal means are k(π/2) each; between the sets 6 k(π/2) + k(π) + 2 k(0) over 9.
    let at = |a: &[f64], b: &[f64]| Kernel::HeatSphere.prepare(sphere.as_ref(), &x).evaluate(sphere.as_ref(), a, b);
    let (k0, k1, k2) = (at(x.row(0), x.row(0)), at(x.row(0), x.row(1)), at(x.row(0), y.row(0)));
    let expected = 2.0 * k1 - 2.0 * (6.0 * k1 + k2 + 2.0 * k0) / 9.0;
    assert!((found.unbiased_squared - expected).abs() < 1e-14);
}

#[test]
fn sums_in_blocks_equal_the_plain_double_sum() {
    for (spec, kernel) in [
        ("sphere:2", Kernel::HeatSphere),
        ("so3", Kernel::HeatRotations),
        ("so3", Kernel::HeatQuaternion),
        ("torus:3", Kernel::Gaussian { bandwidth: Some(0.7) }),
        ("so3", Kernel::default()),
    ] {
        let m = manifold(spec);
        let (x, y) = (uniform(m.as_ref(), 133, 1), uniform(m.as_ref(), 90, 2));
        let profile = kernel.prepare(m.as_ref(), &y);
        let mean = |a: &Points, b: &Points| {
            let total: f64 = a.rows().map(|p| b.rows().map(|q| profile.evaluate(m.as_ref(), p, q)).sum::<f64>()).sum();
            total / (a.len() * b.len()) as f64
        };
        let plain = (mean(&x, &x) + mean(&y, &y) - 2.0 * mean(&x, &y)).sqrt();
        let found = mmd(m.as_ref(), &kernel, &x, &y).unwrap();
        assert!((found.biased_root - plain).abs() < 1e-12, "{spec}: {} {plain}", found.biased_root);
        assert_eq!(mmd(m.as_ref(), &kernel, &x, &x).unwrap().biased_root.max(1e-7), 1e-7);
    }
}

#[test]
fn kernels_on_rotations_do_not_see_the_sign() {
    let so3 = manifold("so3");
    let (x, y) = (rotations(200, 0, 1), rotations(150, 0, 2));
    let mut flipped = x.clone();
    flipped.rows_mut().step_by(2).for_each(|q| q.iter_mut().for_each(|c| *c = -*c));
    for kernel in [Kernel::HeatRotations, Kernel::HeatQuaternion, Kernel::default()] {
        let (a, b) = (mmd(so3.as_ref(), &kernel, &x, &y).unwrap(), mmd(so3.as_ref(), &kernel, &flipped, &y).unwrap());
        assert!((a.biased_root - b.biased_root).abs() < 1e-12, "{kernel:?}");
    }
}

#[test]
fn equal_distributions_are_at_the_floor_and_others_above() {
    let sphere = manifold("sphere:2");
    let (reference, training) = (vmf(600, 0, 1), vmf(5000, 0, 2));
    let kernel = mad_core::catalogue::kernel(sphere.as_ref());
    assert_eq!(kernel, Kernel::HeatSphere);
    let drawn = floor(sphere.as_ref(), &kernel, 600, &reference, Some(&training), 20, 0).unwrap();
    let analytic = floor(sphere.as_ref(), &kernel, 600, &reference, None, 20, 0).unwrap();
    assert_eq!((drawn.source, analytic.source), (FloorSource::Training, FloorSource::Expectation));
    let sd = drawn.deviation.unwrap();
    // The same distribution: within four standard deviations; the rooted mean square lies a little above the mean root.
    let same = mmd(sphere.as_ref(), &kernel, &vmf(600, 0, 3), &reference).unwrap();
    assert!((same.biased_root - drawn.value).abs() < 4.0 * sd, "{same:?} {drawn:?}");
    assert!(
        (analytic.value - (drawn.value.powi(2) + sd * sd).sqrt()).abs() < 0.25 * drawn.value,
        "{analytic:?} {drawn:?}"
    );
    let other = mmd(sphere.as_ref(), &kernel, &vmf(600, 1, 3), &reference).unwrap();
    assert!(other.biased_root > 4.0 * drawn.value && other.unbiased_squared > 0.0, "{other:?}");
}

#[test]
fn the_unbiased_form_has_mean_zero_for_equal_distributions() {
    let so3 = manifold("so3");
    let values: Vec<f64> = (0..60)
        .map(|i| {
            mmd(
                so3.as_ref(),
                &mad_core::catalogue::kernel(so3.as_ref()),
                &rotations(80, 0, 2 * i),
                &rotations(60, 0, 2 * i + 1),
            )
            .unwrap()
        })
        .map(|m| m.unbiased_squared)
        .collect();
    let mean = values.iter().sum::<f64>() / 60.0;
    let error = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 59.0 / 60.0).sqrt();
    assert!(mean.abs() < 4.0 * error, "{mean} ± {error}");
    assert!(values.iter().any(|v| *v < 0.0));
}

#[test]
fn the_median_bandwidth_survives_repeated_points() {
    let sphere = manifold("sphere:9");
    let mut reference = uniform(sphere.as_ref(), 50, 0);
    let one = reference.row(0).to_vec();
    (0..500).for_each(|_| reference.push(&one));
    let found = mmd(sphere.as_ref(), &Kernel::default(), &uniform(sphere.as_ref(), 50, 1), &reference).unwrap();
    // Random directions in ten dimensions stand near a right angle: chord √2, bandwidth √2/√2 = 1.
    assert!((found.bandwidth.unwrap() - 1.0).abs() < 0.15, "{found:?}");
    assert!(found.kernel.contains("median of the reference"));
    let given = mmd(sphere.as_ref(), &Kernel::Gaussian { bandwidth: Some(0.5) }, &reference, &reference).unwrap();
    assert_eq!(given.bandwidth, Some(0.5));
}

#[test]
fn fast_distances_are_the_manifolds_own() {
    // The last one has more representatives than a sign, so that the manifold must be asked.
    for spec in ["torus:2", "so3", "product(so3,euclid:3,so3)", "categorical:2,3", "so3/T"] {
        let m = manifold(spec);
        let (mut x, y) = (uniform_or_normal(m.as_ref(), 40, 1), uniform_or_normal(m.as_ref(), 40, 2));
        x.rows_mut().step_by(2).for_each(|row| {
            for block in m.odd_blocks() {
                row[block].iter_mut().for_each(|v| *v = -*v);
            }
        });
        let profile = Kernel::Gaussian { bandwidth: Some(0.8) }.prepare(m.as_ref(), &y);
        for (a, b) in x.rows().zip(y.rows()) {
            let plain = (-0.5 * (m.chord(a, b) / 0.8).powi(2)).exp();
            assert!((profile.evaluate(m.as_ref(), a, b) - plain).abs() < 1e-12, "{spec}");
        }
    }
}

/// Draws of the uniform measure, or of a normal distribution around zero where there is none.
fn uniform_or_normal(manifold: &dyn Manifold, n: usize, seed: u64) -> Points {
    let mut points = Points::zeros(n, manifold.ambient_dim());
    let (measure, mut rng) = (manifold.uniform(), stream(seed, Purpose::Data, 2));
    points.rows_mut().for_each(|x| {
        measure.sample_prior(1.0, &mut rng, x);
        manifold.project(x);
    });
    points
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let so3 = manifold("so3");
    let (x, y) = (rotations(700, 0, 1), rotations(500, 0, 2));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let c = Comparison {
                manifold: so3.as_ref(),
                samples: &x,
                further: &[],
                reference: &y,
                training: Some(&x),
                draws: 3,
                seed: 1,
            };
            METRICS
                .iter()
                .filter(|m| (m.applies)(so3.as_ref()))
                .flat_map(|m| (m.measure)(&c).unwrap())
                .map(|m| (m.name, m.value.to_bits()))
                .collect::<Vec<_>>()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
    let names: Vec<_> = one.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(names, ["mmd", "mmd_floor", "mmd2_unbiased", "drift_mean", "drift_max", "drift_far", "nn_accuracy"]);
}

#[test]
fn total_variation_on_the_circle() {
    let points = manifold("points:circle8.csv");
    let support = circle::support();
    let p = circle::skewed_probabilities();
    let uniform = [0.125; 8];
    // Every point once: frequencies are uniform, also when the samples are a little off.
    let mut off = support.clone();
    off.rows_mut().for_each(|x| x[0] += 0.04);
    let expected: f64 = 0.5 * p.iter().map(|p| (p - 0.125).abs()).sum::<f64>();
    assert!((total_variation_to(points.as_ref(), &off, &support, &p).unwrap() - expected).abs() < 1e-15);
    assert_eq!(total_variation_to(points.as_ref(), &off, &support, &uniform).unwrap(), 0.0);
    assert_eq!(total_variation(points.as_ref(), &off, &support).unwrap(), 0.0);
    assert!((total_variation(points.as_ref(), &support.head(2), &support).unwrap() - 0.75).abs() < 1e-15);
    let d = Drift::of(points.as_ref(), &off);
    assert!((d.mean - 0.04).abs() < 1e-12 && d.far == 0.0);
    off.row_mut(3)[1] += 0.2;
    assert_eq!(Drift::of(points.as_ref(), &off).far, 0.125);
    let refused = total_variation(manifold("sphere:1").as_ref(), &support, &support);
    assert!(matches!(refused, Err(MetricError::NotAFiniteSet { .. })));
}

#[test]
fn total_variation_of_categories_is_joint() {
    let table = manifold("categorical:2,2");
    // Equal marginals, opposite dependence.
    let same = Points::from_vec(vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0], 4);
    let opposite = Points::from_vec(vec![1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0], 4);
    assert_eq!(total_variation(table.as_ref(), &same, &opposite).unwrap(), 1.0);
    assert_eq!(total_variation(table.as_ref(), &same, &same).unwrap(), 0.0);
}

#[test]
fn a_nearest_neighbour_tells_only_unlike_samples_apart() {
    let sphere = manifold("sphere:2");
    let alike = nearest_neighbour(sphere.as_ref(), &vmf(1500, 0, 1), &vmf(1800, 0, 2), 5000, 0).unwrap();
    assert_eq!(alike.points, 1500);
    // Mutual neighbours are counted together, which widens the error by at most √2.
    assert!((alike.accuracy - 0.5).abs() < 4.0 * 2f64.sqrt() * alike.standard_error, "{alike:?}");
    let unlike = nearest_neighbour(sphere.as_ref(), &vmf(1500, 0, 1), &vmf(1500, 1, 2), 5000, 0).unwrap();
    assert!(unlike.accuracy > 0.8, "{unlike:?}");
    let copied = nearest_neighbour(sphere.as_ref(), &vmf(500, 0, 1), &vmf(500, 0, 1), 5000, 0).unwrap();
    assert_eq!(copied.accuracy, 0.0);
    // Ties on a finite set are shared out.
    let circle = manifold("points:circle8.csv");
    let draws = |seed| uniform(circle.as_ref(), 1000, seed);
    let discrete = nearest_neighbour(circle.as_ref(), &draws(1), &draws(2), 5000, 0).unwrap();
    assert!((discrete.accuracy - 0.5).abs() < 0.02, "{discrete:?}");
}

#[test]
fn repeated_rows_of_the_reference_do_not_tell_samples_apart() {
    let sphere = manifold("sphere:2");
    // Half of the reference stands there twice, as aftershocks at one place do.
    let mut reference = vmf(1000, 0, 1);
    reference.extend(&reference.head(500));
    let found = nearest_neighbour(sphere.as_ref(), &vmf(1500, 0, 2), &reference, 5000, 0).unwrap();
    assert_eq!((found.points, found.repeated), (1000, 500));
    assert!((found.accuracy - 0.5).abs() < 4.0 * 2f64.sqrt() * found.standard_error, "{found:?}");
    let training = vmf(4000, 0, 3);
    let samples = vmf(1500, 0, 2);
    let training = Some(&training);
    let c = Comparison {
        manifold: sphere.as_ref(),
        samples: &samples,
        further: &[],
        reference: &reference,
        training,
        draws: 4,
        seed: 0,
    };
    let numbers = (metric("mmd").unwrap().measure)(&c).unwrap();
    let value = |name: &str| numbers.iter().find(|m| m.name == name).unwrap().value;
    let again = mmd(sphere.as_ref(), &Kernel::HeatSphere, &samples, &reference.head(1000)).unwrap();
    assert!((value("mmd_distinct") - again.biased_root).abs() < 1e-12);
    assert_ne!(value("mmd"), value("mmd_distinct"));
    // Samples that are all one point are still compared.
    let one = Points::from_vec([0.0, 0.0, 1.0].repeat(20), 3);
    assert!(nearest_neighbour(sphere.as_ref(), &one, &reference, 5000, 0).is_ok());
}

#[test]
fn the_discrepancy_is_averaged_over_further_draws() {
    let (sphere, reference) = (manifold("sphere:2"), vmf(400, 0, 1));
    let draws = [vmf(400, 0, 2), vmf(400, 0, 3), vmf(400, 0, 4)];
    let c = Comparison {
        manifold: sphere.as_ref(),
        samples: &draws[0],
        further: &draws[1..],
        reference: &reference,
        training: None,
        draws: 4,
        seed: 0,
    };
    let numbers = (metric("mmd").unwrap().measure)(&c).unwrap();
    let single = |draw: &Points| mmd(sphere.as_ref(), &Kernel::HeatSphere, draw, &reference).unwrap().biased_root;
    let mean = draws.iter().map(single).sum::<f64>() / 3.0;
    assert!((numbers[0].value - mean).abs() < 1e-12 && numbers[0].note.starts_with("mean over 3 draws"), "{numbers:?}");
}

#[test]
fn samples_that_copy_training_points_are_closer_to_them_than_held_out_points() {
    let (sphere, training, held_out) = (manifold("sphere:2"), vmf(2000, 0, 1), vmf(1500, 0, 2));
    let found = |samples: &Points| closest(sphere.as_ref(), Unit::Kilometre, samples, &held_out, &training, 0).unwrap();
    let fair = found(&vmf(1500, 0, 3));
    assert_eq!((fair.samples.n, fair.samples.equal, fair.radii), (1500, 0.0, [1.0, 5.0, 25.0]));
    // Two draws of one distribution: shares differ by their standard errors.
    for (a, b) in fair.samples.within.iter().zip(fair.reference.within) {
        assert!((a - b).abs() < 4.0 * (2.0 * b.max(1e-3) * (1.0 - b) / 1500.0).sqrt(), "{fair:?}");
    }
    let mut copied = vmf(750, 0, 3);
    copied.extend(&training.head(750));
    let copied = found(&copied);
    assert_eq!((copied.samples.equal, copied.reference.equal), (0.5, 0.0));
    assert!(copied.samples.within[0] >= 0.5 && copied.samples.quantiles[1] == 0.0, "{:?}", copied.samples.quantiles);
    // Distances are those of all pairs, in kilometres.
    let nearest = |x: &[f64]| training.rows().map(|y| sphere.distance(x, y)).fold(f64::INFINITY, f64::min);
    let mut all: Vec<f64> = held_out.rows().map(|x| 6371.0088 * nearest(x)).collect();
    all.sort_by(f64::total_cmp);
    assert!(all.iter().zip(&fair.reference.sorted).all(|(a, b)| (a - b).abs() < 1e-9 * a));
    // Rotations are read in degrees, signs of quaternions do not matter.
    let so3 = manifold("so3");
    let rotated = rotations(500, 0, 1);
    let mut turned = rotated.clone();
    turned.as_mut_slice().iter_mut().for_each(|v| *v = -*v);
    let found = closest(so3.as_ref(), Unit::Degree, &turned, &rotations(500, 0, 2), &rotated, 0).unwrap();
    assert!(found.samples.quantiles[4] < 1e-6 && found.reference.quantiles[0] > 1e-3, "{found:?}");
}

#[test]
fn bad_samples_and_names_are_refused() {
    let sphere = manifold("sphere:2");
    let good = vmf(10, 0, 1);
    let few = mmd(sphere.as_ref(), &Kernel::HeatSphere, &good.head(1), &good).unwrap_err();
    assert!(few.to_string().contains("1 points; at least 2"), "{few}");
    let mut bad = good.clone();
    bad.row_mut(4)[1] = f64::NAN;
    assert_eq!(
        mmd(sphere.as_ref(), &Kernel::HeatSphere, &good, &bad),
        Err(MetricError::NotFinite { metric: "mmd", which: "reference", row: 4 })
    );
    let flat = Points::zeros(5, 2);
    let refused = mmd(sphere.as_ref(), &Kernel::HeatSphere, &flat, &good);
    assert!(matches!(refused, Err(MetricError::Dimension { found: 2, wanted: 3, .. })));
    assert!(metric("mdm").err().unwrap().to_string().contains("did you mean `mmd`"));
    assert!(METRICS.iter().all(|m| metric(m.name).is_ok_and(|found| found.summary == m.summary)));
}
