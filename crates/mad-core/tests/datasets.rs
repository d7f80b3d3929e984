//! Every named data set can be made, loads on its manifold, depends on its seed, and follows its known distribution.

use mad_core::catalogue::layout;
use mad_core::{
    Points,
    catalogue::{
        BuildContext, Spec, build, build_spec,
        datasets::{
            DATASETS, categorical, checkerboard, circle, dataset, make, so3_mixture::So3Mixture,
            vmf_mixture::vmf_mixture,
        },
    },
    manifold::PointTable,
    measure::BaseMeasure as _,
    rng::{Purpose, stream},
    table::{ColumnOptions, Columns, DataError},
};
use std::collections::{BTreeSet, HashMap};

/// Sets that need files.
const FROM_FILES: [&str; 5] = ["volcano", "earthquake", "flood", "fire", "ramachandran"];

/// Makes the sets that are wanted and loads each on its manifold.
fn load_sets(wanted: impl Fn(&str) -> bool) {
    let two = || Points::from_vec(vec![-1.0, 0.0, 1.0, 0.0], 2);
    let support = |name: &str| if name == "two-points-support" { two() } else { circle::support() };
    let context = BuildContext::new(|name| Ok(PointTable { points: support(name), weights: None }));
    for entry in DATASETS.iter().filter(|entry| wanted(entry.name)) {
        let fixed = [("circle8-support", 8), ("two-points-support", 2)];
        let fixed = fixed.iter().find(|set| set.0 == entry.name).map(|set| set.1);
        let rows = if fixed.is_some() { None } else { Some(300) };
        let table = make(entry.name, rows, 1, 0, None).unwrap();
        assert_eq!(table.len(), fixed.unwrap_or(300), "{}", entry.name);
        let (_, arguments) = dataset(entry.name).unwrap();
        let mut spec: Spec = (entry.manifold)(&arguments).parse().unwrap();
        if !spec.is_resolved() {
            let waiting = layout(build_spec(&spec, &context).unwrap().as_ref());
            spec = spec.resolve(&Columns::find(&waiting, &table, &ColumnOptions::default()).unwrap().level_counts());
        }
        let manifold = build_spec(&spec, &context).unwrap();
        let columns = Columns::find(&layout(manifold.as_ref()), &table, &ColumnOptions::default()).unwrap();
        let decoded = columns.decode_on(&table, manifold.as_ref()).unwrap();
        assert_eq!(decoded.points.dim(), manifold.ambient_dim(), "{}", entry.name);
        let many = make(entry.name, Some(50_000), 1, 0, None).is_ok_and(|table| table.len() == 50_000);
        assert_eq!(entry.is_distribution, many, "{}: a distribution has rows without end", entry.name);
        if rows.is_some() {
            assert_eq!(table, make(entry.name, rows, 1, 0, None).unwrap(), "{}: same seed, same rows", entry.name);
            assert_ne!(table, make(entry.name, rows, 2, 0, None).unwrap(), "{}: other seed, other rows", entry.name);
        }
    }
}

#[test]
fn every_set_loads_on_its_manifold() {
    let names: BTreeSet<_> = DATASETS.iter().map(|e| e.name).collect();
    assert_eq!(names.len(), DATASETS.len(), "names are unique");
    load_sets(|name| !FROM_FILES.contains(&name));
}

/// Files that are not part of the repository: `MAD_DATA` names their folder.
mod with_data {
    use super::*;

    #[test]
    #[ignore = "needs MAD_DATA"]
    fn sets_of_files_load_on_their_manifolds() {
        load_sets(|name| FROM_FILES.contains(&name));
    }
}

#[test]
fn first_rows_do_not_depend_on_how_many_are_made() {
    for name in ["so3-mixture:4", "vmf-mixture", "checkerboard-t2", "circle8-skewed", "two-points", "categorical-toy"] {
        let (few, many) = (make(name, Some(1500), 3, 1, None).unwrap(), make(name, Some(3000), 3, 1, None).unwrap());
        assert_eq!(few, many.select(&(0..1500).collect::<Vec<_>>()), "{name}");
    }
}

#[test]
fn the_density_of_a_mixture_depends_on_the_target_alone() {
    // Mean log-density under the distribution of target 1, of rows drawn for target 1 and for target 2.
    let mixture = So3Mixture::new(16, 1);
    let mean = |seed: u64, target: u64| {
        let table = make("so3-mixture:16", Some(2000), seed, target, None).unwrap();
        let row = |r| [0, 1, 2, 3].map(|c| table.number(r, c).unwrap());
        (0..2000).map(|r| mixture.log_density(&row(r))).sum::<f64>() / 2000.0
    };
    // One row has a standard deviation of about 1.2 nats, so a mean of 2000 one of 0.03.
    assert!((mean(1, 1) - mean(7, 1)).abs() < 0.2);
    assert!(mean(1, 2) < mean(1, 1) - 5.0);
}

#[test]
fn names_and_parameters_are_checked() {
    let text = |name: &str| make(name, None, 0, 0, None).unwrap_err().to_string();
    assert!(text("so3-mixtrue").contains("did you mean `so3-mixture`"), "{}", text("so3-mixtrue"));
    assert!(text("so3-mixture:0").contains("k must be a whole number from 1"));
    assert!(text("so3-mixture:2.5").contains("whole"));
    assert!(text("vmf-mixture:dim=3,q=1").contains("no parameter `q`; known: k=8"));
    assert!(text("vmf-mixture:4,5").contains("name=value"));
    assert!(text("circle8-uniform:3").contains("takes none"));
    let few = make("earthquakes-week", Some(5000), 0, 0, None).unwrap_err();
    assert!(few.is_usage() && few.to_string().contains("it has 1707 rows"), "{few}");
    let nowhere = tempfile::tempdir().unwrap();
    let missing = make("flood", None, 0, 0, Some(nowhere.path())).unwrap_err();
    assert!(matches!(missing, DataError::MissingData { .. }));
    assert!(missing.to_string().contains("flood.csv") && missing.to_string().contains("MAD_DATA"), "{missing}");
    assert_eq!(make("vmf-mixture:3,dim=9", Some(2), 0, 0, None).unwrap().width(), 10);
}

#[test]
fn embedded_earthquakes_are_complete() {
    let table = make("earthquakes-week", None, 0, 0, None).unwrap();
    assert_eq!((table.len(), table.width()), (1707, 3));
    assert_eq!(table.header().unwrap(), ["latitude", "longitude", "magnitude"]);
    assert_eq!(table.line(0), 5);
    assert_eq!(
        ["34.4945", "-118.6671667", "2"],
        [0, 1, 2].map(|c| table.cell(0, c).into_owned()).each_ref().map(|s| s.as_str())
    );
    let sphere = build("sphere:2", &BuildContext::without_files()).unwrap();
    let columns = Columns::find(&layout(sphere.as_ref()), &table, &ColumnOptions::default()).unwrap();
    assert_eq!(columns.decode(&table).unwrap().notices, ["columns not used: magnitude"]);
}

#[test]
fn rotation_mixtures_have_the_published_mean_log_density() {
    // E log p over 5 mixtures: 0.915, 0.234, -0.442; without overlap 0.911, 0.217, -0.476.
    for (k, expected) in [(16, 0.915), (32, 0.234), (64, -0.442)] {
        let means: Vec<f64> = (0..20)
            .map(|seed| {
                let mixture = So3Mixture::new(k, seed);
                let mut rng = stream(seed, Purpose::Data, 7);
                let mut q = [0.0; 4];
                let total: f64 = (0..2000)
                    .map(|_| {
                        mixture.sample(&mut rng, &mut q);
                        mixture.log_density(&q)
                    })
                    .sum();
                total / 2000.0
            })
            .collect();
        let mean = means.iter().sum::<f64>() / 20.0;
        let sd = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 19.0).sqrt();
        // The published value is a mean over 5 mixtures, ours over 20.
        let error = sd * (1.0 / 5.0 + 1.0 / 20.0f64).sqrt();
        eprintln!("K = {k}: {mean:.3} ± {error:.3}, published {expected}");
        assert!((mean - expected).abs() < 3.0 * error, "K = {k}: {mean} ± {error}, published {expected}");
        assert!(error < 0.03);
    }
}

#[test]
fn densities_of_mixtures_integrate_to_one() {
    let context = BuildContext::without_files();
    let sphere = build("sphere:2", &context).unwrap();
    let grid = sphere.grid(40_000).unwrap();
    let mixture = vmf_mixture(2, 5, 40.0, 1);
    let mean = grid.rows().map(|x| mixture.log_weight(x).exp()).sum::<f64>() / grid.len() as f64;
    assert!((mean * sphere.log_volume().exp() - 1.0).abs() < 1e-3);
    // Rotations: uniform draws, as a mean with its standard error.
    let rotations = build("so3", &context).unwrap();
    let (uniform, mixture) = (rotations.uniform(), So3Mixture::new(32, 1));
    let (mut rng, mut q, n) = (stream(0, Purpose::Data, 1), [0.0; 4], 400_000);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..n {
        uniform.sample(&mut rng, &mut q);
        let p = (mixture.log_density(&q) + rotations.log_volume()).exp();
        sum += p;
        squares += p * p;
    }
    let mean = sum / n as f64;
    let error = ((squares / n as f64 - mean * mean) / n as f64).sqrt();
    assert!((mean - 1.0).abs() < 4.0 * error && error < 0.03, "{mean} ± {error}");
}

#[test]
fn mean_direction_of_draws_agrees_with_the_density() {
    // Samples of the table against the grid of the density.
    let table = make("vmf-mixture:k=3,kappa=20", Some(40_000), 9, 5, None).unwrap();
    let sphere = build("sphere:2", &BuildContext::without_files()).unwrap();
    let points = Columns::find(&layout(sphere.as_ref()), &table, &ColumnOptions::default())
        .unwrap()
        .decode(&table)
        .unwrap()
        .points;
    let mixture = vmf_mixture(2, 3, 20.0, 5);
    let grid = sphere.grid(40_000).unwrap();
    let area = sphere.log_volume().exp() / grid.len() as f64;
    for i in 0..3 {
        let drawn = points.rows().map(|x| x[i]).sum::<f64>() / points.len() as f64;
        let exact: f64 = grid.rows().map(|x| area * x[i] * mixture.log_weight(x).exp()).sum();
        assert!((drawn - exact).abs() < 4.0 / (points.len() as f64).sqrt(), "{i}: {drawn} {exact}");
    }
}

#[test]
fn two_points_have_the_papers_probabilities() {
    let n = 40_000;
    let table = make("two-points", Some(n), 0, 0, None).unwrap();
    let right = (0..n).filter(|&row| table.number(row, 0).unwrap() == 1.0).count() as f64 / n as f64;
    assert!((right - 0.9).abs() < 4.0 * (0.09 / n as f64).sqrt(), "{right}");
    assert!((0..n).all(|row| table.number(row, 1).unwrap() == 0.0));
}

#[test]
fn skewed_circle_follows_the_papers_formula() {
    let p = circle::skewed_probabilities();
    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    let peak = p.iter().position(|v| *v == p.iter().copied().fold(0.0, f64::max));
    assert_eq!(peak, Some(2));
    for (i, d) in [(0, 2), (1, 1), (3, 1), (4, 2), (5, 3), (6, 4), (7, 3)] {
        assert!((p[i] / p[2] - (-0.8 * d as f64).exp()).abs() < 1e-15);
    }
    let n = 50_000;
    let table = make("circle8-skewed", Some(n), 0, 0, None).unwrap();
    let mut counts = [0.0; 8];
    for row in 0..n {
        let angle = table.number(row, 1).unwrap().atan2(table.number(row, 0).unwrap());
        counts[(angle / std::f64::consts::FRAC_PI_4).round().rem_euclid(8.0) as usize] += 1.0;
    }
    for (count, p) in counts.iter().zip(p) {
        assert!((count / n as f64 - p).abs() < 4.0 * (p * (1.0 - p) / n as f64).sqrt());
    }
}

#[test]
fn checkerboards_leave_every_second_square_empty() {
    for (name, on) in [
        ("checkerboard-s2:squares=6", checkerboard::on_sphere as fn(usize, f64, f64) -> bool),
        ("checkerboard-t2:6", checkerboard::on_torus),
    ] {
        let table = make(name, Some(5000), 0, 0, None).unwrap();
        let dark = (0..5000).filter(|&r| on(6, table.number(r, 0).unwrap(), table.number(r, 1).unwrap())).count();
        assert_eq!(dark, 5000, "{name}");
    }
    assert!(!checkerboard::on_torus(2, -90.0, 90.0) && checkerboard::on_torus(2, 90.0, 90.0));
}

#[test]
fn categorical_toy_follows_its_joint_table() {
    let joint = categorical::joint();
    assert!((joint.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-14);
    assert_eq!(joint.len(), 24);
    let n = 50_000;
    let table = make("categorical-toy", Some(n), 0, 0, None).unwrap();
    let mut counts: HashMap<Vec<String>, f64> = HashMap::new();
    for row in 0..n {
        *counts.entry((0..3).map(|c| table.cell(row, c).into_owned()).collect()).or_default() += 1.0 / n as f64;
    }
    let tv: f64 = joint
        .iter()
        .map(|(combination, p)| (counts.remove(&combination.map(String::from)[..]).unwrap_or(0.0) - p).abs())
        .sum();
    assert!(counts.is_empty() && 0.5 * tv < 0.01, "{tv}");
    // Dependence: far from the product of the marginals.
    let marginal = |i: usize, value: &str| joint.iter().filter(|(c, _)| c[i] == value).map(|(_, p)| p).sum::<f64>();
    let distance: f64 = joint.iter().map(|(c, p)| (p - (0..3).map(|i| marginal(i, c[i])).product::<f64>()).abs()).sum();
    assert!(0.5 * distance > 0.2, "{distance}");
}
