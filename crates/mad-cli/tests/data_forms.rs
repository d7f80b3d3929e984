//! The forms in which people keep their data, from file to samples.

mod common;
use common::{Desk, TINY};

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

/// Trains on a file and gives ten samples as text.
fn samples(desk: &Desk, fit: &str, out: &str) -> String {
    desk.ok(&format!("fit {fit} --out run-{out} {TINY}"));
    desk.ok(&format!("sample run-{out} -n 10 --seed 1 --out {out}"));
    desk.read(out)
}

/// A turn about z by this angle, row by row.
fn turn(angle: f64) -> [f64; 9] {
    let (sin, cos) = angle.sin_cos();
    [cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0]
}

fn row(numbers: &[f64], delimiter: &str) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(delimiter) + "\n"
}

#[test]
fn a_kitti_trajectory_comes_back_as_one() {
    let desk = Desk::new();
    let pose = |i: usize| {
        let (r, t) = (turn(0.05 * i as f64), [i as f64, 0.1 * i as f64, -1.5]);
        row(&[r[0], r[1], r[2], t[0], r[3], r[4], r[5], t[1], r[6], r[7], r[8], t[2]], " ")
    };
    desk.write("00.txt", &(0..60).map(pose).collect::<String>());
    let report = desk.json("data check 00.txt");
    assert_eq!(report["manifold"], "product(so3,euclid:3)");
    assert_eq!(report["next"], "mad fit 00.txt --manifold 'product(so3,euclid:3)' -o run");
    let written = samples(&desk, "00.txt --manifold product(so3,euclid:3)", "new.txt");
    assert_eq!(written.lines().count(), 10, "{written}");
    assert!(
        written.lines().all(|line| line.split(' ').filter_map(|n| n.parse::<f64>().ok()).count() == 12),
        "{written}"
    );
    assert_eq!(desk.json("data check new.txt")["manifold"], "product(so3,euclid:3)");
    desk.write("bad.txt", &format!("{}1 0 0 0 0 1 0 0 0 0 2 0\n", (0..60).map(pose).collect::<String>()));
    let error = desk.fails(3, "data check bad.txt --manifold product(so3,euclid:3)");
    contains(&error, &["1 bad rows"]);
}

#[test]
fn rotation_vectors_are_asked_about_and_come_back() {
    let desk = Desk::new();
    let rows: String = (0..60).map(|i| row(&[0.01 * i as f64, 0.4, -0.2 + 0.02 * i as f64], ",")).collect();
    desk.write("v.csv", &format!("rx,ry,rz\n{rows}"));
    let report = desk.ok("data check v.csv");
    contains(&report, &["mad fit v.csv --manifold so3 --rotation rotvec -o run", "--euler ZYX", "rotation vector"]);
    contains(&desk.fails(2, &format!("fit v.csv --manifold so3 --out run {TINY}")), &["--rotation rotvec", "--euler"]);
    let written = samples(&desk, "v.csv --manifold so3 --rotation rotvec", "new.csv");
    assert!(written.starts_with("rx,ry,rz\n"), "{written}");
    contains(
        &desk.fails(2, "data check v.csv --manifold euclid:3 --rotation rotvec"),
        &["--rotation rotvec does not fit"],
    );
}

#[test]
fn geojson_goes_in_and_out() {
    let desk = Desk::new();
    let feature = |i: usize| {
        format!(
            r#"{{"type":"Feature","geometry":{{"type":"Point","coordinates":[{},{}]}},"properties":{{"mag":{}}}}}"#,
            170 - i,
            i,
            4.5 + 0.01 * i as f64
        )
    };
    let features: Vec<String> = (0..60).map(feature).collect();
    desk.write("q.geojson", &format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(",")));
    let report = desk.json("data check q.geojson");
    assert_eq!((&report["manifold"], &report["rows"]), (&"sphere:2".into(), &60.into()));
    let written = samples(&desk, "q.geojson --set condition=mag", "new.geojson");
    contains(&written, &["\"FeatureCollection\"", "\"Point\""]);
    assert_eq!(desk.json("data check new.geojson")["rows"], 10);
    desk.write("shapes.geojson", r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#);
    contains(&desk.fails(3, "data check shapes.geojson"), &["Polygon", "MultiPoint"]);
}

#[test]
fn places_in_the_habits_of_other_countries_are_read() {
    let desk = Desk::new();
    let rows: String = (0..60).map(|i| format!("{},{};{},5;Köln\n", i, 10 + i, 11 + i)).collect();
    let text: Vec<u8> = format!("lat;lon;stadt\n{rows}").chars().map(|c| c as u8).collect();
    std::fs::write(desk.path("d.csv"), text).expect("file written");
    let report = desk.json("data check d.csv");
    assert_eq!(report["manifold"], "sphere:2");
    contains(&report["notices"].to_string(), &["decimal commas", "Windows-1252"]);
    let written = samples(&desk, "d.csv", "new.csv");
    assert!(written.starts_with("lat;lon\n") && !written.contains('.'), "{written}");
    assert_eq!(desk.json("data check new.csv")["rows"], 10);
    let rows: String = (0..60).map(|i| format!("{i}°{i}'S,W {i} 30.5\n")).collect();
    desk.write("m.csv", &format!("lat,lon\n{rows}"));
    let report = desk.json("data check m.csv");
    assert_eq!(report["column_reports"][0]["max"], 0.0);
    contains(&report["notices"].to_string(), &["decimal degrees"]);
    contains(&samples(&desk, "m.csv", "decimal.csv"), &["lat,lon\n"]);
}

#[test]
fn models_are_conditioned_on_dates_and_not_on_text() {
    let desk = Desk::new();
    let rows: String = (0..60).map(|i| format!("{i},{i},20{:02}-03-01,{}\n", i % 20, ["G", "F"][i % 2])).collect();
    desk.write("q.csv", &format!("lat,lon,time,class\n{rows}"));
    let report = desk.ok("data check q.csv");
    contains(&report, &["60 dates, as decimal years"]);
    desk.ok(&format!("fit q.csv --manifold sphere:2 --out run --set condition=time {TINY}"));
    let given = |value: &str| desk.ok(&format!("sample run -n 5 --seed 1 --given time={value} --out - "));
    assert_eq!(given("2010-01-01"), given("2010"));
    contains(&desk.fails(2, "sample run -n 5 --given time=soon --out s.csv"), &["soon", "ISO 8601"]);
    let error = desk.fails(2, &format!("fit q.csv --manifold sphere:2 --out other --set condition=class {TINY}"));
    contains(&error, &["`class`", "`F` in 30 rows", "not supported yet"]);
    assert_eq!(error.matches("class").count(), 1, "{error}");
}

#[test]
fn hopeless_files_are_not_proposed_and_faults_are_grouped() {
    let desk = Desk::new();
    let rows: String = (0..1000).map(|i| if i == 0 { "1,2,3\n" } else { "NA,NA,NA\n" }).collect();
    desk.write("bad.csv", &format!("a,b,c\n{rows}"));
    let report = desk.ok("data check bad.csv");
    contains(&report, &["column a is left out: only 1 of 1000", "no manifold is proposed"]);
    assert!(!report.contains("euclid"), "{report}");
    let rows: String = (0..500).map(|i| format!("{},?\n", 95 + i)).collect();
    desk.write("off.csv", &format!("lat,lon\n{rows}1,2\n"));
    let error = desk.fails(3, &format!("fit off.csv --manifold sphere:2 --out run {TINY}"));
    contains(&error, &["500 bad rows", "column lon, 500 rows: not a number, first at line 2: `?`"]);
    assert!(error.lines().count() < 6, "{error}");
}

#[test]
fn a_tum_trajectory_keeps_its_commented_names() {
    let desk = Desk::new();
    let rows: String = (0..60).map(|i| format!("{i}.25 {i} 1 2 0 0 0 1\n")).collect();
    desk.write("groundtruth.txt", &format!("# ground truth\n# timestamp tx ty tz qx qy qz qw\n{rows}"));
    assert_eq!(desk.json("data check groundtruth.txt")["manifold"], "product(so3,euclid:3)");
    let written = samples(&desk, "groundtruth.txt", "new.txt");
    assert!(written.starts_with("# tx ty tz qx qy qz qw\n"), "{written}");
    assert_eq!((written.lines().count(), written.contains(',')), (11, false));
}

#[test]
fn error_values_of_spreadsheets_are_cells() {
    let desk = Desk::new();
    let rows: String =
        (0..5000).map(|i| if i % 1000 == 0 { format!("{i},2,3\n") } else { "#N/A,,-\n".into() }).collect();
    desk.write("gone.csv", &format!("a,b,c\n{rows}"));
    let report = desk.json("data check gone.csv");
    assert_eq!((&report["rows"], report["next"].as_array().map(Vec::len)), (&5000.into(), Some(0)), "{report}");
    let rows: String =
        (0..100).map(|i| format!("{},{i}\n", if i % 5 == 0 { "#REF!".into() } else { (i / 2).to_string() })).collect();
    desk.write("places.csv", &format!("lat,lon\n{rows}"));
    let output = desk.command("data check places.csv").output().expect("program started");
    assert_eq!(output.status.code(), Some(3));
    contains(&String::from_utf8_lossy(&output.stdout), &["20 bad rows", "column lat, 20 rows", "line 2: `#REF!`"]);
    // A row with one of them is no row of names.
    desk.write("first.csv", "#DIV/0!,b\n1,2\n3,4\n");
    contains(&desk.fails(3, "fit first.csv --manifold euclid:2 --out run"), &["line 1, column x0", "#DIV/0!"]);
}

#[test]
fn comments_below_the_first_row_are_counted() {
    let desk = Desk::new();
    let rows: String = (0..60).map(|i| format!("{i},{i}\n")).collect();
    desk.write("d.csv", &format!("# above\nlat,lon\n# still above\n{rows}# one\n1,2\n#two\n"));
    let report = desk.ok("data check d.csv");
    contains(&report, &["comments (`#`) below the first row of data are left out: 2, the first on line 64"]);
    desk.write("plain.csv", &format!("# above\nlat,lon\n# still above\n{rows}"));
    assert!(!desk.ok("data check plain.csv").contains("comments"));
}

#[test]
fn columns_of_one_value_are_no_categories() {
    let desk = Desk::new();
    let file = |name: &str, all: usize, odd: usize| {
        let row = |i| if i < odd { format!("{i},{i},{i}\n") } else { "x,missing,x\n".into() };
        desk.write(name, &("a,b,c\n".to_owned() + &(0..all).map(row).collect::<String>()));
        desk.ok(&format!("data check {name}"))
    };
    let report = file("alike.csv", 1000, 1);
    contains(&report, &["column b is left out: `missing` stands in 999 of 1000 cells", "no manifold is proposed"]);
    assert!(!report.contains("categorical"), "{report}");
    // Beyond one in a hundred there is something to tell apart.
    contains(&file("rare.csv", 1000, 10), &["categorical:11,11,11"]);
}

/// Pose i, row by row.
fn pose(i: usize) -> Vec<f64> {
    let r = turn(0.05 * i as f64);
    [&r[..3], &[i as f64 + 1.0], &r[3..6], &[0.5], &r[6..], &[-1.5, 0.0, 0.0, 0.0, 1.0]].concat()
}

#[test]
fn poses_with_a_bad_row_are_poses() {
    let desk = Desk::new();
    let line = |i: usize| {
        let mut pose = pose(i);
        pose[0] += if i == 99 { 5.0 } else { 0.0 };
        row(&pose, ",")
    };
    desk.write("poses.csv", &(0..100).map(line).collect::<String>());
    let output = desk.command("data check poses.csv").output().expect("program started");
    assert_eq!(output.status.code(), Some(3));
    contains(&String::from_utf8_lossy(&output.stdout), &["product(so3,euclid:3)", "1 bad rows", "line 100"]);
}

#[test]
fn matrices_written_column_by_column_are_told_and_come_back() {
    let desk = Desk::new();
    for rows in [3, 4] {
        let line = |i: usize| {
            let pose = pose(i);
            row(&(0..4 * rows).map(|k| pose[4 * (k % rows) + k / rows]).collect::<Vec<_>>(), " ")
        };
        desk.write("m.txt", &(0..60).map(line).collect::<String>());
        let next = desk.json("data check m.txt")["next"][0].as_str().expect("a command").replace('\'', "");
        let columns = next.split(" --columns ").nth(1).and_then(|rest| rest.split(' ').next()).expect("columns");
        let asked = format!("m.txt --manifold product(so3,euclid:3) --out run-{rows}");
        let error = desk.fails(3, &format!("fit {asked}"));
        contains(&error, &["60 bad rows", "column by column", columns]);
        desk.ok(&format!("fit {asked} --columns {columns} {TINY}"));
        let samples = desk.ok(&format!("sample run-{rows} -n 5 --seed 1"));
        for line in samples.lines() {
            let m: Vec<f64> = line.split([' ', ',']).map(|cell| cell.parse().expect("a number")).collect();
            assert_eq!(m.len(), 4 * rows, "{line}");
            let column = |c: usize| &m[c * rows..c * rows + 3];
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            assert!((dot(column(0), column(0)) - 1.0).abs() < 1e-9 && dot(column(0), column(1)).abs() < 1e-9, "{line}");
        }
    }
}

#[test]
fn hemispheres_in_columns_of_their_own_are_asked_about() {
    let desk = Desk::new();
    let file = |name: &str, row: &dyn Fn(usize) -> String| {
        desk.write(name, &("lat,ns,lon,ew\n".to_owned() + &(0..60).map(row).collect::<String>()));
    };
    file("h.csv", &|i| format!("{i},N,{i},{}\n", if i < 30 { "E" } else { "west" }));
    for words in ["data check h.csv", "fit h.csv --manifold sphere:2 --out run"] {
        contains(&desk.fails(2, words), &["h.csv: line 32: column `ew` has west for `lon` = 30", "30W", "--columns"]);
    }
    file("s.csv", &|i| format!("{i},South,{},E\n", 2 * i));
    contains(&desk.fails(2, "data check s.csv"), &["line 3: column `ns` has South for `lat` = 1"]);
    // Signs that agree with the letters, and longitudes beyond half a turn, leave no question.
    file("signed.csv", &|i| format!("-{i},S,{},W\n", 181 + i));
    contains(&desk.ok("data check signed.csv"), &["sphere:2", "columns not used: ns, ew"]);
    desk.ok("data check h.csv --columns lat,lon --manifold sphere:2");
    // A model of plain columns does not read them from another file either.
    desk.ok(&format!("fit signed.csv --manifold sphere:2 --out run {TINY}"));
    contains(&desk.fails(2, "eval run --against h.csv --metrics mmd"), &["column `ew` has west"]);
}
