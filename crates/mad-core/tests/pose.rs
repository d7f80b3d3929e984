//! Solids, their groups, pictures, embeddings, orbits and scores.

use mad_core::measure::orbit::{nearest, orbit_mean};
use mad_core::rng::{Purpose, Rng, stream};
use mad_core::rotation::{
    Embedding, Quaternion, Symmetry, angle, conjugate, from_matrix, matrix, multiply, turn, uniform,
};
use mad_core::solids::{SOLIDS, Solid, View};
use rand::RngExt as _;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;

fn rng(index: u64) -> Rng {
    stream(11, Purpose::Metric, index)
}

fn solid(name: &str) -> Solid {
    Solid::lookup(name).unwrap()
}

/// The five solids of SymSol I.
fn featureless() -> impl Iterator<Item = Solid> {
    SOLIDS[..5].iter().copied()
}

fn about(axis: [f64; 3], angle: f64) -> Quaternion {
    let length = axis.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (sin, cos) = (angle / 2.0).sin_cos();
    [axis[0] * sin / length, axis[1] * sin / length, axis[2] * sin / length, cos]
}

fn grey(view: &View, solid: Solid, q: &Quaternion) -> Vec<f32> {
    let mut picture = vec![0.0; view.size * view.size];
    view.grey(solid, q, &mut picture);
    picture
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// A group element, random where the group is continuous.
fn elements(symmetry: Symmetry, rng: &mut Rng) -> Vec<Quaternion> {
    match symmetry.elements() {
        Some(list) => list.to_vec(),
        None => (0..20).map(|_| symmetry.lift(&[0.0, 0.0, 0.0, 1.0], rng)).collect(),
    }
}

#[test]
fn names_are_found_and_misspelt_ones_explained() {
    let names: Vec<_> = SOLIDS.iter().map(|s| s.name()).collect();
    assert_eq!(names, ["tet", "cube", "icosa", "cone", "cyl", "tetX", "cylO", "sphereX"]);
    for (class, &solid) in SOLIDS.iter().enumerate() {
        assert_eq!((Solid::lookup(solid.name()), solid.class()), (Some(solid), class));
    }
    let error = "cubes".parse::<Solid>().unwrap_err();
    assert_eq!(error.nearest, Some("cube"));
    assert!(error.to_string().contains("sphereX"), "{error}");
}

#[test]
fn groups_are_closed_have_their_size_and_start_with_the_identity() {
    for (name, size) in [("tet", 12), ("cube", 24), ("icosa", 60), ("tetX", 1)] {
        let list = solid(name).symmetry().elements().unwrap();
        assert_eq!(list.len(), size, "{name}");
        assert_eq!(list[0], [0.0, 0.0, 0.0, 1.0], "{name}");
        let find = |q: &Quaternion| list.iter().filter(|g| angle(*g, q) < 1e-12).count();
        for a in list {
            assert_eq!(find(&conjugate(a)), 1);
            assert!(list.iter().all(|b| find(&multiply(a, b)) == 1), "{name} is not closed");
        }
    }
}

#[test]
fn groups_map_the_vertices_of_their_solids_to_vertices() {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let root = 2f64.sqrt();
    let tet = vec![[0.0, root, 1.0], [0.0, -root, 1.0], [root, 0.0, -1.0], [-root, 0.0, -1.0]];
    let mut icosa = Vec::new();
    for (a, b) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
        icosa.extend([[a, b, 0.0], [0.0, a, b], [b, 0.0, a]]);
    }
    for (name, vertices) in [("tet", tet), ("icosa", icosa)] {
        for g in solid(name).symmetry().elements().unwrap() {
            for v in &vertices {
                let turned = turn(&matrix(g), v);
                let is_there = |w: &[f64; 3]| (0..3).all(|i| (w[i] - turned[i]).abs() < 1e-12);
                assert!(vertices.iter().any(is_there), "{name}: {turned:?}");
            }
        }
    }
}

#[test]
fn lists_are_as_published() {
    let sizes: Vec<_> = SOLIDS.iter().map(|s| s.symmetry().listed().len()).collect();
    assert_eq!(sizes, [12, 24, 60, 360, 720, 1, 1, 1]);
    for &solid in SOLIDS {
        let (symmetry, list) = (solid.symmetry(), solid.symmetry().listed());
        assert_eq!(angle(&list[0], &[0.0, 0.0, 0.0, 1.0]), 0.0);
        assert!(list.iter().all(|g| symmetry.distance(g, &list[0]) < 1e-7), "{solid}");
    }
    let cone = solid("cone").symmetry().listed();
    assert!((angle(&cone[0], &cone[1]) - 2.0 * PI / 359.0).abs() < 1e-12);
    assert!(angle(&cone[0], &cone[359]) < 1e-12);
    let cylinder = solid("cyl").symmetry().listed();
    let expected = multiply(&about([0.0, 0.0, 1.0], 2.0 * PI / 359.0), &about([1.0, 0.0, 0.0], PI));
    assert!(angle(&cylinder[3], &expected) < 1e-12, "turn about z after a half turn about x");
}

#[test]
fn distances_are_the_least_over_the_orbit() {
    let mut rng = rng(1);
    for &solid in SOLIDS {
        let symmetry = solid.symmetry();
        for _ in 0..50 {
            let (q, truth) = (uniform(&mut rng), uniform(&mut rng));
            let least = symmetry.listed().iter().map(|g| angle(&q, &multiply(&truth, g))).fold(f64::INFINITY, f64::min);
            let distance = symmetry.distance(&q, &truth);
            // The lists of the continuous groups have gaps of one degree.
            let gap = if symmetry.dimension() == 0 { 1e-12 } else { 1e-2 };
            assert!(distance <= least + 1e-12 && distance > least - gap, "{solid}: {distance} {least}");
        }
    }
    let tilt = |angle| about([1.0, 0.0, 0.0], angle);
    let still = [0.0, 0.0, 0.0, 1.0];
    assert!((Symmetry::Axial.distance(&tilt(2.5), &still) - 2.5).abs() < 1e-14);
    assert!((Symmetry::AxialFlip.distance(&tilt(2.5), &still) - (PI - 2.5)).abs() < 1e-14);
    assert!(
        (Symmetry::octahedral().distance(&tilt(1e-9), &still) - 1e-9).abs() < 1e-20,
        "small angles keep their digits"
    );
}

/// A perfect sampler with a free twist is charged a quarter of a degree by the published list of the cone.
#[test]
fn the_published_list_of_the_cone_has_a_floor() {
    let (mut rng, list) = (rng(2), Symmetry::Axial.listed());
    let mut total = 0.0;
    for _ in 0..2000 {
        let truth = uniform(&mut rng);
        let sample = Symmetry::Axial.lift(&truth, &mut rng);
        assert!(Symmetry::Axial.distance(&sample, &truth) < 1e-7);
        total += list.iter().map(|g| angle(&sample, &multiply(&truth, g))).fold(f64::INFINITY, f64::min);
    }
    let floor = (total / 2000.0).to_degrees();
    assert!((floor - 0.25).abs() < 0.01, "{floor}");
}

/// Poses where several members of the orbit are equally near to the identity.
fn seams(symmetry: Symmetry) -> Vec<Quaternion> {
    let mut poses = vec![
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        about([1.0, 0.0, 0.0], PI / 2.0),
        about([0.6, 0.8, 0.0], PI / 2.0),
        about([0.0, 0.0, 1.0], PI / 4.0),
        about([1.0, 1.0, 1.0], PI / 3.0),
    ];
    let mut rng = rng(3);
    let list = symmetry.elements().unwrap_or_default();
    for g in list.iter().skip(1) {
        // Half way to g, and anywhere on the plane of equal distance to the identity and g.
        let half: Quaternion = [g[0], g[1], g[2], g[3] + 1.0];
        poses.push(half);
        let mut q = uniform(&mut rng);
        let normal: Quaternion = std::array::from_fn(|i| g[i] - if i == 3 { 1.0 } else { 0.0 });
        let (product, square): (f64, f64) =
            ((0..4).map(|i| q[i] * normal[i]).sum(), normal.iter().map(|v| v * v).sum());
        (0..4).for_each(|i| q[i] -= product / square * normal[i]);
        poses.push(q);
    }
    poses.iter_mut().for_each(|q| {
        let norm = q.iter().map(|v| v * v).sum::<f64>().sqrt();
        q.iter_mut().for_each(|v| *v /= norm);
    });
    poses
}

#[test]
fn representatives_are_constant_on_orbits_also_on_seams() {
    let mut rng = rng(4);
    for solid in SOLIDS.iter().copied() {
        let symmetry = solid.symmetry();
        let mut poses = seams(symmetry);
        poses.extend((0..30).map(|_| uniform(&mut rng)));
        for q in poses {
            let chosen = symmetry.canonical(&q);
            assert!(symmetry.distance(&chosen, &q) < 1e-7, "{solid}: {chosen:?} leaves the orbit of {q:?}");
            assert!((chosen.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-14);
            for g in elements(symmetry, &mut rng) {
                for sign in [1.0, -1.0] {
                    let other = symmetry.canonical(&multiply(&q, &g).map(|v| sign * v));
                    let apart = (0..4).map(|i| (other[i] - chosen[i]).abs()).fold(0.0, f64::max);
                    assert!(apart < 1e-7, "{solid}: {q:?} times {g:?} gives {other:?} instead of {chosen:?}");
                }
            }
            let limit = elements(symmetry, &mut rng).iter().map(|g| multiply(&q, g)[3].abs()).fold(0.0, f64::max);
            assert!(chosen[3] > limit - 1e-8, "{solid}: a member is nearer to the identity");
        }
    }
}

#[test]
fn lifting_stays_in_the_orbit_and_reaches_all_of_it() {
    let mut rng = rng(5);
    for &solid in SOLIDS {
        let symmetry = solid.symmetry();
        let q = uniform(&mut rng);
        let mut counts = vec![0usize; symmetry.elements().map_or(1, |list| list.len())];
        let mut flipped = 0;
        for _ in 0..3000 {
            let lifted = symmetry.lift(&q, &mut rng);
            assert!(symmetry.distance(&lifted, &q) < 1e-7, "{solid}");
            counts[symmetry.mode(&lifted, &q).unwrap_or(0)] += 1;
            flipped += usize::from(Symmetry::Axial.distance(&lifted, &q) > 1.0);
        }
        let expected = 3000 / counts.len();
        assert!(counts.iter().all(|n| *n > expected / 3 && *n < expected * 3), "{solid}: {counts:?}");
        if symmetry == Symmetry::AxialFlip {
            assert!((1350..1650).contains(&flipped), "{flipped}");
        }
    }
}

#[test]
fn matrices_and_back() {
    let mut rng = rng(6);
    for _ in 0..200 {
        let q = uniform(&mut rng);
        assert!(angle(&from_matrix(&matrix(&q)), &q) < 1e-14);
        assert!(angle(&from_matrix(&matrix(&q.map(|v| 3.0 * v))), &q) < 1e-14);
    }
    for q in [[1.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.8, 0.0], [0.0, 0.0, 1.0, 1e-9]] {
        assert!(angle(&from_matrix(&matrix(&q)), &q) < 1e-12, "{q:?}");
    }
}

#[test]
fn embeddings_are_unit_vectors_invariant_and_injective() {
    let mut rng = rng(7);
    let dims: Vec<_> = featureless().map(|s| Embedding::new(s.symmetry()).dim()).collect();
    assert_eq!(dims, [7, 9, 13, 3, 5]);
    for &solid in SOLIDS {
        let embedding = Embedding::new(solid.symmetry());
        let dim = embedding.dim();
        let value = |q: &Quaternion| {
            let mut out = vec![0.0; dim];
            embedding.value(q, &mut out);
            out
        };
        let gap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let mut gram = nalgebra::DMatrix::<f64>::zeros(dim, dim);
        let poses: Vec<_> = (0..300).map(|_| uniform(&mut rng)).collect();
        for (i, q) in poses.iter().enumerate() {
            let e = value(q);
            assert!((e.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-13, "{solid}");
            for g in elements(solid.symmetry(), &mut rng) {
                assert!(gap(&e, &value(&multiply(q, &g).map(|v| -1.7 * v))) < 1e-13, "{solid} is not invariant");
            }
            // Other orbits are elsewhere, by an amount that grows with their distance.
            let far = solid.symmetry().distance(q, &poses[(i + 1) % 300]);
            assert!(gap(&e, &value(&poses[(i + 1) % 300])) > 0.5 * far.min(1.0), "{solid}: {far}");
            gram += nalgebra::DMatrix::from_fn(dim, dim, |a, b| e[a] * e[b] / 300.0);
        }
        // All directions of the space are used, each about equally.
        let eigenvalues = gram.symmetric_eigenvalues();
        assert!(eigenvalues.min() > 0.5 / dim as f64, "{solid}: {eigenvalues}");
    }
    let mut axis = [0.0; 3];
    let q = uniform(&mut rng);
    Embedding::new(Symmetry::Axial).value(&q, &mut axis);
    let expected = turn(&matrix(&q), &[0.0, 0.0, 1.0]);
    assert!((0..3).all(|i| (axis[i] - expected[i]).abs() < 1e-14), "the cone's embedding is its axis");
}

#[test]
fn jacobians_agree_with_differences() {
    let mut rng = rng(8);
    for &solid in SOLIDS {
        let embedding = Embedding::new(solid.symmetry());
        let dim = embedding.dim();
        for _ in 0..20 {
            let scale = 0.3 + 2.0 * rng.random::<f64>();
            let q = uniform(&mut rng).map(|v| scale * v);
            let (mut value, mut jacobian) = (vec![0.0; dim], vec![0.0; 4 * dim]);
            embedding.with_jacobian(&q, &mut value, &mut jacobian);
            let (mut up, mut down) = (vec![0.0; dim], vec![0.0; dim]);
            embedding.value(&q, &mut up);
            assert_eq!(value, up);
            for j in 0..4 {
                let step = 1e-5;
                let moved = |by: f64| -> Quaternion { std::array::from_fn(|i| q[i] + if i == j { by } else { 0.0 }) };
                embedding.value(&moved(step), &mut up);
                embedding.value(&moved(-step), &mut down);
                for i in 0..dim {
                    let slope = (up[i] - down[i]) / (2.0 * step);
                    let exact = jacobian[4 * i + j];
                    assert!((slope - exact).abs() < 1e-6, "{solid} {i} {j}: {slope} {exact}");
                }
            }
            for i in 0..dim {
                let along: f64 = (0..4).map(|j| jacobian[4 * i + j] * q[j]).sum();
                assert!(along.abs() < 1e-13, "the length of q does not matter");
            }
        }
    }
}

#[test]
fn decoding_finds_the_orbit_again() {
    let mut rng = rng(9);
    for &solid in SOLIDS {
        let symmetry = solid.symmetry();
        let embedding = Embedding::new(symmetry);
        let mut e = vec![0.0; embedding.dim()];
        let mut poses = seams(symmetry);
        poses.extend((0..300).map(|_| uniform(&mut rng)));
        for q in poses {
            embedding.value(&q, &mut e);
            let decoded = embedding.decode(&e);
            let error = symmetry.distance(&decoded, &q);
            assert!(error < 1e-8, "{solid}: {error} at {q:?}");
            let representative = symmetry.canonical(&decoded);
            assert!((0..4).all(|i| (decoded[i] - representative[i]).abs() < 1e-14), "{solid}: the representative");
            // Away from the set the nearest point is found: no pose of the neighbourhood is nearer.
            let noisy: Vec<f64> = e.iter().map(|v| 2.0 * v + 0.05 * rng.random_range(-1.0..1.0)).collect();
            let decoded = embedding.decode(&noisy);
            let agreement = |q: &Quaternion| {
                let mut at = vec![0.0; noisy.len()];
                embedding.value(q, &mut at);
                at.iter().zip(&noisy).map(|(a, b)| a * b).sum::<f64>()
            };
            let best = agreement(&decoded);
            for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]] {
                assert!(agreement(&multiply(&about(axis, 1e-4), &decoded)) <= best + 1e-12, "{solid}");
            }
        }
        let nothing = vec![0.0; embedding.dim()];
        assert_eq!(embedding.decode(&nothing), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(embedding.decode(&vec![f64::NAN; embedding.dim()]), [0.0, 0.0, 0.0, 1.0]);
    }
}

/// The mean by summing over a list of the orbit, fine where the group is continuous.
fn summed_mean(symmetry: Symmetry, q: &Quaternion, x: &[f64], sigma: f64) -> Quaternion {
    let fine = 20_000;
    let list: Vec<Quaternion> = match symmetry {
        Symmetry::Axial | Symmetry::AxialFlip => (0..fine)
            .map(|i| 2.0 * PI * i as f64 / fine as f64)
            .flat_map(|t| [[0.0, 0.0, t.sin(), t.cos()], [t.cos(), t.sin(), 0.0, 0.0]])
            .enumerate()
            .filter(|(i, _)| symmetry == Symmetry::AxialFlip || i % 2 == 0)
            .map(|(_, g)| g)
            .collect(),
        _ => symmetry.elements().unwrap().iter().flat_map(|g| [*g, g.map(|v| -v)]).collect(),
    };
    let orbit: Vec<Quaternion> = list.iter().map(|g| multiply(q, g)).collect();
    let exponent = |p: &Quaternion| (0..4).map(|i| p[i] * x[i]).sum::<f64>() / (sigma * sigma);
    let largest = orbit.iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut total) = ([0.0; 4], 0.0);
    for p in &orbit {
        let weight = (exponent(p) - largest).exp();
        total += weight;
        (0..4).for_each(|i| sum[i] += weight * p[i]);
    }
    sum.map(|v| v / total)
}

#[test]
fn orbit_means_agree_with_sums_over_the_orbit() {
    let mut rng = rng(10);
    for &solid in SOLIDS {
        let symmetry = solid.symmetry();
        for sigma in [1e-2, 0.05, 0.2, 0.7, 3.0] {
            for _ in 0..20 {
                let q = uniform(&mut rng);
                let start = symmetry.lift(&q, &mut rng);
                let x: Quaternion = std::array::from_fn(|i| {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    start[i] + sigma * z
                });
                let mut mean = [0.0; 4];
                orbit_mean(symmetry, &q, &x, sigma, &mut mean);
                let expected = summed_mean(symmetry, &q, &x, sigma);
                let apart = (0..4).map(|i| (mean[i] - expected[i]).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-9, "{solid} σ {sigma}: {mean:?} {expected:?}");
                // The mean belongs to the orbit, not to the member that stands for it.
                let mut other = [0.0; 4];
                orbit_mean(symmetry, &symmetry.lift(&q, &mut rng), &x, sigma, &mut other);
                assert!((0..4).all(|i| (mean[i] - other[i]).abs() < 1e-9), "{solid}");
            }
        }
    }
}

#[test]
fn orbit_means_become_the_nearest_point_as_noise_goes() {
    let mut rng = rng(11);
    for &solid in SOLIDS {
        let symmetry = solid.symmetry();
        for _ in 0..50 {
            let (q, sigma) = (uniform(&mut rng), 1e-4);
            let start = symmetry.lift(&q, &mut rng);
            let x: Quaternion = std::array::from_fn(|i| {
                let z: f64 = StandardNormal.sample(&mut rng);
                -start[i] + sigma * z
            });
            let (mut mean, point) = ([0.0; 4], nearest(symmetry, &q, &x));
            orbit_mean(symmetry, &q, &x, sigma, &mut mean);
            assert!((0..4).all(|i| (mean[i] - point[i]).abs() < 1e-7), "{solid}: {mean:?} {point:?}");
            assert!(symmetry.distance(&point, &q) < 1e-7);
            assert!((0..4).map(|i| (point[i] - x[i]).powi(2)).sum::<f64>().sqrt() < 10.0 * sigma);
        }
        let mut mean = [0.0; 4];
        orbit_mean(symmetry, &[0.0, 0.0, 0.0, 1.0], &[0.0; 4], 1e-4, &mut mean);
        assert!(mean.iter().all(|v| v.abs() < 1e-12), "{solid}: by symmetry, {mean:?}");
    }
}

#[test]
fn pictures_are_the_same_on_all_of_an_orbit() {
    let (mut rng, view) = (rng(12), View::default());
    for solid in featureless() {
        for _ in 0..4 {
            let q = uniform(&mut rng);
            let picture = grey(&view, solid, &q);
            for g in elements(solid.symmetry(), &mut rng) {
                let other = grey(&view, solid, &multiply(&q, &g));
                assert!(largest_difference(&picture, &other) < 1e-4, "{solid} turned by {g:?}");
            }
        }
        // A turn that is no symmetry shows.
        let (q, turn) = (uniform(&mut rng), about([0.3, 0.5, 0.9], 0.4));
        assert!(
            largest_difference(&grey(&view, solid, &q), &grey(&view, solid, &multiply(&q, &turn))) > 0.05,
            "{solid}"
        );
    }
}

#[test]
fn quarter_turns_and_mirrors_move_pixels() {
    let (mut rng, view) = (rng(13), View::default());
    let n = view.size;
    let quarter = about([0.0, 0.0, 1.0], PI / 2.0);
    for &solid in SOLIDS {
        for _ in 0..5 {
            let q = uniform(&mut rng);
            let picture = grey(&view, solid, &q);
            // x goes to y: right goes down.
            let turned: Vec<f32> = (0..n * n).map(|i| picture[(n - 1 - i % n) * n + i / n]).collect();
            let other = grey(&view, solid, &multiply(&quarter, &q));
            assert!(largest_difference(&turned, &other) < 1e-5, "{solid} turned");
            if solid.class() < 5 {
                // M R M for M = diag(−1, 1, 1) turns about the mirrored axis the other way.
                let mirrored: Vec<f32> = (0..n * n).map(|i| picture[i / n * n + n - 1 - i % n]).collect();
                let other = grey(&view, solid, &[q[0], -q[1], -q[2], q[3]]);
                assert!(largest_difference(&mirrored, &other) < 1e-5, "{solid} mirrored");
            }
        }
    }
}

#[test]
fn brightness_of_a_square_on_cube() {
    let view = View { size: 33, ..View::default() };
    let picture = view.rgb(solid("cube"), &[0.0, 0.0, 0.0, 1.0]);
    let centre = 3 * (16 * 33 + 16);
    assert_eq!(picture[centre..centre + 3], [236, 251, 255], "10.2 + (226, 240.9, 246.9), cut at 255");
    assert_eq!(picture[..3], [255, 255, 255]);
    let dark = View { background: [0.0; 3], ambient: 0.0, ..view };
    assert_eq!(dark.rgb(solid("cube"), &[0.0, 0.0, 0.0, 1.0])[..3], [0, 0, 0]);
}

/// The front face of a cube square on reaches f/(d − 1) to each side, its corners are where pinhole projection puts them.
#[test]
fn corners_of_a_cube_are_where_they_project_to() {
    let view = View { size: 200, ambient: 100.0, background: [0.0; 3], ..View::default() };
    let half = view.focal / (view.distance - 1.0) * 200.0;
    let picture = grey(&view, solid("cube"), &[0.0, 0.0, 0.0, 1.0]);
    let is_lit = |x: f64, y: f64| picture[y.floor() as usize * 200 + x.floor() as usize] > 0.1;
    for (sx, sy) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        let at = |r: f64| (100.0 + sx * r, 100.0 + sy * r);
        let (inside, outside) = (at(half - 1.0), at(half + 1.0));
        assert!(is_lit(inside.0, inside.1) && !is_lit(outside.0, outside.1), "{sx} {sy}");
    }
    let mut rng = rng(14);
    for _ in 0..20 {
        let q = uniform(&mut rng);
        let (picture, m) = (grey(&view, solid("cube"), &q), matrix(&q));
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for bits in 0..8 {
            let corner: [f64; 3] = std::array::from_fn(|i| if bits >> i & 1 == 0 { 1.0 } else { -1.0 });
            let [x, y, z] = turn(&m, &corner);
            for (k, v) in [x, y].into_iter().enumerate() {
                let pixel = 100.0 + 200.0 * view.focal * v / (z + view.distance);
                (low[k], high[k]) = (low[k].min(pixel), high[k].max(pixel));
            }
        }
        let lit: Vec<[f64; 2]> =
            (0..40_000).filter(|i| picture[*i] > 0.0).map(|i| [(i % 200) as f64, (i / 200) as f64]).collect();
        for k in 0..2 {
            let first = lit.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min);
            let last = lit.iter().map(|p| p[k] + 1.0).fold(f64::NEG_INFINITY, f64::max);
            assert!((first - low[k]).abs() < 1.5 && (last - high[k]).abs() < 1.5, "{low:?} {high:?} {first} {last}");
        }
    }
}

/// A lamp off the axis takes the way of single rays; at the limit of no offset it must meet the way of whole faces.
#[test]
fn whole_faces_and_single_rays_agree() {
    let mut rng = rng(15);
    for supersampling in [1, 3, 4] {
        let fast = View { supersampling, ..View::default() };
        let slow = View { light_offset: [1e-13, 0.0, 0.0], ..fast.clone() };
        for name in ["tet", "cube", "icosa", "tetX"] {
            for _ in 0..40 {
                let q = uniform(&mut rng);
                let (a, b) = (grey(&fast, solid(name), &q), grey(&slow, solid(name), &q));
                assert!(largest_difference(&a, &b) < 1e-6, "{name} {q:?}");
            }
        }
    }
}

#[test]
fn a_lamp_off_the_axis_breaks_the_turn() {
    let view = View { light_offset: [2.0, 0.0, 0.0], ..View::default() };
    let (mut rng, n) = (rng(16), view.size);
    let q = uniform(&mut rng);
    let picture = grey(&view, solid("icosa"), &q);
    let turned: Vec<f32> = (0..n * n).map(|i| picture[(n - 1 - i % n) * n + i / n]).collect();
    let other = grey(&view, solid("icosa"), &multiply(&about([0.0, 0.0, 1.0], PI / 2.0), &q));
    assert!(largest_difference(&turned, &other) > 0.05);
}

#[test]
fn marks_are_seen_from_their_side_only() {
    let view = View { size: 64, ..View::default() };
    let coloured = |name: &str, q: &Quaternion| {
        let picture = view.rgb(solid(name), q);
        picture.chunks_exact(3).filter(|p| p[0].abs_diff(p[2]) > 60).count()
    };
    // The sphere's marks are about +z, which looks away from the camera until it is turned.
    let still = [0.0, 0.0, 0.0, 1.0];
    assert_eq!(coloured("sphereX", &still), 0);
    assert!(coloured("sphereX", &about([1.0, 0.0, 0.0], PI)) > 100);
    // The cylinder's dot is about +x.
    let towards = about([0.0, 1.0, 0.0], PI / 2.0);
    assert!(coloured("cylO", &towards) > 30);
    assert_eq!(coloured("cylO", &conjugate(&towards)), 0);
    // The red face looks along (0, −√2, −1).
    assert!(coloured("tetX", &about([1.0, 0.0, 0.0], 54.7f64.to_radians())) > 100);
    for (marked, plain) in [("tetX", "tet"), ("cylO", "cyl")] {
        let mut rng = rng(17);
        let different = (0..40).filter(|_| {
            let q = uniform(&mut rng);
            view.rgb(solid(marked), &q) != view.rgb(solid(plain), &q)
        });
        let different = different.count();
        assert!((10..40).contains(&different), "{marked}: the mark shows in {different} of 40 poses");
    }
}

#[test]
fn noise_and_settings() {
    let view = View { noise: 0.1, ..View::default() };
    let clean = grey(&view, solid("cube"), &[0.0, 0.0, 0.0, 1.0]);
    let mut noisy = clean.clone();
    view.disturb(&mut noisy, &mut rng(18));
    assert!(noisy != clean && noisy.iter().all(|v| (0.0..=1.0).contains(v)));
    assert!(view.check().is_ok());
    assert_eq!(View { distance: 1.0, ..View::default() }.check().unwrap_err().key, "distance");
    assert_eq!(View { size: 0, ..View::default() }.check().unwrap_err().key, "size");
}
