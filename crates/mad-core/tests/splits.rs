//! Divisions of rows whose neighbours are not independent.

use mad_core::{
    Points,
    load::{Loaded, load, manifold_named},
    rng::{Purpose, stream},
    table::{
        ColumnOptions, DataError, Distance, Duplicates, FRACTIONS, Split, SplitError, SplitKind, SplitRule, Table,
        duplicates,
    },
};
use rand::RngExt as _;
use std::collections::{BTreeMap, BTreeSet};

/// Places on the globe in clusters of neighbours some hundred metres apart, with repeated rows, and a dense region in which
/// every place has neighbours within a few kilometres.
fn places(clusters: usize, dense: usize) -> (Table, Loaded) {
    let mut table = Table::text("places.csv", Some(["lat", "lon", "when", "event"].map(str::to_owned).into()), 4);
    let mut rng = stream(1, Purpose::Data, 0);
    let mut row = 0;
    let mut push = |lat: f64, lon: f64, event: usize| {
        row += 1;
        let when = format!("20{:02}-{:02}-{:02}T{:02}:00:00Z", row % 20, 1 + row % 12, 1 + row % 28, row % 24);
        let cells = [lat.to_string(), lon.to_string(), when, format!("event {event}")];
        table.push(row + 1, cells);
    };
    for event in 0..clusters {
        let (lat, lon) = (rng.random_range(-60.0..60.0), rng.random_range(-180.0..180.0));
        for _ in 0..1 + event % 9 {
            let (lat, lon) = (lat + rng.random_range(-0.01..0.01), lon + rng.random_range(-0.01..0.01));
            (0..1 + event % 2).for_each(|_| push(lat, lon, event));
        }
    }
    for _ in 0..dense {
        push(70.0 + rng.random_range(-0.8..0.8), rng.random_range(-2.0..2.0), clusters);
    }
    let loaded = load(&table, "sphere:2", &ColumnOptions::default()).unwrap();
    (table, loaded)
}

fn split(table: &Table, loaded: &Loaded, rule: &str, seed: u64) -> Result<Split, DataError> {
    let rule: SplitRule = rule.parse().unwrap();
    Split::by(&rule, table, loaded.manifold.as_ref(), &loaded.points, FRACTIONS, seed)
}

/// The smallest distance between rows of two parts.
fn gap(loaded: &Loaded, a: &[usize], b: &[usize]) -> f64 {
    let distance = |i: &usize, j: &usize| loaded.manifold.distance(loaded.points.row(*i), loaded.points.row(*j));
    a.iter().flat_map(|i| b.iter().map(move |j| distance(i, j))).fold(f64::INFINITY, f64::min)
}

/// No row in two parts; all rows in one unless left out; every part near its share.
fn check_parts(split: &Split, rows: usize) {
    let all: BTreeSet<usize> = [&split.train, &split.validation, &split.test].into_iter().flatten().copied().collect();
    let sum = split.train.len() + split.validation.len() + split.test.len();
    assert_eq!(all.len(), sum);
    assert_eq!(sum + split.summary.left_out, rows);
    for part in [&split.validation, &split.test] {
        let share = part.len() as f64 / rows as f64;
        assert!((0.05..0.15).contains(&share), "a share of {share}");
    }
}

#[test]
fn rows_of_different_blocks_are_farther_apart_than_the_distance() {
    let (table, loaded) = places(300, 0);
    let [split, distinct] = ["blocks:5km", "distinct"].map(|rule| split(&table, &loaded, rule, 3).unwrap());
    check_parts(&split, table.len());
    // Clusters are far apart, so that no row is lost.
    assert_eq!((split.summary.units, split.summary.left_out), ("blocks", 0));
    assert!((290..=300).contains(&split.summary.counts.iter().sum::<usize>()), "{:?}", split.summary);
    let limit = 5.0 / 6371.0088;
    for (a, b) in [(&split.train, &split.test), (&split.train, &split.validation), (&split.validation, &split.test)] {
        assert!(gap(&loaded, a, b) > limit);
    }
    // The split that only keeps equal points together does not guard against neighbours.
    assert!(gap(&loaded, &distinct.train, &distinct.test) < limit);
}

#[test]
fn dense_regions_are_cut_and_keep_their_distance() {
    let (table, loaded) = places(100, 3000);
    let split = split(&table, &loaded, "blocks:5km", 0).unwrap();
    check_parts(&split, table.len());
    let limit = 5.0 / 6371.0088;
    for (a, b) in [(&split.train, &split.test), (&split.train, &split.validation), (&split.validation, &split.test)] {
        assert!(gap(&loaded, a, b) > limit);
    }
    // Rows along the cuts are lost, but not most of them, and the dense region is in the test part, too.
    let lost = split.summary.left_out as f64 / table.len() as f64;
    assert!(lost > 0.0 && lost < 0.2, "{lost}");
    assert!(split.test.iter().any(|row| loaded.points.row(*row)[2] > 67f64.to_radians().sin()));
}

#[test]
fn blocks_depend_on_the_seed_alone() {
    let (table, loaded) = places(100, 500);
    let [a, b, c] = [0, 0, 1].map(|seed| split(&table, &loaded, "blocks:5km", seed).unwrap());
    assert_eq!(a, b);
    assert_ne!(a, c);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| split(&table, &loaded, "blocks:5km", 0).unwrap()), a);
}

#[test]
fn blocks_exist_on_every_kind_of_set() {
    let mut rng = stream(5, Purpose::Data, 0);
    for (spec, header, rule, limit) in [
        ("so3", "qx,qy,qz,qw", "blocks:4deg", 4f64.to_radians()),
        ("so3/C4", "qx,qy,qz,qw", "blocks:4deg", 4f64.to_radians()),
        ("torus:2", "a_deg,b_deg", "blocks:4deg", 4f64.to_radians()),
        ("euclid:2", "a,b", "blocks:0.01", 0.01),
        ("product(sphere:2,euclid:1)", "lat,lon,depth", "blocks:0.05", 0.05),
        ("categorical", "a,b", "blocks:1.5", 1.5),
    ] {
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let width = names.len();
        let mut table = Table::text("t.csv", Some(names), width);
        for row in 0..400 {
            let number = |_: usize| rng.random_range(-1.0..1.0f64);
            let mut cells: Vec<f64> = (0..width).map(number).collect();
            match spec {
                s if s.starts_with("so3") => {
                    let norm = cells.iter().map(|v| v * v).sum::<f64>().sqrt();
                    cells.iter_mut().for_each(|v| *v /= norm);
                }
                "torus:2" | "product(sphere:2,euclid:1)" => cells[..2].iter_mut().for_each(|v| *v *= 80.0),
                "categorical" => cells.iter_mut().for_each(|v| *v = (*v * 20.0).round()),
                _ => {}
            }
            table.push(
                row + 2,
                cells.iter().map(|v| if spec == "categorical" { format!("w{v}") } else { v.to_string() }),
            );
        }
        let loaded = load(&table, spec, &ColumnOptions::default()).unwrap();
        let split = split(&table, &loaded, rule, 0).unwrap();
        assert!(!split.train.is_empty() && !split.validation.is_empty() && !split.test.is_empty());
        assert!(gap(&loaded, &split.train, &split.test) > limit, "{spec}");
    }
}

#[test]
fn the_latest_rows_are_the_test_part() {
    let (table, loaded) = places(300, 0);
    let split = split(&table, &loaded, "time:when", 0).unwrap();
    check_parts(&split, table.len());
    let when = |rows: &[usize]| {
        let mut times: Vec<String> = rows.iter().map(|row| table.cell(*row, 2).into_owned()).collect();
        times.sort();
        (times[0].clone(), times[times.len() - 1].clone())
    };
    let (train, validation, test) = (when(&split.train), when(&split.validation), when(&split.test));
    assert!(train.1 < validation.0 && validation.1 < test.0, "{train:?} {validation:?} {test:?}");
}

#[test]
fn rows_of_a_group_stay_together() {
    let (table, loaded) = places(300, 0);
    let split = split(&table, &loaded, "group:event", 0).unwrap();
    check_parts(&split, table.len());
    let events = |rows: &[usize]| rows.iter().map(|row| table.cell(*row, 3).into_owned()).collect::<BTreeSet<_>>();
    let (train, validation, test) = (events(&split.train), events(&split.validation), events(&split.test));
    assert!(train.is_disjoint(&test) && train.is_disjoint(&validation) && validation.is_disjoint(&test));
    assert_eq!([train.len(), validation.len(), test.len()], split.summary.counts);
}

#[test]
fn three_groups_make_three_parts_and_two_are_refused() {
    let table = |groups: usize| {
        let mut table = Table::text("t.csv", Some(vec!["x".into(), "g".into(), "t".into()]), 3);
        (0..60).for_each(|i| table.push(i + 2, [i.to_string(), (i % groups).to_string(), (i % groups).to_string()]));
        let loaded =
            load(&table, "euclid:1", &ColumnOptions { columns: Some("x".into()), ..Default::default() }).unwrap();
        (table, loaded)
    };
    for rule in ["group:g", "time:t"] {
        let (three, points) = table(3);
        let split3 = split(&three, &points, rule, 0).unwrap();
        assert_eq!(split3.summary.counts, [1, 1, 1], "{rule}");
        let (two, points) = table(2);
        let error = split(&two, &points, rule, 0).unwrap_err();
        assert!(matches!(error, DataError::Split(SplitError::TooFew { found: 2, parts: 3, .. })), "{error}");
        assert!(!error.is_usage() && error.to_string().contains(rule), "{error}");
    }
}

#[test]
fn mistakes_name_the_column_the_row_or_the_unit() {
    let (table, loaded) = places(50, 0);
    let error = |rule: &str| split(&table, &loaded, rule, 0).unwrap_err();
    let text = error("group:evnt").to_string();
    assert!(
        error("group:evnt").is_usage() && text.contains("`evnt`") && text.contains("lat, lon, when, event"),
        "{text}"
    );
    let text = error("time:event").to_string();
    assert!(text.contains("line 2") && text.contains("`event 0` is neither a number nor a date"), "{text}");
    let text = error("blocks:30000km").to_string();
    assert!(text.contains("smaller distance"), "{text}");
    let mut numbers = Table::text("n.tsv", None, 1);
    (0..4).for_each(|i| numbers.push(i + 1, ["0"]));
    let line = load(&numbers, "euclid:1", &ColumnOptions::default()).unwrap();
    let text = split(&numbers, &line, "blocks:5km", 0).unwrap_err().to_string();
    assert!(text.contains("kilometres do not measure distances on euclid:1"), "{text}");
    let text = split(&numbers, &line, "group:column3", 0).unwrap_err().to_string();
    assert!(text.contains("use column1"), "{text}");
    // All rows are one point, hence one block.
    let text = split(&numbers, &line, "blocks:1", 0).unwrap_err().to_string();
    assert!(text.contains("1 blocks are too few for 3 parts"), "{text}");
}

#[test]
fn columns_of_a_file_without_names_are_numbered() {
    let mut table = Table::text("rna.tsv", None, 2);
    (0..100).for_each(|i| table.push(i + 1, [format!("id{}", i / 5), i.to_string()]));
    let loaded = load(&table, "euclid:1", &ColumnOptions { columns: Some("2".into()), ..Default::default() }).unwrap();
    let split = split(&table, &loaded, "group:column1", 0).unwrap();
    let mut parts = BTreeMap::new();
    for (part, rows) in [&split.train, &split.validation, &split.test].into_iter().enumerate() {
        rows.iter().for_each(|row| assert_eq!(*parts.entry(row / 5).or_insert(part), part));
    }
    assert_eq!([split.train.len(), split.validation.len(), split.test.len()], [80, 10, 10]);
}

fn repeated(n: usize, distinct: usize) -> Points {
    Points::from_vec((0..n).map(|i| (i % distinct) as f64).collect(), 1)
}

#[test]
fn parts_cover_all_rows_once_and_depend_on_the_seed() {
    let points = repeated(827, 827);
    let split = Split::new(&points, SplitKind::Random, FRACTIONS, 3).unwrap();
    assert_eq!((split.train.len(), split.validation.len(), split.test.len()), (661, 82, 84));
    let mut all = [split.train.clone(), split.validation.clone(), split.test.clone()].concat();
    all.sort();
    assert_eq!(all, (0..827).collect::<Vec<_>>());
    assert_eq!(split, Split::new(&points, SplitKind::Random, FRACTIONS, 3).unwrap());
    assert_ne!(split, Split::new(&points, SplitKind::Random, FRACTIONS, 4).unwrap());
}

#[test]
fn equal_points_stay_together() {
    let points = repeated(1000, 60);
    let split = Split::new(&points, SplitKind::Distinct, FRACTIONS, 0).unwrap();
    let values = |rows: &[usize]| rows.iter().map(|r| r % 60).collect::<std::collections::BTreeSet<_>>();
    let (train, validation, test) = (values(&split.train), values(&split.validation), values(&split.test));
    assert!(train.is_disjoint(&test) && train.is_disjoint(&validation) && validation.is_disjoint(&test));
    assert_eq!((train.len(), validation.len(), test.len()), (48, 6, 6));
    let random = Split::new(&points, SplitKind::Random, FRACTIONS, 0).unwrap();
    assert!(!values(&random.train).is_disjoint(&values(&random.test)));
}

#[test]
fn empty_parts_are_refused_unless_asked_for() {
    let few = repeated(40, 5);
    let refused = Split::new(&few, SplitKind::Distinct, FRACTIONS, 0).unwrap_err();
    assert!(matches!(refused, DataError::EmptyPart { part: "validation", rows: 40, distinct: 5, .. }), "{refused}");
    assert!(refused.to_string().contains("`split = random`"), "{refused}");
    // Advice that would not help is not given.
    for (rows, distinct) in [(6, 6), (7, 5)] {
        for kind in [SplitKind::Distinct, SplitKind::Random] {
            let text = Split::new(&repeated(rows, distinct), kind, FRACTIONS, 0).unwrap_err().to_string();
            assert!(text.contains("give more rows") && !text.contains("random"), "{text}");
        }
    }
    assert!(Split::new(&few, SplitKind::Random, FRACTIONS, 0).is_ok());
    let whole = Split::new(&few, SplitKind::Distinct, [1.0, 0.0, 0.0], 0).unwrap();
    assert_eq!((whole.train.len(), whole.validation.len(), whole.test.len()), (40, 0, 0));
    let halves = Split::new(&few, SplitKind::Random, [0.5, 0.5, 0.0], 0).unwrap();
    assert_eq!((halves.train.len(), halves.validation.len(), halves.test.len()), (20, 20, 0));
    assert!(Split::new(&few, SplitKind::Random, [0.5, 0.6, 0.0], 0).is_err());
}

#[test]
fn duplicates_are_counted() {
    let counted = duplicates(&repeated(100, 40));
    assert_eq!(counted, Duplicates { rows: 100, distinct: 40, most: 3 });
    assert!(counted.notice().unwrap().contains("60 of 100 rows"));
    assert_eq!(duplicates(&repeated(7, 7)).notice(), None);
}

#[test]
fn rules_are_read_and_written_back() {
    for text in ["random", "distinct", "blocks:5km", "blocks:2.5deg", "blocks:0.1", "time:when", "group:PDB id"] {
        assert_eq!(text.parse::<SplitRule>().unwrap().to_string(), text);
    }
    assert_eq!("blocks: 5 km".parse::<SplitRule>().unwrap().to_string(), "blocks:5km");
    for text in ["", "blocks", "time:", "group: ", "Random", "random:2"] {
        assert!(matches!(text.parse::<SplitRule>(), Err(SplitError::Unknown { .. })), "{text}");
    }
    for text in ["blocks:", "blocks:5m", "blocks:-1km", "blocks:0", "blocks:nan", "blocks:inf", "blocks:km"] {
        assert!(matches!(text.parse::<SplitRule>(), Err(SplitError::Distance { .. })), "{text}");
    }
}

#[test]
fn distances_are_those_of_the_manifold_and_wrong_units_are_refused() {
    let on = |text: &str, spec: &str| text.parse::<Distance>().unwrap().on(manifold_named(spec).unwrap().as_ref());
    assert!((on("6371.0088km", "sphere:2").unwrap() - 1.0).abs() < 1e-12);
    assert!((on("180deg", "so3").unwrap() - std::f64::consts::PI).abs() < 1e-12);
    assert_eq!(on("0.25", "product(so3,euclid:3)"), Ok(0.25));
    let text = on("5km", "so3").unwrap_err().to_string();
    assert!(text.contains("blocks:5km") && text.contains("so3") && text.contains("deg"), "{text}");
    let text = on("5deg", "product(so3,euclid:3)").unwrap_err().to_string();
    assert!(text.contains("degrees do not measure") && text.contains("plain number"), "{text}");
}
