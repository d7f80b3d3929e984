//! Geodesics, flows and Brownian motion on products of spheres.

use mad_core::{
    Points,
    catalogue::{BuildContext, build},
    riemannian::{Flow, Spheres, TangentField, TimeChange, heat_score, reverse_walk, walk},
    rng::{Purpose, stream},
    special::{dot, norm},
};

fn all() -> Vec<(Spheres, Points)> {
    ["sphere:1", "sphere:2", "sphere:5", "so3", "torus:3", "product(so3,sphere:2)"]
        .map(|spec| {
            let manifold = build(spec, &BuildContext::without_files()).expect("a known manifold");
            let mut points = Points::zeros(40, manifold.ambient_dim());
            let mut rng = stream(1, Purpose::Data, 0);
            points.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
            (Spheres::of(manifold.as_ref()).expect("made of spheres"), points)
        })
        .into()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn exp_and_log_are_inverse_and_log_is_the_shortest_way() {
    for (spheres, points) in all() {
        let n = spheres.ambient_dim();
        for i in 0..20 {
            let (x, y) = (points.row(2 * i), points.row(2 * i + 1));
            let (mut v, mut there) = (vec![0.0; n], x.to_vec());
            spheres.log(x, y, &mut v);
            spheres.exp(&mut there, &v);
            for block in spheres.blocks() {
                let (y, there) = (&y[block.range.clone()], &there[block.range.clone()]);
                let opposite: Vec<f64> = there.iter().map(|x| -x).collect();
                let error = apart(y, there).min(if block.antipodal { apart(y, &opposite) } else { f64::MAX });
                assert!(error < 1e-12, "{error}");
                let longest = std::f64::consts::PI * if block.antipodal { 0.5 } else { 1.0 };
                assert!(norm(&v[block.range.clone()]) <= longest + 1e-12);
            }
            let mut tangent = v.clone();
            spheres.tangent(x, &mut tangent);
            assert!(apart(&tangent, &v) < 1e-12);
        }
    }
}

/// Paths begin at x₀ and end at x₁, or at −x₁ where that is the same point and nearer.
#[test]
fn paths_join_their_ends_and_velocities_are_their_derivatives() {
    let mut turned = 0;
    for (spheres, points) in all() {
        let n = spheres.ambient_dim();
        for i in 0..20 {
            let (x0, x1) = (points.row(2 * i), points.row(2 * i + 1));
            let at = |t: f64| {
                let (mut x, mut v) = (vec![0.0; n], vec![0.0; n]);
                spheres.path(x0, x1, t, &mut x, &mut v);
                (x, v)
            };
            let h = 1e-5;
            for t in [0.0, 0.3, 0.9, 1.0] {
                let (velocity, after, before) = (at(t).1, at(t + h).0, at(t - h).0);
                for ((v, after), before) in velocity.iter().zip(after).zip(before) {
                    assert!(((after - before) / (2.0 * h) - v).abs() < 1e-8);
                }
            }
            assert!(apart(&at(0.0).0, x0) < 1e-14);
            let mut end = x1.to_vec();
            for block in spheres.blocks().iter().filter(|block| block.antipodal) {
                if dot(&x0[block.range.clone()], &x1[block.range.clone()]) < 0.0 {
                    end[block.range.clone()].iter_mut().for_each(|x| *x = -*x);
                    turned += 1;
                }
            }
            assert!(apart(&at(1.0).0, &end) < 1e-12);
        }
    }
    // Half of 40 pairs of rotations, 20 of them in the product, should be nearer with the other sign.
    assert!((10..=30).contains(&turned), "{turned}");
}

#[test]
fn bases_are_orthonormal_and_tangent() {
    for (spheres, points) in all() {
        let (n, d) = (spheres.ambient_dim(), spheres.intrinsic_dim());
        for x in points.rows() {
            let basis = spheres.basis(x);
            let row = |i: usize| &basis[i * n..(i + 1) * n];
            for i in 0..d {
                let mut tangent = row(i).to_vec();
                spheres.tangent(x, &mut tangent);
                assert!(apart(&tangent, row(i)) < 1e-14);
                for j in 0..d {
                    assert!((dot(row(i), row(j)) - f64::from(i == j)).abs() < 1e-14);
                }
            }
        }
    }
}

#[test]
fn opposite_points_are_half_a_turn_apart() {
    let sphere = all().remove(1).0;
    let (mut v, x) = (vec![0.0; 3], [0.6, 0.0, 0.8]);
    sphere.log(&x, &x.map(|x: f64| -x), &mut v);
    assert!((norm(&v) - std::f64::consts::PI).abs() < 1e-12 && dot(&v, &x).abs() < 1e-12);
    sphere.log(&x, &x, &mut v);
    assert_eq!(v, [0.0; 3]);
}

/// The field of Möbius maps towards the north pole, v = ∇z, whose flow is known.
struct North;

impl TangentField for North {
    fn at(&self, x: &Points, _t: f64) -> Points {
        let mut v = x.clone();
        v.rows_mut().for_each(|x| {
            let z = x[2];
            x.iter_mut().for_each(|x| *x *= -z);
            x[2] += 1.0;
        });
        v
    }

    fn with_divergence(&self, x: &Points, t: f64) -> (Points, Vec<f64>) {
        (self.at(x, t), x.rows().map(|x| -2.0 * x[2]).collect())
    }
}

/// z = tanh(t + artanh z₀); areas change as (1 − z²)/(1 − z₀²).
#[test]
fn follows_a_known_flow() {
    let sphere =
        Spheres::of(build("sphere:2", &BuildContext::without_files()).expect("known").as_ref()).expect("spheres");
    let start = Points::from_vec(vec![0.8, 0.0, -0.6, 0.0, 1.0, 0.0], 3);
    let mut x = start.clone();
    let change = Flow { from: 0.0, to: 1.5, steps: 20 }.follow(&sphere, &North, &mut x);
    let mut rough = start.clone();
    Flow { from: 0.0, to: 1.5, steps: 2000 }.euler(&sphere, &North, &mut rough);
    for (i, (start, x)) in start.rows().zip(x.rows()).enumerate() {
        let z = (1.5 + start[2].atanh()).tanh();
        let log_area = ((1.0 - z * z) / (1.0 - start[2] * start[2])).ln();
        assert!((x[2] - z).abs() < 1e-6 && (change[i] - log_area).abs() < 1e-5, "{} {z}", x[2]);
        assert!((rough.row(i)[2] - z).abs() < 1e-3);
    }
    Flow { from: 1.5, to: 0.0, steps: 20 }.follow(&sphere, &North, &mut x);
    assert!(x.as_slice().iter().zip(start.as_slice()).all(|(a, b)| (a - b).abs() < 1e-5), "the way back");
}

/// The score of Brownian motion that started at one point; from B = 1/2 on the series is exact to 1e-10.
struct Heat<'a> {
    spheres: &'a Spheres,
    start: &'a [f64],
    time: TimeChange,
}

impl TangentField for Heat<'_> {
    fn at(&self, x: &Points, t: f64) -> Points {
        let mut scores = x.clone();
        for (score, x) in scores.rows_mut().zip(x.rows()) {
            heat_score(self.spheres, self.start, x, self.time.elapsed(t), 10, score);
        }
        scores
    }

    fn with_divergence(&self, _x: &Points, _t: f64) -> (Points, Vec<f64>) {
        unreachable!("walks ask for vectors alone")
    }
}

/// Harmonics of degree one decay like exp(−λ B/2) with λ = n on Sⁿ.
#[test]
fn walks_spread_as_brownian_motion_does() {
    for (spec, n) in [("sphere:2", 2.0), ("sphere:3", 3.0), ("torus:1", 1.0)] {
        let manifold = build(spec, &BuildContext::without_files()).expect("known");
        let spheres = Spheres::of(manifold.as_ref()).expect("made of spheres");
        let time = TimeChange { start: 0.1, end: 1.9 };
        let mut rng = stream(3, Purpose::Data, 0);
        let (count, mut mean) = (20_000, 0.0);
        for _ in 0..count {
            let mut x = vec![0.0; spheres.ambient_dim()];
            x[0] = 1.0;
            walk(&spheres, &mut x, time, (0.0, 1.0), 50, &mut rng);
            mean += x[0] / count as f64;
        }
        let expected = (-0.5 * n * time.elapsed(1.0)).exp();
        // One step in fifty leaves a bias of about one part in fifty of the exponent.
        assert!((mean - expected).abs() < 0.02, "{spec}: {mean} {expected}");
    }
}

/// With the exact score the way back from the uniform distribution ends in the distribution of Brownian motion at that time: on S² the mean
/// of x·x₀ is exp(−B), whether β is constant or grows.
#[test]
fn reverse_walks_end_in_the_distribution_of_brownian_motion() {
    let manifold = build("sphere:2", &BuildContext::without_files()).expect("known");
    let spheres = Spheres::of(manifold.as_ref()).expect("made of spheres");
    let (count, steps, start) = (2000, 200, [0.36, -0.48, 0.8]);
    for (time, end) in
        [(TimeChange { start: 8.0, end: 8.0 }, 1.0 / 16.0), (TimeChange { start: 2.0, end: 14.0 }, 1.0 / 6.0)]
    {
        // At time 1 the distribution is uniform up to 3 exp(−8).
        assert!((time.elapsed(end) - 0.5).abs() < 1e-12 && time.elapsed(1.0) == 8.0);
        let mut rng = stream(3, Purpose::Data, 0);
        let mut x = Points::zeros(count, 3);
        x.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
        let score = Heat { spheres: &spheres, start: &start, time };
        reverse_walk(&spheres, &score, &mut x, time, end, steps, &mut rng);
        let mean = x.rows().map(|x| dot(x, &start)).sum::<f64>() / count as f64;
        let expected = (-time.elapsed(end)).exp();
        // x·x₀ has variance (1 + 2 exp(−3B))/3 − exp(−2B); steps are as good as an end that is one step of B off.
        let variance = (1.0 + 2.0 * expected.powi(3)) / 3.0 - expected * expected;
        let step = time.rate(end) * (1.0 - end) / steps as f64;
        let tolerance = 4.0 * (variance / count as f64).sqrt() + step * expected;
        assert!((mean - expected).abs() < tolerance, "{time:?}: {mean} {expected}");
    }
}
