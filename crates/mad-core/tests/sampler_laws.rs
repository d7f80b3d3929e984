//! Every sampler of the registry, given an exact denoiser, must recover the distribution that the denoiser belongs to.

mod exact;

use exact::{CircleSet, Exact, Mixture, UnitSphere, dot, mean_and_error};
use mad_core::{
    Points,
    measure::{Finite, UniformSphere},
    metrics::Drift,
    noise::{Anchor, NoiseRange, Schedule},
    rng::{Purpose, stream},
    sample::{BLOCK_ROWS, BaseDenoiser, Denoiser, Generate, SAMPLERS, SampleError, lookup},
};
use rand_distr::{Distribution, StandardNormal};
use std::{ops::ControlFlow, sync::Arc};

fn generate(sampler: &str, range: NoiseRange, seed: u64) -> Generate {
    Generate::new(lookup(sampler).expect("a registered name"), range, seed)
}

/// Three times the usual number of calls: the laws are about limits, not about defaults.
fn careful(sampler: &str, range: NoiseRange, seed: u64) -> Generate {
    let usual = generate(sampler, range, seed);
    Generate { nfe: 3 * usual.nfe, ..usual }
}

#[test]
fn mixtures_on_the_sphere_are_recovered() {
    let target = Mixture::random(6, 5.0, 300.0, 3);
    let range = NoiseRange { min: 0.005, max: 10.0 };
    let n = 8192;
    let truth = target.draw(200_000, 1);
    // log p, the coordinates, and how many points lie near each centre: all means with known standard errors.
    let statistics = |points: &Points| -> Vec<(f64, f64)> {
        let mean_of = |f: &dyn Fn(&[f64]) -> f64| mean_and_error(&points.rows().map(f).collect::<Vec<_>>());
        let mut all = vec![mean_of(&|x| target.log_ratio(x))];
        all.extend((0..3).map(|i| mean_of(&|x| x[i])));
        all.extend(target.parts.iter().map(|(_, u, k)| mean_of(&|x| (k * (dot(u, x) - 1.0)).exp())));
        all
    };
    let expected = statistics(&truth);
    let model = Exact::new(target.clone(), Anchor::Ambient);
    for entry in SAMPLERS {
        let samples = careful(entry.name, range, 2)
            .collect(&model, &UniformSphere::new(3), &UnitSphere(3), n)
            .expect("finite samples");
        assert_eq!(samples.points.len(), n);
        assert!(samples.points.rows().all(|x| (dot(x, x) - 1.0).abs() < 1e-12), "{}: off the sphere", entry.name);
        for (i, ((found, e1), (wanted, e2))) in statistics(&samples.points).iter().zip(&expected).enumerate() {
            let error = (e1 * e1 + e2 * e2).sqrt();
            // Four standard errors for ten statistics and six samplers, and 2 % for the steps that remain finite.
            let allowed = 4.0 * error + 0.02 * wanted.abs();
            assert!(
                (found - wanted).abs() < allowed,
                "{} statistic {i}: {found} against {wanted} ± {error}",
                entry.name
            );
        }
    }
}

/// Exact denoiser of N(0, 1) on the line.
struct Gaussian;

impl Denoiser for Gaussian {
    fn ambient_dim(&self) -> usize {
        1
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        Points::from_vec(x.as_slice().iter().map(|x| x / (1.0 + sigma * sigma)).collect(), 1)
    }
}

#[test]
fn flow_samplers_converge_at_second_order() {
    let range = NoiseRange { min: 0.01, max: 10.0 };
    // The flow of N(0, 1) data keeps x/√(1 + σ²).
    let exact = ((1.0 + range.min * range.min) / (1.0 + range.max * range.max)).sqrt();
    for name in ["dpm", "heun"] {
        let sampler = (lookup(name).expect("a registered name").build)();
        let error = |levels| {
            let mut x = Points::from_vec(vec![1.0], 1);
            let levels = Schedule::Geometric.levels(range, levels);
            sampler.walk(&Gaussian, &levels, &mut x, &mut stream(0, Purpose::Sample, 0));
            x.row(0)[0] - exact
        };
        let ratio = error(201) / error(401);
        assert!((3.5..4.5).contains(&ratio), "{name}: halving the steps divides the error by {ratio}");
    }
}

#[test]
fn extrapolation_improves_on_ancestral_steps() {
    let range = NoiseRange { min: 0.01, max: 10.0 };
    let variance = |name: &str| {
        let mut rng = stream(3, Purpose::Sample, 0);
        let start = (1.0 + range.max * range.max).sqrt();
        let normal = (0..100_000).map(|_| start * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect();
        let mut x = Points::from_vec(normal, 1);
        let levels = Schedule::Geometric.levels(range, 25);
        (lookup(name).expect("a registered name").build)().walk(&Gaussian, &levels, &mut x, &mut rng);
        mean_and_error(&x.as_slice().iter().map(|x| x * x).collect::<Vec<_>>()).0
    };
    let (plain, extrapolated) = (variance("ancestral"), variance("dpm-sde"));
    // Standard error of both: √2/√100 000 = .0045.
    assert!(plain < 0.95, "ancestral steps lose variance: {plain}");
    assert!((extrapolated - 1.0).abs() < 0.5 * (plain - 1.0).abs(), "{extrapolated} against {plain}");
}

#[test]
fn weighted_finite_sets_are_recovered() {
    let target = CircleSet::skewed(8);
    let base = Finite::uniform(Points::from_vec(target.points.concat(), 2)).expect("eight points");
    let model = Exact::new(target.clone(), Anchor::Ambient);
    let (range, n) = (NoiseRange { min: 0.01, max: 10.0 }, 20_000);
    for entry in SAMPLERS {
        let samples = Generate { projected: false, ..careful(entry.name, range, 4) }
            .collect(&model, &base, &UnitSphere(2), n)
            .expect("finite samples");
        let mut counts = [0_usize; 8];
        for x in samples.points.rows() {
            let i = target.nearest(x);
            let u = target.points[i];
            assert!((x[0] - u[0]).hypot(x[1] - u[1]) < 0.01, "{}: {x:?} is no point of the set", entry.name);
            counts[i] += 1;
        }
        let distance =
            0.5 * counts.iter().zip(&target.weights).map(|(c, w)| (*c as f64 / n as f64 - w).abs()).sum::<f64>();
        // n honest draws have ½ Σ √(2 p (1 − p)/(π n)) ≈ .006 on average. Starting from the noised base instead of the
        // noised distribution shifts log-odds by u·E x₀/σ_max² ≈ .006; the rest is for the steps.
        assert!(distance < 0.02, "{}: total variation {distance}", entry.name);
    }
}

#[test]
fn the_base_alone_puts_unprojected_samples_on_the_sphere() {
    let base = Arc::new(UniformSphere::new(3));
    let range = NoiseRange { min: 1e-4, max: 10.0 };
    for entry in SAMPLERS {
        let samples = Generate { projected: false, ..generate(entry.name, range, 5) }
            .collect(&BaseDenoiser(base.clone()), base.as_ref(), &UnitSphere(3), 3000)
            .expect("finite samples");
        assert!(samples.drift.max < 1e-3, "{}: {:?}", entry.name, samples.drift);
        assert_eq!(samples.drift.far, 0.0);
        assert_eq!(samples.drift, Drift { points: 3000, ..samples.drift });
        for i in 0..3 {
            let (mean, error) = mean_and_error(&samples.points.rows().map(|x| x[i]).collect::<Vec<_>>());
            assert!(mean.abs() < 4.5 * error, "{}: coordinate {i} has mean {mean} ± {error}", entry.name);
            let (square, error) = mean_and_error(&samples.points.rows().map(|x| x[i] * x[i]).collect::<Vec<_>>());
            assert!((square - 1.0 / 3.0).abs() < 4.5 * error, "{}: square {square} ± {error}", entry.name);
        }
    }
}

#[test]
fn samples_do_not_depend_on_threads_or_on_streaming() {
    let target = Mixture::random(3, 5.0, 100.0, 3);
    let model = Exact::new(target, Anchor::Ambient);
    let base = UniformSphere::new(3);
    let n = 5 * BLOCK_ROWS + 17;
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool of threads");
    for entry in SAMPLERS {
        let settings = Generate { nfe: 7, ..generate(entry.name, NoiseRange { min: 0.01, max: 5.0 }, 6) };
        let collect = || settings.collect(&model, &base, &UnitSphere(3), n).expect("finite samples");
        let (one, two) = (pool(1).install(collect), pool(2).install(collect));
        assert_eq!(one, two, "{}", entry.name);
        let (mut rows, mut blocks) = (Vec::new(), Vec::new());
        let drift = settings
            .run(&model, &base, &UnitSphere(3), n, &mut |block| {
                blocks.push(block.len());
                rows.extend_from_slice(block.as_slice());
                ControlFlow::Continue(())
            })
            .expect("finite samples");
        assert_eq!((rows, drift), (one.points.into_vec(), one.drift), "{}", entry.name);
        assert_eq!(blocks, [vec![BLOCK_ROWS; 5], vec![17]].concat());
        let other = Generate { seed: 7, ..settings }.collect(&model, &base, &UnitSphere(3), n).expect("finite samples");
        assert_ne!(other.points, two.points, "{}: the seed has no effect", entry.name);
    }
}

#[test]
fn no_samples_are_samples_too() {
    let base = Arc::new(UniformSphere::new(3));
    let settings = generate("dpm", NoiseRange { min: 0.01, max: 5.0 }, 0);
    let none = settings.collect(&BaseDenoiser(base.clone()), base.as_ref(), &UnitSphere(3), 0).expect("nothing to do");
    assert!(none.points.is_empty());
    assert_eq!(none.drift, Drift::default());
}

#[test]
fn the_promised_number_of_calls_is_kept() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    struct Counting(AtomicUsize);
    impl Denoiser for Counting {
        fn ambient_dim(&self) -> usize {
            3
        }
        fn denoise(&self, x: &Points, _sigma: f64) -> Points {
            self.0.fetch_add(1, Ordering::Relaxed);
            x.clone()
        }
    }
    for entry in SAMPLERS {
        for nfe in [3, 11, entry.nfe] {
            let counting = Counting(AtomicUsize::new(0));
            Generate { nfe, ..generate(entry.name, NoiseRange { min: 0.01, max: 5.0 }, 0) }
                .collect(&counting, &UniformSphere::new(3), &UnitSphere(3), 5)
                .expect("finite samples");
            assert_eq!(counting.0.load(Ordering::Relaxed), nfe, "{}", entry.name);
        }
    }
}

#[test]
fn bad_settings_and_bad_answers_are_named() {
    struct Broken;
    impl Denoiser for Broken {
        fn ambient_dim(&self) -> usize {
            3
        }
        fn denoise(&self, x: &Points, sigma: f64) -> Points {
            let mut answer = x.clone();
            if sigma < 1.0 {
                answer.row_mut(2)[1] = f64::NAN;
            }
            answer
        }
    }
    let base = UniformSphere::new(3);
    let range = NoiseRange { min: 0.01, max: 5.0 };
    for entry in SAMPLERS {
        let settings = generate(entry.name, range, 0);
        let fail = |settings: Generate| settings.collect(&Broken, &base, &UnitSphere(3), 10).expect_err("an error");
        assert!(
            matches!(fail(settings), SampleError::NotFinite { row: 2, sigma, .. } if sigma < 1.0),
            "{}: {:?}",
            entry.name,
            fail(settings)
        );
        assert!(matches!(fail(Generate { nfe: 1, ..settings }), SampleError::TooFewCalls { .. }));
        assert!(matches!(fail(Generate { nfe: 0, ..settings }), SampleError::TooFewCalls { .. }));
        let schedule = Schedule::Karras { rho: -1.0 };
        assert!(matches!(fail(Generate { schedule, ..settings }), SampleError::Noise(_)));
        let range = NoiseRange { min: 5.0, max: 0.1 };
        assert!(matches!(fail(Generate { range, ..settings }), SampleError::Noise(_)));
    }
    let settings = generate("paper", range, 0);
    let error = settings.collect(&Broken, &UniformSphere::new(4), &UnitSphere(3), 1).expect_err("an error");
    assert_eq!(error, SampleError::Dimension { denoiser: 3, base: 4, manifold: 3 });
}

#[test]
fn a_sink_may_break_off() {
    let base = Arc::new(UniformSphere::new(3));
    let settings = Generate { nfe: 3, ..generate("dpm", NoiseRange { min: 0.01, max: 5.0 }, 0) };
    let mut seen = 0;
    let end = settings.run(&BaseDenoiser(base.clone()), base.as_ref(), &UnitSphere(3), 100_000, &mut |_| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((end.is_ok(), seen), (true, 2));
}
